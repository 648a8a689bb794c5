use mip_core::{DType, ImageDesc};
use mip_plan::{Kernel, Point};

use crate::choice::DTYPES;
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::check_picture;
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "cast",
    summary: "Changes the dtype",
    inputs: &["in"],
    params: &[
        ParamSpec::new("to", ParamKind::choice(DTYPES), "Dtype of the result").required(),
        ParamSpec::new(
            "scale",
            ParamKind::Bool,
            "Map full scale to full scale (255, 65535, 32767, 2147483647, 1.0); false keeps the number",
        )
        .default_is("true")
        .uniform(),
    ],
    extra: Extra::SUMS,
    examples: &[
        "to=u8",
        "to=u16",
        "to=i16",
        "to=i32",
        "to=f16",
        "to=f32",
        "to=u8 scale=false",
        "to=u16 scale=false",
        "to=i16 scale=false",
        "to=i32 scale=false",
        "to=f16 scale=false",
        "to=f32 scale=false",
    ],
    create: create::<Cast>,
};

/// Changes the dtype, alpha included.
///
/// With `scale` (the default) full scale stays full scale: 8 to 16 bit is `v * 257`, 16 to 8 bit is
/// `round(v / 257)`, f32 to u8 is `round(255 * v)`, u8 to f32 is `v / 255`. Without it the number stays.
/// Integers are rounded to the nearest, ties to even, and saturated; NaN becomes 0. f16 is the nearest, infinite beyond
/// 65504 (a u16 of 65520 or more without `scale`). To the same type it copies. i32, which holds sums and no pictures, is read as the
/// nearest binary32: a number above 2^24 is rounded to 24 bits; as a result it is the nearest whole number, saturated.
#[derive(Debug, Clone, PartialEq)]
pub struct Cast {
    to: Option<DType>,
    scale: bool,
}

impl Cast {
    /// A cast to the given type that keeps full scale.
    pub const fn to(to: DType) -> Self {
        Self { to: Some(to), scale: true }
    }

    /// Whether full scale is mapped to full scale, or the number kept.
    #[must_use]
    pub const fn scale(self, scale: bool) -> Self {
        Self { scale, ..self }
    }
}

impl Default for Cast {
    fn default() -> Self {
        Self { to: None, scale: true }
    }
}

impl Parameters for Cast {
    fields! { "to" => to, "scale" => scale }
}

impl Operator for Cast {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_picture(self, &input)?;
        Ok(self.to.map_or(Ok(input), |to| input.with_dtype(to))?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let from = inputs[0].dtype();
        if from == output.dtype() {
            return Ok(Lowered::single(Kernel::Point(Point::copy()), [], output));
        }
        let factor = if self.scale { output.dtype().full_scale() / from.full_scale() } else { 1.0 };
        Ok(Lowered::affine(output, |_| (factor, 0.0)))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{PixelFormat, Sample};

    use super::*;

    fn factor(from: DType, to: DType) -> f32 {
        let image = ImageDesc::new(4, 3, PixelFormat::Gray, from).unwrap();
        Cast::to(to).lower(&[image]).unwrap().steps[0].uniforms[0]
    }

    #[test]
    fn every_u16_goes_to_the_nearest_u8_and_every_u8_comes_back() {
        let (down, up) = (factor(DType::U16, DType::U8), factor(DType::U8, DType::U16));
        for v in 0..=u16::MAX {
            let exact = (f64::from(v) / 257.0).round_ties_even();
            assert_eq!(f64::from(u8::from_f32(v.to_f32().mul_add(down, 0.0))), exact, "{v}");
        }
        for v in 0..=u8::MAX {
            assert_eq!(u16::from_f32(v.to_f32().mul_add(up, 0.0)), u16::from(v) * 257);
        }
    }

    #[test]
    fn full_scale_is_one_and_floats_come_back() {
        assert_eq!(255.0_f32.mul_add(factor(DType::U8, DType::F32), 0.0), 1.0);
        assert_eq!(65535.0_f32.mul_add(factor(DType::U16, DType::F32), 0.0), 1.0);
        let (to, back) = (factor(DType::U16, DType::F32), factor(DType::F32, DType::U16));
        for v in 0..=u16::MAX {
            let float = v.to_f32().mul_add(to, 0.0);
            assert_eq!(u16::from_f32(float.mul_add(back, 0.0)), v);
        }
    }

    #[test]
    fn without_scale_the_number_stays_and_the_same_type_is_copied() {
        let image = ImageDesc::new(4, 3, PixelFormat::Rgb, DType::U16).unwrap();
        let lowered = Cast::to(DType::U8).scale(false).lower(&[image]).unwrap();
        assert_eq!(lowered.steps[0].uniforms[..], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        let lowered = Cast::to(DType::U16).lower(&[image]).unwrap();
        assert_eq!(lowered.steps[0].kernel, Kernel::Point(Point::copy()));
    }
}
