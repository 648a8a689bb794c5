//! Video streams.

use mip_core::{DType, ImageBuffer, ImageDesc};
use mip_io::y4m::{Y4mReader, Y4mWriter};
use mip_io::yuv::{Matrix, Planes, Range, YuvConverter};

use crate::{MAX_PIXELS, Outcome, refused};

/// Frames that are looked at; a stream may have any number.
const FRAMES: u64 = 4;

/// Bytes of a Y4M stream: refused, or a header that is the same when it is written and read, and frames that become
/// images and planes again.
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
    let mut planes = reader.planes().expect("few pixels");
    while reader.frames() < FRAMES {
        match reader.read(&mut planes) {
            Ok(true) => convert(&planes, header.effective_range()),
            Ok(false) => break,
            Err(error) => return refused(&error),
        }
    }
    Outcome::Accepted
}

/// To an image and back: gray comes back as it was wherever its range holds it, colours at least fit.
fn convert(planes: &Planes, range: Range) {
    let converter = YuvConverter::new(Matrix::Bt709, range);
    let (width, height) = planes.sizes().luma;
    let format = YuvConverter::format(planes.sampling());
    let desc = ImageDesc::new(width as u32, height as u32, format, DType::U8).expect("a size that was read");
    let mut image = ImageBuffer::new(desc).expect("few pixels");
    converter.read(planes, &mut image.view_mut());
    let mut back = planes.clone();
    converter.write(&image.view(), &mut back);
    let mut again = image.clone();
    converter.read(&back, &mut again.view_mut());
    if planes.sizes().chroma == (0, 0) {
        assert!(again == image, "{desc}: gray changes on its way to luma and back");
    }
}
