//! Safe wrappers over nvJPEG's handles: what is shared by all threads, and the states that belong to one each.

use std::ffi::c_int;
use std::sync::Arc;

use super::nvjpeg::{Nvjpeg, Opaque, Planes, Status};
use super::{Context, DriverError, RawStream};

/// How nvJPEG decodes (`nvjpegBackend_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JpegBackend {
    /// Its own choice, on cores of the GPU and of the host.
    Default,
    /// The engines for JPEG that some GPUs have.
    Hardware,
}

/// What comes out (`nvjpegOutputFormat_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JpegOutput {
    /// Luma alone.
    Gray,
    /// Interleaved.
    Rgb,
}

/// `NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION`: chroma is interpolated as libjpeg does.
const INTERPOLATE: u32 = 1 << 5;
/// The first version that knows it.
const INTERPOLATES: (u32, u32) = (12, 1);

/// A call of nvJPEG that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed: {}", self.text())]
pub(crate) struct JpegStatus {
    pub(crate) call: &'static str,
    pub(crate) status: Status,
}

impl JpegStatus {
    /// Its name and number.
    pub(crate) fn text(&self) -> String {
        format!("{} ({})", status_name(self.status), self.status)
    }
}

const fn status_name(status: Status) -> &'static str {
    match status {
        1 => "NVJPEG_STATUS_NOT_INITIALIZED",
        2 => "NVJPEG_STATUS_INVALID_PARAMETER",
        3 => "NVJPEG_STATUS_BAD_JPEG",
        4 => "NVJPEG_STATUS_JPEG_NOT_SUPPORTED",
        5 => "NVJPEG_STATUS_ALLOCATOR_FAILURE",
        6 => "NVJPEG_STATUS_EXECUTION_FAILED",
        7 => "NVJPEG_STATUS_ARCH_MISMATCH",
        8 => "NVJPEG_STATUS_INTERNAL_ERROR",
        9 => "NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED",
        10 => "NVJPEG_STATUS_INCOMPLETE_BITSTREAM",
        _ => "a status unknown here",
    }
}

fn check(call: &'static str, status: Status) -> Result<(), JpegStatus> {
    if status == 0 { Ok(()) } else { Err(JpegStatus { call, status }) }
}

/// Why something was not made, or not queued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JpegRefusal {
    #[error(transparent)]
    Jpeg(#[from] JpegStatus),
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// A handle of nvJPEG, which threads share; its states are of one thread each.
#[derive(Debug)]
pub(crate) struct JpegHandle {
    library: &'static Nvjpeg,
    context: Arc<Context>,
    raw: Opaque,
}

// SAFETY: nvJPEG's handle may be used on several threads at once; it is never written after creation.
unsafe impl Send for JpegHandle {}
// SAFETY: as for `Send`.
unsafe impl Sync for JpegHandle {}

/// What nvJPEG reads of a file's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JpegInfo {
    pub(crate) components: c_int,
    pub(crate) width: c_int,
    pub(crate) height: c_int,
}

impl JpegHandle {
    /// Memory is nvJPEG's own: it takes some when a larger picture comes, and none later.
    pub(crate) fn new(
        library: &'static Nvjpeg,
        context: &Arc<Context>,
        backend: JpegBackend,
    ) -> Result<Arc<Self>, JpegRefusal> {
        let _bound = context.bind()?;
        let number = match backend {
            JpegBackend::Default => 0,
            JpegBackend::Hardware => 3,
        };
        let (major, minor, _) = library.version;
        let flags = if (major, minor) >= INTERPOLATES { INTERPOLATE } else { 0 };
        let (none, mut raw) = (std::ptr::null(), std::ptr::null_mut());
        // SAFETY: writes one handle, destroyed in `drop`; without allocators nvJPEG uses its own.
        let status = unsafe { (library.functions.create)(number, none, none, flags, &raw mut raw) };
        check("nvjpegCreateEx", status)?;
        Ok(Arc::new(Self { library, context: context.clone(), raw }))
    }

    /// What nvJPEG reads of a file's header.
    pub(crate) fn info(&self, file: &[u8]) -> Result<JpegInfo, JpegRefusal> {
        let _bound = self.context.bind()?;
        let (mut components, mut sampling) = (0, 0);
        let (mut widths, mut heights) = ([0; 4], [0; 4]);
        // SAFETY: the handle lives, the file is as long as said; writes two integers, and four twice.
        let status = unsafe {
            (self.library.functions.image_info)(
                self.raw,
                file.as_ptr(),
                file.len(),
                &raw mut components,
                &raw mut sampling,
                widths.as_mut_ptr(),
                heights.as_mut_ptr(),
            )
        };
        check("nvjpegGetImageInfo", status)?;
        Ok(JpegInfo { components, width: widths[0], height: heights[0] })
    }
}

impl Drop for JpegHandle {
    fn drop(&mut self) {
        // In a context that was thrown away there is nothing left to free.
        if let Ok(_bound) = self.context.bind() {
            // SAFETY: created in `new`, destroyed once; states hold an `Arc` of it and are gone.
            let _ = unsafe { (self.library.functions.destroy)(self.raw) };
        }
    }
}

/// What nvJPEG keeps of a header, to be asked what can be decoded.
#[derive(Debug)]
pub(crate) struct JpegHeader {
    handle: Arc<JpegHandle>,
    raw: Opaque,
}

// SAFETY: used by one thread at a time, for which every call takes `&mut self`.
unsafe impl Send for JpegHeader {}

