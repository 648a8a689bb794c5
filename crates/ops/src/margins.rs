//! Room around an image, filled with numbers.

use mip_core::{ImageDesc, ImageError};
use mip_plan::{Kernel, Point};

use crate::{KernelStep, StepInput};

/// Where an image lies in a larger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Margins {
    /// Columns on its left.
    pub(crate) left: u32,
    /// Rows above.
    pub(crate) top: u32,
    /// Size of the image itself.
    pub(crate) inner: (u32, u32),
    /// Size of the larger one.
    pub(crate) outer: (u32, u32),
}

impl Margins {
    /// An image with so many columns on the left and on the right, and rows above and below.
    ///
    /// # Errors
    /// The size, when it is larger than any image.
    pub(crate) fn around(image: &ImageDesc, x: [u32; 2], y: [u32; 2]) -> Result<Self, String> {
        let total = |inner: u32, margins: [u32; 2]| {
            margins.into_iter().fold(u64::from(inner), |sum, m| sum + u64::from(m))
        };
        let (width, height) = (total(image.width(), x), total(image.height(), y));
        if width.max(height) > u64::from(ImageDesc::MAX_SIDE) {
            return Err(format!("so much that the result would be {width}x{height}"));
        }
        Ok(Self {
            left: x[0],
            top: y[0],
            inner: (image.width(), image.height()),
            outer: (width as u32, height as u32),
        })
    }

    /// The larger image.
    pub(crate) fn output(&self, like: &ImageDesc) -> Result<ImageDesc, ImageError> {
        like.with_size(self.outer.0, self.outer.1)
    }

    /// Whether there is room around the image at all.
    pub(crate) fn has_room(&self) -> bool {
        self.inner != self.outer
    }

    /// The step that fills the margins of `output` with one number a channel, in the image's own order.
    pub(crate) fn fill(&self, output: ImageDesc, fill: &[f64], from: StepInput) -> KernelStep {
        let point = Point::inside(output.format());
        let [r, g, b] = output.format().color_indices().unwrap_or([0; 3]);
        let number = |name: &String| match name.as_str() {
            "left" => f64::from(self.left),
            "top" => f64::from(self.top),
            "right" => f64::from(self.left + self.inner.0),
            "bottom" => f64::from(self.top + self.inner.1),
            "fill_g" => fill[g],
            "fill_b" => fill[b],
            "fill_a" => fill[3],
            _ => fill[r],
        };
        let uniforms = point.expr.uniforms().iter().map(|name| number(name) as f32).collect();
        KernelStep { kernel: Kernel::Point(point), uniforms, inputs: vec![from], output }
    }
}
