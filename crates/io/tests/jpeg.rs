//! JPEG files of `tests/jpeg/make_cases.py`: equal to libjpeg, or refused.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::jpeg;
use jpeg_encoder::SamplingFactor;
use mip_core::MemoryBudget;
use mip_io::{IoError, JpegScale, ReadOptions, Reader, WarningKind, read_bytes, read_image};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jpeg")
}

fn names() -> Vec<String> {
    let list = std::fs::read_to_string(folder().join("cases.txt")).unwrap();
    list.lines().map(str::to_owned).collect()
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name).with_extension("jpg")).unwrap()
}

#[test]
fn pixels_are_those_of_libjpeg() {
    let names = names();
    assert!(names.len() > 50);
    for name in names {
        let image = read_bytes(&file(&name), &name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(image, read_image(folder().join(format!("{name}.png"))).unwrap(), "{name}");
    }
}

/// Of a half, a quarter and an eighth.
#[test]
fn scaled_pixels_are_those_of_libjpeg() {
    let mut count = 0;
    for scale in [JpegScale::Half, JpegScale::Quarter, JpegScale::Eighth] {
        let mut reader = Reader::new(ReadOptions { jpeg_scale: scale, ..ReadOptions::default() });
        for name in names() {
            let right = folder().join(format!("scaled/{name}_{}.png", scale.divisor()));
            if right.exists() {
                let image = reader.read_bytes(&file(&name), &name).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(image, read_image(right).unwrap(), "{name} {scale:?}");
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count}");
}

/// What is refused at full size is so at any, and sides of all sizes are rounded up.
#[test]
fn scaled_pictures_are_refused_and_sized_like_whole_ones() {
    for scale in JpegScale::ALL {
        let mut reader = Reader::new(ReadOptions { jpeg_scale: scale, ..ReadOptions::default() });
        for entry in std::fs::read_dir(folder().join("refused")).unwrap() {
            let path = entry.unwrap().path();
            assert!(reader.read(&path).is_err(), "{}", path.display());
        }
        for name in names() {
            let whole = *read_bytes(&file(&name), &name).unwrap().desc();
            let scaled = *reader.read_bytes(&file(&name), &name).unwrap().desc();
            let side = |side: u32| side.div_ceil(scale.divisor() as u32);
            assert_eq!(scaled, whole.with_size(side(whole.width()), side(whole.height())).unwrap(), "{name}");
        }
    }
}

/// A picture that fits into a budget only when it is scaled.
#[test]
fn scaled_pictures_take_less_memory() {
    let file = jpeg(512, 512, SamplingFactor::F_2_2, false, 0);
    let read = |jpeg_scale| {
        let budget = Arc::new(MemoryBudget::new(1 << 19));
        let options = ReadOptions { jpeg_scale, ..ReadOptions::default() };
        Reader::within(options, budget, Arc::default()).read_bytes(&file, "a.jpg")
    };
    assert!(matches!(read(JpegScale::Full), Err(IoError::Memory { .. })));
    assert_eq!(read(JpegScale::Eighth).unwrap().desc().width(), 64);
}

#[test]
fn damaged_and_unsupported_files_are_refused() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder().join("refused")).unwrap() {
        let path = entry.unwrap().path();
        let error = read_image(&path).expect_err(&path.display().to_string());
        assert!(matches!(error, IoError::Corrupt { .. } | IoError::Truncated { .. }), "{error}");
        count += 1;
    }
    assert!(count > 15, "{count}");
}

#[test]
fn processes_that_are_not_supported_are_named() {
    for (name, text) in
        [("C3", "lossless"), ("C5", "hierarchical"), ("C9", "arithmetic"), ("bits", "12 bits")]
    {
        let path = folder().join(format!("refused/other_processes_{name}.jpg"));
        let error = read_image(path).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_missing_end_marker_is_a_warning_that_strict_reading_refuses() {
    let mut reader = Reader::default();
    reader.read_bytes(&file("420_33x17"), "whole.jpg").unwrap();
    assert_eq!(reader.take_warnings(), []);
    reader.read_bytes(&file("no_end"), "cut.jpg").unwrap();
    let warnings = reader.take_warnings();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].kind, WarningKind::Damage);
    assert_eq!(warnings[0].to_string(), "cut.jpg: it has no end marker, though its image data is complete");
    assert_eq!(reader.take_warnings(), []);

    let mut strict = Reader::new(ReadOptions { strict: true, ..ReadOptions::default() });
    let error = strict.read_bytes(&file("no_end"), "cut.jpg").unwrap_err();
    assert!(matches!(error, IoError::Strict { .. }), "{error}");
    assert!(error.to_string().contains("no end marker"), "{error}");
    assert_eq!(strict.take_warnings(), []);
    assert!(strict.read_bytes(&file("successive"), "whole.jpg").is_ok());
}

#[test]
fn a_progressive_file_of_one_scan_decodes_with_a_warning() {
    let mut reader = Reader::default();
    reader.read_bytes(&file("dc_only"), "coarse.jpg").unwrap();
    assert!(reader.take_warnings()[0].to_string().contains("coarse"));
}

#[test]
fn a_reader_gives_the_same_pixels_whatever_came_before() {
    let mut reader = Reader::default();
    let names = names();
    for name in names.iter().rev().chain(&names) {
        let image = reader.read_bytes(&file(name), name).unwrap();
        assert_eq!(image, read_bytes(&file(name), name).unwrap(), "{name}");
        reader.recycle(image);
    }
}

/// A header that claims more than the file can hold costs nothing.
#[test]
fn a_jpeg_that_claims_more_than_it_holds_is_refused() {
    for progressive in [false, true] {
        let mut file = jpeg(16, 16, SamplingFactor::F_1_1, progressive, 0);
        let frame = file.windows(2).position(|p| p[0] == 0xFF && matches!(p[1], 0xC0 | 0xC2)).unwrap();
        file[frame + 5..frame + 9].copy_from_slice(&[0x50, 0, 0x50, 0]);
        let error = read_bytes(&file, "bomb.jpg").unwrap_err().to_string();
        assert!(error.contains("cannot hold 20480x20480"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever the bytes, there is an image or an error: no panic, and no wait.
    #[test]
    fn mutations_are_decoded_or_refused(
        name in prop::sample::select(names()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..8),
    ) {
        let mut file = file(&name);
        for (at, value, kind) in edits {
            // The smallest file can be cut to four bytes and these be taken away one by one.
            let at = if file.is_empty() { break } else { at.index(file.len()) };
            match kind {
                0 => file[at] = value,
                1 => file.insert(at, value),
                2 => drop(file.remove(at)),
                _ => file.truncate(at.max(4)),
            }
        }
        let start = std::time::Instant::now();
        let mut reader = Reader::new(ReadOptions { max_pixels: 1 << 20, ..ReadOptions::default() });
        let _ = reader.read_bytes(&file, "mutated");
        prop_assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}

proptest! {
    #[test]
    fn headers_of_any_bytes_are_plain_or_not(
        name in prop::sample::select(names()),
        length in 0.0..1.0_f64,
        flips in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6),
    ) {
        let mut bytes = file(&name);
        bytes.truncate(2 + ((bytes.len() - 2) as f64 * length) as usize);
        for (place, value) in flips {
            let at = (bytes.len() as f64 * place) as usize;
            bytes[at] = value;
        }
        if let Ok(loaded) = Reader::default().load_bytes(&bytes, "a.jpg") {
            let _ = loaded.plain_jpeg();
        }
    }
}

#[test]
fn plain_files_are_those_that_other_decoders_read_alike() {
    let plain = |bytes: &[u8]| Reader::default().load_bytes(bytes, "a.jpg").unwrap().plain_jpeg();
    let shape = |name: &str| plain(&file(name)).map(|desc| desc.to_string());
    assert_eq!(shape("420_33x17"), Ok("33x17 rgb u8".to_owned()));
    for name in ["410_33x17", "411_33x17", "422_33x17", "440_33x17", "420_1x1"] {
        assert!(shape(name).is_ok(), "{name}");
    }
    let whole = file("420_33x17");
    // Bytes behind the end are no part of the picture; without the marker it may be cut.
    assert!(plain(&[whole.as_slice(), b"further bytes"].concat()).is_ok());
    assert_eq!(plain(&whole[..whole.len() - 2]), Err("no end marker"));
    assert_eq!(shape("no_end"), Err("no end marker"));
    assert_eq!(plain(&whole[..100]), Err("no whole header"));
    assert_eq!(plain(&common::with_orientation(&whole, 6, true)), Err("EXIF orientation"));
    assert!(plain(&common::with_orientation(&whole, 1, false)).is_ok());
    for name in names() {
        // Whatever is plain has the shape that this crate decodes.
        if let Ok(desc) = plain(&file(&name)) {
            assert_eq!(desc, *read_bytes(&file(&name), &name).unwrap().desc(), "{name}");
        }
    }
    let other =
        Reader::default().load_bytes(&std::fs::read(folder().join("420_1x1.png")).unwrap(), "a").unwrap();
    assert_eq!(other.plain_jpeg(), Err("no JPEG file"));
    let loaded = Reader::default().load_bytes(&whole, "a.jpg").unwrap();
    let (bytes, _, held) = loaded.hand_out();
    assert!(bytes == whole && held.bytes() <= whole.len());
}
