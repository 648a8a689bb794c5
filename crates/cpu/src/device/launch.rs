use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mip_core::{ImageBuffer, ImageError, ImageView, ImageViewMut};
use mip_runtime::device::{BufferMemory, BufferRef, DeviceError, Launch, LaunchDecision};
use mip_runtime::memory::{ReadGuard, WriteGuard};

use super::CpuExecutable;
use super::memory::{host, write};

/// Runs a launch and tells its observer.
///
/// # Errors
/// When the observer itself panics; failures of the launch go to the observer.
pub(super) fn run(launch: Launch) -> Result<(), DeviceError> {
    let group = launch.group;
    let decision = guarded("observer", || Ok(launch.observer.begin(group)))?;
    if decision == LaunchDecision::Skip {
        return Ok(());
    }
    let result = match launch.executable.as_any().downcast_ref::<CpuExecutable>() {
        Some(executable) => guarded(&executable.name, || compute(&launch, executable)),
        None => Err(DeviceError::Unsupported("a group loaded by another device was launched".to_owned())),
    };
    // Whoever learns of the end may take the memory back at once, so let go of it first.
    let observer = launch.observer.clone();
    drop(launch);
    guarded("observer", || {
        observer.end(group, result);
        Ok(())
    })
}

/// Turns a panic into an error, so that a stream survives it.
fn guarded<R>(kernel: &str, work: impl FnOnce() -> Result<R, DeviceError>) -> Result<R, DeviceError> {
    // What a panicking kernel leaves half done are pixels of an output that is then reported as failed.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(DeviceError::Kernel {
            kernel: kernel.to_owned(),
            message: format!("panicked: {}", text(&*panic)),
        })
    })
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Bytes borrowed for reading while the launch runs.
enum Source<'a> {
    Block(ReadGuard, &'a BufferRef),
    Host(&'a ImageBuffer),
}

impl Source<'_> {
    fn view(&self) -> Result<ImageView<'_>, DeviceError> {
        match self {
            Self::Block(bytes, buffer) => ImageView::new(buffer.layout, bytes).map_err(|e| conflict(&e)),
            Self::Host(image) => Ok(image.view()),
        }
    }
}

fn conflict(error: &ImageError) -> DeviceError {
    DeviceError::Conflict(error.to_string())
}

fn compute(launch: &Launch, executable: &CpuExecutable) -> Result<(), DeviceError> {
    let source = |buffer| read(buffer);
    let sources: Vec<Source<'_>> = launch.inputs.iter().map(source).collect::<Result<_, _>>()?;
    let inputs: Vec<ImageView<'_>> = sources.iter().map(Source::view).collect::<Result<_, _>>()?;
    let mut targets: Vec<WriteGuard> = launch.outputs.iter().map(write).collect::<Result<_, _>>()?;
    let mut outputs = Vec::with_capacity(targets.len());
    for (bytes, buffer) in targets.iter_mut().zip(&launch.outputs) {
        outputs.push(ImageViewMut::new(buffer.layout, bytes).map_err(|e| conflict(&e))?);
    }
    let mut workspace = match &launch.workspace {
        Some((memory, offset, bytes)) => Some(host(&**memory)?.write(*offset..*offset + *bytes)?),
        None => None,
    };
    let workspace = workspace.as_deref_mut().unwrap_or_default();
    executable.runner.run(&inputs, &mut outputs, &launch.uniforms, workspace)
}

fn read(buffer: &BufferRef) -> Result<Source<'_>, DeviceError> {
    match &buffer.memory {
        BufferMemory::Host(image) => Ok(Source::Host(image)),
        BufferMemory::Block(memory) => {
            let bytes = host(&**memory)?.read(buffer.offset..buffer.offset + buffer.layout.span())?;
            Ok(Source::Block(bytes, buffer))
        }
    }
}
