//! Blocks of progressive scans (T.81 G.1.2).

use super::bits::Bits;
use super::huffman::{Code, Table};
use super::scan::Coder;

/// One component of a scan.
pub(super) struct Part<'a> {
    /// The table for DC or AC codes; no scan has both, and refinements of DC need none.
    pub(super) table: Option<&'a Table>,
    /// Its blocks in [`Progressive::blocks`], and those of a row.
    pub(super) start: usize,
    pub(super) stride: usize,
}

/// Adds a scan to coefficients in zigzag order.
pub(super) struct Progressive<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) blocks: &'a mut [[i16; 64]],
    /// First and last coefficient of the scan.
    pub(super) band: (usize, usize),
    /// The bit that the scan's values count from.
    pub(super) low: u8,
    /// Whether values are refined that earlier scans began.
    pub(super) refine: bool,
    pub(super) predictions: [i32; 4],
    /// Blocks still to be left empty in this band.
    pub(super) run: u32,
}

impl Coder for Progressive<'_> {
    fn restart(&mut self) {
        self.predictions = [0; 4];
        self.run = 0;
    }

    #[inline(always)]
    fn block(&mut self, bits: &mut Bits<'_>, part: usize, x: usize, y: usize) -> Option<()> {
        let Part { table, start, stride } = self.parts[part];
        if self.run > 0 && !self.refine {
            self.run -= 1;
            return Some(());
        }
        let index = start + y * stride + x;
        match (self.band.0, self.refine) {
            (0, false) => self.first_dc(bits, table?, part, index),
            (0, true) => {
                if bits.bit() {
                    self.blocks[index][0] |= 1 << self.low;
                }
                Some(())
            }
            (_, false) => self.first_ac(bits, table?, index),
            (_, true) => self.refine_ac(bits, table?, index),
        }
    }

    fn may_end(&self) -> bool {
        self.run == 0
    }
}

impl Progressive<'_> {
    #[inline(always)]
    fn first_dc(&mut self, bits: &mut Bits<'_>, table: &Table, part: usize, index: usize) -> Option<()> {
        let difference = match table.code(bits)? {
            Code::Value(_, value) => value,
            Code::Symbol(size) => bits.value(size.into()),
        };
        let prediction = &mut self.predictions[part & 3];
        *prediction = prediction.wrapping_add(difference);
        self.blocks[index][0] = (*prediction << self.low) as i16;
        Some(())
    }

    #[inline(always)]
    fn first_ac(&mut self, bits: &mut Bits<'_>, table: &Table, index: usize) -> Option<()> {
        let block = &mut self.blocks[index];
        let (mut k, last) = self.band;
        while k <= last {
            let value = match table.code(bits)? {
                Code::Value(run, value) => {
                    k += run as usize;
                    value
                }
                Code::Symbol(0xF0) => {
                    k += 16;
                    continue;
                }
                Code::Symbol(symbol) if symbol.trailing_zeros() >= 4 => {
                    self.run = end_run(bits, u32::from(symbol >> 4)) - 1;
                    return Some(());
                }
                Code::Symbol(symbol) => {
                    k += usize::from(symbol >> 4);
                    bits.value(u32::from(symbol & 15))
                }
            };
            if k > last {
                return None;
            }
            block[k & 63] = (value << self.low) as i16;
            k += 1;
        }
        (k <= last + 1).then_some(())
    }

    #[inline(always)]
    fn refine_ac(&mut self, bits: &mut Bits<'_>, table: &Table, index: usize) -> Option<()> {
        let block = &mut self.blocks[index];
        let (mut k, last) = self.band;
        let one = 1_i16 << self.low;
        if self.run == 0 {
            while k <= last {
                // Values that are new have one bit, their sign.
                let (run, value) = match table.code(bits)? {
                    Code::Value(run, value @ (-1 | 1)) => (run as usize, value as i16 * one),
                    Code::Symbol(0xF0) => (15, 0),
                    Code::Symbol(symbol) if symbol.trailing_zeros() >= 4 => {
                        self.run = end_run(bits, u32::from(symbol >> 4));
                        break;
                    }
                    Code::Symbol(symbol) if symbol & 15 == 1 => {
                        (usize::from(symbol >> 4), bits.value(1) as i16 * one)
                    }
                    _ => return None,
                };
                k = pass(bits, block, k..last + 1, run, one);
                if k > last {
                    return None;
                }
                if value != 0 {
                    block[k & 63] = value;
                }
                k += 1;
            }
        }
        if self.run > 0 {
            pass(bits, block, k..last + 1, 64, one);
            self.run -= 1;
        }
        Some(())
    }
}

/// Blocks that a code for the end of a band ends, this one included.
#[inline(always)]
fn end_run(bits: &mut Bits<'_>, size: u32) -> u32 {
    (1 << size) + bits.take(size)
}

/// Passes `zeros` coefficients that are 0 and takes a bit for each other one on the way; stops at the zero
/// behind them, or behind the band.
#[inline(always)]
fn pass(
    bits: &mut Bits<'_>,
    block: &mut [i16; 64],
    band: std::ops::Range<usize>,
    mut zeros: usize,
    one: i16,
) -> usize {
    for k in band.clone() {
        let value = &mut block[k & 63];
        if *value == 0 {
            if zeros == 0 {
                return k;
            }
            zeros -= 1;
        } else if bits.bit() && *value & one == 0 {
            *value = value.wrapping_add(if *value > 0 { one } else { -one });
        }
    }
    band.end
}
