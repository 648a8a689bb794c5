use super::super::Fault;
use super::directory::{Chunks, Directory};

/// A file of 64 bytes behind a directory of such entries: tag, type, count and value.
fn file(entries: &[(u16, u16, u32, u32)]) -> Vec<u8> {
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, count, value) in entries {
        file.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
        file.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
    }
    file.extend([0; 68]);
    file
}

/// A picture of 40x30 in strips of 8 rows, with further entries.
fn strips(further: &[(u16, u16, u32, u32)]) -> Vec<u8> {
    let usual = [(256, 3, 1, 40), (257, 3, 1, 30), (273, 4, 4, 8), (278, 3, 1, 8), (279, 4, 4, 8)];
    file(&[&usual, further].concat())
}

fn refused(file: &[u8]) -> String {
    match Directory::of(file).and_then(|directory| directory.chunks()) {
        Err(Fault::Corrupt(text) | Fault::Truncated(text)) => text,
        other => format!("{other:?}"),
    }
}

#[test]
fn what_memory_goes_by_is_read() {
    let chunks = |file: &[u8]| Directory::of(file).unwrap().chunks().unwrap();
    let one_bit = Chunks { width: 40, height: 8, count: 4, row: 5, jpeg: false };
    assert_eq!(chunks(&strips(&[])), one_bit);
    assert_eq!(chunks(&strips(&[(258, 3, 1, 16)])), Chunks { row: 80, ..one_bit });
    let rgb = [(258, 3, 1, 8), (277, 3, 1, 3)];
    assert_eq!(chunks(&strips(&rgb)), Chunks { row: 120, ..one_bit });
    // The last entry of a tag counts, and those of unknown types do not.
    assert_eq!(
        chunks(&strips(&[(256, 3, 1, 16), (256, 99, 1, 24)])),
        Chunks { width: 16, row: 2, ..one_bit }
    );
    let whole = [(256, 3, 1, 4), (257, 3, 1, 3), (273, 4, 1, 8), (279, 4, 1, 8), (278, 4, 1, u32::MAX)];
    assert_eq!(chunks(&file(&whole)).height, 3);
}

#[test]
fn numbers_that_do_not_fit_each_other_are_refused() {
    let tall = [(257, 4, 1, u32::MAX - 8), (277, 3, 1, 17), (278, 3, 1, 126), (284, 3, 1, 2)];
    assert!(refused(&strips(&tall)).contains("StripOffsets has 4 values, but 579479714 strips"));
    let tall = [(257, 4, 1, u32::MAX), (277, 3, 1, 0xFFFF), (278, 3, 1, 1), (284, 3, 1, 2)];
    assert!(refused(&strips(&tall)).contains("has 4 values"));
    assert!(refused(&strips(&[(279, 4, 3, 8)])).contains("StripByteCounts has 3 values"));
    assert!(refused(&strips(&[(278, 3, 1, 0)])).contains("no RowsPerStrip"));
    assert!(refused(&strips(&[(256, 3, 2, 8)])).contains("ImageWidth has 2 values"));
    assert!(refused(&strips(&[(258, 3, 0, 8)])).contains("BitsPerSample is no number"));
    assert!(refused(&strips(&[(700, 1, 1000, 8)])).contains("entry 700 claims 1000 values"));
    let wide = [(322, 4, 1, u32::MAX), (323, 3, 1, 30), (324, 4, 1, 8), (325, 4, 1, 8)];
    assert!(refused(&strips(&wide)).contains("cannot hold a row of 536870912"));
    assert!(refused(&strips(&[])[..40]).contains("inside its directory"));
}

#[test]
fn a_jpeg_is_no_larger_than_its_strip() {
    let read = |width: u8, height: u8| {
        let entries = [(256, 3, 1, 40), (257, 3, 1, 8), (259, 3, 1, 7), (273, 4, 1, 100), (279, 4, 1, 12)];
        let mut file = file(&entries);
        file[100..112].copy_from_slice(&[0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, height, 0, width, 1]);
        refused(&file)
    };
    assert!(read(48, 16).starts_with("Ok(Chunks {"), "{}", read(48, 16));
    assert!(read(49, 8).contains("a JPEG of 49x8 in a strip or tile of 40x8"));
    assert!(read(40, 17).contains("a JPEG of 40x17"));
}
