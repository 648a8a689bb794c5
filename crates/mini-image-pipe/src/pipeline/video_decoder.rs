//! Video decoded on the GPU that runs the pipeline.

use std::sync::Arc;

use mip_cuda::video::{VideoCodec, VideoDecoder};

use mip_runtime::memory::MemoryManager;

use super::{DeviceFrame, Pipeline};
use crate::{Device, Error};

/// NVDEC on a pipeline's GPU, decoding one stream: see [`Pipeline::video_decoder`].
#[derive(Debug)]
pub struct DeviceVideoDecoder {
    decoder: VideoDecoder,
    device: Device,
    manager: Arc<MemoryManager>,
    codec: VideoCodec,
}

/// A frame that was decoded.
#[derive(Debug, Clone)]
pub struct DecodedFrame {
    /// Its planes on the device: NV12, or P010 or P012 of more than 8 bits.
    pub frame: DeviceFrame,
    /// What was given with its packet.
    pub timestamp: i64,
    /// Whether some of it was missing from the stream, as far as the engine says so.
    pub damaged: bool,
}

impl Pipeline {
    /// NVDEC on the GPU that runs the pipeline, for a stream of that codec whose frames are inputs without an upload
    /// ([`crate::FrameStream::push_device_video`], [`Pipeline::set_device_frame`]). Several decode several streams at once, on as many
    /// engines as the GPU has.
    ///
    /// # Errors
    /// When the pipeline does not run on one CUDA device, NVDEC is not there (with what to install), or it refuses.
    pub fn video_decoder(&self, codec: VideoCodec) -> Result<DeviceVideoDecoder, Error> {
        if self.config.has_several() {
            let text = "video is decoded on one GPU, but the pipeline runs on several devices";
            return Err(Error::Usage(text.to_owned()));
        }
        DeviceVideoDecoder::new(self.config.device.clone(), self.memory()?, codec)
    }
}

impl DeviceVideoDecoder {
    fn new(device: Device, manager: Arc<MemoryManager>, codec: VideoCodec) -> Result<Self, Error> {
        let decoder = device.video_decoder(codec, &manager)?;
        Ok(Self { decoder, device, manager, codec })
    }

    /// One more like this, for another stream of the codec, or for a part of this one that stands alone.
    ///
    /// # Errors
    /// As [`Pipeline::video_decoder`].
    pub fn another(&self) -> Result<Self, Error> {
        Self::new(self.device.clone(), self.manager.clone(), self.codec)
    }

    /// Engines of the GPU that decode the codec, each a stream at a time; 0 where none does.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn engines(&self) -> Result<u32, Error> {
        Ok(self.decoder.engines()?)
    }

    /// Decodes a packet of the stream, which holds whole pictures (of H.264 and HEVC with start codes, the first with headers). Frames
    /// come in the order of display, after packets that they need; the timestamp comes with its frame, in any unit.
    ///
    /// # Errors
    /// When this GPU does not decode the stream, there is no memory, or the device is lost.
    pub fn push(&mut self, packet: &[u8], timestamp: i64) -> Result<(), Error> {
        Ok(self.decoder.push(packet, timestamp)?)
    }

    /// Ends the stream, so that the last frames come out.
    ///
    /// # Errors
    /// As [`DeviceVideoDecoder::push`].
    pub fn finish(&mut self) -> Result<(), Error> {
        Ok(self.decoder.finish()?)
    }

    /// The next frame that is complete; `None` until more is pushed.
    ///
    /// # Errors
    /// When it is none that a pipeline can read.
    pub fn next_frame(&mut self) -> Result<Option<DecodedFrame>, Error> {
        let Some(picture) = self.decoder.next_picture() else { return Ok(None) };
        let frame = DeviceFrame::new(picture.format, picture.width, picture.height, picture.planes)?;
        Ok(Some(DecodedFrame { frame, timestamp: picture.timestamp, damaged: picture.damaged }))
    }
}
