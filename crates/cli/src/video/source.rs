use std::io::Read;
use std::path::Path;

use crossbeam_channel::{Receiver, bounded};
use mini_image_pipe::{DeviceFrame, FrameMemory};
use mip_core::video::{ChromaFilter, Matrix, Range, Siting, VideoColor, VideoFormat, VideoFrame};
use mip_core::{BatchLayout, DType, ImageDesc, PixelFormat, panics, threads};
use mip_io::y4m::{Y4mHeader, Y4mReader};
use mip_io::{RawReader, RawVideo};
use mip_runtime::pooled_image_with;

use crate::failure::Failure;
use crate::stages::Meter;
use crate::work::Limits;

/// The video read.
pub(crate) struct Source {
    reader: Frames,
    pub(crate) format: VideoFormat,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// What the samples mean; for raw video only what was said.
    pub(crate) matrix: Option<Matrix>,
    pub(crate) range: Option<Range>,
    chroma: ChromaFilter,
    siting: Siting,
    /// Frames that are read at most.
    most: u64,
}

enum Frames {
    Y4m(Y4mReader<Box<dyn Read + Send>>),
    Raw(RawReader<Box<dyn Read + Send>>),
    Other(Y4mHeader, Box<dyn FrameReader>),
    OnDevice(Y4mHeader, Box<dyn DeviceReader>),
}

/// A frame that was read.
pub(super) enum Frame {
    Host(VideoFrame),
    Device(DeviceFrame),
}

/// What gives frames that lie on the device.
pub(crate) trait DeviceReader: Send {
    /// The next frame; `None` when there are no more.
    fn read(&mut self) -> Result<Option<DeviceFrame>, Failure>;
}

/// What gives the frames of a video.
pub(crate) trait FrameReader: Send {
    /// Reads the next frame, as many bytes as there is room for; `false` when there are no more.
    fn read(&mut self, frame: &mut [u8]) -> Result<bool, Failure>;
}

/// What the command line says of the video read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said {
    pub(crate) raw: Option<RawVideo>,
    pub(crate) matrix: Option<Matrix>,
    pub(crate) range: Option<Range>,
    pub(crate) chroma: ChromaFilter,
    pub(crate) siting: Option<Siting>,
}

/// Frames that wait between reading and the pipeline.
const AHEAD: usize = 2;

impl Source {
    /// Opens a file, or stdin, and reads the header if there is one. What a Y4M stream does not say is taken from the height and
    /// from custom.
    pub(crate) fn open(path: Option<&Path>, said: Said, limits: &Limits) -> Result<Self, Failure> {
        let path = path.unwrap_or(Path::new("-"));
        let input = mip_io::open_input(path)
            .map_err(|source| Failure::from(mip_io::IoError::Read { path: path.to_owned(), source }))?;
        Self::of(input, &mip_io::input_name(path), said, limits)
    }

    /// As [`Source::open`], of what is open already; `name` stands for it in errors.
    pub(crate) fn of(
        input: Box<dyn Read + Send>,
        name: &str,
        said: Said,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let Said { matrix, range, chroma, siting, .. } = said;
        if let Some(RawVideo { format, width, height }) = said.raw {
            let pixels = u64::from(width) * u64::from(height);
            if pixels > limits.options.max_pixels {
                let max = limits.options.max_pixels;
                return Err(Failure::Request(format!(
                    "--raw gives {pixels} pixels, more than the {max} allowed; raise the limit (--max-pixels)"
                )));
            }
            let reader = Frames::Raw(RawReader::new(input, name));
            let siting = siting.unwrap_or_default();
            let most = u64::MAX;
            return Ok(Self { reader, format, width, height, matrix, range, chroma, siting, most });
        }
        let reader = Y4mReader::with_limit(input, name, limits.options.max_pixels)?;
        let header = reader.header();
        let matrix = Some(matrix.unwrap_or_else(|| Matrix::usual_for_height(header.height)));
        let range = Some(range.unwrap_or_else(|| header.effective_range()));
        let (format, width, height) = (header.format(), header.width, header.height);
        let siting = siting.unwrap_or_else(|| header.sampling.siting());
        let reader = Frames::Y4m(reader);
        Ok(Self { reader, format, width, height, matrix, range, chroma, siting, most: u64::MAX })
    }

