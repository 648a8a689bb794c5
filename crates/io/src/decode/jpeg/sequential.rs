//! Blocks of baseline and extended sequential scans (T.81 F.2.2).

use super::bits::Bits;
use super::huffman::{Code, Table};
use super::idct::{NATURAL, idct};
use super::scan::Coder;

/// One component of a scan.
pub(super) struct Part<'a> {
    pub(super) dc: &'a Table,
    pub(super) ac: &'a Table,
    pub(super) quantisers: &'a [u16; 64],
    /// Its samples in [`Sequential::samples`], and those of a row.
    pub(super) start: usize,
    pub(super) stride: usize,
}

/// Decodes blocks and transforms them at once: each comes in one piece.
pub(super) struct Sequential<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) predictions: [i32; 4],
    pub(super) samples: &'a mut [u8],
    block: [i16; 64],
}

impl<'a> Sequential<'a> {
    pub(super) const fn new(parts: Vec<Part<'a>>, samples: &'a mut [u8]) -> Self {
        Self { parts, predictions: [0; 4], samples, block: [0; 64] }
    }
}

/// Coefficient times quantiser. What an encoder can have meant fits easily.
#[inline(always)]
pub(super) fn dequantise(value: i32, quantiser: u16) -> i16 {
    value.wrapping_mul(i32::from(quantiser)).clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

impl Coder for Sequential<'_> {
    fn restart(&mut self) {
        self.predictions = [0; 4];
    }

    #[inline(always)]
    fn block(&mut self, bits: &mut Bits<'_>, part: usize, x: usize, y: usize) -> Option<()> {
        let Part { dc, ac, quantisers, start, stride } = self.parts[part];
        let difference = match dc.code(bits)? {
            Code::Value(_, value) => value,
            Code::Symbol(size) => bits.value(size.into()),
        };
        let prediction = &mut self.predictions[part & 3];
        *prediction = prediction.wrapping_add(difference);
        self.block[0] = dequantise(i32::from(*prediction as i16), quantisers[0]);
        let last = self::ac(bits, ac, quantisers, &mut self.block)?;
        let at = start + 8 * (y * stride + x);
        idct(&self.block, last, &mut self.samples[at..], stride);
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
fn ac(bits: &mut Bits<'_>, table: &Table, quantisers: &[u16; 64], block: &mut [i16; 64]) -> Option<usize> {
    let (mut k, mut last) = (1, 0);
    while k < 64 {
        let value = match table.code(bits)? {
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
        block[NATURAL[k]] = dequantise(value, quantisers[k]);
        last = k;
        k += 1;
    }
    (k <= 64).then_some(last)
}
