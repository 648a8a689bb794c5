//! Every format with every kind of picture that it holds, and with those that it does not.

mod common;

use std::path::Path;

use common::{in_file_order, picture};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat, f16};
use mip_io::{Compression, FileFormat, IoError, ReadOptions, Reader, WriteOptions, check_encodable, encode};

const SIZES: [(u32, u32); 5] = [(1, 1), (1, 7), (9, 1), (17, 5), (33, 31)];

/// Every kind of pixel, in both layouts.
fn kinds() -> Vec<(PixelFormat, DType, Layout)> {
    let mut kinds = Vec::new();
    for format in PixelFormat::PICTURES {
        for dtype in DType::ALL {
            kinds.extend(Layout::ALL.map(|layout| (format, dtype, layout)));
        }
    }
    kinds
}

/// A picture of finite samples; floats have negative ones and fractions of every size.
fn any(width: u32, height: u32, (format, dtype, layout): (PixelFormat, DType, Layout)) -> ImageBuffer {
    let mut image = picture(width, height, format, dtype, layout);
    if dtype == DType::F32 {
        for sample in image.view_mut().data_mut().as_chunks_mut::<4>().0 {
            let value = f32::from_ne_bytes(*sample);
            let value = if value.is_finite() { value } else { 0.25 };
            *sample = value.to_ne_bytes();
        }
    }
    if dtype == DType::F16 {
        for sample in image.view_mut().data_mut().as_chunks_mut::<2>().0 {
            let value = f16::from_ne_bytes(*sample);
            *sample = if value.is_finite() { value } else { f16::ONE }.to_ne_bytes();
        }
    }
    image
}

fn name(format: FileFormat) -> String {
    format!("x.{}", format.extension())
}

#[test]
fn what_a_lossless_format_holds_comes_back_exactly() {
    let mut combinations = 0;
    for format in FileFormat::ALL.into_iter().filter(|format| !format.facts().lossy) {
        for kind in kinds() {
            for (width, height) in SIZES {
                let image = any(width, height, kind);
                if !format.facts().holds(image.desc()) {
                    continue;
                }
                // An array of planes so narrow looks like one of interleaved pixels.
                if format == FileFormat::Npy && image.desc().planes() > 1 && [1, 3, 4].contains(&width) {
                    continue;
                }
                let file = encode(&image, format, &WriteOptions::default()).unwrap();
                let back =
                    Reader::default().read_bytes(&file, &name(format)).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(back.desc().dtype(), image.desc().dtype(), "{format}");
                assert_eq!(back.desc().channels(), image.desc().channels(), "{format}");
                assert_eq!(in_file_order(&back), in_file_order(&image), "{format}: {}", image.desc());
                combinations += 1;
            }
        }
    }
    assert!(combinations > 200, "{combinations}");
}

#[test]
fn what_a_format_does_not_hold_is_refused_with_what_does() {
    for format in FileFormat::ALL {
        for kind in kinds() {
            let image = any(4, 4, kind);
            let desc = *image.desc();
            let held = format.facts().holds(&desc);
            let encoded = encode(&image, format, &WriteOptions::default());
            assert_eq!(check_encodable(&desc, format).is_ok(), held);
            assert_eq!(encoded.is_ok(), held, "{format} {desc}");
            let Err(error) = encoded else { continue };
            assert!(matches!(error, IoError::Refused { .. }), "{error}");
            // What it says does hold the picture, each of it.
            let text = error.to_string();
            let Some((_, others)) = text.rsplit_once("write ") else {
                assert!(!FileFormat::ALL.iter().any(|format| format.facts().holds(&desc)), "{text}");
                continue;
            };
            for other in others.split(", ").flat_map(|some| some.split(" or ")) {
                let other = FileFormat::ALL.into_iter().find(|format| format.facts().name == other);
                assert!(other.is_some_and(|other| other.facts().holds(&desc)), "{text}");
            }
        }
    }
}

#[test]
fn refusals_say_what_is_missing() {
    let text = |format, dtype, file| {
        check_encodable(&ImageDesc::new(4, 4, format, dtype).unwrap(), file).unwrap_err().to_string()
    };
    let gray = text(PixelFormat::Gray, DType::U8, FileFormat::Qoi);
    assert!(gray.contains("QOI has no gray; add `color_convert to=rgb` at the end, or write PNG"), "{gray}");
    let colours = text(PixelFormat::Bgr, DType::U16, FileFormat::Pgm);
    assert!(colours.contains("PGM has no colours; add `color_convert to=gray` at the end"), "{colours}");
    let alpha = text(PixelFormat::Rgba, DType::U8, FileFormat::Ppm);
    assert!(alpha.contains("PPM has no alpha; add `color_convert to=rgb` at the end"), "{alpha}");
    let deep = text(PixelFormat::Rgb, DType::U16, FileFormat::Bmp);
    assert!(deep.contains("BMP has 8 bits; add `cast to=u8` at the end, or write PNG"), "{deep}");
    let read = text(PixelFormat::Gray, DType::U8, FileFormat::Pbm);
    assert!(read.contains("PBM is only read; write PNG"), "{read}");
}

