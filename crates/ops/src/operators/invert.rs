use mip_core::ImageDesc;

use crate::expr::{Term, v};
use crate::field::create;
use crate::pointwise::{Formula, Pointwise, pointwise};
use crate::{Extra, OperatorSpec, ParamError};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "invert",
    summary: "The negative: full scale minus the sample",
    inputs: &["in"],
    params: &[],
    extra: Extra::NONE,
    examples: &[""],
    create: create::<Invert>,
};

/// `full scale - v` (255, 65535, 1.0) for every colour channel; alpha is kept.
///
/// In OpenCV `bitwise_not` for integers, in Pillow `ImageOps.invert`. Applied twice it gives integers back as they were.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invert;

pointwise! { Invert: SPEC }

impl Pointwise for Invert {
    fn formula(&self, input: &ImageDesc) -> Result<Formula, ParamError> {
        Ok(Formula::each(Term::from(input.dtype().full_scale() as f32) - v()))
    }
}
