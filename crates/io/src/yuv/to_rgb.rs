//! Planes to interleaved RGB.

use mip_core::ImageViewMut;

use super::Planes;
use super::coefficients::{BITS, ToRgb};

/// Pixels that are computed at once: their intermediate values stay in the innermost cache.
const BLOCK: usize = 256;

/// Converts a frame. Compiled for whatever instructions the caller was compiled for.
#[inline(always)]
pub(super) fn convert(factors: &ToRgb, planes: &Planes, image: &mut ImageViewMut<'_>) {
    let (across, down) = planes.sampling().subsampling().expect("called for planes with chroma");
    let ((width, height), (chroma_width, _)) = (planes.sizes().luma, planes.sizes().chroma);
    let [luma, u, v] = planes.split();
    for y in 0..height {
        let luma = &luma[y * width..][..width];
        let start = y / down as usize * chroma_width;
        let (u, v) = (&u[start..][..chroma_width], &v[start..][..chroma_width]);
        let row = image.row_mut(0, 0, y);
        if across == 1 { full_row(factors, luma, u, v, row) } else { half_row(factors, luma, u, v, row) }
    }
}

#[inline(always)]
fn full_row(factors: &ToRgb, luma: &[u8], u: &[u8], v: &[u8], row: &mut [u8]) {
    let chroma = u.chunks(BLOCK).zip(v.chunks(BLOCK));
    for ((luma, (u, v)), out) in luma.chunks(BLOCK).zip(chroma).zip(row.chunks_mut(3 * BLOCK)) {
        block(factors, luma, u, v, out);
    }
}

/// Each chroma sample counts for two luma samples (the last one for one where the width is odd).
#[inline(always)]
fn half_row(factors: &ToRgb, luma: &[u8], u: &[u8], v: &[u8], row: &mut [u8]) {
    let chroma = u.chunks(BLOCK / 2).zip(v.chunks(BLOCK / 2));
    let (mut wide_u, mut wide_v) = ([0; BLOCK], [0; BLOCK]);
    for ((luma, (u, v)), out) in luma.chunks(BLOCK).zip(chroma).zip(row.chunks_mut(3 * BLOCK)) {
        twice(u, &mut wide_u);
        twice(v, &mut wide_v);
        block(factors, luma, &wide_u, &wide_v, out);
    }
}

#[inline(always)]
fn twice(from: &[u8], to: &mut [u8; BLOCK]) {
    for (to, &value) in to.chunks_exact_mut(2).zip(from) {
        to.copy_from_slice(&[value, value]);
    }
}

/// Up to [`BLOCK`] pixels.
#[inline(always)]
fn block(factors: &ToRgb, luma: &[u8], u: &[u8], v: &[u8], out: &mut [u8]) {
    let mut planes = [[0; BLOCK]; 3];
    let [red, green, blue] = &mut planes;
    let [red_offset, green_offset, blue_offset] = factors.offsets;
    let count = luma.len();
    let (u, v) = (&u[..count], &v[..count]);
    let (red, green, blue) = (&mut red[..count], &mut green[..count], &mut blue[..count]);
    for i in 0..count {
        let (y, u, v) = (i32::from(luma[i]) * factors.luma, i32::from(u[i]), i32::from(v[i]));
        red[i] = quantise(y + v * factors.red_v + red_offset);
        green[i] = quantise(y + u * factors.green_u + v * factors.green_v + green_offset);
        blue[i] = quantise(y + u * factors.blue_u + blue_offset);
    }
    for (pixel, ((&r, &g), &b)) in out.chunks_exact_mut(3).zip(red.iter().zip(&*green).zip(&*blue)) {
        pixel.copy_from_slice(&[r, g, b]);
    }
}

#[inline(always)]
fn quantise(sum: i32) -> u8 {
    (sum >> BITS).clamp(0, 255) as u8
}
