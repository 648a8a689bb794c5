use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::*;
use crate::{WriteOptions, encode};

/// The least that counts as a profile, with some bytes behind its header.
fn profile(space: [u8; 4], length: usize) -> Vec<u8> {
    let mut icc: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
    icc[..4].copy_from_slice(&(length as u32).to_be_bytes());
    icc[16..20].copy_from_slice(&space);
    icc[36..40].copy_from_slice(b"acsp");
    icc
}

fn full() -> Metadata {
    Metadata {
        icc: Some(profile(*b"RGB ", 150_000).into()),
        density: Some(Density { x: 11811, y: 5906, unit: DensityUnit::Metre }),
        colours: vec![(*b"gAMA", 45455_u32.to_be_bytes().to_vec())],
        others: BTreeSet::new(),
    }
}

fn desc(format: PixelFormat) -> ImageDesc {
    ImageDesc::new(5, 4, format, DType::U8).unwrap()
}

fn file(metadata: &Metadata, pixels: PixelFormat, format: FileFormat) -> (Vec<u8>, Vec<&'static str>) {
    let image = ImageBuffer::new(desc(pixels)).unwrap();
    let (carried, lost) = metadata.carried(image.desc(), format);
    let options = WriteOptions { carried: Some(carried.into()), ..WriteOptions::default() };
    (encode(&image, format, &options).unwrap(), lost)
}

#[test]
fn what_png_holds_comes_back_from_png_and_the_profile_and_density_from_jpeg() {
    let (png, lost) = file(&full(), PixelFormat::Rgb, FileFormat::Png);
    assert_eq!(lost, [""; 0]);
    assert_eq!(Metadata::of(&png, FileFormat::Png), full());
    // Also to a reader that is not ours.
    let reader = ::png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap();
    assert_eq!(reader.info().pixel_dims.map(|dims| (dims.xppu, dims.yppu)), Some((11811, 5906)));
    assert!(crate::read_bytes(&png, "x.png").is_ok());

    let (jpeg, lost) = file(&full(), PixelFormat::Rgb, FileFormat::Jpeg);
    assert_eq!(lost, ["gamma and primaries"]);
    let back = Metadata::of(&jpeg, FileFormat::Jpeg);
    assert_eq!(back.icc, full().icc, "in three segments");
    assert_eq!(back.density, Some(Density { x: 300, y: 150, unit: DensityUnit::Inch }));
    let (_, lost) = file(&back, PixelFormat::Rgb, FileFormat::Png);
    assert_eq!(lost, [""; 0]);
    let (again, _) = back.carried(&desc(PixelFormat::Rgb), FileFormat::Png);
    assert_eq!(again.density, full().density);
}

#[test]
fn tiff_holds_profile_and_density_and_webp_the_profile() {
    let (tiff, lost) = file(&full(), PixelFormat::Rgb, FileFormat::Tiff);
    assert_eq!(lost, ["gamma and primaries"]);
    let back = Metadata::of(&tiff, FileFormat::Tiff);
    assert_eq!(
        (back.icc, back.density),
        (full().icc, Some(Density { x: 300, y: 150, unit: DensityUnit::Inch }))
    );
    let (webp, lost) = file(&full(), PixelFormat::Rgb, FileFormat::WebP);
    assert_eq!(lost, ["density", "gamma and primaries"]);
    assert_eq!(Metadata::of(&webp, FileFormat::WebP).icc, full().icc);
    let (_, lost) = file(&full(), PixelFormat::Rgb, FileFormat::Bmp);
    assert_eq!(lost, ["ICC profile", "density", "gamma and primaries"]);
}

#[test]
fn a_profile_goes_with_colours_of_its_kind_only() {
    let gray = Metadata { icc: Some(profile(*b"GRAY", 200).into()), ..Metadata::default() };
    let of = |metadata: &Metadata, format| metadata.carried(&desc(format), FileFormat::Png);
    assert_eq!(of(&full(), PixelFormat::Gray).1, ["ICC profile"]);
    assert!(of(&full(), PixelFormat::Bgra).0.icc.is_some());
    assert_eq!(of(&gray, PixelFormat::Rgb), (Carried::default(), vec!["ICC profile"]));
    assert_eq!(of(&gray, PixelFormat::Gray).0.icc, gray.icc);
}

#[test]
fn what_is_left_behind_is_named() {
    let mut jpeg = vec![0xFF, 0xD8];
    let mut segment = |code: u8, body: &[u8]| {
        jpeg.extend([0xFF, code]);
        jpeg.extend((body.len() as u16 + 2).to_be_bytes());
        jpeg.extend(body);
    };
    segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0\x02\0");
    segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>");
    segment(0xE2, b"ICC_PROFILE\0\x02\x02part");
    segment(0xFE, b"made by hand");
    let found = Metadata::of(&jpeg, FileFormat::Jpeg).carried(&desc(PixelFormat::Rgb), FileFormat::Png);
    assert_eq!(found, (Carried::default(), vec!["EXIF", "ICC profile", "XMP", "comment"]));
}

#[test]
fn an_orientation_alone_is_not_lost() {
    let little = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let big = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    assert!(jpeg::only_orientation(little) && jpeg::only_orientation(big));
    for other in [&b""[..], b"II", b"II*\0\xff\xff\xff\xff", b"II*\0\x08\0\0\0\x02\0\x12\x01"] {
        assert!(!jpeg::only_orientation(other), "{other:?}");
    }
}

#[test]
fn any_bytes_at_all_are_read_without_a_panic() {
    let (png, _) = file(&full(), PixelFormat::Rgb, FileFormat::Png);
    let (jpeg, _) = file(&full(), PixelFormat::Rgb, FileFormat::Jpeg);
    for (bytes, format) in [(png, FileFormat::Png), (jpeg, FileFormat::Jpeg)] {
        for end in (0..400).chain(bytes.len() - 50..bytes.len()) {
            let _ = Metadata::of(&bytes[..end], format);
        }
        for at in 0..400 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xFF;
            let _ = Metadata::of(&damaged, format);
        }
    }
}
