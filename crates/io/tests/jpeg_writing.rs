//! JPEG files that we write are those of libjpeg, byte for byte: `tests/jpeg/encoding.py` made some for here, and
//! compares thousands more.

use std::path::Path;

use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_io::{ChromaSampling, FileFormat, WriteOptions, encode};

/// The gradient of the script.
fn gradient(width: u32, height: u32, channels: u32) -> ImageBuffer {
    let format = if channels == 1 { PixelFormat::Gray } else { PixelFormat::Rgb };
    let desc = ImageDesc::new(width, height, format, DType::U8).unwrap();
    let pixel = |x: u32, y: u32| (0..channels).map(move |c| (x * (3 + c) + y * (5 - c)) as u8);
    let samples: Vec<u8> = (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect();
    ImageBuffer::from_bytes(desc, &samples).unwrap()
}

/// `WIDTHxHEIGHTxCHANNELS-qQUALITY-SAMPLING-rRESTART`.
fn described(name: &str) -> (ImageBuffer, WriteOptions) {
    let [size, quality, sampling, restart] = name.split('-').collect::<Vec<_>>()[..] else {
        panic!("{name}")
    };
    let size: Vec<u32> = size.split('x').map(|n| n.parse().unwrap()).collect();
    let sampling = match sampling {
        "444" => ChromaSampling::Full,
        "422" => ChromaSampling::HalfWidth,
        "440" => ChromaSampling::HalfHeight,
        "420" => ChromaSampling::Quarter,
        "411" => ChromaSampling::QuarterWidth,
        other => panic!("{other}"),
    };
    let options = WriteOptions {
        jpeg_quality: quality[1..].parse().unwrap(),
        jpeg_sampling: Some(sampling),
        jpeg_restart_interval: restart[1..].parse().unwrap(),
        ..WriteOptions::default()
    };
    (gradient(size[0], size[1], size[2]), options)
}

#[test]
fn files_are_those_of_libjpeg() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jpeg_writing");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (image, options) = described(&name);
        assert!(
            encode(&image, FileFormat::Jpeg, &options).unwrap() == std::fs::read(&path).unwrap(),
            "{name}"
        );
        files += 1;
    }
    assert_eq!(files, 8);
}

/// The density of chroma follows from the quality where nothing is said of it.
#[test]
fn sampling_follows_from_the_quality() {
    let image = gradient(33, 17, 3);
    for (quality, sampling) in [(89, ChromaSampling::Quarter), (90, ChromaSampling::Full)] {
        let plain = WriteOptions { jpeg_quality: quality, ..WriteOptions::default() };
        let said = WriteOptions { jpeg_sampling: Some(sampling), ..plain.clone() };
        let [plain, said] = [plain, said].map(|options| encode(&image, FileFormat::Jpeg, &options).unwrap());
        assert!(plain == said);
    }
}
