//! JPEG files decoded on the GPU that runs the pipeline.

use std::sync::Arc;

use mip_core::{BatchLayout, ImageBuffer, ImageDesc};
use mip_cuda::jpeg::{JpegDecoder, JpegEngine, JpegLane, JpegVersion};
use mip_runtime::memory::MemoryManager;
use mip_runtime::{DeviceImage, upload_image};

use super::Pipeline;
use crate::Error;

/// nvJPEG on a pipeline's GPU: see [`Pipeline::jpeg_decoder`]. Clones are the same decoder.
#[derive(Debug, Clone)]
pub struct DeviceJpegDecoder {
    decoder: Arc<JpegDecoder>,
    manager: Arc<MemoryManager>,
}

/// A thread's part of a [`DeviceJpegDecoder`]: what one decodes overlaps with what others do.
#[derive(Debug)]
pub struct DeviceJpegLane {
    lane: JpegLane,
    manager: Arc<MemoryManager>,
}

impl Pipeline {
    /// nvJPEG on the GPU that runs the pipeline, for files whose pictures are inputs without an upload:
    /// [`Pipeline::set_device_input`], [`crate::FrameStream::push_device`], [`Pipeline::run_on_device`]. Pixels differ a
    /// little from those of `open`, which are libjpeg's.
    ///
    /// # Errors
    /// When the pipeline does not run on one CUDA device, nvJPEG is not there (with what to install), or it refuses.
    pub fn jpeg_decoder(&self) -> Result<DeviceJpegDecoder, Error> {
        if self.config.has_several() {
            let text = "JPEG files are decoded on one GPU, but the pipeline runs on several devices";
            return Err(Error::Usage(text.to_owned()));
        }
        let decoder = self.config.device.jpeg_decoder()?;
        Ok(DeviceJpegDecoder { decoder, manager: self.memory()? })
    }
}

impl DeviceJpegDecoder {
    /// nvJPEG's version.
    pub fn version(&self) -> JpegVersion {
        self.decoder.version()
    }

    /// What decodes.
    pub fn engine(&self) -> JpegEngine {
        self.decoder.engine()
    }

    /// Copies a picture that was decoded on the host to where the others are.
    ///
    /// # Errors
    /// When there is no memory, or the device is lost.
    pub fn upload(&self, image: &ImageBuffer) -> Result<DeviceImage, Error> {
        Ok(upload_image(&self.manager, image)?)
    }

    /// A part for one more thread.
    ///
    /// # Errors
    /// When there is no memory, or the device is lost.
    pub fn lane(&self) -> Result<DeviceJpegLane, Error> {
        Ok(DeviceJpegLane { lane: self.decoder.lane()?, manager: self.manager.clone() })
    }
}

impl DeviceJpegLane {
    /// Decodes files of these shapes (u8 gray or rgb, as their headers say) and waits for that: all at once, each with a
    /// result of its own. Results of one shape one after the other lie behind each other ([`DeviceImage::joined`]).
    pub fn decode(&mut self, files: Vec<(Vec<u8>, ImageDesc)>) -> Vec<Result<DeviceImage, Error>> {
        let mut results: Vec<Result<DeviceImage, Error>> = Vec::with_capacity(files.len());
        let mut tasks = Vec::with_capacity(files.len());
        let mut files = files.into_iter().peekable();
        while let Some((first, desc)) = files.next() {
            let mut alike = vec![first];
            while let Some((file, _)) = files.next_if(|(_, other)| *other == desc) {
                alike.push(file);
            }
            let images = self.images(desc, alike.len());
            for (place, file) in alike.into_iter().enumerate() {
                let image = images.as_ref().map(|images| images.frame(place)).map_err(Clone::clone);
                if let Ok(image) = &image {
                    tasks.push((file, image.clone()));
                }
                results.push(image);
            }
        }
        let queued = self.lane.decode(tasks);
        let mut decoding = results.iter_mut().filter(|result| result.is_ok());
        for queued in queued {
            if let (Some(result), Err(error)) = (decoding.next(), queued) {
                *result = Err(error.into());
            }
        }
        if let Err(lost) = self.lane.finish() {
            results.iter_mut().filter(|result| result.is_ok()).for_each(|r| *r = Err(lost.clone().into()));
        }
        results
    }

    fn images(&self, desc: ImageDesc, count: usize) -> Result<DeviceImage, Error> {
        Ok(DeviceImage::allocate(&self.manager, BatchLayout::tight(desc, count)?)?)
    }
}
