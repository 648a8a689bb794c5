//! AVIF: files of `tests/pictures/make_avif.py`, by libavif and ffmpeg, against what libavif reads from them.

#![cfg(feature = "avif")]

mod common;

use std::path::{Path, PathBuf};

use common::outside;
use mip_io::{FileFormat, IoError, ReadOptions, Reader, WriteOptions, encode, read_bytes};
use proptest::prelude::*;

fn folder() -> PathBuf {
    outside::folder("avif")
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

#[test]
fn pixels_are_those_of_libavif() {
    assert!(outside::cases("avif").len() > 50);
    outside::compare("avif", &["animated"]);
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for name in ["lossless_alpha.avif", "420_10_full.avif", "animated.avif", "ffmpeg.avif"] {
        let file = file(name);
        let whole = read_bytes(&file, name).unwrap();
        for length in 0..file.len() {
            match read_bytes(&file[..length], "cut.avif") {
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        text.starts_with("cut.avif is ") && !text.contains("internal"),
                        "{length}: {text}"
                    );
                }
                // What follows the picture: frames of the sequence.
                Ok(image) => {
                    assert!(name == "animated.avif" && image == whole, "{name}: {length} of {}", file.len());
                }
            }
        }
        assert!(
            read_bytes(&[&file[..], &[7; 100]].concat(), name).unwrap() == whole,
            "{name}: with something behind"
        );
    }
}

#[test]
fn the_first_bytes_tell_the_format() {
    let mut file = file("lossless.avif");
    let picture = read_bytes(&file, "lossless.avif").unwrap();
    assert_eq!(read_bytes(&file, "holiday.png").unwrap(), picture);
    // The brand of HEIF in front, and that of AVIF behind it.
    file[8..12].copy_from_slice(b"mif1");
    assert_eq!(&file[16..20], b"avif");
    assert_eq!(read_bytes(&file, "holiday.heic").unwrap(), picture);
    assert!(FileFormat::from_path(Path::new("a.avif")).is_err(), "it is only read");
    assert_eq!(FileFormat::from_extension("AVIF"), Some(FileFormat::Avif));
}

/// Where a box of that kind lies.
fn find(file: &[u8], kind: [u8; 4]) -> usize {
    file.windows(4).position(|bytes| bytes == kind).unwrap()
}

#[test]
fn sides_are_looked_at_before_memory_is_taken() {
    let mut reader = Reader::new(ReadOptions { max_pixels: 44, ..ReadOptions::default() });
    let error = reader.read(folder().join("lossless.avif")).unwrap_err();
    assert!(matches!(error, IoError::TooManyPixels { width: 9, height: 5, .. }), "{error}");
    // What the stream has is not what the boxes say: more, and less.
    for (at, side) in [(11, 8), (11, 10), (9, 77)] {
        let mut file = file("lossless.avif");
        let place = find(&file, *b"ispe");
        file[place + at] = side;
        let error = read_bytes(&file, "a.avif").unwrap_err();
        assert!(matches!(error, IoError::Corrupt { .. } | IoError::TooManyPixels { .. }), "{error}");
    }
}

#[test]
fn profiles_go_with_the_pixels() {
    let profile = |name: &str| outside::profile("avif", name);
    assert_eq!(profile("icc.avif"), (Some(file("icc.icc")), vec![]));
    assert!(profile("p3.avif").0.is_some_and(|profile| profile.len() > 128));
    assert_eq!(profile("alpha.avif"), (None, vec![]));
    // Colours of HDR go on by their numbers, in PNG's own chunk.
    assert_eq!(profile("pq.avif"), (None, vec![]));
    let mut reader = Reader::default();
    let image = reader.read(folder().join("pq.avif")).unwrap();
    let (carried, _) = reader.take_metadata().carried(image.desc(), FileFormat::Png);
    let options = WriteOptions { carried: Some(carried.into()), ..WriteOptions::default() };
    let written = encode(&image, FileFormat::Png, &options).unwrap();
    assert_eq!(written[find(&written, *b"cICP") + 4..][..4], [9, 16, 0, 1]);
    assert_eq!(profile("exif.avif"), (None, vec!["EXIF", "XMP"]));
}

#[test]
fn what_is_no_picture_of_ours_is_refused_with_the_reason() {
    let changed = |name: &str, kind: [u8; 4], at: usize, bytes: &[u8]| {
        let mut file = file(name);
        let place = find(&file, kind) + at;
        file[place..][..bytes.len()].copy_from_slice(bytes);
        read_bytes(&file, "a.avif").map(|image| image.desc().to_string()).map_err(|error| error.to_string())
    };
    let text =
        |name: &str, kind: [u8; 4], at: usize, bytes: &[u8]| changed(name, kind, at, bytes).unwrap_err();
    // Matrix 8 of H.273 behind the primaries and the transfer function.
    assert!(text("matrix_1.avif", *b"nclx", 8, &[0, 8]).contains("by matrix 8 of H.273, which is not read"));
    assert!(text("444_8_full.avif", *b"av01", 0, b"hvc1").contains("its picture is of kind 'hvc1'"));
    assert!(text("turned_1.avif", *b"irot", 0, b"clap").contains("only a part of its picture"));
    assert!(
        text("turned_1.avif", *b"irot", 0, b"what").contains("cannot be shown without its property 'what'")
    );
    assert!(text("lossless.avif", *b"pitm", 0, b"none").contains("names no picture"));
    assert!(text("grid.avif", *b"dimg", 2, &[0, 9]).contains("grid"));
    let mut strict = Reader::new(ReadOptions { strict: true, ..ReadOptions::default() });
    let error = strict.read(folder().join("animated.avif")).unwrap_err();
    assert!(matches!(error, IoError::Strict { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever the bytes, there is an image or an error: no panic of ours, and no wait.
    #[test]
    fn mutations_are_decoded_or_refused(
        case in prop::sample::select(outside::cases("avif")),
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
        if let Err(error) = reader.read_bytes(&file, &name) {
            prop_assert!(error.to_string().starts_with(&name), "{error}");
            prop_assert!(!matches!(error, IoError::Internal { .. }), "{error}");
        }
        prop_assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
