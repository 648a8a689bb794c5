use mip_core::{DType, ImageDesc};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::choice::PICTURE_DTYPES;
use crate::expr::{Term, uniform, v};
use crate::field::create;
use crate::pointwise::Formula;
use crate::windowed::{Windowed, windowed};
use crate::{Extra, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "laplacian",
    summary: "Second derivative: edges and specks in all directions",
    inputs: &["in"],
    params: &[
        ParamSpec::new("kernel", ParamKind::odd(1, 5), "Side of the neighbourhood in pixels").default_is("1"),
        ParamSpec::new("scale", ParamKind::number(-1e6, 1e6), "Factor of the result")
            .default_is("1")
            .uniform(),
        ParamSpec::new("delta", ParamKind::any_number(), "Added at the end, in sample units")
            .default_is("0")
            .uniform(),
        ParamSpec::new(
            "to",
            ParamKind::choice(PICTURE_DTYPES),
            "Dtype of the result; the input's if not given",
        ),
        BORDER,
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "to=i16",
        "",
        "kernel=3 scale=0.5 delta=128",
        "kernel=5 scale=0.01 border=replicate",
        "kernel=5 to=f32 border=constant border_value=1",
    ],
    create: create::<Laplacian>,
};

/// `scale * (second derivative along x + second derivative along y) + delta` of every colour channel; alpha is kept.
///
/// OpenCV's `Laplacian`: with `kernel` 1 the weights are `0 1 0; 1 -4 1; 0 1 0`, with 3 they are `2 0 2; 0 -8 0; 2 0 2`, with 5
/// the sum of `1 0 -2 0 1` along one axis and `1 4 6 4 1` along the other, both ways. Derivatives are signed: `to` i16 or f32
/// keeps what is negative (an image with alpha keeps its dtype).
#[derive(Debug, Clone, PartialEq)]
pub struct Laplacian {
    kernel: u32,
    scale: f64,
    delta: f64,
    to: Option<DType>,
    border: BorderFields,
}

impl Default for Laplacian {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Laplacian {
    /// With this kernel: 1, 3 or 5 (1 by default). The border is [`mip_plan::Border::Reflect101`] if not set.
    pub fn new(kernel: u32) -> Self {
        Self { kernel, scale: 1.0, delta: 0.0, to: None, border: BorderFields::default() }
    }

    /// With this factor, and this added behind it.
    #[must_use]
    pub fn scaled(self, scale: f64, delta: f64) -> Self {
        Self { scale, delta, ..self }
    }

    /// With results of this dtype; the input's by default.
    #[must_use]
    pub fn to(self, to: DType) -> Self {
        Self { to: Some(to), ..self }
    }

    /// The neighbours that count, and their weights.
    fn weights(&self) -> Vec<(i8, i8, f32)> {
        let (second, smooth): (&[f32], &[f32]) = match self.kernel {
            1 => return vec![(0, -1, 1.0), (-1, 0, 1.0), (0, 0, -4.0), (1, 0, 1.0), (0, 1, 1.0)],
            3 => return vec![(-1, -1, 2.0), (1, -1, 2.0), (0, 0, -8.0), (-1, 1, 2.0), (1, 1, 2.0)],
            _ => (&[1.0, 0.0, -2.0, 0.0, 1.0], &[1.0, 4.0, 6.0, 4.0, 1.0]),
        };
        let radius = (self.kernel / 2) as usize;
        let weight = |x: usize, y: usize| second[x] * smooth[y] + smooth[x] * second[y];
        let all = (0..second.len()).flat_map(|y| (0..second.len()).map(move |x| (x, y)));
        let place = |i: usize| i as i8 - radius as i8;
        all.map(|(x, y)| (place(x), place(y), weight(x, y))).filter(|(_, _, w)| *w != 0.0).collect()
    }
}

windowed! { Laplacian: SPEC, "kernel" => kernel, "scale" => scale, "delta" => delta, "to" => to }

impl Windowed for Laplacian {
    fn border(&self) -> BorderFields {
        self.border
    }

    fn formula(&self, _: &ImageDesc) -> Result<Formula, ParamError> {
        let sum = self.weights().into_iter().map(|(x, y, w)| (v().at(x, y), w));
        let sum = sum.fold(None, |sum: Option<Term>, (v, w)| {
            Some(match sum {
                None => v * w,
                Some(sum) => v.mul_add(w, sum),
            })
        });
        let result = sum.unwrap_or_else(v).mul_add(uniform("scale"), uniform("delta"));
        let numbers = [("scale", self.scale), ("delta", self.delta)];
        Ok(Formula::each(result).numbers(numbers.map(|(name, number)| (name.to_owned(), number)).to_vec()))
    }

    fn to(&self, _: &ImageDesc) -> Option<DType> {
        self.to
    }
}
