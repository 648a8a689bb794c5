use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crossbeam_channel::{Receiver, bounded};
use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, panics, threads};
use mip_io::y4m::{Y4mHeader, Y4mReader};
use mip_io::yuv::{Matrix, Range, YuvConverter};
use mip_runtime::{MemoryManager, pooled_image_with};

use crate::failure::Failure;
use crate::work::Limits;

/// The video read.
pub(crate) struct Source {
    reader: Y4mReader<Box<dyn Read + Send>>,
    pub(crate) matrix: Matrix,
    pub(crate) range: Range,
}

/// Frames that wait between reading and the pipeline.
const AHEAD: usize = 2;

impl Source {
    /// Opens a file, or stdin, and reads the header. What it does not say is taken from the height and from custom.
    pub(crate) fn open(
        path: Option<&Path>,
        matrix: Option<Matrix>,
        range: Option<Range>,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let path = path.unwrap_or(Path::new("-"));
        let input = mip_io::open_input(path)
            .map_err(|source| Failure::from(mip_io::IoError::Read { path: path.to_owned(), source }))?;
        let reader = Y4mReader::with_limit(input, &mip_io::input_name(path), limits.options.max_pixels)?;
        let header = reader.header();
        let matrix = matrix.unwrap_or_else(|| Matrix::usual_for_height(header.height));
        let range = range.unwrap_or_else(|| header.effective_range());
        Ok(Self { reader, matrix, range })
    }

    pub(crate) const fn header(&self) -> &Y4mHeader {
        self.reader.header()
    }

    /// What frames become.
    pub(crate) fn desc(&self) -> Result<ImageDesc, Failure> {
        let header = self.header();
        let format = YuvConverter::format(header.sampling);
        let desc = ImageDesc::new(header.width, header.height, format, DType::U8);
        desc.map_err(|error| Failure::Running(error.to_string()))
    }

    /// Reads frames into pinned memory on a thread of its own, which is not waited for: it may be in the middle of
    /// reading from a pipe that gives nothing more.
    pub(crate) fn start(
        self,
        memory: Arc<MemoryManager>,
        limits: &Limits,
    ) -> Result<Receiver<Result<ImageBuffer, Failure>>, Failure> {
        let layout = BatchLayout::tight(self.desc()?, 1).map_err(|e| Failure::Running(e.to_string()))?;
        let (send, frames) = bounded(AHEAD);
        let held = limits.reserve("a frame as it is read", self.header().sizes().bytes())?;
        let Self { mut reader, matrix, range } = self;
        let mut planes = reader.planes()?;
        let work = move || {
            let _held = held;
            let converter = YuvConverter::new(matrix, range);
            let mut next = || -> Result<Option<ImageBuffer>, Failure> {
                if !reader.read(&mut planes)? {
                    return Ok(None);
                }
                let image = pooled_image_with(&memory, layout, |image| converter.read(&planes, image));
                Ok(Some(image.map_err(mini_image_pipe::Error::from)?))
            };
            // After a failure there is nothing more; after a failed send nobody listens.
            let mut guarded = || panics::caught(&mut next).unwrap_or_else(|panic| Err(internal(&panic)));
            while let Some(frame) = guarded().transpose() {
                let failed = frame.is_err();
                if send.send(frame).is_err() || failed {
                    return;
                }
            }
        };
        threads::spawn("mip-read", "read video", work).map_err(|none| Failure::Running(none.to_string()))?;
        Ok(frames)
    }
}

fn internal(panic: &str) -> Failure {
    Failure::Running(format!("reading the video failed (internal error: {panic})"))
}
