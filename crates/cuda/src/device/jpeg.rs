//! JPEG files decoded on the GPU by nvJPEG, into images that kernels read in place.
//!
//! nvJPEG's pixels are not those of the CPU's decoder to the bit, and it does not notice damage within a scan: it is
//! for those who ask for it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_runtime::DeviceImage;
use mip_runtime::device::{DeviceError, Stream};
use serde::Serialize;

use super::CudaDevice;
use super::memory::device_memory;
use super::shared::Shared;
use super::stream::CudaStream;
use crate::driver::{
    JpegBackend, JpegHandle, JpegHeader, JpegInfo, JpegJob, JpegOutput, JpegRefusal, JpegState,
    NVJPEG_VARIABLE, Nvjpeg, RawStream,
};
use crate::probe::{CudaVersion, Missing, probe};

/// A version of nvJPEG: 13.3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct JpegVersion {
    /// 13: that of CUDA.
    pub major: u32,
    /// 3.
    pub minor: u32,
    /// 2.
    pub patch: u32,
}

impl fmt::Display for JpegVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Looks for nvJPEG.
///
/// # Errors
/// What is missing, and how to get it.
pub fn probe_nvjpeg() -> Result<JpegVersion, Missing> {
    find(probe().driver?).map(version_of)
}

fn version_of(library: &Nvjpeg) -> JpegVersion {
    let (major, minor, patch) = library.version;
    JpegVersion { major, minor, patch }
}

fn find(driver: CudaVersion) -> Result<&'static Nvjpeg, Missing> {
    let install = |major| {
        format!(
            "install it with `pip install '{}=={major}.*'` or the CUDA toolkit, and name its folder in \
             {NVJPEG_VARIABLE}",
            if major >= 13 { "nvidia-nvjpeg" } else { "nvidia-nvjpeg-cu12" }
        )
    };
    let missing = |problem| Missing { problem, remedy: install(driver.major) };
    let found = Nvjpeg::get(driver.major).map_err(missing)?;
    let version = version_of(found);
    if version.major > driver.major {
        return Err(Missing {
            problem: format!(
                "nvJPEG {version} is for newer drivers than the one installed, which is for CUDA {driver}"
            ),
            remedy: format!("update the driver, or {}", install(driver.major)),
        });
    }
    Ok(found)
}

/// What decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JpegEngine {
    /// The GPU's engines for JPEG; what they do not know, such as 4:1:1, its cores.
    Hardware,
    /// The GPU's cores, with the host's for the entropy coding.
    Cores,
}

impl fmt::Display for JpegEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hardware => "hardware engines",
            Self::Cores => "cores of the GPU",
        })
    }
}

/// A file that was not decoded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JpegError {
    /// nvJPEG refuses the file, or reads another picture in it than was expected.
    #[error("file {index} of the batch: {reason}; decode it on the CPU (--decode cpu)")]
    File {
        /// Its place among those given.
        index: usize,
        /// What nvJPEG says.
        reason: String,
    },
    /// The device fails, for this file and all others.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// nvJPEG on a device. Threads share it; each has a [`JpegLane`] of its own.
#[derive(Debug)]
pub struct JpegDecoder {
    shared: Arc<Shared>,
    library: &'static Nvjpeg,
    /// For batches on the hardware engines, where there are some.
    hardware: Option<Arc<JpegHandle>>,
    /// For what those do not know; getting it ready takes a second, which most runs need not wait for.
    cores: OnceLock<Arc<JpegHandle>>,
}

/// A thread's part of a [`JpegDecoder`]: a stream, and the memory that decoding works in.
#[derive(Debug)]
pub struct JpegLane {
    stream: Arc<CudaStream>,
    decoder: Arc<JpegDecoder>,
    batches: Option<Batches>,
    single: Option<JpegState>,
}

/// States for the hardware engines: batches are of one kind of output. Each takes a third of a second to make, so that none is
/// made before it is needed.
#[derive(Debug)]
struct Batches {
    handle: Arc<JpegHandle>,
    header: JpegHeader,
    gray: Option<JpegState>,
    rgb: Option<JpegState>,
}

/// A file to decode, and the image that it is decoded into.
pub type JpegTask = (Vec<u8>, DeviceImage);

