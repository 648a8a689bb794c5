//! Video decoded on the GPU by NVDEC, into planes that kernels read in place.
//!
//! The codecs define their pixels to the bit, so that these are the ones of any right decoder; damage is concealed by the engine in
//! its own way.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use mip_core::BatchLayout;
use mip_core::video::VideoFormat;
use mip_runtime::DeviceImage;
use mip_runtime::device::DeviceError;
use mip_runtime::memory::MemoryManager;

use super::CudaDevice;
use super::memory::device_memory;
use super::shared::Shared;
pub use crate::driver::VideoCodec;
use crate::driver::{Nvcuvid, PictureKind, Pictures, PlaneTarget, VideoRefusal, VideoSession, engines};
use crate::probe::{Missing, probe};

/// Looks for the driver's library for video.
///
/// # Errors
/// What is missing, and how to get it.
pub fn probe_nvdec() -> Result<(), Missing> {
    probe().driver?;
    find().map(|_| ())
}

fn find() -> Result<&'static Nvcuvid, Missing> {
    let remedy = "install the driver with it (in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility,video), or decode on the CPU";
    Nvcuvid::get().map_err(|problem| Missing { problem, remedy: remedy.to_owned() })
}

/// A stream that is not decoded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VideoError {
    /// This GPU does not decode it, or NVDEC refuses it.
    #[error("NVDEC: {0}; decode it on the CPU (--decode cpu)")]
    Stream(String),
    /// The device fails.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A picture in memory of the device.
#[derive(Debug, Clone)]
pub struct DecodedPicture {
    /// NV12, or P010, P012 or P016.
    pub format: VideoFormat,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Luma, and U and V taking turns.
    pub planes: Vec<DeviceImage>,
    /// What was given with its packet.
    pub timestamp: i64,
    /// Whether some of it was missing from the stream, as far as the engine says so.
    pub damaged: bool,
}

/// NVDEC on a device, decoding one stream. Several decode several streams at once, on as many engines as there are.
pub struct VideoDecoder {
    shared: Arc<Shared>,
    library: &'static Nvcuvid,
    codec: VideoCodec,
    session: VideoSession,
    ready: Arc<Mutex<VecDeque<DecodedPicture>>>,
}

impl fmt::Debug for VideoDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VideoDecoder").finish_non_exhaustive()
    }
}

impl CudaDevice {
    /// NVDEC on this device for a stream of that codec; pictures lie in memory of `manager`, which must be the device's.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] with what is missing; [`DeviceError::Driver`] when the driver refuses.
    pub fn video_decoder(
        &self,
        codec: VideoCodec,
        manager: &Arc<MemoryManager>,
    ) -> Result<VideoDecoder, DeviceError> {
        let unsupported = |missing: Missing| DeviceError::Unsupported(missing.to_string());
        let library = probe().driver.and_then(|_| find()).map_err(unsupported)?;
        let shared = self.shared();
        shared.alive()?;
        let ready: Arc<Mutex<VecDeque<DecodedPicture>>> = Arc::default();
        let pictures = Collector { manager: manager.clone(), ready: ready.clone(), coming: None };
        let session = VideoSession::new(library, &shared.context, codec, Box::new(pictures));
        let session = session.map_err(|refusal| match refused(shared, refusal) {
            VideoError::Device(error) => error,
            VideoError::Stream(text) => DeviceError::Unsupported(text),
        })?;
        Ok(VideoDecoder { shared: shared.clone(), library, codec, session, ready })
    }
}

impl VideoDecoder {
    /// Decodes a packet of the stream, which holds whole pictures; the timestamp comes out with its picture, in any unit.
    ///
    /// # Errors
    /// When the stream cannot be decoded here, there is no memory, or the device is lost.
    pub fn push(&mut self, packet: &[u8], timestamp: i64) -> Result<(), VideoError> {
        self.shared.alive()?;
        self.session.push(packet, timestamp).map_err(|refusal| refused(&self.shared, refusal))
    }

    /// Engines of this GPU that decode the codec, each a stream at a time; 0 where none does.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn engines(&self) -> Result<u32, VideoError> {
        engines(self.library, &self.shared.context, self.codec)
            .map_err(|refusal| refused(&self.shared, refusal))
    }

    /// Ends the stream, so that pictures which were held back come out. Another one may follow: its first packet holds headers.
    ///
    /// # Errors
    /// As [`VideoDecoder::push`].
    pub fn finish(&mut self) -> Result<(), VideoError> {
        self.shared.alive()?;
        self.session.finish().map_err(|refusal| refused(&self.shared, refusal))
    }

    /// The next picture in the order of display that is complete; `None` until more is pushed.
    pub fn next_picture(&mut self) -> Option<DecodedPicture> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Puts pictures into memory of their own.
struct Collector {
    manager: Arc<MemoryManager>,
    ready: Arc<Mutex<VecDeque<DecodedPicture>>>,
    coming: Option<DecodedPicture>,
}

impl Pictures for Collector {
    fn next(&mut self, kind: &PictureKind) -> Result<[PlaneTarget; 2], DeviceError> {
        let &PictureKind { width, height, bits } = kind;
        let known = match bits {
            8 => "nv12",
            9 | 10 => "p010",
            11 | 12 => "p012",
            _ => "p016",
        };
        let format = VideoFormat::KNOWN.iter().find(|(name, _)| *name == known).map(|(_, format)| *format);
        let format = format.ok_or_else(|| DeviceError::Unsupported(format!("{bits} bits a sample")))?;
        let impossible = |error: mip_core::ImageError| DeviceError::Conflict(error.to_string());
        let mut planes = Vec::with_capacity(2);
        let mut targets = Vec::with_capacity(2);
        for plane in format.planes(width, height).map_err(impossible)? {
            let layout = BatchLayout::tight(plane.desc, 1).map_err(impossible)?;
            let image = DeviceImage::allocate(&self.manager, layout)?;
            let address = device_memory(&**image.memory())?.address() + image.offset() as u64;
            let rows = plane.desc.height() as usize;
            targets.push(PlaneTarget { address, bytes: plane.desc.bytes() / rows, rows });
            planes.push(image);
        }
        self.coming = Some(DecodedPicture { format, width, height, planes, timestamp: 0, damaged: false });
        let none = |_| DeviceError::Unsupported(format!("video of {known}, which has not two planes"));
        targets.try_into().map_err(none)
    }

    fn done(&mut self, timestamp: i64, damaged: bool) {
        if let Some(picture) = self.coming.take() {
            let complete = DecodedPicture { timestamp, damaged, ..picture };
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(complete);
        }
    }
}

fn refused(shared: &Shared, refusal: VideoRefusal) -> VideoError {
    match refusal {
        VideoRefusal::Stream(text) => VideoError::Stream(text),
        VideoRefusal::Status(status) => VideoError::Stream(status.to_string()),
        VideoRefusal::Memory(error) => VideoError::Device(error),
        VideoRefusal::Driver(error) => {
            VideoError::Device(shared.check::<()>(Err(error)).expect_err("an error stays one"))
        }
    }
}
