//! Image files.

use mip_core::ImageBuffer;
use mip_io::{FileFormat, IoError, ReadOptions, Reader, WriteOptions, encode};

use crate::checksums::mended;
use crate::{MAX_PIXELS, Outcome, refused};

/// Bytes of a PNG file: refused, or an image within the limits that is the same when it is read into memory
/// that held another, and when it is written and read again. Chunks get their right checksums first.
pub fn png(bytes: &[u8]) -> Outcome {
    image_file(b"\x89PNG", &mended(bytes))
}

/// Bytes of a JPEG file. As [`png`].
pub fn jpeg(bytes: &[u8]) -> Outcome {
    image_file(b"\xFF\xD8", bytes)
}

fn image_file(start: &[u8], bytes: &[u8]) -> Outcome {
    // Other formats have targets of their own.
    if !bytes.starts_with(start) {
        return Outcome::Refused;
    }
    let mut reader = Reader::new(ReadOptions { max_pixels: MAX_PIXELS, ..ReadOptions::default() });
    let image = match reader.read_bytes(bytes, "fuzz") {
        Ok(image) => image,
        // A panic of the decoder, which the reader turns into an error: it takes no more than its file with it, but
        // is a defect.
        Err(error @ IoError::Internal { .. }) => panic!("{error}"),
        Err(error) => return refused(&error),
    };
    let desc = *image.desc();
    assert!(u64::from(desc.width) * u64::from(desc.height) <= MAX_PIXELS, "{desc}");
    let again = reread(&mut reader, &image, bytes).expect("what was read once is read again");
    assert!(again == image, "{desc}: other pixels in memory that held another image");
    let file =
        encode(&image, FileFormat::Png, &WriteOptions::default()).expect("what was read can be written");
    let back = reader.read_bytes(&file, "written").expect("what was written is read");
    assert!(back == image, "{desc}: other pixels once written and read");
    Outcome::Accepted
}

/// Reads once more into a buffer full of something else: what the decoder leaves out shows.
fn reread(reader: &mut Reader, image: &ImageBuffer, bytes: &[u8]) -> Result<ImageBuffer, IoError> {
    let mut dirty = image.clone();
    for byte in dirty.view_mut().data_mut() {
        *byte = !*byte;
    }
    reader.recycle(dirty);
    reader.read_bytes(bytes, "fuzz")
}
