//! Coefficients to bits (T.81 F.1.2).

use super::tables::Code;
use crate::decode::NATURAL;

/// For each four coefficients of a block in rows and each set of them, their places in zigzag order as bits.
const ZIGZAG_BITS: [[u64; 16]; 16] = {
    let mut bits = [[0; 16]; 16];
    let mut place = 0;
    while place < 64 {
        let (four, one) = (NATURAL[place] / 4, NATURAL[place] % 4);
        let mut set = 0;
        while set < 16 {
            if set >> one & 1 == 1 {
                bits[four][set] |= 1 << place;
            }
            set += 1;
        }
        place += 1;
    }
    bits
};

/// Which coefficients of a block are not 0, in zigzag order, from which are not in rows.
#[inline(always)]
fn in_zigzag_order(rows: u64) -> u64 {
    let mut bits = 0;
    for (four, sets) in ZIGZAG_BITS.iter().enumerate() {
        bits |= sets[(rows >> (4 * four)) as usize & 15];
    }
    bits
}

/// The codes of a component.
pub(super) struct Coder {
    pub(super) first: [Code; 256],
    pub(super) others: [Code; 256],
}

/// The bits of a scan, gathered to whole bytes, of which 255 is followed by a 0.
pub(super) struct Bits {
    out: Vec<u8>,
    /// The last bits, at the lower end; what is above them has been written.
    held: u64,
    /// How many more fit.
    free: u32,
}

impl Bits {
    /// Goes on behind what has been written.
    pub(super) const fn after(out: Vec<u8>) -> Self {
        Self { out, held: 0, free: u64::BITS }
    }

    #[inline(always)]
    fn put(&mut self, bits: u32, count: u32) {
        if count <= self.free {
            self.held = self.held << count | u64::from(bits);
            self.free -= count;
        } else {
            self.spill(bits, count);
        }
    }

    #[inline(always)]
    fn spill(&mut self, bits: u32, count: u32) {
        let over = count - self.free;
        let full = self.held << self.free | u64::from(bits) >> over;
        let bytes = full.to_be_bytes();
        // Whether a byte is 255: only then do both its highest bit and a carry out of it show.
        let high = 0x8080_8080_8080_8080;
        if full & high & !full.wrapping_add(0x0101_0101_0101_0101) == 0 {
            self.out.extend_from_slice(&bytes);
        } else {
            for byte in bytes {
                self.push(byte);
            }
        }
        self.held = u64::from(bits);
        self.free = u64::BITS - over;
    }

    fn push(&mut self, byte: u8) {
        self.out.push(byte);
        if byte == 255 {
            self.out.push(0);
        }
    }

    #[inline(always)]
    fn code(&mut self, (code, bits): Code) {
        self.put(code.into(), bits.into());
    }

    /// A symbol with the bits of a coefficient behind it: its lower bits, of one below where it is negative.
    #[inline(always)]
    fn valued(&mut self, (code, bits): Code, value: i32, size: u32) {
        let below = (value + (value >> 31)) as u32 & ((1 << size) - 1);
        self.put(u32::from(code) << size | below, u32::from(bits) + size);
    }

    /// A block in rows, those of its coefficients set in `nonzero` that are not 0, whose first is `before` in the block
    /// before it.
    #[inline(always)]
    pub(super) fn block(&mut self, block: &[i16; 64], nonzero: u64, before: i16, coder: &Coder) {
        let step = i32::from(block[0]) - i32::from(before);
        self.valued(coder.first[size(step) as usize], step, size(step));
        let mut left = in_zigzag_order(nonzero) & !1;
        let mut last = 0;
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            let mut zeros = place - last - 1;
            last = place;
            while zeros > 15 {
                self.code(coder.others[0xF0]);
                zeros -= 16;
            }
            let value = i32::from(block[NATURAL[place as usize & 63]]);
            let bits = size(value);
            self.valued(coder.others[(zeros << 4 | bits) as usize & 255], value, bits);
        }
        if last < 63 {
            self.code(coder.others[0]);
        }
    }

    /// A block outside the picture: the first coefficient of the one before, and nothing else.
    #[inline(always)]
    pub(super) fn empty_block(&mut self, coder: &Coder) {
        self.code(coder.first[0]);
        self.code(coder.others[0]);
    }

    /// Fills the last byte with ones; what follows starts a byte.
    pub(super) fn align(&mut self) {
        let held = u64::BITS - self.free;
        if held == 0 {
            return;
        }
        let fill = self.free % 8;
        let last = ((self.held << fill) | ((1 << fill) - 1)) << (self.free - fill);
        for byte in last.to_be_bytes().into_iter().take((held + fill) as usize / 8) {
            self.push(byte);
        }
        (self.held, self.free) = (0, u64::BITS);
    }

    /// What was written, without the bits of an unfinished byte.
    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    pub(super) fn into_out(self) -> Vec<u8> {
        self.out
    }
}

/// How many bits a value takes without its sign.
#[inline(always)]
fn size(value: i32) -> u32 {
    u32::BITS - value.unsigned_abs().leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_whole_bytes_and_255_is_marked() {
        let mut bits = Bits::after(vec![7]);
        for (value, count) in [(0x1FF, 9), (0, 3), (0x7FF_FFFF, 27), (1, 1), (0, 27), (0, 0), (0x5A5, 12)] {
            bits.put(value, count);
        }
        bits.align();
        // 111111111 000 1111...(27) 1 0...(27) 010110100101, then ones.
        let text = format!(
            "{}{}{}{}{}{}",
            "1".repeat(9),
            "000",
            "1".repeat(28),
            "0".repeat(27),
            "010110100101",
            "1"
        );
        let mut expected = vec![7];
        for byte in text.as_bytes().chunks(8) {
            let byte = byte.iter().fold(0, |sum, bit| sum << 1 | (bit - b'0'));
            expected.push(byte);
            if byte == 255 {
                expected.push(0);
            }
        }
        assert_eq!(text.len() % 8, 0);
        assert_eq!(bits.out, expected);
        bits.put(0, 1);
        bits.align();
        assert_eq!(bits.out.last(), Some(&0x7F));
    }

    #[test]
    fn an_exactly_full_word_is_written_once() {
        let mut bits = Bits::after(Vec::new());
        (0..4).for_each(|_| bits.put(0x1234, 16));
        assert_eq!(bits.free, 0);
        bits.put(0xAB, 8);
        bits.align();
        assert_eq!(bits.out, [0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0xAB]);
    }

    #[test]
    fn places_in_zigzag_order_are_those_of_the_table() {
        for (place, natural) in NATURAL.iter().enumerate() {
            assert_eq!(in_zigzag_order(1 << natural), 1 << place);
        }
        assert_eq!(in_zigzag_order(u64::MAX), u64::MAX);
    }
}
