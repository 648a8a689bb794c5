//! GIF (GIF89a): the first picture on its screen, or all frames of an animation.

mod animation;

use std::io::Cursor;

use gif::{ColorOutput, DecodeOptions, Decoder, DecodingError, Frame, MemoryLimit};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::look::Needs;
use super::{Fault, Reader, WarningKind, zeroes};
pub(super) use animation::{Animation, pages};

/// Where a frame lies on the screen, and which of its indices is transparent.
struct Place {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    transparent: Option<u8>,
}

impl Place {
    fn of(frame: &Frame<'_>) -> Self {
        Self {
            left: frame.left.into(),
            top: frame.top.into(),
            width: frame.width.into(),
            height: frame.height.into(),
            transparent: frame.transparent,
        }
    }
}

impl Reader {
    /// Rgb where a picture covers the screen and nothing of it is transparent, rgba otherwise.
    pub(super) fn decode_gif(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        let mut decoder = open(file).map_err(fault)?;
        let (width, height) = (decoder.width(), decoder.height());
        self.check_size(width.into(), height.into())?;
        let none = || Fault::Corrupt("it holds no picture".to_owned());
        let frame = decoder.next_frame_info().map_err(fault)?.ok_or_else(none)?;
        self.check_size(frame.width.into(), frame.height.into())?;
        let place = Place::of(frame);
        let mut indices: Vec<u8> = zeroes(decoder.buffer_size(), "indices into its palette")?;
        decoder.read_into_buffer(&mut indices).map_err(fault)?;
        let palette = decoder.palette().map_err(fault)?.to_vec();
        // What comes behind the first picture may be damaged: it is not read.
        if matches!(decoder.next_frame_info(), Ok(Some(_))) {
            self.warn(
                WarningKind::Further,
                "it is an animation, of which only the first picture is read (--pages all reads every one)",
            );
        }
        let covered = place.left == 0 && place.top == 0;
        let covered = covered && place.width >= width.into() && place.height >= height.into();
        let opaque = covered && place.transparent.is_none();
        let format = if opaque { PixelFormat::Rgb } else { PixelFormat::Rgba };
        let mut image = self.buffer(ImageDesc::new(width.into(), height.into(), format, DType::U8)?)?;
        let mut view = image.view_mut();
        if opaque {
            paint::<3>(&indices, &palette, &place, view.data_mut(), width.into())?;
        } else {
            view.data_mut().fill(0);
            paint::<4>(&indices, &palette, &place, view.data_mut(), width.into())?;
        }
        Ok(image)
    }
}

/// Puts a frame onto a screen; what lies beside it is left out.
fn paint<const N: usize>(
    indices: &[u8],
    palette: &[u8],
    place: &Place,
    screen: &mut [u8],
    width: usize,
) -> Result<(), Fault> {
    let (palette, _) = palette.as_chunks::<3>();
    let (pixels, _) = screen.as_chunks_mut::<N>();
    let rows = pixels.chunks_exact_mut(width.max(1)).skip(place.top);
    for (row, from) in rows.zip(indices.chunks_exact(place.width.max(1))) {
        for (pixel, &index) in row.iter_mut().skip(place.left).zip(from) {
            if Some(index) == place.transparent {
                continue;
            }
            let outside =
                || Fault::Corrupt(format!("colour {index} is not in its palette of {}", palette.len()));
            let color = palette.get(usize::from(index)).ok_or_else(outside)?;
            *pixel = [255; N];
            pixel[..3].copy_from_slice(color);
        }
    }
    Ok(())
}

fn open(file: &[u8]) -> Result<Decoder<Cursor<&[u8]>>, DecodingError> {
    options().read_info(Cursor::new(file))
}

fn options() -> DecodeOptions {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::Indexed);
    // We bring the buffer ourselves.
    options.set_memory_limit(MemoryLimit::Unlimited);
    options
}

/// From the screen, which the first bytes hold; the frame has the same size in nearly every file.
pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let [w0, w1, h0, h1] = *first.get(6..10)?.first_chunk::<4>()?;
    let (width, height) = (u16::from_le_bytes([w0, w1]), u16::from_le_bytes([h0, h1]));
    let area = usize::from(width) * usize::from(height);
    Some(Needs { width: width.into(), height: height.into(), pixels: area * 4, scratch: area + (1 << 20) })
}

#[allow(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn fault(error: DecodingError) -> Fault {
    match &error {
        DecodingError::UnexpectedEof => Fault::Truncated("it stops before its image does".to_owned()),
        DecodingError::Io(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
            Fault::Truncated("it stops before its image does".to_owned())
        }
        _ => Fault::Corrupt(error.to_string()),
    }
}
