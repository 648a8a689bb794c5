//! JPEG XL: files of `tests/pictures/make_jxl.py`, by libjxl, against what libjxl reads from them.

#![cfg(feature = "jxl")]

use std::path::{Path, PathBuf};

use mip_core::{DType, ImageBuffer, f16};
use mip_io::{FileFormat, IccUse, IoError, ReadOptions, Reader, WarningKind, read_bytes};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jxl")
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// Each file's name, the picture that it holds, and how far samples may be from libjxl's.
fn cases() -> Vec<(String, String, f64)> {
    let case = |line: &str| {
        let [name, width, height, format, dtype, apart] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        (name.to_owned(), format!("{width}x{height} {format} {dtype}"), apart.parse().unwrap())
    };
    std::fs::read_to_string(folder().join("cases.txt")).unwrap().lines().map(case).collect()
}

/// Samples of so many bytes that are little endian, or of this machine; floats in millionths.
fn samples(bytes: &[u8], dtype: DType, little: bool) -> Vec<f64> {
    let little = little || cfg!(target_endian = "little");
    let number = |bytes: &[u8]| match (dtype, bytes) {
        (DType::U8, &[a]) => f64::from(a),
        (DType::U16, &[a, b]) => {
            f64::from(if little { u16::from_le_bytes([a, b]) } else { u16::from_be_bytes([a, b]) })
        }
        (DType::F16, &[a, b]) => {
            1e6 * if little { f16::from_le_bytes([a, b]) } else { f16::from_be_bytes([a, b]) }.to_f64()
        }
        (DType::F32, &[a, b, c, d]) => {
            let bytes = [a, b, c, d];
            1e6 * f64::from(if little { f32::from_le_bytes(bytes) } else { f32::from_be_bytes(bytes) })
        }
        other => panic!("{other:?}"),
    };
    bytes.chunks_exact(dtype.size()).map(number).collect()
}

fn farthest(image: &ImageBuffer, wanted: &[u8]) -> f64 {
    let dtype = image.desc().dtype();
    let given = samples(&image.to_bytes(), dtype, false);
    let wanted = samples(wanted, dtype, true);
    assert_eq!(given.len(), wanted.len());
    given.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn pixels_are_those_of_libjxl() {
    let cases = cases();
    assert!(cases.len() > 40, "{}", cases.len());
    let mut wrong = Vec::new();
    for (name, desc, apart) in cases {
        let mut reader = Reader::default();
        match reader.read(folder().join(&name)) {
            Ok(image) if image.desc().to_string() == desc => {
                let far = farthest(&image, &file(&format!("{name}.raw")));
                if far > apart {
                    wrong.push(format!("{name}: {far} apart, {apart} allowed"));
                }
            }
            Ok(image) => wrong.push(format!("{name}: {} for {desc}", image.desc())),
            Err(error) => wrong.push(error.to_string()),
        }
        let several = name.starts_with("animated");
        let warnings = reader.take_warnings();
        assert_eq!(warnings.iter().any(|warning| warning.kind == WarningKind::Further), several, "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
    let profile = |name: &str| {
        let mut reader = Reader::default();
        let image = reader.read(folder().join(name)).unwrap();
        let (carried, lost) = reader.take_metadata().carried(image.desc(), FileFormat::Png);
        let options =
            mip_io::WriteOptions { carried: Some(carried.into()), ..mip_io::WriteOptions::default() };
        let file = mip_io::encode(&image, FileFormat::Png, &options).unwrap();
        let info = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        (info.info().icc_profile.clone().map(std::borrow::Cow::into_owned), lost)
    };
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
        case in prop::sample::select(cases()),
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
