use mip_core::{DType, ImageDesc};
use mip_plan::Border;

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::expr::{Term, a, b, blue_of, g, green_of, r, red_of, uniform, v};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered, shape};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput};

const WEIGHTS: ParamKind =
    ParamKind::numbers(&[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31], 1e6);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "sep_filter",
    summary: "Weighted sum of the pixels around each one, with weights of your own for columns and for rows",
    inputs: &["in"],
    params: &[
        ParamSpec::new("weights_x", WEIGHTS, "Along a row: 1 to 31 numbers, the pixel itself in the middle")
            .required(),
        ParamSpec::new("weights_y", WEIGHTS, "Along a column, from the top; `weights_x` if not given"),
        ParamSpec::new("delta", ParamKind::any_number(), "Added, in sample units").default_is("0").uniform(),
        BORDER,
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "weights_x=[1,2,1]",
        "weights_x=[-1,0,1] weights_y=[0.25,0.5,0.25] delta=20.5 border=replicate",
        "weights_x=[0.1,0.2,0.4,0.2,0.1] weights_y=[1] border=constant border_value=3",
        "weights_x=[0.5] weights_y=[1,-2,3,-4,5,-6,7] border=wrap",
        "weights_x=[1,0.5,0,0,0,0,0,0,0,0,0,0.5,-1] border=reflect",
    ],
    create: create::<SepFilter>,
};

/// The sum of the samples around each pixel times `weights_x` for their columns and `weights_y` for their rows, plus
/// `delta`, for every colour channel; alpha is kept.
///
/// Weights lie as the pixels do, the first left of or above the pixel (correlation; nothing is flipped, as in OpenCV's
/// `sepFilter2D`). Computed in binary32: of each row `fma(v, w, sum)` from 0 on, of these sums `fma(sum, w, total)` from
/// `delta` on, rounded once. A number of weights is odd. It costs as many sums a pixel as there are weights, where
/// `filter2d` would take their product; symmetric weights that add up to 1 are `gaussian_blur` and `box_blur`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SepFilter {
    weights_x: Option<Vec<f64>>,
    weights_y: Option<Vec<f64>>,
    delta: f64,
    border: BorderFields,
}

impl SepFilter {
    /// With these weights along both axes, 1 to 31 and an odd number of them. The border is [`Border::Reflect101`] if not set.
    pub fn new(weights: impl Into<Vec<f64>>) -> Self {
        Self { weights_x: Some(weights.into()), ..Self::default() }
    }

    /// With these along columns.
    #[must_use]
    pub fn weights_y(self, weights: impl Into<Vec<f64>>) -> Self {
        Self { weights_y: Some(weights.into()), ..self }
    }

    /// With this added, in sample units.
    #[must_use]
    pub fn delta(self, delta: f64) -> Self {
        Self { delta, ..self }
    }

    /// With this border.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }

    /// The weights of columns and of rows, as they are used.
    fn weights(&self) -> [Vec<f32>; 2] {
        let x = self.weights_x.as_deref().unwrap_or_default();
        let y = self.weights_y.as_deref().unwrap_or(x);
        [x, y].map(|weights| weights.iter().map(|&w| w as f32).collect())
    }
}

/// `fma(v, w, sum)` over a line of samples like `v`, of which `place` says where number `i` lies from the pixel.
fn sum(v: &Term, weights: &[f32], first: Term, place: impl Fn(i8) -> (i8, i8)) -> Term {
    let middle = (weights.len() / 2) as i8;
    (0_i8..).zip(weights).fold(first, |sum, (i, &w)| {
        let (x, y) = place(i - middle);
        v.at(x, y).mul_add(w, sum)
    })
}

impl Parameters for SepFilter {
    fields! {
        "weights_x" => weights_x,
        "weights_y" => weights_y,
        "delta" => delta,
        "border" => border.mode,
        "border_value" => border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)
    }
}

impl Operator for SepFilter {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let border = self.border.resolve(self, &output)?;
        let [across, down] = self.weights();
        let along = |v: &Term| sum(v, &across, Term::from(0.0), |i| (i, 0));
        // Sums are floats, which alpha is not.
        let has_alpha = output.format().has_alpha();
        let sums = if has_alpha {
            Formula::channels([r(), g(), b()].each_ref().map(along))
        } else {
            Formula::each(along(&v()))
        };
        let sums = sums.compile(&SPEC)?;
        let wide = shape(&SPEC, &sums, border, Some(DType::F32), inputs)?;
        let mut steps = lowered(&sums, border, |_| 0.0, wide).steps;
        // What a row of the border adds up to.
        let border = match border {
            Border::Constant(value) => {
                Border::Constant(across.iter().fold(0.0, |sum, w| value.mul_add(*w, sum)))
            }
            Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap => border,
        };
        let total = Formula::each(sum(&v(), &down, uniform("delta"), |i| (0, i))).compile(&SPEC)?;
        let to = if has_alpha { wide } else { output };
        let mut total = lowered(&total, border, |_| self.delta, to).steps.remove(0);
        total.inputs = vec![StepInput::Step(0)];
        steps.push(total);
        if has_alpha {
            let both = Formula::channels([red_of(1), green_of(1), blue_of(1), a()]).compile(&SPEC)?;
            let mut both = lowered(&both, Border::default(), |_| 0.0, output).steps.remove(0);
            both.inputs = vec![StepInput::Slot(0), StepInput::Step(1)];
            steps.push(both);
        }
        Ok(Lowered { steps })
    }
}
