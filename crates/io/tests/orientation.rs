//! EXIF orientation, all eight values, against a table written by hand.

mod common;

use common::with_orientation;
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_io::{FileFormat, WriteOptions, encode, read_bytes};

/// The stored picture is three blocks wide and two high; each block is one gray level:
///
/// ```text
/// A B C
/// D E F
/// ```
const LEVELS: [u8; 6] = [0, 50, 100, 150, 200, 250];
const BLOCK: u32 = 16;

fn stored() -> Vec<u8> {
    let desc = ImageDesc::new(3 * BLOCK, 2 * BLOCK, PixelFormat::Gray, DType::U8).unwrap();
    let level = |x: u32, y: u32| LEVELS[(y / BLOCK * 3 + x / BLOCK) as usize];
    let pixels: Vec<u8> =
        (0..desc.height()).flat_map(|y| (0..desc.width()).map(move |x| level(x, y))).collect();
    let image = ImageBuffer::from_bytes(desc, &pixels).unwrap();
    encode(&image, FileFormat::Jpeg, &WriteOptions { jpeg_quality: 100, ..WriteOptions::default() }).unwrap()
}

/// The block pattern, read from the blocks' middles.
fn blocks(image: &ImageBuffer) -> Vec<String> {
    let view = image.view();
    let name = |x: u32, y: u32| {
        let value = view.sample(0, (x * BLOCK + 8) as usize, (y * BLOCK + 8) as usize, 0) as i32;
        let nearest = (0..6).min_by_key(|i| (i32::from(LEVELS[*i]) - value).abs()).unwrap();
        assert!((i32::from(LEVELS[nearest]) - value).abs() < 5, "{value} is no block");
        char::from(b'A' + nearest as u8)
    };
    let (columns, rows) = (image.desc().width() / BLOCK, image.desc().height() / BLOCK);
    (0..rows).map(|y| (0..columns).map(|x| name(x, y)).collect()).collect()
}

#[test]
fn all_eight_orientations_come_out_upright() {
    let file = stored();
    // By the EXIF standard: where the stored row 0 and column 0 belong in the picture.
    let cases: [(u16, &[&str]); 8] = [
        (1, &["ABC", "DEF"]),     // top, left
        (2, &["CBA", "FED"]),     // top, right: mirrored
        (3, &["FED", "CBA"]),     // bottom, right: turned by 180 degrees
        (4, &["DEF", "ABC"]),     // bottom, left: upside down, mirrored
        (5, &["AD", "BE", "CF"]), // left, top: transposed
        (6, &["DA", "EB", "FC"]), // right, top: to be turned clockwise
        (7, &["FC", "EB", "DA"]), // right, bottom: transposed across the other diagonal
        (8, &["CF", "BE", "AD"]), // left, bottom: to be turned counter-clockwise
    ];
    for (value, expected) in cases {
        for big_endian in [false, true] {
            let image = read_bytes(&with_orientation(&file, value, big_endian), "turned.jpg").unwrap();
            assert_eq!(blocks(&image), expected, "orientation {value}");
        }
    }
}

#[test]
fn nonsense_orientations_leave_the_picture_as_it_is() {
    let file = stored();
    for value in [0, 9, 255, 65535] {
        let image = read_bytes(&with_orientation(&file, value, true), "odd.jpg").unwrap();
        assert_eq!(blocks(&image), ["ABC", "DEF"]);
    }
}

#[test]
fn large_turned_pictures_match_pixel_by_pixel() {
    // Wider than the copy's tiles in both directions and no multiple of them.
    let file = common::jpeg(101, 67, jpeg_encoder::SamplingFactor::F_1_1, false, 0);
    let plain = read_bytes(&file, "plain.jpg").unwrap();
    let turned = read_bytes(&with_orientation(&file, 6, false), "turned.jpg").unwrap();
    assert_eq!((turned.desc().width(), turned.desc().height()), (67, 101));
    for y in 0..101 {
        for x in 0..67 {
            for c in 0..3 {
                assert_eq!(turned.view().sample(0, x, y, c), plain.view().sample(0, y, 66 - x, c));
            }
        }
    }
}

/// TIFF 6.0 has readers accept any integer type that fits.
#[test]
fn orientations_of_other_integer_types_count() {
    let file = stored();
    for big_endian in [false, true] {
        let short = with_orientation(&file, 6, big_endian);
        // Behind marker, length and name of the segment: the directory's one entry, at 10.
        let entry = 2 + 2 + 2 + 6 + 10;
        let byte_order = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        for (kind, value) in [(1, [6, 0, 0, 0]), (4, byte_order(6))] {
            let mut other = short.clone();
            other[entry + 2 + usize::from(big_endian)] = kind;
            other[entry + 8..entry + 12].copy_from_slice(&value);
            let image = read_bytes(&other, "turned.jpg").unwrap();
            assert_eq!(blocks(&image), ["DA", "EB", "FC"], "type {kind}");
        }
    }
}

#[test]
fn malformed_exif_leaves_the_picture_as_it_is() {
    let file = stored();
    let turned = with_orientation(&file, 6, true);
    let body = 2 + 2 + 2 + 6;
    for at in body..body + 22 {
        let mut bad = turned.clone();
        bad[at] ^= 0xA5;
        let image = read_bytes(&bad, "odd.jpg").unwrap();
        assert!(blocks(&image) == ["ABC", "DEF"] || blocks(&image) == ["DA", "EB", "FC"], "byte {at}");
    }
    for length in 0..18 {
        let segment =
            [&[0xFF, 0xE1, 0, 8 + length as u8][..], b"Exif\0\0", &turned[body..body + length]].concat();
        let image = read_bytes(&[&file[..2], &segment, &file[2..]].concat(), "cut.jpg").unwrap();
        assert_eq!(blocks(&image), ["ABC", "DEF"], "{length} bytes");
    }
}
