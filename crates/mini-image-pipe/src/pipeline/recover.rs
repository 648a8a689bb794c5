//! After a fault that cost the device: which task it was, and a fresh device.
//!
//! A GPU reports a fault of a running kernel (an illegal address, say) to whoever asks next, and everything on
//! it is lost by then. The device tells which launch it was when only one had begun and not ended. Where several had, or
//! a graph was replayed, the same images run once more on a device that waits for each launch; then the fault
//! is its task's. The device is opened anew for that, and once more afterwards, so that the pipeline stays usable.
//!
//! Where the driver refuses to serve the process any more, the error says so. NVIDIA's does after an illegal address
//! (driver 580 refuses a new context with the same error, primary or not, after a reset too): then a run whose task
//! is not known has to be repeated in another process, with `MIP_CUDA_SYNC=1` to have it named.

use std::sync::Arc;

use mip_runtime::device::{Device as RuntimeDevice, DeviceError};
use mip_runtime::{CancelToken, RunInput, RunReport, RuntimeError};

use super::Pipeline;
use super::sessions::Sessions;
use crate::Error;
use crate::device::is_lost;

impl Pipeline {
    /// Runs a chunk; when that costs the device, finds the task that did it and opens the device anew. The error
    /// says what was found, and whether the device can be used again.
    pub(super) fn run_chunk(
        &mut self,
        images: Vec<RunInput>,
        cancel: &CancelToken,
    ) -> Result<RunReport, Error> {
        let device = self.config.device.open()?;
        self.sessions.keep_only(&device);
        let first = self.run_chunk_once(images.clone(), cancel);
        let Some(error) = failure(&first).filter(|e| cause(e).is_some_and(|c| is_lost(&*device, c))) else {
            return first;
        };
        if matches!(cause(&error), Some(DeviceError::Lost(_))) {
            self.find_fault(images, cancel, &device, first, &error)
        } else {
            // The device was waiting for each launch already.
            let aftermath = self.reopen(&device, false);
            self.with_error(first, add(error, &aftermath))
        }
    }

    /// Runs the images again on a device that waits for each launch.
    fn find_fault(
        &mut self,
        images: Vec<RunInput>,
        cancel: &CancelToken,
        lost: &Arc<dyn RuntimeDevice>,
        first: Result<RunReport, Error>,
        error: &RuntimeError,
    ) -> Result<RunReport, Error> {
        self.sessions = Sessions::default();
        if let Err(refused) = self.config.device.reopen(lost, true) {
            return self.with_error(first, unattributed(error, &unusable(&refused)));
        }
        let device = self.config.device.open()?;
        // Quietly: the error callback has had these tasks already. Directly: a replay is one launch.
        let scheduler = std::mem::take(&mut self.scheduler);
        let replay = std::mem::replace(&mut self.config.enable_graph_replay, false);
        let second = self.run_chunk_once(images, cancel);
        (self.scheduler, self.config.enable_graph_replay) = (scheduler, replay);
        let aftermath = self.reopen(&device, false);
        match failure(&second) {
            Some(found) if !matches!(cause(&found), None | Some(DeviceError::Lost(_))) => {
                let how = format!("found by running again with a wait after each task; {aftermath}");
                self.with_error(second, add(found, &how))
            }
            found => {
                let outcome = match (found, &second) {
                    (None, Ok(_)) => "the fault did not appear again".to_owned(),
                    (Some(other), _) => format!("that failed too ({other})"),
                    (None, Err(other)) => format!("that failed otherwise ({other})"),
                };
                let how = format!(
                    "run again with a wait after each task to find the one that caused it, {outcome}; {aftermath}"
                );
                self.with_error(first, unattributed(error, &how))
            }
        }
    }

    /// Opens the device anew, and says what came of it.
    fn reopen(&mut self, device: &Arc<dyn RuntimeDevice>, synchronous: bool) -> String {
        self.sessions = Sessions::default();
        match self.config.device.reopen(device, synchronous) {
            Ok(()) => "the device has been opened anew and can be used".to_owned(),
            Err(refused) => unusable(&refused),
        }
    }

    /// The run with another error. A run has no report without a device to tell of.
    fn with_error(&self, run: Result<RunReport, Error>, error: RuntimeError) -> Result<RunReport, Error> {
        match run {
            Ok(outcome) if self.config.device.open().is_ok() => {
                Ok(RunReport { error: Some(error), ..outcome })
            }
            _ => Err(error.into()),
        }
    }
}

fn unusable(refused: &Error) -> String {
    format!("the device cannot be opened again ({refused}): restart the process to use it")
}

/// The failure of a run, if it failed while running.
fn failure(run: &Result<RunReport, Error>) -> Option<RuntimeError> {
    match run {
        Ok(outcome) => outcome.error.clone(),
        Err(Error::Run(error)) => Some(error.clone()),
        Err(_) => None,
    }
}

/// What the device said.
pub(crate) const fn cause(error: &RuntimeError) -> Option<&DeviceError> {
    match error {
        RuntimeError::Task { error, .. }
        | RuntimeError::Load { error, .. }
        | RuntimeError::Upload { error, .. }
        | RuntimeError::Download { error, .. }
        | RuntimeError::Allocation { error, .. }
        | RuntimeError::Device { error, .. } => Some(error),
        _ => None,
    }
}

/// A fault of which nobody knows whose it is: the tasks that suffered from it are not named as if they had
/// caused it.
fn unattributed(error: &RuntimeError, more: &str) -> RuntimeError {
    let why = match cause(error) {
        Some(DeviceError::Lost(why)) => why.clone(),
        _ => error.to_string(),
    };
    RuntimeError::Device { what: "the run".to_owned(), error: DeviceError::Lost(format!("{why}; {more}")) }
}

/// The error with more to it.
fn add(mut error: RuntimeError, more: &str) -> RuntimeError {
    if let RuntimeError::Task { error, .. }
    | RuntimeError::Load { error, .. }
    | RuntimeError::Upload { error, .. }
    | RuntimeError::Download { error, .. }
    | RuntimeError::Allocation { error, .. }
    | RuntimeError::Device { error, .. } = &mut error
        && let DeviceError::Kernel { message, .. }
        | DeviceError::Build { message, .. }
        | DeviceError::Lost(message) = error
    {
        *message = format!("{message}; {more}");
    }
    error
}
