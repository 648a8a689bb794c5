use mip_core::ImageDesc;

use crate::expr::{v, v_of};
use crate::field::create;
use crate::pointwise::{Formula, Pointwise, pointwise};
use crate::{Extra, OperatorSpec, ParamError};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "absdiff",
    summary: "Distance of two images: |a - b|",
    inputs: &["a", "b"],
    params: &[],
    extra: Extra::NONE,
    examples: &[""],
    create: create::<AbsDiff>,
};

/// `|a - b|` for every colour channel; alpha is kept from the first input.
///
/// Both inputs must agree in size, format, dtype and layout, and so does the result. Computed in binary32:
/// exact for integers. OpenCV's `absdiff`, which also takes the difference of the alphas.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AbsDiff;

pointwise! { AbsDiff: SPEC }

impl Pointwise for AbsDiff {
    fn formula(&self, _: &ImageDesc) -> Result<Formula, ParamError> {
        Ok(Formula::each((v() - v_of(1)).abs()))
    }
}
