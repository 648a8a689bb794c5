use mip_core::ImageDesc;
use mip_plan::Compare;

use crate::expr::{Term, uniform};
use crate::field::{Parameters as _, create};
use crate::pointwise::{Formula, Pointwise, colors, pointwise};
use crate::{Extra, OperatorSpec, ParamError, ParamKind, ParamSpec};

const BOUND: ParamKind = ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false };

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "in_range",
    summary: "Mask of the pixels whose colours lie between two bounds",
    inputs: &["in"],
    params: &[
        ParamSpec::new("lower", BOUND, "Lowest sample inside: one number, or one a colour channel")
            .required()
            .uniform(),
        ParamSpec::new("upper", BOUND, "Highest sample inside: one number, or one a colour channel")
            .required()
            .uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "lower=50 upper=180",
        "lower=0.1 upper=0.6",
        "lower=[20,0.5,100] upper=[200,250.5,255]",
        "lower=254.5 upper=1e9",
    ],
    create: create::<InRange>,
};

/// A gray mask: full scale (255, 65535, 1.0) where `lower[c] <= v <= upper[c]` for every colour channel c, else 0.
///
/// Both bounds are in sample units, one number for all colour channels or one for each in the image's own order, and count as
/// inside; alpha is not looked at. For integers the comparison is exact; for f32 images bounds are first rounded to binary32,
/// and NaN is outside. OpenCV's `inRange`, which also compares alpha.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InRange {
    lower: Option<Vec<f64>>,
    upper: Option<Vec<f64>>,
}

impl InRange {
    /// With both bounds, each a list of one number or of one for every colour channel.
    pub fn new(lower: impl Into<Vec<f64>>, upper: impl Into<Vec<f64>>) -> Self {
        Self { lower: Some(lower.into()), upper: Some(upper.into()) }
    }
}

pointwise! { InRange: SPEC, "lower" => lower, "upper" => upper }

impl Pointwise for InRange {
    fn formula(&self, input: &ImageDesc) -> Result<Formula, ParamError> {
        let colors = colors(input);
        let list = |name, values: &Option<Vec<f64>>| {
            self.per_channel(name, values.as_deref().unwrap_or_default(), colors.len(), input)
        };
        let (lower, upper) = (list("lower", &self.lower)?, list("upper", &self.upper)?);
        // Whole numbers are at least l exactly when they are at least ceil(l), which is exact in binary32 where it matters.
        let exact = |v: f64, whole: fn(f64) -> f64| if input.dtype().is_float() { v } else { whole(v) };
        let (mut mask, mut numbers) = (Term::from(input.dtype().full_scale() as f32), Vec::new());
        for (c, color) in colors.into_iter().enumerate() {
            let (least, most) = (format!("lower{c}"), format!("upper{c}"));
            mask = color.clone().compare(Compare::Le, uniform(&*most)).then(mask, 0.0);
            mask = color.compare(Compare::Ge, uniform(&*least)).then(mask, 0.0);
            numbers.extend([(least, exact(lower[c], f64::ceil)), (most, exact(upper[c], f64::floor))]);
        }
        Ok(Formula::gray(input, mask).numbers(numbers))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;
    use crate::Operator as _;

    #[test]
    fn bounds_follow_the_order_of_the_channels_and_whole_numbers_stay_exact() {
        let image = ImageDesc::new(4, 3, PixelFormat::Bgra, DType::U16).unwrap();
        let op = InRange::new([1.0, 2.2, 3.0], [65_534.999_999]);
        let step = op.lower(&[image]).unwrap().steps.remove(0);
        let mut numbers = step.uniforms.to_vec();
        numbers.sort_by(f32::total_cmp);
        assert_eq!(
            (numbers, step.output.format()),
            (vec![1.0, 3.0, 3.0, 65534.0, 65534.0, 65534.0], PixelFormat::Gray)
        );
        let four = InRange::new([0.0; 4], [1.0]).infer(&[image]).unwrap_err().to_string();
        assert!(four.contains("'lower' of 'in_range' is 4 numbers, but must be one number or 3"), "{four}");
    }
}
