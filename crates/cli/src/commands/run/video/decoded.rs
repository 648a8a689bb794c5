use std::path::Path;

use crossbeam_channel::{Receiver, unbounded};
use mini_image_pipe::Pipeline;
use mip_core::text::quoted_path;
use mip_io::nut::NutVideo;

use super::meaning::meaning;
use super::on_gpu::{OnGpu, engine};
use crate::failure::Failure;
use crate::ffmpeg::{Decoder, Decoding, Pick, Pixels, Probe, Request};
use crate::video::{FrameReader, Source};
use crate::work::Limits;

impl FrameReader for Decoder {
    fn read(&mut self, frame: &mut [u8]) -> Result<bool, Failure> {
        Self::read(self, frame)
    }
}

/// A video file that is being decoded.
pub(crate) struct Decoded {
    pub(crate) source: Source,
    pub(super) probe: Probe,
    pub(super) pixels: Pixels,
    pub(super) nut: NutVideo,
    /// When each frame is shown.
    pub(super) times: Receiver<i64>,
    /// Ends the ffmpeg that decodes when it is dropped.
    pub(crate) decoding: Decoding,
}

/// How a video file is decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) pick: Pick,
    pub(crate) deinterlace: bool,
    pub(crate) strict: bool,
    /// By NVDEC, not by ffmpeg.
    pub(crate) on_gpu: bool,
}

impl Decoded {
    /// Starts to decode.
    pub(crate) fn start(
        path: &Path,
        way: Way,
        pipeline: &Pipeline,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let (probe, name) = (Probe::of(path)?, quoted_path(path));
        let Way { pick, deinterlace, strict, on_gpu } = way;
        if probe.video.interlaced && !deinterlace {
            return Err(Failure::Running(format!(
                "{name} is interlaced, and the lines of its two fields must not be mixed; --deinterlace makes whole frames of \
                 them"
            )));
        }
        let (coded, pixels) = if on_gpu {
            let (codec, pixels) = engine(&probe, &name)?;
            (Some(codec), pixels)
        } else {
            (None, Pixels::nearest(&probe.video.pixels))
        };
        let (send, times) = unbounded();
        let request = Request { path, probe: &probe, pixels: &pixels, pick, deinterlace, strict, coded };
        let (decoder, decoding) = Decoder::start(&request, send)?;
        let nut = *decoder.video().ok_or_else(|| decoder.empty())?;
        let (area, max) = (u64::from(nut.width) * u64::from(nut.height), limits.options.max_pixels);
        if area > max {
            return Err(Failure::Running(format!(
                "{name} has frames of {area} pixels, more than the {max} allowed; raise the limit (--max-pixels)"
            )));
        }
        let (header, matrix, range) = meaning(&probe, &pixels, &nut);
        let source = match coded {
            Some(codec) => {
                let about = |error| Failure::from(error).about("--decode gpu");
                let engine = pipeline.video_decoder(codec).map_err(about)?;
                let kind = (pixels.format, nut.width, nut.height);
                let frames = OnGpu::start(decoder, (codec, engine), (pick, strict), kind, name)?;
                Source::on_device(Box::new(frames), &header, pixels.format, matrix, range)
            }
            None => Source::other(Box::new(decoder), &header, pixels.format, matrix, range),
        };
        Ok(Self { source, probe, pixels, nut, times, decoding })
    }
}