impl CudaDevice {
    /// nvJPEG on this device; takes seconds, so keep it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] with what is missing and what to install; [`DeviceError::Driver`] when nvJPEG or the
    /// driver refuses.
    pub fn jpeg_decoder(&self) -> Result<Arc<JpegDecoder>, DeviceError> {
        let unsupported = |missing: Missing| DeviceError::Unsupported(missing.to_string());
        let library = probe().driver.and_then(find).map_err(unsupported)?;
        let shared = self.shared();
        shared.alive()?;
        // A GPU without engines says so by refusing.
        let hardware = JpegHandle::new(library, &shared.context, JpegBackend::Hardware).ok();
        let decoder = JpegDecoder { shared: shared.clone(), library, hardware, cores: OnceLock::new() };
        decoder.any().map_err(|refusal| device_error(shared, refusal))?;
        Ok(Arc::new(decoder))
    }
}

impl JpegDecoder {
    /// nvJPEG's version.
    pub fn version(&self) -> JpegVersion {
        version_of(self.library)
    }

    fn cores(&self) -> Result<&Arc<JpegHandle>, JpegRefusal> {
        if let Some(ready) = self.cores.get() {
            return Ok(ready);
        }
        let made = JpegHandle::new(self.library, &self.shared.context, JpegBackend::Default)?;
        Ok(self.cores.get_or_init(|| made))
    }

    /// What reads headers.
    fn any(&self) -> Result<&Arc<JpegHandle>, JpegRefusal> {
        self.hardware.as_ref().map_or_else(|| self.cores(), Ok)
    }

    /// Decodes one file on the cores.
    fn alone(
        &self,
        state: &mut Option<JpegState>,
        job: &JpegJob<'_>,
        output: JpegOutput,
        stream: &RawStream,
    ) -> Result<(), JpegRefusal> {
        let state = match state {
            Some(state) => state,
            None => state.insert(JpegState::new(self.cores()?)?),
        };
        state.decode(job, output, stream)?;
        // The next call writes to the state's memory on the host, which this one's copies may still read.
        Ok(stream.synchronize()?)
    }

    /// What decodes.
    pub const fn engine(&self) -> JpegEngine {
        if self.hardware.is_some() { JpegEngine::Hardware } else { JpegEngine::Cores }
    }

    /// A part for one more thread.
    ///
    /// # Errors
    /// When there is no memory, or the device is lost.
    pub fn lane(self: &Arc<Self>) -> Result<JpegLane, DeviceError> {
        let stream = CudaStream::new(&self.shared, "jpeg")?;
        let made = || -> Result<_, JpegRefusal> {
            let batches = |handle: &Arc<JpegHandle>| {
                let (handle, header) = (handle.clone(), JpegHeader::new(handle)?);
                Ok::<_, JpegRefusal>(Batches { handle, header, gray: None, rgb: None })
            };
            self.hardware.as_ref().map(batches).transpose()
        };
        let batches = made().map_err(|refusal| device_error(&self.shared, refusal))?;
        Ok(JpegLane { stream, decoder: self.clone(), batches, single: None })
    }
}

impl JpegLane {
    /// Queues decoding files into images of this device, interleaved and tight: u8 gray for files of one component, u8
    /// rgb for others. Waits for what this lane decoded before; the images are complete once [`JpegLane::finish`] has
    /// returned. Files and images are kept until then.
    ///
    /// A file's result says whether it was queued, whatever becomes of the others.
    pub fn decode(&mut self, tasks: Vec<JpegTask>) -> Vec<Result<(), JpegError>> {
        let mut results: Vec<Result<(), JpegError>> = vec![Ok(()); tasks.len()];
        if let Err(lost) = self.finish() {
            results.fill(Err(lost.into()));
            return results;
        }
        let Self { stream, decoder, batches, single } = self;
        let tasks = Arc::new(tasks);
        let mut queue = Queue { decoder, results: &mut results };
        stream.queue(tasks.clone(), |stream| {
            let (mut gray, mut rgb) = (Vec::new(), Vec::new());
            for (index, (file, image)) in tasks.iter().enumerate() {
                let Some((job, output)) = queue.checked(index, file, image) else { continue };
                // What the header alone makes nvJPEG refuse is refused by decoding as well, with the same reason.
                let batch = batches.as_mut().is_some_and(|b| b.header.is_for_a_batch(file).unwrap_or(false));
                if !batch {
                    let queued = decoder.alone(single, &job, output, stream);
                    queue.note(index, queued);
                } else if output == JpegOutput::Gray {
                    gray.push((index, job));
                } else {
                    rgb.push((index, job));
                }
            }
            if let Some(Batches { handle, gray: gray_state, rgb: rgb_state, .. }) = batches {
                queue.batch((handle, gray_state), &gray, JpegOutput::Gray, stream);
                queue.batch((handle, rgb_state), &rgb, JpegOutput::Rgb, stream);
            }
        });
        results
    }

    /// Waits until everything queued has been decoded.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn finish(&self) -> Result<(), DeviceError> {
        self.stream.synchronize()
    }
}

