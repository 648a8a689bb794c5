use mip_core::ImageDesc;
use mip_plan::Compare;

use crate::choice::choice;
use crate::expr::{Term, uniform, v, v_of};
use crate::field::{Parameters as _, create};
use crate::pointwise::{Formula, Pointwise, pointwise};
use crate::{Extra, OperatorSpec, ParamError, ParamKind, ParamSpec};

choice! {
    /// What [`Arithmetic`] computes of the samples `a` and `b` of two images.
    pub enum ArithmeticOp as OPS {
        /// `a + b`.
        #[default]
        Add = "add",
        /// `a - b`.
        Subtract = "subtract",
        /// `a * b * scale`.
        Multiply = "multiply",
        /// `a / b * scale`; of integers 0 where b is 0.
        Divide = "divide",
        /// The lower one.
        Min = "min",
        /// The higher one.
        Max = "max",
        /// `alpha * a + beta * b + gamma`.
        Weighted = "weighted",
    }
}

const WEIGHT: ParamKind = ParamKind::number(-1e6, 1e6);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "arithmetic",
    summary: "Computes with two images: sum, difference, product, ...",
    inputs: &["a", "b"],
    params: &[
        ParamSpec::new("operation", ParamKind::choice(OPS), "What is computed").default_is("add"),
        ParamSpec::new("scale", WEIGHT, "Factor of a product or quotient; 1 if not given").uniform(),
        ParamSpec::new("alpha", WEIGHT, "Weight of a in a weighted sum; 1 if not given").uniform(),
        ParamSpec::new("beta", WEIGHT, "Weight of b in a weighted sum; 1 if not given").uniform(),
        ParamSpec::new(
            "gamma",
            ParamKind::any_number(),
            "Added to a weighted sum, in sample units; 0 if not given",
        )
        .uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "operation=add",
        "operation=subtract",
        "operation=multiply scale=0.0039",
        "operation=multiply",
        "operation=divide scale=100",
        "operation=divide",
        "operation=min",
        "operation=max",
        "operation=weighted alpha=0.7 beta=-0.25 gamma=12.5",
        "operation=weighted",
    ],
    create: create::<Arithmetic>,
};

/// Two images alike, sample by sample, for every colour channel; alpha is kept from `a`.
///
/// Sample units, rounded once at the end and saturated. `min` and `max` take `b` where one is NaN. For `|a - b|` see
/// [`crate::AbsDiff`]. OpenCV's `add`, `subtract`, `multiply`, `divide`, `min`, `max` and `addWeighted`, which also compute
/// with the alphas.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arithmetic {
    op: ArithmeticOp,
    scale: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    gamma: Option<f64>,
}

impl Arithmetic {
    /// With this operation.
    pub fn new(op: ArithmeticOp) -> Self {
        Self { op, ..Self::default() }
    }

    /// `alpha * a + beta * b + gamma`.
    pub fn weighted(alpha: f64, beta: f64, gamma: f64) -> Self {
        let op = ArithmeticOp::Weighted;
        Self { op, alpha: Some(alpha), beta: Some(beta), gamma: Some(gamma), scale: None }
    }

    /// With this factor of a product or a quotient.
    #[must_use]
    pub const fn scale(self, scale: f64) -> Self {
        Self { scale: Some(scale), ..self }
    }
}

pointwise! {
    Arithmetic: SPEC,
    "operation" => op, "scale" => scale, "alpha" => alpha, "beta" => beta, "gamma" => gamma;
    rules
}

impl Arithmetic {
    fn rules(&self) -> Result<(), ParamError> {
        let scaled = matches!(self.op, ArithmeticOp::Multiply | ArithmeticOp::Divide);
        let weighted = self.op == ArithmeticOp::Weighted;
        for (name, given, allowed) in [
            ("scale", self.scale, scaled),
            ("alpha", self.alpha, weighted),
            ("beta", self.beta, weighted),
            ("gamma", self.gamma, weighted),
        ] {
            if given.is_some() && !allowed {
                let belongs =
                    if name == "scale" { "operation = multiply or divide" } else { "operation = weighted" };
                let remedy = format!("it belongs to {belongs}");
                return Err(self.conflict(name, format!("with operation = {}", self.op), remedy));
            }
        }
        Ok(())
    }
}

impl Pointwise for Arithmetic {
    fn formula(&self, input: &ImageDesc) -> Result<Formula, ParamError> {
        let (a, b) = (v(), v_of(1));
        let scale = || uniform("scale");
        let result: Term = match self.op {
            ArithmeticOp::Add => a + b,
            ArithmeticOp::Subtract => a - b,
            ArithmeticOp::Multiply => a * b * scale(),
            ArithmeticOp::Divide if input.dtype().is_float() => a / b * scale(),
            // The product of whole numbers by a factor comes first, so that the quotient is rounded last.
            ArithmeticOp::Divide => b.clone().compare(Compare::Eq, 0.0).then(0.0, a * scale() / b),
            ArithmeticOp::Min => a.min(b),
            ArithmeticOp::Max => a.max(b),
            ArithmeticOp::Weighted => {
                a.mul_add(uniform("alpha"), b.mul_add(uniform("beta"), uniform("gamma")))
            }
        };
        let numbers = [("scale", self.scale, 1.0), ("alpha", self.alpha, 1.0), ("beta", self.beta, 1.0)];
        let numbers = numbers.into_iter().chain([("gamma", self.gamma, 0.0)]);
        let numbers = numbers.map(|(name, given, default)| (name.to_owned(), given.unwrap_or(default)));
        Ok(Formula::each(result).numbers(numbers.collect()))
    }
}
