use mip_core::{ImageDesc, PixelFormat};
use mip_plan::{Border, Kernel, Stencil};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{check_picture, of_gray};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "sobel",
    summary: "Strength of edges: gradient magnitude of the gray image",
    inputs: &["in"],
    params: &[BORDER, BORDER_VALUE],
    extra: Extra::NONE,
    examples: &["", "border=replicate", "border=constant", "border=constant border_value=0"],
    create: create::<Sobel>,
};

/// `sqrt(Gx^2 + Gy^2)` with the signed 3x3 Sobel kernels (`1 2 1` across, `-1 0 1` along), as one gray channel
/// of the input's dtype.
///
/// Integers are rounded to the nearest, ties to even, and saturated. Colour is first turned to gray, rounded
/// as [`crate::ColorConvert`] does; alpha is dropped. Pixels outside the image follow `border`; a constant is
/// a gray value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sobel {
    border: BorderFields,
}

impl Sobel {
    /// With the default border.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this border; [`Border::Reflect101`] by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into() }
    }
}

impl Parameters for Sobel {
    fields! { "border" => border.mode, "border_value" => border.value }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)
    }
}

impl Operator for Sobel {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_picture(self, &input)?;
        self.border.resolve(self, &input)?;
        Ok(input.with_format(PixelFormat::Gray)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let kernel = Kernel::Stencil(Stencil::sobel(self.border.resolve(self, &output)?));
        of_gray(Lowered::single(kernel, [], output), &inputs[0])
    }
}

#[cfg(test)]
mod tests {
    use crate::StepInput;
    use mip_core::DType;

    use super::*;

    #[test]
    fn colour_goes_through_gray() {
        let colour = ImageDesc::new(5, 3, PixelFormat::Bgra, DType::U16).unwrap();
        let gray = colour.with_format(PixelFormat::Gray).unwrap();
        let lowered = Sobel::new().lower(&[colour]).unwrap();
        let names: Vec<_> = lowered.steps.iter().map(|s| (s.kernel.name(), s.output, s.inputs[0])).collect();
        assert_eq!(names, [("point", gray, StepInput::Slot(0)), ("stencil", gray, StepInput::Step(0))]);
        let lowered = Sobel::new().border(Border::Replicate).lower(&[gray]).unwrap();
        assert_eq!(lowered.steps.len(), 1);
        assert_eq!(lowered.steps[0].kernel, Kernel::Stencil(Stencil::sobel(Border::Replicate)));
    }
}
