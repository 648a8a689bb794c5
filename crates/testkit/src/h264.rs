//! H.264 streams whose pictures are known to the bit: every macroblock is coded as samples (`I_PCM`).

/// Packets of a stream with start codes (ITU-T H.264 annex B), one picture each, that decoders of the Baseline profile show in that order.
///
/// Pictures are planes of 4:2:0, luma, U and V, `width` and `height` even, from 2 to 4096. Every picture stands alone, and each packet
/// has the headers in front.
///
/// # Panics
/// When a picture has another size.
pub fn pcm_stream(width: usize, height: usize, pictures: &[Vec<u8>]) -> Vec<Vec<u8>> {
    assert!(width.is_multiple_of(2) && height.is_multiple_of(2), "sides are even");
    let packet = |(index, picture): (usize, &Vec<u8>)| {
        assert_eq!(picture.len(), width * height * 3 / 2, "a picture of another size");
        [sequence(width, height), parameters(), slice(width, height, picture, index)].concat()
    };
    pictures.iter().enumerate().map(packet).collect()
}

/// Bits, the highest of a byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Bits of the last byte that are used.
    used: u32,
}

impl Bits {
    fn put(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().expect("one was pushed");
            *last |= ((value >> bit & 1) as u8) << (7 - self.used);
            self.used = (self.used + 1) % 8;
        }
    }

    /// Exp-Golomb codes (9.1).
    fn number(&mut self, value: u32) {
        let length = 32 - (value + 1).leading_zeros();
        self.put(0, length - 1);
        self.put(value + 1, length);
    }

    fn numbers(&mut self, values: &[u32]) {
        for value in values {
            self.number(*value);
        }
    }

    fn align(&mut self, bit: u32) {
        while self.used != 0 {
            self.put(bit, 1);
        }
    }

    /// A unit of the stream (7.3.1): its start code, its header, and its bits without what looks like a start code.
    fn unit(mut self, header: u8) -> Vec<u8> {
        self.put(1, 1);
        self.align(0);
        let mut unit = vec![0, 0, 0, 1, header];
        let mut zeros = 0;
        for byte in self.bytes {
            if zeros == 2 && byte <= 3 {
                unit.push(3);
                zeros = 0;
            }
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            unit.push(byte);
        }
        unit
    }
}

/// Sequence parameters (7.3.2.1.1): Baseline, level 5.1, order of display as of decoding.
fn sequence(width: usize, height: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    for byte in [66, 0xC0, 51] {
        bits.put(byte, 8);
    }
    let (wide, high) = (width.div_ceil(16) as u32, height.div_ceil(16) as u32);
    // Number, bits of frame numbers less 4, kind of order, reference frames.
    bits.numbers(&[0, 0, 2, 1]);
    bits.put(0, 1);
    bits.numbers(&[wide - 1, high - 1]);
    // Frames, not fields; inference of motion.
    bits.put(0b11, 2);
    let (right, bottom) = (16 * wide - width as u32, 16 * high - height as u32);
    bits.put(u32::from(right + bottom > 0), 1);
    if right + bottom > 0 {
        bits.numbers(&[0, right / 2, 0, bottom / 2]);
    }
    // Nothing on how to show them.
    bits.put(0, 1);
    bits.unit(0x67)
}

/// Picture parameters (7.3.2.2).
fn parameters() -> Vec<u8> {
    let mut bits = Bits::default();
    bits.numbers(&[0, 0]);
    bits.put(0, 2);
    // Slice groups, and references of two lists, less 1.
    bits.numbers(&[0, 0, 0]);
    bits.put(0, 3);
    // Quantisers and their offset for chroma.
    bits.numbers(&[0, 0, 0]);
    // Slices say whether edges are filtered.
    bits.put(0b100, 3);
    bits.unit(0x68)
}

/// A picture as one slice (7.3.3) that needs no other.
fn slice(width: usize, height: usize, picture: &[u8], index: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    // First macroblock, kind (all of it intra), parameters.
    bits.numbers(&[0, 7, 0]);
    bits.put(0, 4);
    bits.number((index % 2) as u32);
    // It is not kept for later ones.
    bits.put(0, 2);
    // Quantiser as it was, edges as they are.
    bits.numbers(&[0, 1]);
    let planes = [
        (0, width, height, 16),
        (width * height, width / 2, height / 2, 8),
        (width * height * 5 / 4, width / 2, height / 2, 8),
    ];
    for y in 0..height.div_ceil(16) {
        for x in 0..width.div_ceil(16) {
            bits.number(25);
            bits.align(0);
            for (start, wide, high, side) in planes {
                for row in side * y..side * (y + 1) {
                    for column in side * x..side * (x + 1) {
                        // What fills a macroblock is not shown.
                        let at = start + row.min(high - 1) * wide + column.min(wide - 1);
                        bits.put(picture[at].into(), 8);
                    }
                }
            }
        }
    }
    bits.unit(0x65)
}

#[test]
fn a_picture_takes_a_unit_of_samples_without_start_codes() {
    let zeros = vec![0; 16 * 16 * 3 / 2];
    let packets = pcm_stream(16, 16, &[zeros]);
    let starts = packets[0].windows(3).filter(|bytes| *bytes == [0, 0, 1]).count();
    assert_eq!(starts, 3);
    // Of 384 zeros every second pair is followed by a 3.
    assert!(packets[0].len() > 384 * 3 / 2, "{}", packets[0].len());
}
