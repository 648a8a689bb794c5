use mip_core::ImageDesc;
use mip_plan::{Border, Kernel, Point};

use crate::choice::choice;
use crate::expr::{uniform, v};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

choice! {
    /// What [`Threshold`] makes of samples above it, and of the others.
    pub enum ThresholdMode as MODES {
        /// The maximum above, 0 elsewhere.
        #[default]
        Binary = "binary",
        /// 0 above, the maximum elsewhere.
        BinaryInv = "binary_inv",
        /// The threshold above, the sample elsewhere.
        Trunc = "trunc",
        /// The sample above, 0 elsewhere.
        ToZero = "tozero",
        /// 0 above, the sample elsewhere.
        ToZeroInv = "tozero_inv",
    }
}

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
        ParamSpec::new(
            "mode",
            ParamKind::choice(MODES),
            "What becomes of samples above the threshold, and of the others",
        )
        .default_is("binary"),
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
        "threshold=100.5 mode=binary_inv",
        "threshold=0.5 max_value=7 mode=binary_inv",
        "threshold=99.6 mode=trunc",
        "threshold=120 mode=tozero",
        "threshold=0.3 mode=tozero_inv",
    ],
    create: create::<Threshold>,
};

/// Whether a sample is greater than a threshold, for every colour channel; alpha is kept.
///
/// | mode | above | else |
/// | --- | --- | --- |
/// | `binary` | `max_value` | 0 |
/// | `binary_inv` | 0 | `max_value` |
/// | `trunc` | the threshold, rounded to the dtype | v |
/// | `tozero` | v | 0 |
/// | `tozero_inv` | 0 | v |
///
/// Both parameters are in sample units. For f32 images the threshold is first rounded to binary32, so that a
/// sample of 0.1 is not greater than a threshold of 0.1; for integers the comparison is exact. `max_value` is
/// full scale when not set, and rounded and saturated to the dtype. OpenCV's `threshold`, which rounds thresholds of integers
/// down, also where `trunc` makes them samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Threshold {
    level: Option<f64>,
    max_value: Option<f64>,
    mode: ThresholdMode,
}

impl Threshold {
    /// A threshold in sample units.
    pub const fn new(threshold: f64) -> Self {
        Self { level: Some(threshold), max_value: None, mode: ThresholdMode::Binary }
    }

    /// With this result above the threshold, in sample units.
    #[must_use]
    pub const fn max_value(self, max_value: f64) -> Self {
        Self { max_value: Some(max_value), ..self }
    }

    /// With this mode; [`ThresholdMode::Binary`] by default.
    #[must_use]
    pub const fn mode(self, mode: ThresholdMode) -> Self {
        Self { mode, ..self }
    }

    /// What a mode without a kernel of its own computes.
    fn formula(&self) -> Formula {
        let (above, own) = (v().greater(uniform("threshold")), v());
        Formula::each(match self.mode {
            ThresholdMode::Binary => above.then(uniform("max_value"), 0.0),
            ThresholdMode::BinaryInv => above.then(0.0, uniform("max_value")),
            ThresholdMode::Trunc => above.then(uniform("value"), own),
            ThresholdMode::ToZero => above.then(own, 0.0),
            ThresholdMode::ToZeroInv => above.then(0.0, own),
        })
    }
}

impl ThresholdMode {
    /// Refuses a maximum where nothing becomes it.
    pub(super) fn check_maximum(
        self,
        operator: &impl Parameters,
        max_value: Option<f64>,
    ) -> Result<(), ParamError> {
        let has_maximum = matches!(self, Self::Binary | Self::BinaryInv);
        if max_value.is_some() && !has_maximum {
            let with = format!("with mode = {self}");
            return Err(operator.conflict("max_value", with, "it belongs to mode = binary or binary_inv"));
        }
        Ok(())
    }
}

impl Parameters for Threshold {
    fields! { "threshold" => level, "max_value" => max_value, "mode" => mode }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.mode.check_maximum(self, self.max_value)
    }
}

impl Operator for Threshold {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let threshold = self.level.unwrap_or_default();
        // A whole number is above t exactly when it is above floor(t); floor(t) of any t that matters is
        // exact in binary32, while t itself might round up to a whole number.
        let exact = if output.dtype().is_float() { threshold } else { threshold.floor() };
        let max_value = self.max_value.unwrap_or_else(|| output.dtype().full_scale());
        if self.mode != ThresholdMode::Binary {
            let number = |name: &str| match name {
                "threshold" => exact,
                "max_value" => max_value,
                _ => threshold,
            };
            return Ok(lowered(&self.formula().compile(&SPEC)?, Border::default(), number, output));
        }
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
