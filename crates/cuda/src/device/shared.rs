use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use mip_runtime::device::{DeviceError, Space};

use super::CudaOptions;
use super::copy_out::CopyOut;
use super::fault::{Streams, ended_well};
use super::in_flight::InFlight;
use super::ring::Ring;
use super::timestamp::Clock;
use crate::codegen::Target;
use crate::compile::Compiler;
use crate::driver::{Context, DriverError, MemoryPool};

/// What everything that belongs to a device shares.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) context: Arc<Context>,
    pub(super) compiler: Compiler,
    pub(super) target: Target,
    pub(super) options: CudaOptions,
    pub(super) ring: Ring,
    pub(super) copy_out: CopyOut,
    /// Of the stream-ordered allocator, or why there is none.
    pub(super) pool: Result<Arc<MemoryPool>, String>,
    pub(super) streams: Streams,
    pub(super) clock: Clock,
    lost: OnceLock<DriverError>,
    in_use: [AtomicUsize; 2],
}

impl Shared {
    pub(super) fn new(
        context: Arc<Context>,
        compiler: Compiler,
        target: Target,
        options: CudaOptions,
        pool: Result<Arc<MemoryPool>, String>,
    ) -> Self {
        let ring = Ring::new(options.upload_threads);
        Self {
            context,
            compiler,
            target,
            options,
            ring,
            copy_out: CopyOut::default(),
            pool,
            streams: Streams::default(),
            clock: Clock::default(),
            lost: OnceLock::new(),
            in_use: Default::default(),
        }
    }

    /// Turns a driver's error into the runtime's; a fatal one marks the device lost.
    pub(crate) fn check<T>(&self, result: Result<T, DriverError>) -> Result<T, DeviceError> {
        result.map_err(|error| {
            if error.is_fatal() {
                let _ = self.lost.set(error.clone());
            }
            self.lost_error().unwrap_or_else(|| error.into())
        })
    }

    /// The error of a lost device.
    pub(super) fn lost_error(&self) -> Option<DeviceError> {
        let why = self.lost.get()?;
        if self.options.synchronous || !why.is_fault_of_a_kernel() {
            return Some(DeviceError::Lost(why.to_string()));
        }
        let attribution = self.streams.attribution();
        let hint = match attribution.cause() {
            Some(_) => "",
            None => "; run with MIP_CUDA_SYNC=1 to find the task that caused it",
        };
        Some(DeviceError::Lost(format!("{why}{}{hint}", attribution.place())))
    }

    /// The result of a launch when the device was lost: it caused the fault, it had ended before, or it was
    /// lost with it.
    pub(super) fn lost_launch(
        &self,
        in_flight: &InFlight,
        mark: Option<u32>,
        end: u64,
    ) -> Result<(), DeviceError> {
        let Some(why) = self.lost.get() else { return Ok(()) };
        let attribution = self.streams.attribution();
        match attribution.cause() {
            Some(kernel) if why.is_fault_of_a_kernel() && attribution.is_on(in_flight, end) => {
                Err(DeviceError::Kernel { kernel: kernel.to_owned(), message: why.to_string() })
            }
            _ if ended_well(mark, end) => Ok(()),
            _ => self.alive(),
        }
    }

    /// Whether a fault has made the device useless.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Refuses to go on once the device is lost.
    pub(super) fn alive(&self) -> Result<(), DeviceError> {
        self.lost_error().map_or(Ok(()), Err)
    }

    fn counter(&self, space: Space) -> &AtomicUsize {
        &self.in_use[usize::from(space == Space::Pinned)]
    }

    /// Counts memory handed out.
    pub(super) fn took(&self, space: Space, bytes: usize) {
        self.counter(space).fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts memory given back.
    pub(super) fn gave_back(&self, space: Space, bytes: usize) {
        self.counter(space).fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The error of an allocation that failed.
    pub(super) fn allocation_error(&self, space: Space, requested: usize, error: DriverError) -> DeviceError {
        if !error.is_out_of_memory() {
            return self.check::<()>(Err(error)).expect_err("an error stays one");
        }
        let in_use = self.counter(space).load(Ordering::Relaxed);
        DeviceError::OutOfMemory { space: space.name(), requested, in_use, reserved: in_use, limit: None }
    }
}
