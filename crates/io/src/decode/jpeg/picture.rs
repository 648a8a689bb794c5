//! From samples and coefficients to pixels.

use super::super::{Fault, zeroes};
use super::Scratch;
use super::color::{self, Colors};
use super::frame::Frame;
use super::idct::NATURAL;
use super::reduced;
use super::simd::Level;
use super::upsample::{Plane, Upsample};

/// What stands for the rows that are kept, in errors.
const ROWS: &str = "rows of a JPEG picture";

/// Writes the picture, interleaved, to `out`.
#[inline(always)]
pub(super) fn make(
    frame: &Frame,
    colors: Colors,
    scratch: &mut Scratch,
    out: &mut [u8],
    level: impl Level,
) -> Result<(), Fault> {
    if frame.progressive {
        transform(frame, &scratch.blocks, &mut scratch.samples, level);
    }
    let plane = |c: &super::frame::Component| Plane {
        samples: &scratch.samples[c.start..][..c.samples()],
        stride: c.stride(),
        size: c.size,
        upsample: Upsample::of(c, frame),
    };
    let planes: Vec<Plane<'_>> = frame.components.iter().map(plane).collect();
    let (width, _) = frame.scaled();
    if colors == Colors::Gray {
        for (y, row) in out.chunks_exact_mut(width).enumerate() {
            row.copy_from_slice(planes[0].row(y, &mut [], &mut []));
        }
        return Ok(());
    }
    let room = width.next_multiple_of(frame.h_max);
    let mut sums: Vec<u16> = zeroes(room, ROWS)?;
    let mut wide: Vec<u8> = zeroes(4 * room, ROWS)?;
    for (y, row) in out.chunks_exact_mut(3 * width).enumerate() {
        let mut rows: [&[u8]; 4] = [&[]; 4];
        for ((to, plane), wide) in rows.iter_mut().zip(&planes).zip(wide.chunks_exact_mut(room)) {
            *to = plane.row(y, &mut sums, wide);
        }
        color::row(colors, &rows, row, level);
    }
    Ok(())
}

/// Transforms the blocks of a progressive frame.
#[inline(always)]
fn transform(frame: &Frame, blocks: &[[i16; 64]], samples: &mut [u8], level: impl Level) {
    for c in &frame.components {
        let Some(quantisers) = &c.quantisers else { continue };
        let stride = c.stride();
        for y in 0..c.blocks.1 {
            for x in 0..c.blocks.0 {
                let coded = &blocks[c.first + y * c.stored.0 + x];
                let mut block = [0; 64];
                let last = coded.iter().rposition(|value| *value != 0).unwrap_or(0);
                for k in 0..=last {
                    block[NATURAL[k]] = coded[k];
                }
                let at = c.start + c.side * (y * stride + x);
                let out = &mut samples[at..];
                match c.side {
                    8 => level.idct(&block, quantisers, last, out, stride),
                    side => reduced::idct(&block, quantisers, side, out, stride),
                }
            }
        }
    }
}
