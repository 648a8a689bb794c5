//! What is written reads back: exactly for PNG, closely for JPEG.

mod common;

use common::{in_file_order, jpeg, noise, picture, png, smooth};
use jpeg_encoder::SamplingFactor;
use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_io::{FileFormat, Reader, WriteOptions, check_encodable, encode, read_bytes};

const SIZES: [(u32, u32); 6] = [(1, 1), (1, 7), (7, 1), (3, 2), (17, 5), (33, 31)];

#[test]
fn png_keeps_every_format_type_and_layout_exactly() {
    for (width, height) in SIZES {
        for format in PixelFormat::PICTURES {
            for dtype in [DType::U8, DType::U16] {
                for layout in Layout::ALL {
                    let image = picture(width, height, format, dtype, layout);
                    let file = encode(&image, FileFormat::Png, &WriteOptions::default()).unwrap();
                    let back = read_bytes(&file, "x.png").unwrap();
                    assert_eq!(back.desc().dtype(), dtype);
                    assert_eq!(back.desc().channels(), format.channels());
                    assert_eq!(in_file_order(&back), in_file_order(&image), "{}", image.desc());
                }
            }
        }
    }
}

#[test]
fn a_padded_region_writes_only_its_own_pixels() {
    let desc = ImageDesc::new(5, 4, PixelFormat::Rgb, DType::U16).unwrap();
    let mut padded = ImageBuffer::with_layout(BatchLayout::pitched(desc, 1, 64).unwrap()).unwrap();
    padded.view_mut().data_mut().fill(0xEE);
    let tight = ImageBuffer::from_bytes(desc, &noise(desc.bytes())).unwrap();
    for y in 0..4 {
        padded.view_mut().row_mut(0, 0, y).copy_from_slice(tight.view().row(0, 0, y));
    }
    let file = encode(&padded, FileFormat::Png, &WriteOptions::default()).unwrap();
    assert_eq!(read_bytes(&file, "x.png").unwrap(), tight);
}

#[test]
fn sixteen_bits_stay_sixteen_bits() {
    let values: Vec<u16> = vec![0, 1, 255, 256, 257, 32767, 32768, 65534, 65535, 0x1234];
    let big_endian: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    let file = png((10, 1), png::ColorType::Grayscale, png::BitDepth::Sixteen, None, &big_endian);
    let image = read_bytes(&file, "deep.png").unwrap();
    assert_eq!(image.desc().to_string(), "10x1 gray u16");
    assert_eq!(image.view().row_as::<u16>(0, 0, 0), values);
}

#[test]
fn jpeg_comes_back_closely_in_gray_rgb_and_bgr() {
    for (width, height) in SIZES {
        let rgb = smooth(width, height);
        let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap();
        let image = ImageBuffer::from_bytes(desc, &rgb).unwrap();
        let mut swapped = rgb.clone();
        swapped.chunks_exact_mut(3).for_each(|p| p.swap(0, 2));
        let bgr = ImageBuffer::from_bytes(desc.with_format(PixelFormat::Bgr).unwrap(), &swapped).unwrap();
        let options = WriteOptions { jpeg_quality: 100, ..WriteOptions::default() };
        let file = encode(&image, FileFormat::Jpeg, &options).unwrap();
        assert_eq!(file, encode(&bgr, FileFormat::Jpeg, &options).unwrap());
        let back = read_bytes(&file, "x.jpg").unwrap();
        assert_eq!(*back.desc(), desc);
        let worst = back.to_bytes().iter().zip(&rgb).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(worst <= 4, "{desc}: off by {worst}");

        let gray: Vec<u8> = rgb.iter().step_by(3).copied().collect();
        let image = ImageBuffer::from_bytes(desc.with_format(PixelFormat::Gray).unwrap(), &gray).unwrap();
        let back = read_bytes(&encode(&image, FileFormat::Jpeg, &options).unwrap(), "x.jpg").unwrap();
        assert_eq!(back.desc(), image.desc());
        let worst = back.to_bytes().iter().zip(&gray).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(worst <= 3, "{desc} gray: off by {worst}");
    }
}

