//! Image files.

use mip_core::ImageBuffer;
use mip_io::{FileFormat, IccUse, IoError, JpegScale, ReadOptions, Reader, WriteOptions, encode};

use crate::checksums::mended;
use crate::{MAX_PIXELS, Outcome, refused};

/// Bytes of a PNG file: refused, or an image within the limits that is the same when it is read into memory
/// that held another, and when it is written and read again. Chunks get their right checksums first.
pub fn png(bytes: &[u8]) -> Outcome {
    own(b"\x89PNG", &mended(bytes))
}

/// Bytes of a JPEG file. As [`png`].
pub fn jpeg(bytes: &[u8]) -> Outcome {
    own(b"\xFF\xD8", bytes)
}

/// Bytes of an AVIF file. As [`picture`].
pub fn avif(bytes: &[u8]) -> Outcome {
    if !is_heif(bytes) {
        return Outcome::Refused;
    }
    changed(bytes, "fuzz.avif");
    holds(bytes, "fuzz.avif", FileFormat::Npy)
}

/// AVIF, or of its kin.
fn is_heif(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"ftyp")
}

/// Bytes of a JPEG XL file. As [`picture`].
pub fn jxl(bytes: &[u8]) -> Outcome {
    if !is_jxl(bytes) {
        return Outcome::Refused;
    }
    changed(bytes, "fuzz.jxl");
    holds(bytes, "fuzz.jxl", FileFormat::Npy)
}

/// The stream alone, or in boxes.
fn is_jxl(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xFF\x0A") || bytes.starts_with(b"\0\0\0\x0CJXL \r\n\x87\n")
}

/// Bytes of a picture file in any other format, told by its first ones; in TGA where they tell none. As [`png`], but
/// written as NumPy's array, which holds all that is read.
pub fn picture(bytes: &[u8]) -> Outcome {
    if bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xFF\xD8") || is_jxl(bytes) || is_heif(bytes) {
        return Outcome::Refused;
    }
    pages(bytes, "fuzz.tga");
    changed(bytes, "fuzz.tga");
    holds(bytes, "fuzz.tga", FileFormat::Npy)
}

/// Pages and frames looked at; more only take more time.
const PAGES: usize = 8;

/// Every page of a file is an image within the limits, or refused.
fn pages(bytes: &[u8], name: &str) {
    let mut reader = Reader::new(ReadOptions { max_pixels: MAX_PIXELS, ..ReadOptions::default() });
    let Ok(mut file) = reader.load_bytes(bytes, name) else { return };
    let budget = reader.budget().clone();
    for number in 0..file.pages().len().min(PAGES) as u64 {
        match reader.decode_page(&mut file, number, |bytes| budget.reserve(bytes)) {
            Ok(image) => {
                let desc = image.desc();
                assert!(u64::from(desc.width()) * u64::from(desc.height()) <= MAX_PIXELS, "{desc}");
            }
            Err(error) => no_defect(&error),
        }
    }
}

/// A panic of a decoder, which the reader turns into an error, takes no more than its file with it, but is a defect: of what we give to
/// the decoder without having looked at it. Within the streams of JPEG XL, where its library computes with whatever is there
/// (and wraps where overflow is not looked for), there is nothing to look at first.
fn no_defect(error: &IoError) {
    assert!(!matches!(error, IoError::Internal { format, .. } if *format != FileFormat::Jxl), "{error}");
}

/// A file read otherwise than as it is stored: scaled, and by its profile. It is as large as asked for, or refused.
fn changed(bytes: &[u8], name: &str) {
    let jpeg_scale = JpegScale::ALL[bytes.len() % 4];
    let options =
        ReadOptions { max_pixels: MAX_PIXELS, jpeg_scale, icc: IccUse::Srgb, ..ReadOptions::default() };
    match Reader::new(options).read_bytes(bytes, name) {
        Ok(image) => {
            let whole = Reader::default().read_bytes(bytes, name).expect("whole, it is read as well");
            let side = |side: u32| {
                if name == "fuzz.jpg" { side.div_ceil(jpeg_scale.divisor() as u32) } else { side }
            };
            let size = (side(whole.desc().width()), side(whole.desc().height()));
            assert_eq!((image.desc().width(), image.desc().height()), size);
        }
        Err(error) => no_defect(&error),
    }
}

/// A file in a format that has a target of its own.
fn own(start: &[u8], bytes: &[u8]) -> Outcome {
    if bytes.starts_with(start) {
        changed(bytes, if start[0] == 0xFF { "fuzz.jpg" } else { "fuzz.png" });
    }
    if bytes.starts_with(start) { holds(bytes, "fuzz", FileFormat::Png) } else { Outcome::Refused }
}

/// What must hold for a file of that name, whose picture is written once more.
fn holds(bytes: &[u8], name: &str, written: FileFormat) -> Outcome {
    let mut reader = Reader::new(ReadOptions { max_pixels: MAX_PIXELS, ..ReadOptions::default() });
    let image = match reader.read_bytes(bytes, name) {
        Ok(image) => image,
        Err(error) => {
            no_defect(&error);
            return refused(&error);
        }
    };
    let desc = *image.desc();
    assert!(u64::from(desc.width()) * u64::from(desc.height()) <= MAX_PIXELS, "{desc}");
    let again = reread(&mut reader, &image, bytes, name).expect("what was read once is read again");
    assert!(same(&again, &image), "{desc}: other pixels in memory that held another picture");
    let file = encode(&image, written, &WriteOptions::default()).expect("what was read can be written");
    let back = reader.read_bytes(&file, "written").expect("what was written is read");
    assert!(same(&back, &image), "{desc}: other pixels once written and read");
    Outcome::Accepted
}

/// By their bytes: f32 samples may be no numbers, which are equal to nothing.
fn same(a: &ImageBuffer, b: &ImageBuffer) -> bool {
    a.desc() == b.desc() && a.to_bytes() == b.to_bytes()
}

/// Reads once more into a buffer full of something else: what the decoder leaves out shows.
fn reread(
    reader: &mut Reader,
    image: &ImageBuffer,
    bytes: &[u8],
    name: &str,
) -> Result<ImageBuffer, IoError> {
    let mut dirty = image.clone();
    for byte in dirty.view_mut().data_mut() {
        *byte = !*byte;
    }
    reader.recycle(dirty);
    reader.read_bytes(bytes, name)
}
