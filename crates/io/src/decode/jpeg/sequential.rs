//! Blocks of baseline and extended sequential scans (T.81 F.2.2).

use super::bits::Bits;
use super::huffman::{Code, Table};
use super::idct::NATURAL;
use super::reduced;
use super::scan::Coder;
use super::simd::Level;

/// One component of a scan.
pub(super) struct Part<'a> {
    pub(super) dc: &'a Table,
    pub(super) ac: &'a Table,
    pub(super) quantisers: &'a [u16; 64],
    /// Its samples in [`Sequential::samples`], and those of a row.
    pub(super) start: usize,
    pub(super) stride: usize,
    /// Samples across and down that a block becomes.
    pub(super) side: usize,
}

/// Decodes blocks and transforms them at once: each comes in one piece.
pub(super) struct Sequential<'a, L> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) predictions: [i32; 4],
    pub(super) samples: &'a mut [u8],
    block: [i16; 64],
    level: L,
}

impl<'a, L> Sequential<'a, L> {
    pub(super) const fn new(parts: Vec<Part<'a>>, samples: &'a mut [u8], level: L) -> Self {
        Self { parts, predictions: [0; 4], samples, block: [0; 64], level }
    }
}

impl<L: Level> Coder for Sequential<'_, L> {
    fn restart(&mut self) {
        self.predictions = [0; 4];
    }

    #[inline(always)]
    fn block(&mut self, bits: &mut Bits<'_>, part: usize, x: usize, y: usize) -> Option<()> {
        let Part { dc, ac, quantisers, start, stride, side } = self.parts[part];
        let difference = match dc.code(bits)? {
            Code::Value(_, value) => value,
            Code::Symbol(size) => bits.value(size.into()),
        };
        let prediction = &mut self.predictions[part & 3];
        *prediction = prediction.wrapping_add(difference);
        self.block[0] = *prediction as i16;
        let last = self::ac(bits, ac, &mut self.block)?;
        let out = &mut self.samples[start + side * (y * stride + x)..];
        match side {
            8 => self.level.idct(&self.block, quantisers, last, out, stride),
            _ => reduced::idct(&self.block, quantisers, side, out, stride),
        }
        if last > 0 {
            self.block = [0; 64];
        }
        Some(())
    }

    fn may_end(&self) -> bool {
        true
    }
}

/// The other 63 coefficients; gives the position of the last one that is not 0, in zigzag order.
#[inline(always)]
fn ac(from: &mut Bits<'_>, table: &Table, block: &mut [i16; 64]) -> Option<usize> {
    // A copy stays in registers.
    let mut bits = *from;
    let (mut k, mut last) = (1, 0);
    while k < 64 {
        let value = match table.code(&mut bits)? {
            Code::Value(run, value) => {
                k += run as usize;
                value
            }
            Code::Symbol(symbol) => {
                let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
                if size == 0 {
                    if run < 15 {
                        break;
                    }
                    k += 16;
                    continue;
                }
                k += run;
                bits.value(size)
            }
        };
        if k > 63 {
            return None;
        }
        block[NATURAL[k]] = value as i16;
        last = k;
        k += 1;
    }
    *from = bits;
    (k <= 64).then_some(last)
}
