//! Video decoded by NVDEC: ffmpeg hands packets over, frames stay on the GPU.

mod engines;
mod start;

use mini_image_pipe::{DeviceFrame, DeviceVideoDecoder};
use mip_core::video::VideoFormat;
use mip_cuda::video::VideoCodec;

use self::engines::Engines;
use crate::console;
use crate::failure::Failure;
use crate::ffmpeg::{Clock, Decoder, Pick, Pixels, Probe};
use crate::video::DeviceReader;

/// How a file is decoded on a GPU, and to what.
///
/// # Errors
/// One that is not: with the remedy.
pub(super) fn engine(probe: &Probe, name: &str) -> Result<(VideoCodec, Pixels), Failure> {
    let refuse = |what: String| {
        Err(Failure::Running(format!("--decode gpu: {name} {what}; decode it on the CPU (--decode cpu)")))
    };
    let codec = VideoCodec::ALL.into_iter().find(|codec| codec.name() == probe.video.codec);
    let Some(codec) = codec else {
        let known = VideoCodec::ALL.map(VideoCodec::name).join(", ");
        return refuse(format!("is coded as {}, and a GPU decodes {known}", probe.video.codec));
    };
    if probe.video.turned % 360 != 0 {
        return refuse(format!("has frames that are shown turned by {} degrees", probe.video.turned));
    }
    match Pixels::on_gpu(&probe.video.pixels) {
        Some(pixels) => Ok((codec, pixels)),
        None => refuse(format!("has frames of {}, and 4:2:0 of 8 to 12 bits is decoded", probe.video.pixels)),
    }
}

/// The frames of a file, as they come from the engines.
pub(super) struct OnGpu {
    /// `None` once there are no more frames.
    engines: Option<Engines>,
    clock: Clock,
    pick: Pick,
    strict: bool,
    /// What frames have to be.
    kind: (VideoFormat, u32, u32),
    name: String,
    /// Frames seen, picked or not.
    seen: u64,
    damaged: u64,
}

impl OnGpu {
    /// Starts to decode the packets of a file of that name; frames are to be of that format and size.
    pub(super) fn start(
        packets: Decoder,
        (codec, engine): (VideoCodec, DeviceVideoDecoder),
        (pick, strict): (Pick, bool),
        kind: (VideoFormat, u32, u32),
        name: String,
    ) -> Result<Self, Failure> {
        let (format, width, height) = kind;
        let bytes = format.bytes(width, height).map_err(mini_image_pipe::Error::from)?;
        let clock = packets.clock();
        let engines = Some(Engines::start(packets, engine, codec, bytes)?);
        Ok(Self { engines, clock, pick, strict, kind, name, seen: 0, damaged: 0 })
    }

    /// Says what was not as it should be, once there are no more frames.
    fn end(&self) -> Result<(), Failure> {
        let Self { name, damaged, seen, .. } = self;
        if *seen <= self.pick.from {
            let from = self.pick.from;
            return Err(Failure::Running(match seen {
                0 => format!("NVDEC finds no frames in {name}"),
                _ => format!("{name} has no frame {from}: --frames picks none of its {seen}"),
            }));
        }
        if *damaged == 0 {
            return Ok(());
        }
        let text = format!("{damaged} frame(s) of {name} lack some of their data, which NVDEC made up for");
        if self.strict {
            return Err(Failure::Running(format!("strict reading refuses damage: {text}")));
        }
        console::note(format_args!("warning: {text}"));
        Ok(())
    }

    /// Refuses frames of another kind than the pipeline was told of.
    fn check(&self, frame: &DeviceFrame) -> Result<(), Failure> {
        let (format, width, height) = self.kind;
        let luma = frame.planes()[0].desc();
        if (*frame.format(), luma.width(), luma.height()) == self.kind {
            return Ok(());
        }
        let (found, name) = (frame.format(), &self.name);
        let (found_width, found_height) = (luma.width(), luma.height());
        Err(Failure::Running(format!(
            "NVDEC finds {found_width}x{found_height} frames of {found} in {name}, where ffmpeg finds {width}x{height} of {format}; \
             decode it on the CPU (--decode cpu)"
        )))
    }
}

impl DeviceReader for OnGpu {
    fn read(&mut self) -> Result<Option<DeviceFrame>, Failure> {
        loop {
            let engines = self.engines.as_mut().filter(|_| !self.pick.is_behind(self.seen));
            let decoded = match engines.map_or(Ok(None), Engines::next) {
                Ok(Some(decoded)) => decoded,
                ended => {
                    self.engines = None;
                    ended?;
                    self.end()?;
                    return Ok(None);
                }
            };
            if self.clock.is_hidden(decoded.timestamp) {
                continue;
            }
            let number = self.seen;
            self.seen += 1;
            self.damaged += u64::from(decoded.damaged);
            if self.pick.has(number) {
                self.check(&decoded.frame)?;
                self.clock.shown(decoded.timestamp);
                return Ok(Some(decoded.frame));
            }
        }
    }
}
