use mip_core::ImageDesc;
use mip_plan::{Kernel, Point};

use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "threshold",
    summary: "One value above a threshold, 0 elsewhere",
    inputs: &["in"],
    params: &[
        ParamSpec::new("threshold", ParamKind::any_number(), "In sample units; samples above it count")
            .required()
            .uniform(),
        ParamSpec::new(
            "max_value",
            ParamKind::any_number(),
            "Result above the threshold in sample units; full scale (255, 65535, 1.0) if not given",
        )
        .uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "threshold=100",
        "threshold=0.5 max_value=1",
        "threshold=127.5 max_value=300",
        "threshold=65534.9 max_value=12.25",
        "threshold=-0.1 max_value=-2.5",
        "threshold=0.1",
        "threshold=255 max_value=2",
        "threshold=0.5 max_value=0.5",
        "threshold=0",
    ],
    create: create::<Threshold>,
};

/// `v > threshold ? max_value : 0` for every colour channel; strictly greater. Alpha is kept.
///
/// Both parameters are in sample units. For f32 images the threshold is first rounded to binary32, so that a
/// sample of 0.1 is not greater than a threshold of 0.1; for integers the comparison is exact. `max_value` is
/// full scale when not set, and rounded and saturated to the dtype.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Threshold {
    threshold: Option<f64>,
    max_value: Option<f64>,
}

impl Threshold {
    /// A threshold in sample units.
    pub const fn new(threshold: f64) -> Self {
        Self { threshold: Some(threshold), max_value: None }
    }

    /// With this result above the threshold, in sample units.
    #[must_use]
    pub const fn max_value(self, max_value: f64) -> Self {
        Self { max_value: Some(max_value), ..self }
    }
}

impl Parameters for Threshold {
    fields! { "threshold" => threshold, "max_value" => max_value }
}

impl Operator for Threshold {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let threshold = self.threshold.unwrap_or_default();
        // A whole number is above t exactly when it is above floor(t); floor(t) of any t that matters is
        // exact in binary32, while t itself might round up to a whole number.
        let exact = if output.dtype.is_float() { threshold } else { threshold.floor() };
        let max_value = self.max_value.unwrap_or_else(|| output.dtype.full_scale());
        let uniforms = [exact as f32, max_value as f32];
        Ok(Lowered::single(Kernel::Point(Point::threshold()), uniforms, output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn uniforms(op: &Threshold, dtype: DType) -> [f32; 2] {
        let image = ImageDesc::new(5, 3, PixelFormat::Gray, dtype).unwrap();
        op.lower(&[image]).unwrap().steps[0].uniforms[..].try_into().unwrap()
    }

    #[test]
    fn full_scale_of_the_sample_type_unless_given() {
        assert_eq!(uniforms(&Threshold::new(100.0), DType::U8), [100.0, 255.0]);
        assert_eq!(uniforms(&Threshold::new(100.0), DType::U16), [100.0, 65535.0]);
        assert_eq!(uniforms(&Threshold::new(0.1), DType::F32), [0.1, 1.0]);
        assert_eq!(uniforms(&Threshold::new(-1.0).max_value(7.0), DType::U8), [-1.0, 7.0]);
    }

    #[test]
    fn just_below_a_whole_number_is_below_it() {
        for t in [99.999_999_999, 65_534.999_999, 0.999_999_999_9, -1e-12] {
            let [limit, _] = uniforms(&Threshold::new(t), DType::U16);
            for v in 0..=u16::MAX {
                assert_eq!(f32::from(v) > limit, f64::from(v) > t, "{v} {t}");
            }
        }
    }
}
