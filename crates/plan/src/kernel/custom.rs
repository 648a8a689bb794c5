use std::fmt;

use mip_core::{ImageView, ImageViewMut};

/// Why a user's kernel failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CustomError(pub String);

/// A computation of the user's own. It sees whole images of the batch at once and may fail; a failure stops
/// the task and what depends on it, nothing else.
pub trait CustomKernel: fmt::Debug + Send + Sync {
    /// A short name for plans, errors and profiles.
    fn name(&self) -> &str;

    /// Number of input images.
    fn input_count(&self) -> usize {
        1
    }

    /// Computes every pixel of `output` from `inputs`, on the calling thread.
    ///
    /// # Errors
    /// Whatever stops the computation; the text reaches the user with the task's name.
    fn run(
        &self,
        inputs: &[ImageView<'_>],
        uniforms: &[f32],
        output: &mut ImageViewMut<'_>,
    ) -> Result<(), CustomError>;

    /// Whether a captured run must not be replayed as it is, because what this kernel does depends on more than
    /// its inputs and uniforms. Asked before each run; such runs are submitted task by task.
    fn wants_recapture(&self) -> bool {
        false
    }

    /// CUDA C++ source of the same computation, if there is one.
    ///
    /// It defines
    ///
    /// ```cuda
    /// __device__ void pixel(const View* in, const View& out, int x, int y, const float* uniform);
    /// ```
    ///
    /// which is called once for each pixel of each frame of the result, side by side and in any order, and writes
    /// all channels of pixel (x, y) of `out`. A `View` is one frame: `width`, `height`, `channels`, and
    /// `at<T>(x, y, channel)`, the address of a sample whatever the layout. `T` is `u8`, `u16`, `i16`, `i32`, `f16`
    /// (which converts to and from `float`) or `float`, as the image's samples are; `In0` to `In7` and `Out` name the types of
    /// the images at hand. `uniform` points to
    /// the task's numbers. There are no headers; coordinates are not checked; `a * b + c` is not contracted (write
    /// `fmaf` where [`CustomKernel::run`] uses `mul_add`).
    ///
    /// A source that does not compile fails its task, with the compiler's messages, and nothing else.
    fn cuda_source(&self) -> Option<&str> {
        None
    }
}

impl PartialEq for dyn CustomKernel {
    /// Two custom kernels are the same only when they are the same object.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self, other)
    }
}
