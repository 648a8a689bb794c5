//! JPEG XL by the crate `jxl-oxide`, within our limits.

mod colors;
mod samples;
mod stream;

use std::error::Error;

use jxl_oxide::{
    AllocTracker, EnumColourEncoding, ExtraChannelType, InitializeResult, JxlImage, JxlThreadPool,
    PixelFormat as Stored, RenderingIntent,
};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat, f16, panics};

use self::colors::Need;
use self::stream::Header;
use super::alpha::divide_alpha;
use super::look::Needs;
use super::{Fault, Reader, WarningKind};

/// What is said of a file that stops early.
const CUT: &str = "it stops before its image does";

impl Reader {
    /// Integers of up to 8 bits as u8 and of up to 16 as u16, floats as f16 where they have its bits and as f32 otherwise. The library
    /// turns pictures upright, and gives colours in the encoding that the file names, whichever way they are stored.
    pub(super) fn decode_jxl(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        let stream = stream::of(file, true)?;
        let header = Header::of(&stream)?;
        self.check_size(header.width, header.height)?;
        let dtype = header.dtype()?;
        let mut image = open(&stream, header.scratch())?;
        let format = match image.pixel_format() {
            Stored::Gray => PixelFormat::Gray,
            Stored::Rgb => PixelFormat::Rgb,
            Stored::Graya | Stored::Rgba => PixelFormat::Rgba,
            Stored::Cmyk | Stored::Cmyka => {
                let text = "it holds inks (CMYK), which have no exact colours; save it as rgb";
                return Err(Fault::Corrupt(text.to_owned()));
            }
        };
        self.warn_of_more(&image);
        self.metadata.set_profile(profile(&image));
        let need = Need::of(&image);
        match need {
            Need::Nothing => {}
            Need::Wide(_) => {
                image.request_color_encoding(EnumColourEncoding::srgb_linear(RenderingIntent::Relative));
            }
            Need::Clipped => {
                let text = "its colours are beyond those of sRGB, and the decoder brings them into sRGB";
                self.warn(WarningKind::Loss, text);
            }
        }
        let render = image.render_frame(0).map_err(fault)?;
        let mut pixels = self.buffer(ImageDesc::new(header.width, header.height, format, dtype)?)?;
        let shown = (render.stream().width(), render.stream().height(), render.stream().channels());
        if shown != (header.width, header.height, image.pixel_format().channels() as u32) {
            let (w, h, c) = shown;
            return Err(Fault::Corrupt(format!(
                "its picture is {w}x{h} with {c} channels, and its header says otherwise"
            )));
        }
        match (&need, dtype) {
            (Need::Wide(wide), DType::U8) => wide.copy::<u8>(&render, &mut pixels),
            (Need::Wide(wide), DType::U16) => wide.copy::<u16>(&render, &mut pixels),
            (Need::Wide(wide), DType::F16) => wide.copy::<f16>(&render, &mut pixels),
            (Need::Wide(wide), _) => wide.copy::<f32>(&render, &mut pixels),
            _ => samples::copy(&render, header.depth, &mut pixels),
        }
        let multiplied = |ty| matches!(ty, ExtraChannelType::Alpha { alpha_associated: true });
        // The first alpha is the one that is read.
        let about = &image.image_header().metadata;
        if about.alpha().is_some_and(|index| multiplied(about.ec_info[index].ty)) {
            divide_alpha(&mut pixels);
        }
        Ok(pixels)
    }

    /// Warns of what the file holds and a picture does not.
    fn warn_of_more(&mut self, image: &JxlImage) {
        if image.num_loaded_keyframes() > 1 {
            self.warn(WarningKind::Further, "it is an animation, of which only the first picture is read");
        }
        let mut alphas = 0;
        let others = image.image_header().metadata.ec_info.iter().filter(|channel| match channel.ty {
            ExtraChannelType::Alpha { .. } => {
                alphas += 1;
                alphas > 1
            }
            // Spot colours are painted onto the others.
            ExtraChannelType::SpotColour { .. } => false,
            _ => true,
        });
        let others = others.count();
        if others > 0 {
            self.warn(
                WarningKind::Loss,
                format!("{others} channel(s) beside its colours and alpha are left behind"),
            );
        }
    }
}

/// The profile of the pixels, where they are not sRGB's.
fn profile(image: &JxlImage) -> Option<Vec<u8>> {
    let about = &image.image_header().metadata;
    // What is not stored as XYB stays as it is, and its profile with it.
    if let Some(profile) = image.original_icc().filter(|_| !about.xyb_encoded) {
        return Some(profile.to_vec());
    }
    let srgb =
        about.colour_encoding.is_srgb() || about.colour_encoding.want_icc() && image.original_icc().is_none();
    (!srgb).then(|| image.rendered_icc())
}

/// A picture that is there whole, for which the library takes no more than so many bytes. It is not decoded yet.
fn open(stream: &[u8], limit: usize) -> Result<JxlImage, Fault> {
    // Files are decoded beside each other already.
    let builder = JxlImage::builder().pool(JxlThreadPool::none());
    let mut unread = stream;
    let mut piece = 4096;
    let mut opening = builder.alloc_tracker(AllocTracker::with_limit(limit)).build_uninit();
    let mut image = loop {
        let (front, rest) = unread.split_at(unread.len().min(piece));
        if front.is_empty() {
            return Err(Fault::Truncated(CUT.to_owned()));
        }
        opening.feed_bytes(front).map_err(fault)?;
        unread = rest;
        // Each try begins at the start again.
        piece *= 2;
        match opening.try_init().map_err(fault)? {
            InitializeResult::NeedMoreData(more) => opening = more,
            InitializeResult::Initialized(image) => break image,
        }
    };
    while !image.is_loading_done() {
        let (front, rest) = unread.split_at(unread.len().min(1 << 20));
        if front.is_empty() {
            return Err(Fault::Truncated(CUT.to_owned()));
        }
        image.feed_bytes(front).map_err(fault)?;
        unread = rest;
    }
    Ok(image)
}

#[allow(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn fault(error: std::boxed::Box<dyn Error + Send + Sync>) -> Fault {
    Fault::Corrupt(error.to_string())
}

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    // Decoding says what is wrong, a panic included.
    let header = panics::caught(|| stream::of(first, false).and_then(|stream| Header::of(&stream)));
    let header = header.ok()?.ok()?;
    let channels = match (header.gray, header.alpha) {
        (true, false) => 1,
        (false, false) => 3,
        (_, true) => 4,
    };
    let area = (header.width as usize).checked_mul(header.height as usize).filter(|&area| area > 0)?;
    let pixels = area.saturating_mul(channels * header.dtype().ok()?.size());
    Some(Needs { width: header.width, height: header.height, pixels, scratch: header.scratch() })
}
