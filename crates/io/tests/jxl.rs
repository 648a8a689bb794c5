//! JPEG XL: files of `tests/pictures/make_jxl.py`, by libjxl, against what libjxl reads from them.

#![cfg(feature = "jxl")]

mod common;

use std::path::{Path, PathBuf};

use common::outside;
use mip_io::{FileFormat, IccUse, IoError, ReadOptions, Reader, read_bytes};
use proptest::prelude::*;

fn folder() -> PathBuf {
    outside::folder("jxl")
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

#[test]
fn pixels_are_those_of_libjxl() {
    assert!(outside::cases("jxl").len() > 40);
    outside::compare("jxl", &["animated"]);
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for name in ["u8_3.jxl", "lossy_alpha.jxl", "turned_6.jxl", "boxes.jxl", "icc.jxl", "progressive.jxl"] {
        let file = file(name);
        // Boxes may follow the one with the picture.
        let whole = read_bytes(&file, name).unwrap();
        let mut refused = 0;
        for length in 0..file.len() {
            match read_bytes(&file[..length], "cut.jxl") {
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().starts_with("cut.jxl is "), "{name} {length}: {error}");
                    assert!(!matches!(error, IoError::Corrupt { .. }), "{name} {length}: {error}");
                }
                Ok(image) => assert_eq!(image, whole),
            }
        }
        assert!(refused >= file.len() - 8 || name == "turned_6.jxl", "{name}: {refused} of {}", file.len());
        assert!(
            read_bytes(&[&file[..], &[7; 100]].concat(), name).unwrap() == whole,
            "{name}: with something behind"
        );
    }
}

#[test]
fn the_first_bytes_tell_the_format() {
    let picture = read_bytes(&file("u8_3.jxl"), "u8_3.jxl").unwrap();
    assert_eq!(read_bytes(&file("u8_3.jxl"), "holiday.png").unwrap(), picture);
    let error = "a.jxl".parse::<FileFormat>().and_then(|_| FileFormat::from_path(Path::new("a.jxl")));
    assert!(error.is_err(), "it is only read");
    assert_eq!(FileFormat::from_extension("JXL"), Some(FileFormat::Jxl));
}

#[test]
fn sides_are_looked_at_before_memory_is_taken() {
    let mut reader = Reader::new(ReadOptions { max_pixels: 44, ..ReadOptions::default() });
    for name in ["u8_3.jxl", "boxes.jxl"] {
        let error = reader.read(folder().join(name)).unwrap_err();
        assert!(matches!(error, IoError::TooManyPixels { width: 9, height: 5, .. }), "{error}");
    }
    // 2^30 by 2^30 pixels, and nothing else.
    let mut huge = vec![0xFF, 0x0A];
    let mut bits: u128 = 0b11 << 1 | ((1 << 30) - 1) << 3;
    bits |= 0b11 << 36 | ((1 << 30) - 1) << 38 | 0b11 << 68;
    huge.extend(&bits.to_le_bytes()[..12]);
    let error = read_bytes(&huge, "huge.jxl").unwrap_err();
    assert!(
        matches!(error, IoError::TooManyPixels { width: 0x4000_0000, height: 0x4000_0000, .. }),
        "{error}"
    );
}

#[test]
fn profiles_go_with_the_pixels() {
    let profile = |name: &str| outside::profile("jxl", name);
    assert_eq!(profile("icc.jxl"), (Some(file("icc.icc")), vec![]));
    assert!(profile("p3.jxl").0.is_some_and(|profile| profile.len() > 128));
    assert_eq!(profile("lossy.jxl"), (None, vec![]));
    assert_eq!(profile("exif.jxl"), (None, vec!["EXIF", "XMP"]));
    // Pixels are converted by it.
    let mut reader = Reader::new(ReadOptions { icc: IccUse::Srgb, ..ReadOptions::default() });
    let converted = reader.read(folder().join("icc.jxl")).unwrap();
    assert_ne!(converted, read_bytes(&file("icc.jxl"), "icc.jxl").unwrap());
}

#[test]
fn what_is_no_picture_of_ours_is_refused_with_the_reason() {
    let text = |file: &[u8]| read_bytes(file, "a.jxl").unwrap_err().to_string();
    assert!(text(&[0xFF, 0x0A]).contains("a.jxl is truncated"));
    assert!(text(b"\0\0\0\x0CJXL \r\n\x87\n\0\0\0\x14ftypjxl \0\0\0\0jxl ").contains("a.jxl is truncated"));
    let parts = b"\0\0\0\x0CJXL \r\n\x87\n\0\0\0\x0Ejxlp\0\0\0\x01ab";
    assert!(text(parts).contains("part 0 of its stream is out of order"), "{}", text(parts));
    let mut strict = Reader::new(ReadOptions { strict: true, ..ReadOptions::default() });
    let error = strict.read(folder().join("animated.jxl")).unwrap_err();
    assert!(matches!(error, IoError::Strict { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever the bytes, there is an image or an error, which names the file, and no wait. The library checks no sums within the
    /// stream: where overflow is looked for, as it is here, it panics, and that is an error like others.
    #[test]
    fn mutations_are_decoded_or_refused(
        case in prop::sample::select(outside::cases("jxl")),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..8),
    ) {
        let (name, ..) = case;
        let mut file = file(&name);
        for (at, value, kind) in edits {
            let at = at.index(if kind == 3 { file.len().min(64) } else { file.len() });
            match kind {
                1 => file.insert(at, value),
                2 if file.len() > 4 => drop(file.remove(at)),
                _ => file[at] = value,
            }
        }
        let start = std::time::Instant::now();
        let mut reader = Reader::new(ReadOptions { max_pixels: 1 << 16, ..ReadOptions::default() });
        let read = reader.read_bytes(&file, &name);
        if let Err(error) = read {
            prop_assert!(error.to_string().starts_with(&name), "{error}");
        }
        prop_assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