#[test]
fn quality_changes_the_size_and_is_checked() {
    let image = picture(64, 64, PixelFormat::Rgb, DType::U8, Layout::Hwc);
    let size = |jpeg_quality| {
        let options = WriteOptions { jpeg_quality, ..WriteOptions::default() };
        encode(&image, FileFormat::Jpeg, &options).map(|f| f.len())
    };
    assert!(size(20).unwrap() < size(90).unwrap());
    for bad in [0, 101] {
        assert!(size(bad).unwrap_err().to_string().contains("must be 1 to 100"));
    }
}

#[test]
fn every_kind_of_jpeg_decodes() {
    for sampling in
        [SamplingFactor::F_1_1, SamplingFactor::F_2_1, SamplingFactor::F_1_2, SamplingFactor::F_2_2]
    {
        for progressive in [false, true] {
            for restart in [0, 3] {
                for (width, height) in [(1, 1), (50, 37), (16, 16), (33, 64)] {
                    let file = jpeg(width, height, sampling, progressive, restart);
                    let image = read_bytes(&file, "x.jpg").unwrap_or_else(|e| {
                        panic!("{width}x{height} {sampling:?} progressive {progressive} {restart}: {e}")
                    });
                    assert_eq!((image.desc().width(), image.desc().height()), (width.into(), height.into()));
                }
            }
        }
    }
}

#[test]
fn cmyk_jpeg_becomes_rgb() {
    let mut file = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut file, 100);
    encoder.encode(&[255; 16 * 16 * 4], 16, 16, jpeg_encoder::ColorType::Cmyk).unwrap();
    assert_eq!(read_bytes(&file, "press.jpg").unwrap().desc().to_string(), "16x16 rgb u8");
}

#[test]
fn palettes_low_depths_and_gray_with_alpha_are_expanded() {
    let colors = [255, 0, 0, 0, 255, 0, 0, 0, 255];
    let opaque = png((3, 1), png::ColorType::Indexed, png::BitDepth::Eight, Some((&colors, &[])), &[2, 0, 1]);
    let image = read_bytes(&opaque, "p.png").unwrap();
    assert_eq!(image.desc().to_string(), "3x1 rgb u8");
    assert_eq!(image.to_bytes(), [0, 0, 255, 255, 0, 0, 0, 255, 0]);

    let clear =
        png((3, 1), png::ColorType::Indexed, png::BitDepth::Eight, Some((&colors, &[9, 128])), &[2, 0, 1]);
    let image = read_bytes(&clear, "p.png").unwrap();
    assert_eq!(image.desc().to_string(), "3x1 rgba u8");
    assert_eq!(image.to_bytes(), [0, 0, 255, 255, 255, 0, 0, 9, 0, 255, 0, 128]);

    let bits = png((9, 1), png::ColorType::Grayscale, png::BitDepth::One, None, &[0b1010_0000, 0x80]);
    assert_eq!(read_bytes(&bits, "b.png").unwrap().to_bytes(), [255, 0, 255, 0, 0, 0, 0, 0, 255]);
    let nibbles = png((2, 1), png::ColorType::Grayscale, png::BitDepth::Four, None, &[0x3F]);
    assert_eq!(read_bytes(&nibbles, "n.png").unwrap().to_bytes(), [0x33, 255]);

    let pairs = png((2, 1), png::ColorType::GrayscaleAlpha, png::BitDepth::Eight, None, &[7, 200, 9, 0]);
    let image = read_bytes(&pairs, "ga.png").unwrap();
    assert_eq!(
        (image.desc().to_string().as_str(), image.to_bytes().as_slice()),
        ("2x1 rgba u8", &[7, 7, 7, 200, 9, 9, 9, 0][..])
    );
    let pairs = png((1, 1), png::ColorType::GrayscaleAlpha, png::BitDepth::Sixteen, None, &[1, 2, 3, 4]);
    let image = read_bytes(&pairs, "ga.png").unwrap();
    assert_eq!(image.view().row_as::<u16>(0, 0, 0), [0x0102, 0x0102, 0x0102, 0x0304]);
}

