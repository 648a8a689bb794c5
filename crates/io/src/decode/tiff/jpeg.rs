//! JPEG files in strips and tiles (TIFF Technical Note 2), as far as memory goes by them.

use super::directory::Chunks;

/// A frame's header: its marker, its length, 8 bits, height, width and the count of its components.
const HEADER: usize = 10;

/// The first frame that is larger than its strip or tile but for whole squares. The tables in front of all have a frame
/// of their own in no file, but the decoder would take one from there as well.
pub(super) fn larger(tables: &[u8], file: &[u8], chunks: &Chunks) -> Option<(u32, u32)> {
    // One behind the other, less an end and a beginning, as the decoder has them.
    let tables = &tables[..tables.len().saturating_sub(2)];
    let file = if tables.is_empty() { file } else { file.get(2..).unwrap_or_default() };
    let border = [&tables[tables.len().saturating_sub(HEADER)..], &file[..HEADER.min(file.len())]].concat();
    let mut frames =
        [tables, file, &border].into_iter().flat_map(|bytes| bytes.windows(HEADER)).filter_map(frame);
    frames.find(|(width, height)| {
        *width > chunks.width.next_multiple_of(16) || *height > chunks.height.next_multiple_of(16)
    })
}

/// The size of a frame whose header this is, if it is one that the decoder takes.
fn frame(header: &[u8]) -> Option<(u32, u32)> {
    match *header {
        [0xFF, 0xC0..=0xC2, 0, length, 8, h1, h0, w1, w0, components]
            if u32::from(length) == 8 + 3 * u32::from(components) =>
        {
            Some((u16::from_be_bytes([w1, w0]).into(), u16::from_be_bytes([h1, h0]).into()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_tables_and_across_their_border() {
        let chunks = Chunks { width: 16, height: 16, count: 1, row: 16, jpeg: true };
        let file = [0xFF, 0xD8, 0xFF, 0xC2, 0, 11, 8, 1, 0, 0, 16, 1];
        assert_eq!(larger(&[], &file, &chunks), Some((16, 256)));
        assert_eq!(larger(&[], &file[..11], &chunks), None);
        let tables = [&file[..], &[0xFF, 0xD9]].concat();
        assert_eq!(larger(&tables, &[], &chunks), Some((16, 256)));
        // Two bytes at the end of tables are left out, and two at the beginning of the file.
        let halves = ([&file[..5], &[0xFF, 0xD9]].concat(), [&[0xFF, 0xD8], &file[5..]].concat());
        assert_eq!(larger(&halves.0, &halves.1, &chunks), Some((16, 256)));
    }
}
