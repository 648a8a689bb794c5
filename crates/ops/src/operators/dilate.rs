use mip_core::ImageDesc;
use mip_plan::Border;

use super::erode::{Element, KERNEL, SHAPE, extreme};
use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::expr::Term;
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::stencils;
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "dilate",
    summary: "The highest sample around each pixel: bright parts grow",
    inputs: &["in"],
    params: &[KERNEL, SHAPE, BORDER.default_is("replicate"), BORDER_VALUE],
    extra: Extra::NONE,
    examples: &["", "kernel=5 shape=cross", "kernel=2", "border=constant border_value=0"],
    create: create::<Dilate>,
};

/// The highest sample of a neighbourhood, for every colour channel by itself; alpha is kept. Otherwise as [`crate::Erode`].
///
/// An even `kernel` grows to the right and downwards, as by OpenCV's `dilate` with its default anchor.
#[derive(Debug, Clone, PartialEq)]
pub struct Dilate {
    kernel: u32,
    shape: Element,
    border: BorderFields,
}

impl Default for Dilate {
    fn default() -> Self {
        Self { kernel: 3, shape: Element::Rect, border: Border::Replicate.into() }
    }
}

impl Dilate {
    /// With a square of this side, 1 to 31.
    pub fn new(kernel: u32) -> Self {
        Self { kernel, ..Self::default() }
    }

    /// With this part of the square.
    #[must_use]
    pub fn shape(self, shape: Element) -> Self {
        Self { shape, ..self }
    }

    /// With this border; [`Border::Replicate`] by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }
}

impl Parameters for Dilate {
    fields! { "kernel" => kernel, "shape" => shape, "border" => border.mode, "border_value" => border.value }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)
    }
}

impl Operator for Dilate {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        stencils(
            &SPEC,
            extreme(self.kernel, self.shape, Term::max),
            self.border.resolve(self, &output)?,
            output,
        )
    }
}
