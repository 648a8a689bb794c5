//! Huffman tables (T.81 annexes C and F.2.2.3), and the ones of K.3 that stand in where a file has none.

use super::bits::{Bits, extend};

/// Codes up to this length are decoded by one look into a table.
const FAST: u32 = 10;

/// A table made for decoding.
pub(super) struct Table {
    /// By the next [`FAST`] bits: length in the lowest byte, run in the next, value in the upper half, when a
    /// code and its value fit; with a value of 0 the second byte is the code's symbol. 0 for longer codes.
    fast: Box<[u32; 1 << FAST]>,
    /// Behind the last code of each length, as 16 bits.
    end: [u32; 18],
    /// What to add to a code of each length to find its symbol.
    offset: [i32; 17],
    symbols: Box<[u8; 256]>,
}

/// What the next bits say.
#[derive(Clone, Copy)]
pub(super) enum Code {
    /// A value other than 0, behind a run of zeros.
    Value(u32, i32),
    /// A symbol whose value, if it has one, is still to be taken.
    Symbol(u8),
}

impl Table {
    /// From the counts of codes of 1 to 16 bits and their symbols; `None` when no prefix code is like that.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let total: usize = counts.iter().map(|c| usize::from(*c)).sum();
        if total > 256 || symbols.len() != total {
            return None;
        }
        let mut all = Box::new([0; 256]);
        all[..total].copy_from_slice(symbols);
        let mut table = Self { fast: Box::new([0; 1 << FAST]), end: [0; 18], offset: [0; 17], symbols: all };
        let (mut code, mut index) = (0_u32, 0_usize);
        for length in 1..=16_u32 {
            let count = u32::from(counts[length as usize - 1]);
            table.offset[length as usize] = index as i32 - code as i32;
            for next in code..code + count {
                if length <= FAST && next < 1 << length {
                    table.fill(next, length, symbols[index]);
                }
                index += 1;
            }
            code += count;
            // No code consists of ones only (T.81 C.2).
            if count > 0 && code >= 1 << length {
                return None;
            }
            table.end[length as usize] = code << (16 - length);
            code <<= 1;
        }
        table.end[17] = u32::MAX;
        Some(table)
    }

    fn fill(&mut self, code: u32, length: u32, symbol: u8) {
        let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
        let spare = FAST - length;
        let first = code << spare;
        for rest in 0..1_u32 << spare {
            self.fast[(first + rest) as usize] = if size > 0 && size <= spare {
                let value = extend(rest >> (spare - size), size);
                (value as u32) << 16 | run << 8 | (length + size)
            } else {
                u32::from(symbol) << 8 | length
            };
        }
    }

    /// Takes the next code, and the value behind it when that is quick. `None`: no code is like that.
    #[inline(always)]
    pub(super) fn code(&self, bits: &mut Bits<'_>) -> Option<Code> {
        bits.refill();
        let entry = self.fast[bits.peek(FAST) as usize];
        if entry >> 16 != 0 {
            bits.skip(entry & 0xFF);
            return Some(Code::Value(entry >> 8 & 0xFF, entry as i32 >> 16));
        }
        if entry != 0 {
            bits.skip(entry & 0xFF);
            return Some(Code::Symbol((entry >> 8) as u8));
        }
        // Takes the bits by value, so that the others can stay in registers.
        let (length, symbol) = self.long(bits.peek(16))?;
        bits.skip(length);
        Some(Code::Symbol(symbol))
    }

    /// Length and symbol of the code that 16 bits begin with.
    #[inline(never)]
    fn long(&self, next: u32) -> Option<(u32, u8)> {
        let length = (1..=17).find(|length| next < self.end[*length])?;
        if length > 16 {
            return None;
        }
        let index = (next >> (16 - length)) as i32 + self.offset[length];
        Some((length as u32, *self.symbols.get(index as usize)?))
    }

    /// Whether all symbols are sizes that a DC difference can have.
    pub(super) fn is_for_dc(symbols: &[u8]) -> bool {
        symbols.iter().all(|symbol| *symbol < 16)
    }
}

/// The tables of T.81 K.3 for luma (0) or chroma (1).
pub(super) fn default_table(ac: bool, index: usize) -> Option<Table> {
    let (counts, symbols): (&[u8; 16], &[u8]) = match (ac, index) {
        (false, 0) => (&[0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], &DC),
        (false, 1) => (&[0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], &DC),
        (true, 0) => (&[0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D], &AC_LUMA),
        (true, 1) => (&[0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77], &AC_CHROMA),
        _ => return None,
    };
    Table::new(counts, symbols)
}

const DC: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

#[rustfmt::skip]
const AC_LUMA: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
    0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72,
    0x82, 0x09, 0x0A, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3,
    0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3,
    0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE1, 0xE2,
    0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA,
];

#[rustfmt::skip]
const AC_CHROMA: [u8; 162] = [
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
    0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0, 0x15, 0x62, 0x72, 0xD1,
    0x0A, 0x16, 0x24, 0x34, 0xE1, 0x25, 0xF1, 0x17, 0x18, 0x19, 0x1A, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x35, 0x36,
    0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
    0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A,
    0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A,
    0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA,
    0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA,
    0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA,
];
