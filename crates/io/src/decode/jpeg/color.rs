//! From a file's colors to rgb, with libjpeg's fixed-point factors (`jdcolor.c`).

use super::frame::Frame;
use super::markers::Application;
use super::simd::Level;

/// What the components of a frame are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colors {
    Gray,
    Rgb,
    YCbCr,
    /// Inks, stored the way Adobe does: 255 is none.
    Cmyk,
    Ycck,
}

impl Colors {
    /// JFIF says YCbCr and comes first, as in libjpeg; then Adobe's transform counts, then the names R, G, B.
    pub(super) fn of(frame: &Frame, application: &Application) -> Self {
        let ids: Vec<u8> = frame.components.iter().map(|c| c.id).collect();
        match (ids.len(), application.adobe) {
            (1, _) => Self::Gray,
            (3, _) if application.jfif => Self::YCbCr,
            (3, Some(0)) => Self::Rgb,
            (3, None) if ids == *b"RGB" => Self::Rgb,
            (3, _) => Self::YCbCr,
            (_, None | Some(0)) => Self::Cmyk,
            _ => Self::Ycck,
        }
    }
}

/// Pixels that are computed at once: their values stay in the innermost cache.
const BLOCK: usize = 256;

/// One row of pixels from rows of components.
#[inline(always)]
pub(super) fn row(colors: Colors, from: &[&[u8]; 4], out: &mut [u8], level: impl Level) {
    let mut start = 0;
    for out in out.chunks_mut(3 * BLOCK) {
        let count = out.len() / 3;
        let part = |c: usize| &from[c][start..start + count];
        let mut rgb = [[0; BLOCK]; 3];
        match colors {
            Colors::Gray => unreachable!("gray rows are copied"),
            Colors::Rgb | Colors::Cmyk => {
                for (c, to) in rgb.iter_mut().enumerate() {
                    to[..count].copy_from_slice(part(c));
                }
            }
            Colors::YCbCr | Colors::Ycck => ycc(part(0), part(1), part(2), &mut rgb),
        }
        match colors {
            Colors::Cmyk => ink(part(3), &mut rgb, 0),
            // The transform gives the inks' complements.
            Colors::Ycck => ink(part(3), &mut rgb, 255),
            _ => {}
        }
        level.interleave(rgb.each_ref().map(|plane| &plane[..count]), out);
        start += count;
    }
}

/// Three planes to pixels.
#[inline(always)]
pub(super) fn interleave([r, g, b]: [&[u8]; 3], out: &mut [u8]) {
    for (pixel, ((r, g), b)) in out.as_chunks_mut::<3>().0.iter_mut().zip(r.iter().zip(g).zip(b)) {
        *pixel = [*r, *g, *b];
    }
}

/// YCbCr to rgb (JFIF 1.02): factors of 2^16, 1.402 and 1.772 less the whole part that they are nearest to, so
/// that all fits 16 bits.
#[inline(always)]
fn ycc(luma: &[u8], cb: &[u8], cr: &[u8], rgb: &mut [[u8; BLOCK]; 3]) {
    let count = luma.len();
    let [red, green, blue] = rgb;
    let (cb, cr) = (&cb[..count], &cr[..count]);
    let (red, green, blue) = (&mut red[..count], &mut green[..count], &mut blue[..count]);
    for i in 0..count {
        let (y, cb, cr) = (i16::from(luma[i]), i16::from(cb[i]) - 128, i16::from(cr[i]) - 128);
        let (wide_cb, wide_cr) = (i32::from(cb), i32::from(cr));
        let green_of = ((18_734 * wide_cr - 22_554 * wide_cb + 32_768) >> 16) as i16;
        red[i] = (y + cr + rounded_product(cr, 26_345)).clamp(0, 255) as u8;
        green[i] = (y - cr + green_of).clamp(0, 255) as u8;
        blue[i] = (y + 2 * cb + rounded_product(cb, -14_942)).clamp(0, 255) as u8;
    }
}

/// `value * factor / 2^16`, rounded to the nearest, in two steps that vector instructions have.
#[inline(always)]
const fn rounded_product(value: i16, factor: i16) -> i16 {
    let twice = (2 * value as i32 * factor as i32) >> 16;
    (twice as i16 + 1) >> 1
}

/// Darkens by the black ink; `flip` is 255 where the others are stored as their complements.
#[inline(always)]
fn ink(black: &[u8], rgb: &mut [[u8; BLOCK]; 3], flip: u8) {
    for color in rgb {
        for (value, black) in color.iter_mut().zip(black) {
            let (ink, light) = (u32::from(255 - (*value ^ flip)), u32::from(*black));
            let product = ink * light + 128;
            *value = light.saturating_sub((product + (product >> 8)) >> 8) as u8;
        }
    }
}
