use mip_core::ImageDesc;

use super::color_matrix::{check_colors, lower_matrix};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "saturation",
    summary: "Makes colours stronger or weaker",
    inputs: &["in"],
    params: &[ParamSpec::new("factor", ParamKind::number(-5.0, 5.0), "0: gray, 1: as it is, more: stronger")
        .required()
        .uniform()],
    extra: Extra::NONE,
    examples: &["factor=1.5", "factor=0", "factor=0.25", "factor=-1"],
    create: create::<Saturation>,
};

/// `factor * v + (1 - factor) * gray` for every colour channel, with gray as `0.299 r + 0.587 g + 0.114 b`; alpha is kept.
///
/// Gray is not rounded in between, which torchvision's `adjust_saturation` and Pillow's `ImageEnhance.Color` do: their
/// results may differ by one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Saturation {
    factor: Option<f64>,
}

impl Saturation {
    /// By this factor: 0 is gray, 1 changes nothing.
    pub const fn new(factor: f64) -> Self {
        Self { factor: Some(factor) }
    }
}

impl Parameters for Saturation {
    fields! { "factor" => factor }
}

impl Operator for Saturation {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_colors(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        const LUMA: [f64; 3] = [0.299, 0.587, 0.114];
        let output = self.infer(inputs)?;
        let factor = self.factor.unwrap_or(1.0);
        let row = |own: usize| {
            let of = |column: usize| (1.0 - factor) * LUMA[column] + if own == column { factor } else { 0.0 };
            vec![of(0), of(1), of(2), 0.0]
        };
        lower_matrix(&SPEC, &[row(0), row(1), row(2)], output)
    }
}
