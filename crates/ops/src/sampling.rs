//! How warps sample: the parameters `filter`, `border` and `border_value`, and the size of the result.

use mip_core::ImageDesc;
use mip_plan::{Coordinates, Interpolation, Kernel, Sampled, Warp};

use crate::border::{BorderFields, BorderMode};
use crate::choice::choice;
use crate::field::Parameters;
use crate::{ParamError, ParamKind, ParamSpec};

/// As that of a resized image: what a slip of the finger makes fits in memory.
const SIDE: ParamKind = ParamKind::pixels(1, 1 << 21);

pub(crate) const WIDTH: ParamSpec =
    ParamSpec::new("width", SIDE, "Width of the result in pixels, the input's if not given").of_image();

pub(crate) const HEIGHT: ParamSpec =
    ParamSpec::new("height", SIDE, "Height of the result in pixels, the input's if not given").of_image();

pub(crate) const FILTER: ParamSpec = ParamSpec::new(
    "filter",
    ParamKind::choice(FILTERS),
    "nearest: the nearest pixel, halves to even; bilinear: weighted mean of the four around; bicubic: of the sixteen around, with a = -0.75",
)
.default_is("bilinear");

choice! {
    /// What a sample between pixels is.
    pub enum WarpFilter as FILTERS {
        /// The nearest pixel; halves go to the even one.
        Nearest = "nearest",
        /// The weighted mean of the four pixels around.
        #[default]
        Bilinear = "bilinear",
        /// The weighted sum of the sixteen pixels around: Keys' cubic convolution with a = -0.75, as `OpenCV`'s. It overshoots at
        /// edges.
        Bicubic = "bicubic",
    }
}

/// How a warp samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SamplingFields {
    pub(crate) filter: WarpFilter,
    pub(crate) border: BorderFields,
}

impl Default for SamplingFields {
    fn default() -> Self {
        let border = BorderFields { mode: BorderMode::Constant, value: None };
        Self { filter: WarpFilter::default(), border }
    }
}

impl SamplingFields {
    /// The kernel for images like `input`.
    pub(crate) fn kernel(
        self,
        operator: &impl Parameters,
        coordinates: Coordinates,
        input: &ImageDesc,
    ) -> Result<Kernel, ParamError> {
        let interpolation = match self.filter {
            WarpFilter::Nearest => Interpolation::Nearest,
            WarpFilter::Bilinear => Interpolation::Bilinear,
            WarpFilter::Bicubic => Interpolation::Bicubic,
        };
        let border = self.border.resolve(operator, input)?;
        Ok(Kernel::Warp(Warp::Sampled(Sampled { coordinates, interpolation, border })))
    }
}