#[test]
fn hdr_keeps_eight_bits_of_the_largest_channel() {
    for (width, height) in SIZES {
        let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::F32).unwrap();
        let values: Vec<f32> =
            (0..desc.bytes() / 4).map(|i| (i % 89) as f32 * 1.5_f32.powi(i as i32 % 7 - 3)).collect();
        let image = ImageBuffer::from_bytes(desc, bytemuck::cast_slice(&values)).unwrap();
        let file = encode(&image, FileFormat::Hdr, &WriteOptions::default()).unwrap();
        let back = Reader::default().read_bytes(&file, "x.hdr").unwrap();
        assert_eq!(back.desc(), &desc);
        for (pixel, given) in in_file_order(&back).chunks(3).zip(in_file_order(&image).chunks(3)) {
            let largest = given.iter().copied().fold(0.0, f64::max);
            for (value, given) in pixel.iter().zip(given) {
                assert!((value - given).abs() <= largest / 256.0, "{given} became {value} beside {largest}");
            }
        }
        // What has been stored once is stored exactly.
        assert_eq!(encode(&back, FileFormat::Hdr, &WriteOptions::default()).unwrap(), file);
    }
}

#[test]
fn compression_changes_the_size_and_not_the_pixels() {
    let mut image = picture(64, 64, PixelFormat::Rgb, DType::U8, Layout::Hwc);
    for (index, byte) in image.view_mut().data_mut().iter_mut().enumerate() {
        *byte = (index / 7 % 50) as u8;
    }
    for format in FileFormat::ALL.into_iter().filter(|format| format.facts().compression) {
        let sizes = [Compression::Fast, Compression::Balanced, Compression::Best].map(|compression| {
            let file =
                encode(&image, format, &WriteOptions { compression, ..WriteOptions::default() }).unwrap();
            assert_eq!(Reader::default().read_bytes(&file, &name(format)).unwrap(), image);
            file.len()
        });
        assert!(sizes[2] < sizes[0] && sizes[1] <= sizes[0], "{format}: {sizes:?}");
    }
}

#[test]
fn the_first_bytes_tell_the_format_whatever_the_name() {
    for format in FileFormat::ALL {
        let kind = kinds().into_iter().find(|&kind| format.facts().holds(any(9, 5, kind).desc()));
        let Some(kind) = kind else { continue };
        let file = encode(&any(9, 5, kind), format, &WriteOptions::default()).unwrap();
        for other in FileFormat::ALL {
            let read = Reader::default().read_bytes(&file, &name(other));
            // Only a TGA file says nothing of itself.
            assert_eq!(
                read.is_ok(),
                format != FileFormat::Tga || other == FileFormat::Tga,
                "{format} as {other}"
            );
        }
        assert_eq!(
            Reader::default().read_bytes(&file, "stdin").is_ok(),
            format != FileFormat::Tga,
            "{format}"
        );
    }
}

#[test]
fn a_cut_file_is_refused() {
    for format in FileFormat::ALL {
        let kind = kinds().into_iter().find(|&kind| format.facts().holds(any(9, 5, kind).desc()));
        let Some(kind) = kind else { continue };
        let file = encode(&any(9, 5, kind), format, &WriteOptions::default()).unwrap();
        for length in 0..file.len() / 2 {
            let error =
                Reader::default().read_bytes(&file[..length], &name(format)).expect_err("half a picture");
            assert!(!matches!(error, IoError::Internal { .. }), "{format} cut to {length}: {error}");
        }
    }
}

#[test]
fn sizes_are_checked_before_anything_is_allocated() {
    let mut small = Reader::new(ReadOptions { max_pixels: 40, ..ReadOptions::default() });
    for format in FileFormat::ALL {
        let kind = kinds().into_iter().find(|&kind| format.facts().holds(any(9, 5, kind).desc()));
        let Some(kind) = kind else { continue };
        let file = encode(&any(9, 5, kind), format, &WriteOptions::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name(format));
        std::fs::write(&path, &file).unwrap();
        for error in [small.read(&path).unwrap_err(), small.read_bytes(&file, &name(format)).unwrap_err()] {
            assert!(
                matches!(error, IoError::TooManyPixels { width: 9, height: 5, limit: 40, .. }),
                "{error}"
            );
        }
        assert_eq!(FileFormat::from_path(Path::new(&name(format))).unwrap(), format);
        // What is taken is known before the file is read.
        let budget = std::sync::Arc::new(mip_core::MemoryBudget::new(9 * 5));
        let mut poor = Reader::within(ReadOptions::default(), budget.clone(), std::sync::Arc::default());
        assert!(matches!(poor.read(&path), Err(IoError::Memory { .. })), "{format}");
        assert_eq!(budget.peak(), 0, "{format}");
    }
}

#[test]
fn colour_spaces_are_no_pictures() {
    let image = ImageDesc::new(5, 3, PixelFormat::Lab, DType::U8).unwrap();
    for format in FileFormat::ALL.into_iter().filter(|format| !format.facts().writes.is_empty()) {
        let outcome = check_encodable(&image, format);
        if format == FileFormat::Npy {
            assert!(outcome.is_ok());
            continue;
        }
        let text = outcome.unwrap_err().to_string();
        assert!(
            text.contains("holds no lab") && text.contains("add `color_convert to=rgb` at the end"),
            "{text}"
        );
    }
}
