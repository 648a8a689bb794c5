//! A fuzzer does not guess checksums: what it makes is given the right ones.

/// A PNG file with the checksum of every chunk put right, so that what the chunks say is looked at.
pub(crate) fn mended(file: &[u8]) -> Vec<u8> {
    let mut mended = file.to_vec();
    let mut at = 8;
    while let Some(&[a, b, c, d]) = file.get(at..at + 4) {
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let sum = (at + 8).checked_add(length).filter(|end| file.len() >= end + 4);
        let Some(sum) = sum else { break };
        let right = crc32fast::hash(&file[at + 4..sum]);
        mended[sum..sum + 4].copy_from_slice(&right.to_be_bytes());
        at = sum + 4;
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn a_whole_file_stays_as_it_is_and_a_changed_one_gets_right_sums() {
        let file = include_bytes!("../../../fuzz/seeds/png/rgb8.png");
        assert_eq!(mended(file), file);
        let mut changed = file.to_vec();
        changed[19] = 9;
        assert_eq!(mended(&changed)[..29], changed[..29]);
        assert_ne!(mended(&changed)[29..33], file[29..33]);
        assert_eq!(mended(&mended(&changed)), mended(&changed));
        assert_eq!(mended(&file[..40]), &file[..40], "a cut file");
    }
}
