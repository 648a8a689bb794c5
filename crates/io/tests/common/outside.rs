//! Files of programs that are not ours, with the samples that those read from them.

use std::path::{Path, PathBuf};

use mip_core::{DType, ImageBuffer, f16};
use mip_io::{FileFormat, Reader, WarningKind, WriteOptions, encode};

/// Where the files of a format lie.
pub(crate) fn folder(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(format)
}

/// Each file's name, the picture that it holds, and how far samples may be from those of the other program.
pub(crate) fn cases(format: &str) -> Vec<(String, String, f64)> {
    let case = |line: &str| {
        let [name, width, height, format, dtype, apart] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        (name.to_owned(), format!("{width}x{height} {format} {dtype}"), apart.parse().unwrap())
    };
    std::fs::read_to_string(folder(format).join("cases.txt")).unwrap().lines().map(case).collect()
}

/// Compares every picture; those whose names begin so hold further ones, which is a warning.
pub(crate) fn compare(format: &str, several: &[&str]) {
    let mut wrong = Vec::new();
    for (name, desc, apart) in cases(format) {
        let mut reader = Reader::default();
        match reader.read(folder(format).join(&name)) {
            Ok(image) if image.desc().to_string() == desc => {
                let far =
                    farthest(&image, &std::fs::read(folder(format).join(format!("{name}.raw"))).unwrap());
                if far > apart {
                    wrong.push(format!("{name}: {far} apart, {apart} allowed"));
                }
            }
            Ok(image) => wrong.push(format!("{name}: {} for {desc}", image.desc())),
            Err(error) => wrong.push(error.to_string()),
        }
        let several = several.iter().any(|begin| name.starts_with(begin));
        let warned = reader.take_warnings().iter().any(|warning| warning.kind == WarningKind::Further);
        if warned != several {
            wrong.push(format!("{name}: the warning of further pictures is {warned}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The ICC profile that a result in PNG has of a file, and what is lost.
pub(crate) fn profile(format: &str, name: &str) -> (Option<Vec<u8>>, Vec<&'static str>) {
    let mut reader = Reader::default();
    let image = reader.read(folder(format).join(name)).unwrap();
    let (carried, lost) = reader.take_metadata().carried(image.desc(), FileFormat::Png);
    let options = WriteOptions { carried: Some(carried.into()), ..WriteOptions::default() };
    let file = encode(&image, FileFormat::Png, &options).unwrap();
    let info = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    (info.info().icc_profile.clone().map(std::borrow::Cow::into_owned), lost)
}

fn farthest(image: &ImageBuffer, wanted: &[u8]) -> f64 {
    let dtype = image.desc().dtype();
    let given = samples(&image.to_bytes(), dtype, false);
    let wanted = samples(wanted, dtype, true);
    assert_eq!(given.len(), wanted.len());
    given.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Samples that are little endian, or as this machine has them; floats in millionths.
fn samples(bytes: &[u8], dtype: DType, little: bool) -> Vec<f64> {
    let little = little || cfg!(target_endian = "little");
    let number = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if !little {
            bytes.reverse();
        }
        match (dtype, &bytes[..]) {
            (DType::U8, &[a]) => f64::from(a),
            (DType::U16, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
            (DType::F16, &[a, b]) => 1e6 * f16::from_le_bytes([a, b]).to_f64(),
            (DType::F32, &[a, b, c, d]) => 1e6 * f64::from(f32::from_le_bytes([a, b, c, d])),
            other => panic!("{other:?}"),
        }
    };
    bytes.chunks_exact(dtype.size()).map(number).collect()
}
