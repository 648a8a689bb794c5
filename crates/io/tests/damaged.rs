//! Files that stop early, are damaged, foreign or too large; and files that only look odd.

mod common;

use common::{jpeg, noise, picture, png, with_orientation};
use jpeg_encoder::SamplingFactor;
use mip_core::{DType, Layout, PixelFormat};
use mip_io::{FileFormat, IoError, ReadOptions, Reader, WriteOptions, encode, read_bytes, read_image};
use proptest::prelude::*;

fn a_png() -> Vec<u8> {
    let image = picture(40, 30, PixelFormat::Rgb, DType::U8, Layout::Hwc);
    encode(&image, FileFormat::Png, &WriteOptions::default()).unwrap()
}

fn jpegs() -> Vec<Vec<u8>> {
    vec![
        jpeg(80, 61, SamplingFactor::F_1_1, false, 0),
        jpeg(80, 61, SamplingFactor::F_2_2, false, 0),
        jpeg(80, 61, SamplingFactor::F_2_2, false, 4),
        jpeg(80, 61, SamplingFactor::F_2_2, true, 0),
        with_orientation(&jpeg(80, 61, SamplingFactor::F_2_1, false, 0), 6, true),
    ]
}

#[test]
fn a_jpeg_cut_anywhere_is_refused() {
    for file in jpegs() {
        assert!(read_bytes(&file, "whole.jpg").is_ok());
        for length in 0..file.len() {
            let mut reader = Reader::default();
            match reader.read_bytes(&file[..length], "cut.jpg") {
                Err(error) => assert!(error.to_string().starts_with("cut.jpg is "), "{error}"),
                // Only the end marker is gone.
                Ok(image) => {
                    assert!(length >= file.len() - 2, "{length} of {}", file.len());
                    assert_eq!(image, read_bytes(&file, "whole.jpg").unwrap());
                    assert_eq!(reader.take_warnings().len(), 1);
                }
            }
        }
    }
}

#[test]
fn a_cut_scan_is_refused_even_when_an_end_marker_follows() {
    for (kind, file) in jpegs().into_iter().enumerate() {
        // Start well inside the scan (of the first scan, when progressive: later cuts leave a complete,
        // coarser picture) and stop one MCU row before the end.
        let scan = file.windows(2).position(|p| p == [0xFF, 0xDA]).unwrap();
        let end = file[scan + 20..].windows(2).position(|p| p[0] == 0xFF && !matches!(p[1], 0 | 0xD0..=0xD7));
        let end = scan + 20 + end.unwrap();
        let mut accepted = 0;
        for cut in scan + 20..end {
            let cut_file = [&file[..cut], &[0xFF, 0xD9]].concat();
            accepted += usize::from(read_bytes(&cut_file, "cut.jpg").is_ok());
        }
        // Only a cut in the padding bits of the last byte or two may go unnoticed.
        assert!(accepted <= 2, "kind {kind}: {accepted} of {} cuts pass", end - scan - 20);
    }
}

#[test]
fn a_png_cut_anywhere_is_refused() {
    let file = a_png();
    for length in 0..file.len() {
        let error = read_bytes(&file[..length], "cut.png").expect_err(&format!("{length}"));
        assert!(error.to_string().starts_with("cut.png is "), "{error}");
    }
}

#[test]
fn what_follows_the_image_is_ignored() {
    let mut files = jpegs();
    files.push(a_png());
    for file in files {
        let plain = read_bytes(&file, "plain").unwrap();
        for tail in [&b"\0"[..], b"\n\n", &noise(5000), &file] {
            assert_eq!(read_bytes(&[&file, tail].concat(), "tail").unwrap(), plain);
        }
    }
}

#[test]
fn stray_bytes_between_jpeg_segments_are_tolerated() {
    let file = jpeg(33, 20, SamplingFactor::F_2_2, false, 0);
    let second = 4 + usize::from(u16::from_be_bytes([file[4], file[5]]));
    let padded = [&file[..second], &[0; 37], &file[second..]].concat();
    assert_eq!(read_bytes(&padded, "padded").unwrap(), read_bytes(&file, "plain").unwrap());
}

#[test]
fn a_changed_png_byte_is_noticed() {
    let file = a_png();
    let data = file.windows(4).position(|w| w == b"IDAT").unwrap() + 4;
    for at in (data..file.len() - 16).step_by(7) {
        let mut bad = file.clone();
        bad[at] ^= 0x10;
        assert!(matches!(read_bytes(&bad, "bad.png"), Err(IoError::Corrupt { .. })), "byte {at}");
    }
}

#[test]
fn foreign_and_empty_files_are_named() {
    let text = |bytes: &[u8]| read_bytes(bytes, "holiday.jpg").unwrap_err().to_string();
    let dds = b"DDS |\0\0\0";
    assert!(text(dds).starts_with("holiday.jpg is a file of kind DDS, but only PNG, JPEG,"), "{}", text(dds));
    assert!(text(b"\0\0\x01\0\x01\0").contains("a file of kind ICO"));
    assert!(text(b"").starts_with("holiday.jpg is empty"));
    assert!(text(b"hello, world").contains("no image format known here"));
    assert!(text(&[0xFF]).contains("only 1 byte(s) long"));
    let missing = read_image("no/such.png").unwrap_err().to_string();
    assert!(missing.starts_with("cannot read no/such.png: "), "{missing}");
}

