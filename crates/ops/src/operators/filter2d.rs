use mip_core::ImageDesc;

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::expr::{Term, uniform, v};
use crate::field::create;
use crate::pointwise::Formula;
use crate::windowed::{Windowed, windowed};
use crate::{Extra, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "filter2d",
    summary: "Weighted sum of the pixels around each one, with weights of your own",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "weights",
            ParamKind::numbers(&[1, 9, 25, 49], 1e6),
            "Row by row: 3 x 3, 5 x 5 or 7 x 7 numbers, the pixel itself in the middle",
        )
        .required(),
        ParamSpec::new("delta", ParamKind::any_number(), "Added, in sample units").default_is("0").uniform(),
        BORDER,
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "weights=[0,-1,0,-1,5,-1,0,-1,0]",
        "weights=[-2,-1,0,-1,1,1,0,1,2] delta=12.5 border=replicate",
        "weights=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25] delta=-3 border=constant border_value=2",
        "weights=[0.5] delta=20",
    ],
    create: create::<Filter2d>,
};

/// The sum of the samples around each pixel times `weights`, plus `delta`, for every colour channel; alpha is kept.
///
/// Weights lie as the pixels do: the first is that of the upper left neighbour (correlation; the kernel is not flipped, as in
/// OpenCV's `filter2D`). Computed in binary32 as `fma(v, w, sum)` from `delta` on, row by row, and rounded once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter2d {
    weights: Option<Vec<f64>>,
    delta: f64,
    border: BorderFields,
}

impl Filter2d {
    /// With 1, 9, 25 or 49 weights, row by row. The border is [`mip_plan::Border::Reflect101`] if not set.
    pub fn new(weights: impl Into<Vec<f64>>) -> Self {
        Self { weights: Some(weights.into()), ..Self::default() }
    }

    /// With this added, in sample units.
    #[must_use]
    pub fn delta(self, delta: f64) -> Self {
        Self { delta, ..self }
    }
}

windowed! { Filter2d: SPEC, "weights" => weights, "delta" => delta }

impl Windowed for Filter2d {
    fn border(&self) -> BorderFields {
        self.border
    }

    fn formula(&self, _: &ImageDesc) -> Result<Formula, ParamError> {
        let weights = self.weights.as_deref().unwrap_or_default();
        let side = weights.len().isqrt() as i8;
        let places = (0..side).flat_map(|y| (0..side).map(move |x| (x - side / 2, y - side / 2)));
        let name = |i: usize| format!("w{i}");
        let with = |sum: Term, (i, (x, y)): (usize, (i8, i8))| v().at(x, y).mul_add(uniform(name(i)), sum);
        let sum = places.enumerate().fold(uniform("delta"), with);
        let mut numbers: Vec<(String, f64)> =
            weights.iter().enumerate().map(|(i, w)| (name(i), *w)).collect();
        numbers.push(("delta".to_owned(), self.delta));
        Ok(Formula::each(sum).numbers(numbers))
    }
}
