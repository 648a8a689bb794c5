//! JPEG files decoded on the GPU that a pipeline runs on.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mini_image_pipe::cuda::jpeg::JpegError;
use mini_image_pipe::io::{IoError, Loaded, ReadOptions, ReadWarning, Reader, Spares};
use mini_image_pipe::types::MemoryBudget;
use mini_image_pipe::{DeviceJpegDecoder, DeviceJpegLane, Error, prelude};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::DeviceImage;
use super::order::Gateway;
use super::run::Run;
use crate::errors::Failed;

/// A file: where it is, or what is in it.
#[derive(FromPyObject)]
pub(crate) enum File {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

/// nvJPEG for a pipeline. Threads decode beside each other.
#[derive(Debug)]
pub(crate) struct Jpegs {
    decoder: DeviceJpegDecoder,
    gateway: Arc<Gateway>,
    /// Parts of it that no thread uses. Each takes a third of a second to make.
    lanes: Mutex<Vec<DeviceJpegLane>>,
}

/// A file after its first look.
enum Read {
    Jpeg(String),
    /// Decoded on the host.
    Done(prelude::DeviceImage),
}

impl Jpegs {
    pub(crate) fn new(decoder: DeviceJpegDecoder, gateway: Arc<Gateway>) -> Self {
        Self { decoder, gateway, lanes: Mutex::default() }
    }

    /// Whether it is of the GPU as it is open now.
    pub(crate) fn is_of(&self, gateway: &Arc<Gateway>) -> bool {
        Arc::ptr_eq(&self.gateway, gateway)
    }

    fn lanes(&self) -> std::sync::MutexGuard<'_, Vec<DeviceJpegLane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decodes files, in their order. Detached.
    fn decode(&self, files: &[File]) -> Result<(Vec<prelude::DeviceImage>, Vec<ReadWarning>), Failed> {
        let budget = Arc::new(MemoryBudget::unlimited());
        let mut reader = Reader::within(ReadOptions::default(), budget.clone(), Arc::new(Spares::default()));
        let (mut read, mut jpegs) = (Vec::with_capacity(files.len()), Vec::new());
        for (index, file) in files.iter().enumerate() {
            let (name, loaded) = match file {
                File::Path(path) => {
                    let admit = |bytes| budget.reserve(bytes);
                    (path.display().to_string(), reader.load(path, admit)?)
                }
                File::Bytes(bytes) => {
                    let name = format!("file {} of {}", index + 1, files.len());
                    (name.clone(), reader.load_bytes(bytes, &name)?)
                }
            };
            read.push(match loaded.plain_jpeg() {
                Ok(desc) => {
                    jpegs.push((loaded.hand_out().0, desc));
                    Read::Jpeg(name)
                }
                Err(_) => Read::Done(self.on_host(&mut reader, loaded)?),
            });
        }
        let mut decoded = self.on_gpu(jpegs)?.into_iter();
        let image = |read| match read {
            Read::Done(image) => Ok(image),
            Read::Jpeg(name) => {
                let missing = || Err(Error::Usage("it was not decoded".to_owned()));
                decoded.next().unwrap_or_else(missing).map_err(|error| about(&name, error))
            }
        };
        let images = read.into_iter().map(image).collect::<Result<_, Failed>>()?;
        Ok((images, reader.take_warnings()))
    }

    fn on_host(&self, reader: &mut Reader, file: Loaded) -> Result<prelude::DeviceImage, Failed> {
        let image = reader.decode(file).map_err(|error: IoError| Failed::from(error))?;
        Ok(self.decoder.upload(&image)?)
    }

    fn on_gpu(
        &self,
        files: Vec<(Vec<u8>, mini_image_pipe::ImageDesc)>,
    ) -> Result<Vec<Result<prelude::DeviceImage, Error>>, Failed> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let kept = self.lanes().pop();
        let mut lane = kept.map_or_else(|| self.decoder.lane(), Ok)?;
        let images = lane.decode(files);
        self.lanes().push(lane);
        Ok(images)
    }
}

fn about(name: &str, error: Error) -> Failed {
    match error {
        Error::Jpeg(JpegError::File { reason, .. }) => {
            Failed::usage(format!("{name}: {reason}; decode it on the CPU (mip.open, mip.decode)"))
        }
        other => other.into(),
    }
}

/// Decodes files into images on the GPU.
pub(crate) fn decode<'py>(
    jpegs: &Jpegs,
    py: Python<'py>,
    files: &[File],
) -> PyResult<Vec<Bound<'py, DeviceImage>>> {
    let decoded = py.detach(|| -> Result<_, Failed> {
        let (images, warnings) = jpegs.decode(files)?;
        // It was waited for.
        Ok((images, warnings, Run::ended(jpegs.gateway.runtime().create_event()?)))
    });
    let (images, warnings, run) = decoded?;
    for warning in warnings {
        py.import("warnings")?.call_method1("warn", (warning.to_string(),))?;
    }
    let object = |image| Bound::new(py, DeviceImage::of(image, run.clone(), jpegs.gateway.clone()));
    images.into_iter().map(object).collect()
}