    /// The same video up to so many frames.
    pub(crate) fn take(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// A video that is read by other means; `header` says what a Y4M stream of it would.
    pub(crate) fn other(
        reader: Box<dyn FrameReader>,
        header: &Y4mHeader,
        format: VideoFormat,
        matrix: Matrix,
        range: Range,
    ) -> Self {
        Self::with_header(Frames::Other(header.clone(), reader), header, format, (matrix, range))
    }

    /// As [`Source::other`], of frames that lie on the pipeline's device.
    pub(crate) fn on_device(
        reader: Box<dyn DeviceReader>,
        header: &Y4mHeader,
        format: VideoFormat,
        matrix: Matrix,
        range: Range,
    ) -> Self {
        Self::with_header(Frames::OnDevice(header.clone(), reader), header, format, (matrix, range))
    }

    fn with_header(
        reader: Frames,
        header: &Y4mHeader,
        format: VideoFormat,
        (matrix, range): (Matrix, Range),
    ) -> Self {
        let (width, height, siting) = (header.width, header.height, header.sampling.siting());
        let (matrix, range, chroma) = (Some(matrix), Some(range), ChromaFilter::Nearest);
        Self { reader, format, width, height, matrix, range, chroma, siting, most: u64::MAX }
    }

    /// The header of a Y4M stream, or of one that would be the same.
    pub(crate) const fn header(&self) -> Option<&Y4mHeader> {
        match &self.reader {
            Frames::Y4m(reader) => Some(reader.header()),
            Frames::Other(header, _) | Frames::OnDevice(header, _) => Some(header),
            Frames::Raw(_) => None,
        }
    }

    /// What the samples mean, as far as it is known.
    pub(crate) fn color(&self) -> Option<VideoColor> {
        let Self { chroma, siting, .. } = *self;
        let (matrix, range) = self.matrix.zip(self.range)?;
        Some(VideoColor { matrix, range, chroma, siting })
    }

    /// The planes of a frame.
    pub(crate) fn planes(&self) -> Result<Vec<ImageDesc>, Failure> {
        let planes = self.format.planes(self.width, self.height).map_err(impossible)?;
        Ok(planes.into_iter().map(|plane| plane.desc).collect())
    }

    /// Reads frames into pinned memory, as they are, on a thread of its own, which is not waited for: it may be in the middle
    /// of reading from a pipe that gives nothing more. The meter adds up how long it reads.
    pub(super) fn start(
        self,
        memory: FrameMemory,
        meter: Meter,
    ) -> Result<Receiver<Result<Frame, Failure>>, Failure> {
        let Self { mut reader, format, width, height, most: mut left, .. } = self;
        let bytes = format.bytes(width, height).map_err(impossible)?;
        let desc = ImageDesc::new(u32::try_from(bytes).unwrap_or(u32::MAX), 1, PixelFormat::Gray, DType::U8);
        let layout = desc.and_then(|desc| BatchLayout::tight(desc, 1)).map_err(impossible)?;
        let (send, frames) = bounded(AHEAD);
        let work = move || {
            let mut next = || -> Result<Option<Frame>, Failure> {
                let Some(fewer) = left.checked_sub(1) else { return Ok(None) };
                left = fewer;
                if let Frames::OnDevice(_, reader) = &mut reader {
                    return Ok(meter.time(|| reader.read())?.map(Frame::Device));
                }
                let mut read = Ok(false);
                let manager = memory.manager()?;
                let whole = pooled_image_with(&manager, layout, |image| {
                    read = meter.time(|| reader.read(image.data_mut()));
                });
                let whole = whole.map_err(mini_image_pipe::Error::from)?;
                if !read? {
                    return Ok(None);
                }
                let frame = VideoFrame::in_one_piece(format, width, height, &whole).map_err(impossible)?;
                Ok(Some(Frame::Host(frame)))
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

impl Frames {
    fn read(&mut self, frame: &mut [u8]) -> Result<bool, Failure> {
        match self {
            Self::Y4m(reader) => Ok(reader.read(frame)?),
            Self::Raw(reader) => Ok(reader.read(frame)?),
            Self::Other(_, reader) => reader.read(frame),
            Self::OnDevice(..) => {
                Err(Failure::Running("frames on a device are not read as bytes".to_owned()))
            }
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn impossible(error: mip_core::ImageError) -> Failure {
    Failure::Running(error.to_string())
}

fn internal(panic: &str) -> Failure {
    Failure::Running(format!("reading the video failed (internal error: {panic})"))
}