#[test]
fn the_content_counts_not_the_extension() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("really-a.jpg");
    std::fs::write(&path, a_png()).unwrap();
    assert_eq!(read_image(&path).unwrap(), read_bytes(&a_png(), "x").unwrap());
}

#[test]
fn too_many_pixels_are_refused_before_anything_is_allocated() {
    let mut small = Reader::new(ReadOptions { max_pixels: 1000, ..ReadOptions::default() });
    let text = small.read_bytes(&a_png(), "big.png").unwrap_err().to_string();
    assert!(text.contains("40x30") && text.contains("1000") && text.contains("--max-pixels"), "{text}");
    let file = jpeg(80, 61, SamplingFactor::F_1_1, false, 0);
    assert!(matches!(small.read_bytes(&file, "big.jpg"), Err(IoError::TooManyPixels { .. })));

    // A header that claims far more than its data could ever hold.
    let mut bomb = png((8, 8), png::ColorType::Rgba, png::BitDepth::Sixteen, None, &[0; 512]);
    bomb[16..24].copy_from_slice(&[0, 0, 0x50, 0, 0, 0, 0x50, 0]);
    let text = read_bytes(&bomb, "bomb.png").unwrap_err().to_string();
    assert!(text.contains("cannot hold 20480x20480"), "{text}");
    bomb[16..24].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]);
    assert!(matches!(read_bytes(&bomb, "bomb.png"), Err(IoError::TooManyPixels { .. })));
    bomb[16..24].copy_from_slice(&[0; 8]);
    assert!(read_bytes(&bomb, "nothing.png").is_err());
    // Rows of 8 GiB, but none of them: refused for what it is, not for memory.
    bomb[16..20].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF]);
    let sum = crc32fast::hash(&bomb[12..29]).to_be_bytes();
    bomb[29..33].copy_from_slice(&sum);
    let error = read_bytes(&bomb, "rows_of_nothing.png").unwrap_err();
    assert!(matches!(error, IoError::Corrupt { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the bytes, there is an image or an error, never a panic.
    #[test]
    fn damage_never_panics(kind in 0_usize..6, edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut file = if kind == 5 { a_png() } else { jpegs().swap_remove(kind) };
        for (at, value) in edits {
            let at = at.index(file.len());
            file[at] = value;
        }
        let _ = read_bytes(&file, "damaged");
    }
}

#[test]
fn a_palette_that_is_no_list_of_colours_is_refused() {
    for bytes in [1, 4, 5, 767, 769, 771] {
        let palette = noise(bytes);
        let file =
            png((4, 4), png::ColorType::Indexed, png::BitDepth::Eight, Some((&palette, &[])), &[0; 16]);
        let text = read_bytes(&file, "a.png").unwrap_err().to_string();
        assert!(text.contains(&format!("its palette has {bytes} bytes")), "{text}");
    }
    let file = png((4, 4), png::ColorType::Indexed, png::BitDepth::Eight, Some((&noise(3), &[])), &[0; 16]);
    assert!(read_bytes(&file, "a.png").is_ok());
}

#[test]
fn files_are_looked_at_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    let budget = std::sync::Arc::new(mip_core::MemoryBudget::new(64 << 20));
    let mut reader = Reader::within(ReadOptions::default(), budget.clone(), std::sync::Arc::default());
    // Sparse: 3 GB that nobody has to store.
    let junk = std::fs::File::create(&path).unwrap();
    junk.set_len(3 << 30).unwrap();
    assert!(matches!(reader.read(&path), Err(IoError::NotAnImage { .. })));
    std::fs::write(&path, a_png()).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(3 << 30).unwrap();
    let text = reader.read(&path).unwrap_err().to_string();
    assert!(text.contains("3.00 GiB of memory are needed, but the limit is 64.00 MiB"), "{text}");
    assert_eq!(budget.peak(), 0);
}

#[test]
fn what_is_read_counts_in_the_budget_until_the_picture_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let budget = std::sync::Arc::new(mip_core::MemoryBudget::new(64 << 20));
    let spares = std::sync::Arc::new(mip_io::Spares::default());
    let mut reader = Reader::within(ReadOptions::default(), budget.clone(), spares.clone());
    let files = [a_png()].into_iter().chain(jpegs());
    for (index, file) in files.enumerate() {
        let path = folder.path().join(index.to_string());
        std::fs::write(&path, &file).unwrap();
        let picture = reader.read(&path).unwrap();
        // A picture that was turned upright leaves the buffer that it was decoded into.
        spares.clear();
        assert_eq!(budget.held(), picture.desc().bytes(), "{index}");
        assert!(budget.peak() > picture.desc().bytes() + file.len());
        assert_eq!(picture, read_bytes(&file, "same").unwrap());
        drop(picture);
        assert_eq!(budget.held(), 0);
    }
    // A picture that fits without its decoder's own use does not fit.
    let tight = std::sync::Arc::new(mip_core::MemoryBudget::new(4000));
    let mut reader = Reader::within(ReadOptions::default(), tight, std::sync::Arc::default());
    assert!(matches!(reader.read(folder.path().join("0")), Err(IoError::Memory { .. })));
}
