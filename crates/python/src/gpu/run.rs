//! Runs that the host does not wait for.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mini_image_pipe::runtime::device::Event;
use mini_image_pipe::{DeviceRun, Error, prelude::DeviceImage};

use crate::errors::Failed;

/// A run that was queued: shared by its results and its pipeline. Whoever asks first waits for it.
#[derive(Debug)]
pub(crate) struct Run {
    /// Only to be locked detached: its holder may wait to be attached, to give a tensor back.
    stage: Mutex<Stage>,
    done: Arc<dyn Event>,
}

#[derive(Debug)]
enum Stage {
    Going(DeviceRun),
    Ended(Result<(), Error>),
}

impl Run {
    pub(crate) fn new(run: DeviceRun) -> Arc<Self> {
        let done = run.done().clone();
        Arc::new(Self { stage: Mutex::new(Stage::Going(run)), done })
    }

    /// One that ended well before anybody asks; `done` is an event that was never recorded.
    pub(super) fn ended(done: Arc<dyn Event>) -> Arc<Self> {
        Arc::new(Self { stage: Mutex::new(Stage::Ended(Ok(()))), done })
    }

    /// The point at which it has ended.
    pub(crate) const fn done(&self) -> &Arc<dyn Event> {
        &self.done
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for it on the host. Detached.
    pub(super) fn wait(&self) -> Result<(), Failed> {
        let mut stage = self.lock();
        let ended = match mem::replace(&mut *stage, Stage::Ended(Ok(()))) {
            Stage::Going(run) => run.wait().map(drop),
            Stage::Ended(ended) => ended,
        };
        *stage = Stage::Ended(ended.clone());
        Ok(ended?)
    }

    /// Whether waiting for it would return at once. Detached.
    pub(super) fn is_done(&self) -> bool {
        match &*self.lock() {
            Stage::Going(run) => run.is_done(),
            Stage::Ended(_) => true,
        }
    }

    /// What it failed with, if that is known without waiting. Detached.
    pub(super) fn check(&self) -> Result<(), Failed> {
        if self.is_done() { self.wait() } else { Ok(()) }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let stage = self.stage.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Stage::Going(run) = mem::replace(stage, Stage::Ended(Ok(()))) {
            leave(Left::Run(run));
        }
    }
}

/// The runs of a pipeline that it has not seen the end of, oldest first.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(VecDeque<Arc<Run>>);

/// Runs under way at most: a host that runs further ahead waits for the oldest, so that memory for results is bounded.
const MOST: usize = 32;

impl UnderWay {
    pub(crate) fn push(&mut self, run: Arc<Run>) {
        self.0.push_back(run);
    }

    /// Lets go of what has ended, and makes room for one more. What failed meanwhile is said here, once. Detached.
    pub(crate) fn look(&mut self) -> Result<(), Failed> {
        look_after_what_was_left()?;
        while let Some(oldest) = self.0.front() {
            if self.0.len() < MOST && !oldest.is_done() {
                break;
            }
            let Some(oldest) = self.0.pop_front() else { break };
            oldest.wait()?;
        }
        Ok(())
    }

    /// Waits for all of them, so that their memory is free; whether there were any. Detached.
    pub(crate) fn finish(&mut self) -> Result<bool, Failed> {
        let any = !self.0.is_empty();
        while let Some(oldest) = self.0.pop_front() {
            oldest.wait()?;
        }
        look_after_what_was_left()?;
        Ok(any)
    }
}

/// What nobody holds any more, and the device still needs.
enum Left {
    /// A run whose results and pipeline are gone.
    Run(DeviceRun),
    /// A result that another library has let go of, which its stream may still read.
    Image { _image: DeviceImage, read: Arc<dyn Event> },
}

/// By process: what belongs to the one before a fork is not ours to give back.
static LEFT: Mutex<Vec<(u32, Left)>> = Mutex::new(Vec::new());

fn left() -> MutexGuard<'static, Vec<(u32, Left)>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leave(what: Left) {
    left().push((std::process::id(), what));
}

/// Keeps a result until `read` is reached.
pub(super) fn keep_until(image: DeviceImage, read: Arc<dyn Event>) {
    leave(Left::Image { _image: image, read });
}

/// Gives back what the device is done with. The failure of a run that was left comes out here, rather than never.
fn look_after_what_was_left() -> Result<(), Failed> {
    // Looked at without the lock, since giving tensors back may wait to be attached.
    let all = mem::take(&mut *left());
    if all.is_empty() {
        return Ok(());
    }
    let (mut remaining, mut failure) = (Vec::new(), Ok(()));
    for (process, left) in all {
        if process != std::process::id() {
            mem::forget(left);
            continue;
        }
        match left {
            Left::Run(run) if run.is_done() => {
                let ended = run.wait();
                failure = failure.and(ended.map(drop));
            }
            Left::Image { ref read, .. } if read.is_complete() => {}
            left => remaining.push((process, left)),
        }
    }
    left().append(&mut remaining);
    Ok(failure?)
}
