//! Blocks of the methods B44 and B44A: squares of 4 by 4 samples of 16 bits, in 3 or 14 bytes.

/// Bytes of a square: its first sample, the width of the steps, and fifteen steps of 6 bits.
const SQUARE: usize = 14;

/// Whether a sample of a square falls below zero, where the library's arithmetic ends. `channels` are bytes of a
/// sample; those that have more than two are stored as they are.
pub(super) fn falls(packed: &[u8], channels: &[u8], width: u32, height: u32) -> bool {
    let squares = u64::from(width.div_ceil(4)) * u64::from(height.div_ceil(4));
    let mut rest = packed;
    for &size in channels {
        if size != 2 {
            let bytes = u64::from(width) * u64::from(height) * u64::from(size);
            rest = usize::try_from(bytes).ok().and_then(|bytes| rest.get(bytes..)).unwrap_or_default();
            continue;
        }
        for _ in 0..squares {
            // The library says it where there are too few.
            let Some(third) = rest.get(2) else { return false };
            if *third >= 13 << 2 {
                rest = &rest[3..];
            } else {
                let Some((square, behind)) = rest.split_first_chunk() else { return false };
                if square_falls(square) {
                    return true;
                }
                rest = behind;
            }
        }
    }
    false
}

fn square_falls(square: &[u8; SQUARE]) -> bool {
    let bits = square.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let width = square[2] >> 2;
    let mut samples = [0_u16; 16];
    samples[0] = (bits >> 96) as u16;
    for step in 0..15 {
        // Down the first column, then from each column to the next.
        let (column, row) = ((step + 1) / 4, (step + 1) % 4);
        let to = 4 * row + column;
        let from = if column == 0 { to - 4 } else { to - 1 };
        let up = (bits >> (84 - 6 * step) & 63) as u32;
        let raised = u32::from(samples[from]) + (up << width);
        let Some(sample) = raised.checked_sub(32 << width) else { return true };
        samples[to] = sample as u16;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square with steps of -32 + each of these.
    fn square(first: u16, width: u8, steps: [u8; 15]) -> [u8; SQUARE] {
        let bits = u128::from(first) << 6 | u128::from(width);
        let bits = steps.iter().fold(bits, |bits, step| bits << 6 | u128::from(*step));
        *bits.to_be_bytes().last_chunk().unwrap()
    }

    #[test]
    fn squares_that_fall_below_zero_are_found() {
        assert!(!square_falls(&square(0, 3, [32; 15])));
        assert!(!square_falls(&square(160, 0, [0, 0, 0, 32, 32, 32, 0, 32, 32, 32, 0, 32, 32, 32, 32])));
        assert!(square_falls(&square(159, 0, [0, 0, 0, 32, 32, 32, 0, 32, 32, 32, 0, 32, 32, 32, 32])));
        for at in 0..15 {
            let mut steps = [32; 15];
            steps[at] = 31;
            assert!(square_falls(&square(0, 2, steps)), "{at}");
        }
        // Samples wrap round at the top.
        assert!(!square_falls(&square(0xFFFF, 12, [63; 15])));
    }

    #[test]
    fn squares_stand_behind_channels_that_are_stored_as_they_are() {
        let falling = square(0, 0, [0; 15]);
        assert!(falls(&falling, &[2], 4, 4));
        assert!(falls(&[&[0; 3 * 4][..], &falling].concat(), &[4, 2], 3, 1));
        assert!(falls(&[&[0, 0, 0xFC][..], &falling].concat(), &[2], 5, 4));
        assert!(!falls(&[&[0; 3 * 4][..], &falling].concat(), &[4], 3, 1));
        assert!(!falls(&falling[..13], &[2], 4, 4));
    }
}
