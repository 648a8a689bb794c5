//! From samples and coefficients to pixels.

use super::Scratch;
use super::color::{self, Colors};
use super::frame::Frame;
use super::idct::{NATURAL, idct};
use super::sequential::dequantise;
use super::upsample::{Plane, Upsample};

/// Writes the picture, interleaved, to `out`.
#[inline(always)]
pub(super) fn make(frame: &Frame, colors: Colors, scratch: &mut Scratch, out: &mut [u8]) {
    if frame.progressive {
        transform(frame, &scratch.blocks, &mut scratch.samples);
    }
    let plane = |c: &super::frame::Component| Plane {
        samples: &scratch.samples[64 * c.first..][..64 * c.stored.0 * c.stored.1],
        stride: c.stride(),
        size: c.size,
        upsample: Upsample::of(c, frame),
    };
    let planes: Vec<Plane<'_>> = frame.components.iter().map(plane).collect();
    if colors == Colors::Gray {
        for (y, row) in out.chunks_exact_mut(frame.width).enumerate() {
            row.copy_from_slice(planes[0].row(y, &mut [], &mut []));
        }
        return;
    }
    let room = frame.width.next_multiple_of(frame.h_max);
    let mut sums = vec![0_u16; room];
    let mut wide = [(); 4].map(|()| vec![0_u8; room]);
    for (y, row) in out.chunks_exact_mut(3 * frame.width).enumerate() {
        let mut rows: [&[u8]; 4] = [&[]; 4];
        for ((to, plane), wide) in rows.iter_mut().zip(&planes).zip(&mut wide) {
            *to = plane.row(y, &mut sums, wide);
        }
        color::row(colors, &rows, row);
    }
}

/// Transforms the blocks of a progressive frame.
#[inline(always)]
fn transform(frame: &Frame, blocks: &[[i16; 64]], samples: &mut [u8]) {
    for c in &frame.components {
        let Some(quantisers) = &c.quantisers else { continue };
        let stride = c.stride();
        for y in 0..c.blocks.1 {
            for x in 0..c.blocks.0 {
                let coded = &blocks[c.first + y * c.stored.0 + x];
                let mut block = [0; 64];
                let last = coded.iter().rposition(|value| *value != 0).unwrap_or(0);
                for k in 0..=last {
                    block[NATURAL[k]] = dequantise(coded[k].into(), quantisers[k]);
                }
                idct(&block, last, &mut samples[64 * c.first + 8 * (y * stride + x)..], stride);
            }
        }
    }
}
