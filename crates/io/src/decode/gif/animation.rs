//! Frames of an animation, each as the screen shows it.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use gif::{Decoder, DecodingError, DisposalMethod};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::super::pages::Page;
use super::super::{Fault, Reader, zeroes};
use super::{Place, fault, options, paint};

/// An animation whose frames have been shown up to one.
pub(in super::super) struct Animation {
    decoder: Decoder<Cursor<Arc<[u8]>>>,
    /// The frame that is drawn next.
    next: u64,
    /// Whether no pixel of any frame is transparent.
    opaque: bool,
    /// The screen, in rgba.
    screen: Vec<u8>,
    /// What happens to the frame drawn last before the next one is drawn.
    disposal: Option<(DisposalMethod, Place)>,
    /// The screen without that frame, where it is to come back.
    before: Vec<u8>,
}

impl std::fmt::Debug for Animation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Animation")
            .field("next", &self.next)
            .field("opaque", &self.opaque)
            .finish_non_exhaustive()
    }
}

/// The frames of a file, and one more where it is damaged behind them.
pub(in super::super) fn pages(file: &[u8]) -> Vec<Page> {
    let mut pages = Vec::new();
    let Ok(mut decoder) = scan(file) else { return vec![Page::default()] };
    loop {
        match decoder.next_frame_info() {
            Ok(Some(frame)) => {
                // Hundredths of a second.
                let delay = Some(Duration::from_millis(u64::from(frame.delay) * 10));
                pages.push(Page { delay });
            }
            Ok(None) if !pages.is_empty() => return pages,
            Ok(None) | Err(_) => {
                pages.push(Page::default());
                return pages;
            }
        }
    }
}

/// Opens a file for its frames' places and times alone.
fn scan(file: &[u8]) -> Result<Decoder<Cursor<&[u8]>>, DecodingError> {
    let mut options = options();
    options.skip_frame_decoding(true);
    options.read_info(Cursor::new(file))
}

/// Whether no pixel of any frame is transparent: the first frame fills the screen, and none leaves a hole.
fn is_opaque(file: &[u8]) -> bool {
    let Ok(mut decoder) = scan(file) else { return false };
    let (width, height) = (decoder.width(), decoder.height());
    let (mut first, mut hole) = (true, false);
    while let Ok(Some(frame)) = decoder.next_frame_info() {
        let fills = frame.left == 0 && frame.top == 0 && frame.width >= width && frame.height >= height;
        if hole || first && !(fills && frame.transparent.is_none()) {
            return false;
        }
        // Where it lay there is nothing then, and without the first frame nothing at all.
        hole = match frame.dispose {
            DisposalMethod::Background => true,
            DisposalMethod::Previous => first,
            DisposalMethod::Any | DisposalMethod::Keep => false,
        };
        first = false;
    }
    true
}

impl Reader {
    /// A frame of an animation, which `animation` keeps for the next one.
    pub(in super::super) fn decode_gif_frame(
        &mut self,
        file: &[u8],
        animation: &mut Option<Box<Animation>>,
        number: u64,
    ) -> Result<ImageBuffer, Fault> {
        let mut shown = match animation.take().filter(|animation| animation.next <= number) {
            Some(animation) => animation,
            None => Box::new(self.open_animation(file)?),
        };
        while shown.next <= number {
            self.draw(&mut shown)?;
        }
        let (width, height) = (shown.decoder.width(), shown.decoder.height());
        let format = if shown.opaque { PixelFormat::Rgb } else { PixelFormat::Rgba };
        let mut image = self.buffer(ImageDesc::new(width.into(), height.into(), format, DType::U8)?)?;
        let mut view = image.view_mut();
        if shown.opaque {
            let pixels = view.data_mut().as_chunks_mut::<3>().0.iter_mut();
            for (to, [r, g, b, _]) in pixels.zip(shown.screen.as_chunks::<4>().0) {
                *to = [*r, *g, *b];
            }
        } else {
            view.data_mut().copy_from_slice(&shown.screen);
        }
        *animation = Some(shown);
        Ok(image)
    }

    fn open_animation(&self, file: &[u8]) -> Result<Animation, Fault> {
        let decoder = options().read_info(Cursor::new(Arc::from(file))).map_err(fault)?;
        let (width, height) = (decoder.width(), decoder.height());
        self.check_size(width.into(), height.into())?;
        let screen = zeroes(usize::from(width) * usize::from(height) * 4, "the screen of an animation")?;
        let opaque = is_opaque(file);
        Ok(Animation { decoder, next: 0, opaque, screen, disposal: None, before: Vec::new() })
    }

    /// Draws the next frame.
    fn draw(&self, animation: &mut Animation) -> Result<(), Fault> {
        let Animation { decoder, screen, disposal, before, next, .. } = animation;
        let width = usize::from(decoder.width());
        match disposal.take() {
            Some((DisposalMethod::Background, place)) => clear(screen, &place, width),
            Some((DisposalMethod::Previous, _)) => std::mem::swap(screen, before),
            Some((DisposalMethod::Any | DisposalMethod::Keep, _)) | None => {}
        }
        let none = || Fault::Corrupt("it holds no picture".to_owned());
        let frame = decoder.next_frame_info().map_err(fault)?.ok_or_else(none)?;
        self.check_size(frame.width.into(), frame.height.into())?;
        let (place, method) = (Place::of(frame), frame.dispose);
        let mut indices: Vec<u8> = zeroes(decoder.buffer_size(), "indices into its palette")?;
        decoder.read_into_buffer(&mut indices).map_err(fault)?;
        if method == DisposalMethod::Previous {
            before.clone_from(screen);
        }
        paint::<4>(&indices, decoder.palette().map_err(fault)?, &place, screen, width)?;
        *disposal = Some((method, place));
        *next += 1;
        Ok(())
    }
}

/// Takes away what lies where a frame was.
fn clear(screen: &mut [u8], place: &Place, width: usize) {
    for row in screen.chunks_exact_mut(4 * width.max(1)).skip(place.top).take(place.height) {
        let (from, to) = ((4 * place.left).min(row.len()), (4 * (place.left + place.width)).min(row.len()));
        row[from..to].fill(0);
    }
}
