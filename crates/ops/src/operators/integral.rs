use mip_core::{DType, ImageDesc};
use mip_plan::{Integral as Step, Kernel, Whole};

use crate::counted::{bytes_only, refusal};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec, StepInput};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "integral",
    summary: "Sums of all samples above and to the left: the sum of any box is four of them",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "squared",
        ParamKind::Bool,
        "Of the samples' squares, modulo 2^32: boxes of up to 33025 pixels are exact",
    )
    .default_is("false")],
    extra: Extra::NONE,
    examples: &["", "squared=true"],
    create: create::<Integral>,
};

/// The integral image of u8 (a summed-area table), as i32 of one column and one row more: in column x and row y the sum of all samples
/// left of x and above y, for each channel by itself, alpha too. The first row and the first column are 0.
///
/// The sum over the box of the columns from `x0` up to, and without, `x1` and of the rows `y0` to `y1` likewise is
/// `s(x1, y1) - s(x0, y1) - s(x1, y0) + s(x0, y0)`. This is `integral` of OpenCV and of NPP; scikit-image's `integral_image` has neither
/// the row nor the column of zeros.
///
/// Exact: images of more than 8421504 pixels are refused, since their sum may be more than i32 holds. With `squared` it is sums of
/// squares modulo 2^32, as two's complement: they may wrap around, and yet those four numbers, added and subtracted in 32 bits that wrap
/// too (as int32 of arrays of `NumPy` does), are the exact sum of any box of up to 33025 pixels; read as unsigned, of up to 66051. (OpenCV
/// makes f64 of them.) Add and subtract outside of pipelines, or where sums stay below 2^24: `point` rounds what is above to binary32.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Integral {
    squared: bool,
}

impl Integral {
    /// Sums of samples.
    pub const fn new() -> Self {
        Self { squared: false }
    }

    /// Whether squares are summed.
    #[must_use]
    pub const fn squared(self, squared: bool) -> Self {
        Self { squared }
    }
}

impl Parameters for Integral {
    fields! { "squared" => squared }
}

impl Operator for Integral {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        bytes_only(&SPEC, &input)?;
        let (width, height) = (input.width(), input.height());
        if width.max(height) > Step::MAX_SIDE {
            return Err(refusal(&SPEC, &input, "an image of at most 65536 on a side; resize it"));
        }
        if !self.squared && u64::from(width) * u64::from(height) > Step::MAX_SAMPLES {
            let allowed =
                "an image of at most 8421504 pixels, whose sum i32 holds; resize it, or crop parts of it";
            return Err(refusal(&SPEC, &input, allowed));
        }
        Ok(input.with_dtype(DType::I32)?.with_size(width + 1, height + 1)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let (height, squared) = (inputs[0].height(), self.squared);
        let step = |kernel, inputs: &[StepInput], output| KernelStep {
            kernel: Kernel::Whole(Whole::Integral(kernel)),
            uniforms: [].into(),
            inputs: inputs.to_vec(),
            output,
        };
        let strips = output.with_size(output.width(), height.div_ceil(Step::strip(height)))?;
        Ok(Lowered {
            steps: vec![
                step(Step::Strips { squared }, &[StepInput::Slot(0)], strips),
                step(Step::Sums { squared }, &[StepInput::Slot(0), StepInput::Step(0)], output),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use mip_core::PixelFormat;

    use super::*;

    fn image(width: u32, height: u32) -> ImageDesc {
        ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap()
    }

    #[test]
    fn the_result_has_a_row_and_a_column_more() {
        let made = Integral::new().infer(&[image(640, 480)]).unwrap();
        assert_eq!(made, image(641, 481).with_dtype(DType::I32).unwrap());
    }

    #[test]
    fn sums_that_i32_may_not_hold_are_refused() {
        let (most, more) = (image(1024, 8224), image(1025, 8217));
        assert_eq!(u64::from(most.width()) * u64::from(most.height()) / 1024, Step::MAX_SAMPLES / 1024);
        assert!(Integral::new().infer(&[most]).is_ok());
        let refusal = Integral::new().infer(&[more]).unwrap_err().to_string();
        assert!(refusal.contains("at most 8421504 pixels") && refusal.contains("resize"), "{refusal}");
        assert!(Integral::new().squared(true).infer(&[more]).is_ok(), "squares wrap around");
        let refusal = Integral::new().infer(&[image(65537, 1)]).unwrap_err().to_string();
        assert!(refusal.contains("65536 on a side"), "{refusal}");
        let float = image(4, 3).with_dtype(DType::F32).unwrap();
        assert!(Integral::new().infer(&[float]).unwrap_err().to_string().contains("u8; convert it"));
    }
}