impl JpegHeader {
    pub(crate) fn new(handle: &Arc<JpegHandle>) -> Result<Self, JpegRefusal> {
        let _bound = handle.context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the handle lives; writes one handle, destroyed in `drop`.
        let status = unsafe { (handle.library.functions.create_header)(handle.raw, &raw mut raw) };
        check("nvjpegJpegStreamCreate", status)?;
        Ok(Self { handle: handle.clone(), raw })
    }

    /// Whether a batch may have the file.
    pub(crate) fn is_for_a_batch(&mut self, file: &[u8]) -> Result<bool, JpegRefusal> {
        let _bound = self.handle.context.bind()?;
        let functions = &self.handle.library.functions;
        // SAFETY: both handles live, the file is as long as said and read before the call returns.
        let status =
            unsafe { (functions.parse_header)(self.handle.raw, file.as_ptr(), file.len(), self.raw) };
        check("nvjpegJpegStreamParseHeader", status)?;
        let mut refused = 0;
        // SAFETY: both handles live; writes one integer.
        let status = unsafe { (functions.batch_supported)(self.handle.raw, self.raw, &raw mut refused) };
        check("nvjpegDecodeBatchedSupported", status)?;
        Ok(refused == 0)
    }
}

impl Drop for JpegHeader {
    fn drop(&mut self) {
        if let Ok(_bound) = self.handle.context.bind() {
            // SAFETY: created in `new`, destroyed once.
            let _ = unsafe { (self.handle.library.functions.destroy_header)(self.raw) };
        }
    }
}

/// A file, and where its pixels go: `address` on the device, rows `pitch` bytes apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JpegJob<'a> {
    pub(crate) file: &'a [u8],
    pub(crate) address: u64,
    pub(crate) pitch: usize,
}

impl JpegJob<'_> {
    fn planes(&self) -> Planes {
        let none = std::ptr::null_mut();
        // An address of the device, which the host does not follow.
        let first = std::ptr::without_provenance_mut(self.address as usize);
        Planes { channel: [first, none, none, none], pitch: [self.pitch, 0, 0, 0] }
    }
}

/// Memory that decoding works in: of one thread, and one stream.
#[derive(Debug)]
pub(crate) struct JpegState {
    handle: Arc<JpegHandle>,
    raw: Opaque,
    /// Batches that it is made ready for.
    ready: Option<(usize, JpegOutput)>,
}

// SAFETY: used by one thread at a time, for which every call takes `&mut self`.
unsafe impl Send for JpegState {}

impl JpegState {
    pub(crate) fn new(handle: &Arc<JpegHandle>) -> Result<Self, JpegRefusal> {
        let _bound = handle.context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the handle lives; writes one handle, destroyed in `drop`.
        let status = unsafe { (handle.library.functions.create_state)(handle.raw, &raw mut raw) };
        check("nvjpegJpegStateCreate", status)?;
        Ok(Self { handle: handle.clone(), raw, ready: None })
    }

    /// Queues decoding one file.
    ///
    /// The caller has made sure that the picture fits where it goes ([`JpegHandle::info`]), and keeps file and memory
    /// until the stream is past this: streams do that through their in-flight lists.
    pub(crate) fn decode(
        &mut self,
        job: &JpegJob<'_>,
        output: JpegOutput,
        stream: &RawStream,
    ) -> Result<(), JpegRefusal> {
        let _bound = self.handle.context.bind()?;
        let mut planes = job.planes();
        // SAFETY: handle, state and stream live; what is read and written is kept, see above.
        let status = unsafe {
            (self.handle.library.functions.decode)(
                self.handle.raw,
                self.raw,
                job.file.as_ptr(),
                job.file.len(),
                output.number(),
                &raw mut planes,
                stream.raw,
            )
        };
        Ok(check("nvjpegDecode", status)?)
    }

    /// As [`JpegState::decode`], of several files at once.
    pub(crate) fn decode_batch(
        &mut self,
        jobs: &[JpegJob<'_>],
        output: JpegOutput,
        stream: &RawStream,
    ) -> Result<(), JpegRefusal> {
        let _bound = self.handle.context.bind()?;
        let functions = &self.handle.library.functions;
        if self.ready != Some((jobs.len(), output)) {
            self.ready = None;
            let size = c_int::try_from(jobs.len()).unwrap_or(c_int::MAX);
            // SAFETY: handle and state live; nothing queued uses the state, whose stream was waited for.
            let status =
                unsafe { (functions.batch_initialise)(self.handle.raw, self.raw, size, 1, output.number()) };
            check("nvjpegDecodeBatchedInitialize", status)?;
        }
        let files: Vec<*const u8> = jobs.iter().map(|job| job.file.as_ptr()).collect();
        let lengths: Vec<usize> = jobs.iter().map(|job| job.file.len()).collect();
        let mut planes: Vec<Planes> = jobs.iter().map(JpegJob::planes).collect();
        // SAFETY: handle, state and stream live; the lists are as long as the state was made ready for; what is
        // read and written is kept, see `decode`.
        let status = unsafe {
            (functions.batch_decode)(
                self.handle.raw,
                self.raw,
                files.as_ptr(),
                lengths.as_ptr(),
                planes.as_mut_ptr(),
                stream.raw,
            )
        };
        // One that failed leaves a state that has to be made ready anew.
        self.ready = (status == 0).then_some((jobs.len(), output));
        Ok(check("nvjpegDecodeBatched", status)?)
    }
}

impl JpegOutput {
    const fn number(self) -> c_int {
        match self {
            Self::Gray => 2,
            Self::Rgb => 5,
        }
    }
}

impl Drop for JpegState {
    fn drop(&mut self) {
        if let Ok(_bound) = self.handle.context.bind() {
            // SAFETY: created in `new`, destroyed once; its owner has waited for the stream.
            let _ = unsafe { (self.handle.library.functions.destroy_state)(self.raw) };
        }
    }
}
