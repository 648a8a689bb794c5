//! Samples as files have them to samples as pictures have them.

use super::super::zeroes;
use super::Fault;

/// Planes of samples of `size` bytes to pixels.
pub(super) fn interleaved(raw: &[u8], planes: usize, size: usize) -> Result<Vec<u8>, Fault> {
    let mut pixels: Vec<u8> = zeroes(raw.len(), "channels side by side")?;
    let plane = raw.len() / planes.max(1);
    for (channel, from) in raw.chunks_exact(plane.max(1)).enumerate().take(planes) {
        let targets = pixels.chunks_exact_mut(size * planes);
        for (to, sample) in targets.zip(from.chunks_exact(size)) {
            to[channel * size..][..size].copy_from_slice(sample);
        }
    }
    Ok(pixels)
}

/// Samples of 1, 2 or 4 bits, the first at the top of a byte, to bytes; `row` of them begin a byte anew. Scaled to 255,
/// or left as they are.
pub(super) fn unpacked(raw: &[u8], row: usize, bits: u8, scale: bool) -> Result<Vec<u8>, Fault> {
    let each = usize::from(8 / bits);
    let row_bytes = row.div_ceil(each).max(1);
    let most = 0xFF >> (8 - bits);
    let factor = if scale { 255 / most } else { 1 };
    let mut samples: Vec<u8> = zeroes(raw.len() / row_bytes * row, "samples of whole bytes")?;
    for (to, from) in samples.chunks_exact_mut(row.max(1)).zip(raw.chunks_exact(row_bytes)) {
        for (x, sample) in to.iter_mut().enumerate() {
            let shift = 8 - bits * (x % each + 1) as u8;
            *sample = (from[x / each] >> shift & most) * factor;
        }
    }
    Ok(samples)
}

/// Indices to 8-bit rgb; the map has all reds, then all greens, then all blues, of 16 bits.
pub(super) fn look_up(indices: &[u8], map: &[u16], rgb: &mut [u8]) -> Result<(), Fault> {
    let length = map.len() / 3;
    for (to, index) in rgb.as_chunks_mut::<3>().0.iter_mut().zip(indices) {
        let index = usize::from(*index);
        if index >= length {
            return Err(Fault::Corrupt(format!("colour {index} is not one of the {length} in its map")));
        }
        *to = [0, 1, 2].map(|channel| (map[channel * length + index] >> 8) as u8);
    }
    Ok(())
}

/// 8-bit CMYK to rgb: what is left of white. Device colours without a profile have no exact ones.
pub(super) fn cmyk(raw: &[u8], rgb: &mut [u8]) {
    let left = |ink: u8, black: u8| {
        let product = u32::from(255 - ink) * u32::from(255 - black);
        ((product + 127) / 255) as u8
    };
    for (to, [cyan, magenta, yellow, black]) in
        rgb.as_chunks_mut::<3>().0.iter_mut().zip(raw.as_chunks::<4>().0)
    {
        *to = [cyan, magenta, yellow].map(|ink| left(*ink, *black));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_told_apart_row_by_row() {
        assert_eq!(unpacked(&[0b1010_0000, 0b0100_0000], 3, 1, true).unwrap(), [255, 0, 255, 0, 255, 0]);
        assert_eq!(unpacked(&[0x1F, 0x20], 3, 4, false).unwrap(), [1, 15, 2]);
        assert_eq!(unpacked(&[0b0001_1011], 4, 2, true).unwrap(), [0, 85, 170, 255]);
    }
}
