//! Files of `tests/pictures/make_cases.py`, by programs that are not ours: equal to the sample.

mod common;

use std::path::{Path, PathBuf};

use mip_io::{IoError, ReadOptions, Reader, WarningKind};
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
