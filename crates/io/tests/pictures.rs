//! Files of `tests/pictures/make_cases.py`, by programs that are not ours: equal to the sample.

mod common;

use std::io::Cursor;
use std::path::{Path, PathBuf};

use mip_io::{IccUse, IoError, ReadOptions, Reader, WarningKind, read_image};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures")
}

/// Each file's name and the picture that it holds, as `9x5 rgb u8`.
fn cases() -> Vec<(String, String)> {
    let list = std::fs::read_to_string(folder().join("cases.txt")).unwrap();
    let case = |line: &str| {
        let [name, width, height, format, dtype] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        (name.to_owned(), format!("{width}x{height} {format} {dtype}"))
    };
    list.lines().map(case).collect()
}

#[test]
fn pixels_are_those_that_were_written() {
    let cases = cases();
    assert!(cases.len() > 80, "{}", cases.len());
    let mut wrong = Vec::new();
    for (name, desc) in cases {
        let mut reader = Reader::default();
        let image = match reader.read(folder().join(&name)) {
            Ok(image) => image,
            Err(error) => {
                wrong.push(error.to_string());
                continue;
            }
        };
        let wanted = std::fs::read(folder().join(format!("{name}.raw"))).unwrap();
        let size = image.desc().dtype().size();
        // They are little endian, samples those of this machine.
        let samples = image.to_bytes();
        let native = |bytes: &[u8]| -> Vec<u8> {
            if cfg!(target_endian = "big") { bytes.iter().rev().copied().collect() } else { bytes.to_vec() }
        };
        let given: Vec<u8> = samples.chunks_exact(size).flat_map(native).collect();
        let different = given.iter().zip(&wanted).filter(|(a, b)| a != b).count();
        if image.desc().to_string() != desc || given.len() != wanted.len() || different > 0 {
            wrong.push(format!(
                "{name}: {} for {desc}, {different} of {} bytes differ",
                image.desc(),
                wanted.len()
            ));
        }
        let several = name.starts_with("animated") || name.starts_with("pages");
        let warnings = reader.take_warnings();
        assert_eq!(warnings.iter().any(|warning| warning.kind == WarningKind::Further), several, "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Within 1 of what Little CMS makes of them, which rounds in between.
#[test]
fn pictures_with_a_profile_become_srgb() {
    let mut reader = Reader::new(ReadOptions { icc: IccUse::Srgb, ..ReadOptions::default() });
    // Twice: conversions are kept for the next file.
    for name in ["icc_rgb.png", "icc_gray.png", "icc_rgb.png", "icc_gray.png", "icc_gray.png"] {
        let given = reader.read(folder().join(name)).unwrap();
        let kept = read_image(folder().join(name)).unwrap();
        assert_eq!(given.desc(), kept.desc());
        let wanted = std::fs::read(folder().join(format!("{name}.srgb.raw"))).unwrap();
        let (given, kept) = (given.to_bytes(), kept.to_bytes());
        let off = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert_eq!(given.len(), wanted.len());
        assert!(off(&given, &wanted) <= 1, "{name}: {}", off(&given, &wanted));
        assert!(off(&given, &kept) > 10, "{name}");
    }
}

/// 16 bits are converted as finely as they are; alpha stays.
#[test]
fn pictures_of_16_bits_and_with_alpha_become_srgb() {
    let file = std::fs::read(folder().join("icc_rgb.png")).unwrap();
    let profile =
        png::Decoder::new(Cursor::new(file)).read_info().unwrap().info().icc_profile.clone().unwrap();
    let read = |samples: &[u16]| {
        let mut info = png::Info::with_size(1, 1);
        (info.color_type, info.bit_depth) = (png::ColorType::Rgba, png::BitDepth::Sixteen);
        info.icc_profile = Some(profile.clone());
        let mut file = Vec::new();
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_be_bytes()).collect();
        png::Encoder::with_info(&mut file, info)
            .unwrap()
            .write_header()
            .unwrap()
            .write_image_data(&bytes)
            .unwrap();
        let mut reader = Reader::new(ReadOptions { icc: IccUse::Srgb, ..ReadOptions::default() });
        let bytes = reader.read_bytes(&file, "a.png").unwrap().to_bytes();
        bytes.chunks(2).map(|b| u16::from_ne_bytes([b[0], b[1]])).collect::<Vec<_>>()
    };
    assert_eq!(read(&[65535, 65535, 65535, 1234])[3], 1234);
    // Gray stays gray: gamma 2.2 to the curve of sRGB, from the definition.
    let linear = (20_000_f64 / 65535.0).powf(2.199_218_75);
    let wanted = 65535.0 * (1.055 * linear.powf(1.0 / 2.4) - 0.055);
    for value in &read(&[20_000, 20_000, 20_000, 65535])[..3] {
        assert!((f64::from(*value) - wanted).abs() < 24.0, "{value} {wanted}");
    }
}

#[test]
fn profiles_that_cannot_be_applied_are_refused() {
    let (rgb, gray) = ("icc_rgb.png", "icc_gray.png");
    let profile = |name: &str| {
        let file = std::fs::read(folder().join(name)).unwrap();
        png::Decoder::new(Cursor::new(file)).read_info().unwrap().info().icc_profile.clone().unwrap()
    };
    let read = |color: png::ColorType, depth, samples: &[u8], profile: Vec<u8>| {
        let mut info = png::Info::with_size(1, 1);
        (info.color_type, info.bit_depth, info.icc_profile) = (color, depth, Some(profile.into()));
        let mut file = Vec::new();
        png::Encoder::with_info(&mut file, info)
            .unwrap()
            .write_header()
            .unwrap()
            .write_image_data(samples)
            .unwrap();
        let mut reader = Reader::new(ReadOptions { icc: IccUse::Srgb, ..ReadOptions::default() });
        reader.read_bytes(&file, "a.png").unwrap_err().to_string()
    };
    let eight = png::BitDepth::Eight;
    let other = read(png::ColorType::Rgb, eight, &[1, 2, 3], profile(gray).into_owned());
    assert!(other.contains("a.png cannot be converted to sRGB") && other.contains("Gray colours"), "{other}");
    let other = read(png::ColorType::Grayscale, eight, &[1], profile(rgb).into_owned());
    assert!(other.contains("Rgb colours"), "{other}");
    // Long enough to be one, and nothing in it.
    let mut empty = vec![0; 132];
    empty[3] = 132;
    empty[16..20].copy_from_slice(b"RGB ");
    empty[36..40].copy_from_slice(b"acsp");
    let damaged = read(png::ColorType::Rgb, eight, &[1, 2, 3], empty);
    assert!(damaged.contains("ICC profile: it is damaged"), "{damaged}");
}

#[test]
fn strict_reading_refuses_what_holds_further_pictures() {
    let mut strict = Reader::new(ReadOptions { strict: true, ..ReadOptions::default() });
    for name in ["pages.tif", "animated.gif"] {
        let error = strict.read(folder().join(name)).unwrap_err();
        assert!(matches!(error, IoError::Strict { .. }), "{error}");
        assert!(error.to_string().contains("first"), "{error}");
    }
    assert!(strict.read(folder().join("turned.tif")).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Whatever the bytes, there is an image or an error: no panic of a decoder, and no wait.
    #[test]
    fn mutations_are_decoded_or_refused(
        case in prop::sample::select(cases()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..5_u8), 1..8),
    ) {
        let (name, _) = case;
        let mut file = std::fs::read(folder().join(&name)).unwrap();
        for (at, value, kind) in edits {
            // Cut to four bytes, which are taken away one by one, nothing is left.
            if file.is_empty() {
                break;
            }
            // Headers are in front, and say most.
            let at = at.index(if kind == 4 { file.len().min(64) } else { file.len() });
            match kind {
                1 => file.insert(at, value),
                2 => drop(file.remove(at)),
                3 => file.truncate(at.max(4)),
                _ => file[at] = value,
            }
        }
        let start = std::time::Instant::now();
        let mut reader = Reader::new(ReadOptions { max_pixels: 1 << 16, ..ReadOptions::default() });
        let read = reader.read_bytes(&file, &name);
        prop_assert!(!matches!(read, Err(IoError::Internal { .. })), "{}", read.unwrap_err());
        prop_assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