impl Drop for JpegLane {
    fn drop(&mut self) {
        // States must outlive what is queued; on a lost device nothing runs any more.
        let _ = self.finish();
    }
}

/// What a call of [`JpegLane::decode`] has come to.
struct Queue<'a> {
    decoder: &'a JpegDecoder,
    results: &'a mut [Result<(), JpegError>],
}

impl Queue<'_> {
    fn refuse(&mut self, index: usize, reason: impl Into<String>) {
        self.results[index] = Err(JpegError::File { index, reason: reason.into() });
    }

    /// A file and where it goes, if its picture is what the image is for: nvJPEG writes as much as the file says.
    fn checked<'f>(
        &mut self,
        index: usize,
        file: &'f [u8],
        image: &DeviceImage,
    ) -> Option<(JpegJob<'f>, JpegOutput)> {
        let memory = match device_memory(&**image.memory()) {
            Ok(memory) => memory,
            Err(error) => {
                self.results[index] = Err(error.into());
                return None;
            }
        };
        let Some(output) = output_for(image) else {
            self.refuse(index, format!("nvJPEG decodes to tight u8 gray or rgb, not to {}", image.desc()));
            return None;
        };
        let found = match self.decoder.any().and_then(|handle| handle.info(file)) {
            Ok(found) => found,
            Err(refusal) => {
                self.note(index, Err(refusal));
                return None;
            }
        };
        let desc = image.desc();
        if !is_of(&found, desc) {
            let JpegInfo { components, width, height } = found;
            let text = format!(
                "nvJPEG reads {width}x{height} pixels of {components} component(s) in it, where {desc} was expected"
            );
            self.refuse(index, text);
            return None;
        }
        let address = memory.address() + image.offset() as u64;
        Some((JpegJob { file, address, pitch: image.layout().row_stride }, output))
    }

    fn note(&mut self, index: usize, queued: Result<(), JpegRefusal>) {
        match queued {
            Ok(()) => {}
            Err(JpegRefusal::Jpeg(status)) => self.refuse(index, status.to_string()),
            Err(other) => self.results[index] = Err(device_error(&self.decoder.shared, other).into()),
        }
    }

    /// Queues a batch; where it is refused, one file after the other, so that only those fail that are refused
    /// themselves.
    fn batch(
        &mut self,
        (handle, state): (&Arc<JpegHandle>, &mut Option<JpegState>),
        jobs: &[(usize, JpegJob<'_>)],
        output: JpegOutput,
        stream: &RawStream,
    ) {
        let all: Vec<JpegJob<'_>> = jobs.iter().map(|(_, job)| *job).collect();
        if all.is_empty() {
            return;
        }
        let made = state.take().map_or_else(|| JpegState::new(handle), Ok);
        let state = match made {
            Ok(made) => state.insert(made),
            Err(refusal) => {
                return jobs.iter().for_each(|(index, _)| self.note(*index, Err(refusal.clone())));
            }
        };
        if state.decode_batch(&all, output, stream).is_ok() {
            return;
        }
        for (index, job) in jobs {
            // The state is made ready anew for each, which nothing queued may use then.
            let queued = stream
                .synchronize()
                .map_err(JpegRefusal::from)
                .and_then(|()| state.decode_batch(std::slice::from_ref(job), output, stream));
            self.note(*index, queued);
        }
    }
}

/// The output that fills an image.
fn output_for(image: &DeviceImage) -> Option<JpegOutput> {
    let (desc, layout) = (image.desc(), image.layout());
    let fits = desc.dtype() == DType::U8 && layout.batch_size == 1 && layout.is_tight();
    match desc.format() {
        PixelFormat::Gray if fits => Some(JpegOutput::Gray),
        PixelFormat::Rgb if fits && desc.layout() == Layout::Hwc => Some(JpegOutput::Rgb),
        _ => None,
    }
}

fn is_of(found: &JpegInfo, desc: &ImageDesc) -> bool {
    let size =
        (u32::try_from(found.width), u32::try_from(found.height)) == (Ok(desc.width()), Ok(desc.height()));
    let gray = desc.format() == PixelFormat::Gray;
    size && found.components == if gray { 1 } else { 3 }
}

fn device_error(shared: &Shared, refusal: JpegRefusal) -> DeviceError {
    match refusal {
        JpegRefusal::Driver(error) => shared.check::<()>(Err(error)).expect_err("an error stays one"),
        JpegRefusal::Jpeg(status) => {
            let message = format!("{}; decode on the CPU (--decode cpu)", status.text());
            DeviceError::Driver { call: status.call, message }
        }
    }
}