#[test]
fn what_a_format_cannot_hold_is_refused_with_the_remedy() {
    let desc = |format, dtype| ImageDesc::new(4, 4, format, dtype).unwrap();
    let text = |desc, format| check_encodable(&desc, format).unwrap_err().to_string();
    let f32s = desc(PixelFormat::Rgb, DType::F32);
    assert!(text(f32s, FileFormat::Png).contains("add `cast to=u8`"));
    assert!(text(f32s, FileFormat::Jpeg).contains("add `cast to=u8`"));
    assert!(text(desc(PixelFormat::Gray, DType::U16), FileFormat::Jpeg).contains("add `cast to=u8`"));
    let alpha = text(desc(PixelFormat::Bgra, DType::U8), FileFormat::Jpeg);
    assert!(alpha.contains("add `color_convert to=rgb`") && alpha.contains("bgra"), "{alpha}");
    let long = ImageDesc::new(65536, 1, PixelFormat::Gray, DType::U8).unwrap();
    assert!(text(long, FileFormat::Jpeg).contains("65535"));

    let image = ImageBuffer::new(f32s).unwrap();
    assert!(encode(&image, FileFormat::Png, &WriteOptions::default()).is_err());
    let batch = BatchLayout::tight(desc(PixelFormat::Gray, DType::U8), 2).unwrap();
    let batch = ImageBuffer::with_layout(batch).unwrap();
    let error = encode(&batch, FileFormat::Png, &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("2 frames"), "{error}");
}

#[test]
fn a_recycled_buffer_is_used_again_and_never_shows_through() {
    let files: Vec<_> = (0..3)
        .map(|i| {
            let mut image = picture(19, 8, PixelFormat::Rgb, DType::U8, Layout::Hwc);
            image.view_mut().row_mut(0, 0, 0)[0] = i;
            (encode(&image, FileFormat::Png, &WriteOptions::default()).unwrap(), image)
        })
        .collect();
    let mut reader = Reader::default();
    let first = reader.read_bytes(&files[0].0, "0").unwrap();
    let address = first.view().data().as_ptr();
    reader.recycle(first);
    let second = reader.read_bytes(&files[1].0, "1").unwrap();
    assert_eq!(second.view().data().as_ptr(), address);
    assert_eq!(second, files[1].1);
    // A clone keeps its pixels although the buffer was given back.
    reader.recycle(second.clone());
    let third = reader.read_bytes(&files[2].0, "2").unwrap();
    assert_eq!((second, third), (files[1].1.clone(), files[2].1.clone()));
}

/// Of a transparent gray the bits that a sample has count (PNG section 11.3.2.1), and of 16 bits all.
#[test]
fn the_transparent_gray_of_a_png_is_compared_in_its_bits() {
    use png::BitDepth::{Eight, Four, One, Sixteen, Two};
    for (depth, row, key, transparent) in [
        (One, vec![0b0110_1001], [0, 255], [0, 1, 1, 0, 1, 0, 0, 1]),
        (One, vec![0b0110_1001], [0, 0], [1, 0, 0, 1, 0, 1, 1, 0]),
        (Two, vec![0b0001_1011, 0b0001_1011], [0, 0xFE], [0, 0, 1, 0, 0, 0, 1, 0]),
        (Four, vec![0x01, 0x23, 0x45, 0x61], [1, 0x11], [0, 1, 0, 0, 0, 0, 0, 1]),
        (Eight, (0..8).collect(), [0, 5], [0, 0, 0, 0, 0, 1, 0, 0]),
        (Sixteen, vec![1, 0, 0, 0, 1, 1, 0, 1, 2, 0, 1, 0, 0, 9, 9, 0], [1, 0], [1, 0, 0, 0, 0, 1, 0, 0]),
    ] {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 8, 1);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(depth);
        encoder.set_trns(key.to_vec());
        encoder.write_header().unwrap().write_image_data(&row).unwrap();
        let image = read_bytes(&file, "key.png").unwrap();
        assert_eq!(image.desc().format(), PixelFormat::Rgba);
        let size = image.desc().dtype().size();
        let bytes = image.to_bytes();
        let alphas: Vec<u8> = bytes.chunks_exact(4 * size).map(|pixel| pixel[3 * size]).collect();
        assert_eq!(alphas, transparent.map(|t| if t == 1 { 0 } else { 255 }), "{depth:?} {key:?}");
    }
}
