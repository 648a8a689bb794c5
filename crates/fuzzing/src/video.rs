//! Video streams.

use mip_core::video::VideoFrame;
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_io::y4m::{Y4mHeader, Y4mReader, Y4mWriter};

use crate::{MAX_PIXELS, Outcome, refused};

/// Frames that are looked at; a stream may have any number.
const FRAMES: u64 = 4;

/// Bytes of a Y4M stream: refused, or a header that is the same when it is written and read, and frames whose planes are
/// images that hold all of it.
pub fn y4m(bytes: &[u8]) -> Outcome {
    let mut reader = match Y4mReader::with_limit(bytes, "fuzz", MAX_PIXELS) {
        Ok(reader) => reader,
        Err(error) => return refused(&error),
    };
    let header = reader.header().clone();
    let mut written = Vec::new();
    Y4mWriter::new(&mut written, "written", &header).expect("memory takes everything");
    let back = Y4mReader::new(&written[..], "written").expect("what was written is read");
    assert_eq!(*back.header(), header);
    let mut frame = vec![0; header.frame_bytes()];
    while reader.frames() < FRAMES {
        match reader.read(&mut frame) {
            Ok(true) => split(&header, &frame),
            Ok(false) => break,
            Err(error) => return refused(&error),
        }
    }
    Outcome::Accepted
}

/// The planes behind each other are the frame.
fn split(header: &Y4mHeader, bytes: &[u8]) {
    let desc = ImageDesc::new(bytes.len() as u32, 1, PixelFormat::Gray, DType::U8).expect("few pixels");
    let whole = ImageBuffer::from_bytes(desc, bytes).expect("as long as it says");
    let frame = VideoFrame::in_one_piece(header.format(), header.width, header.height, &whole);
    let frame = frame.expect("the size of a frame");
    let planes: Vec<u8> = frame.planes().iter().flat_map(ImageBuffer::to_bytes).collect();
    assert!(planes == bytes, "{header}: its planes are something else");
}
