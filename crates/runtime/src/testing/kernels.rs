use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mip_core::{ImageView, ImageViewMut};
use mip_plan::{CustomError, CustomKernel, Kernel};

/// What a [`FnKernel`] calls.
pub type KernelFn = dyn Fn(&[ImageView<'_>], &mut ImageViewMut<'_>) -> Result<(), CustomError> + Send + Sync;

/// A custom kernel made of a function.
pub struct FnKernel {
    name: String,
    inputs: usize,
    run: Box<KernelFn>,
    recapture: Arc<AtomicBool>,
}

impl FnKernel {
    /// A kernel that calls `run` with its `inputs` images.
    pub fn kernel(
        name: &str,
        inputs: usize,
        run: impl Fn(&[ImageView<'_>], &mut ImageViewMut<'_>) -> Result<(), CustomError> + Send + Sync + 'static,
    ) -> Kernel {
        Kernel::Custom(Arc::new(Self {
            name: name.to_owned(),
            inputs,
            run: Box::new(run),
            recapture: Arc::default(),
        }))
    }

    /// A kernel that does nothing, and asks to be captured anew while the flag is set.
    pub fn recapturing(name: &str) -> (Kernel, Arc<AtomicBool>) {
        let recapture: Arc<AtomicBool> = Arc::default();
        let kernel = Self {
            name: name.to_owned(),
            inputs: 1,
            run: Box::new(|_, _| Ok(())),
            recapture: recapture.clone(),
        };
        (Kernel::Custom(Arc::new(kernel)), recapture)
    }

    /// A kernel that always fails.
    pub fn failing(name: &str, message: &str) -> Kernel {
        let message = message.to_owned();
        Self::kernel(name, 1, move |_, _| Err(CustomError(message.clone())))
    }
}

impl CustomKernel for FnKernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn input_count(&self) -> usize {
        self.inputs
    }

    fn wants_recapture(&self) -> bool {
        self.recapture.load(Ordering::Relaxed)
    }

    fn run(
        &self,
        inputs: &[ImageView<'_>],
        _uniforms: &[f32],
        output: &mut ImageViewMut<'_>,
    ) -> Result<(), CustomError> {
        (self.run)(inputs, output)
    }
}

impl fmt::Debug for FnKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FnKernel({})", self.name)
    }
}
