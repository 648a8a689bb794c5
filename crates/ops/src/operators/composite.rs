use mip_core::{ImageDesc, ImageError, PixelFormat};
use mip_plan::{Border, Compare};

use crate::expr::{Term, alpha_of, blue_of, green_of, red_of};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "composite",
    summary: "Lays an image with alpha over another one",
    inputs: &["foreground", "background"],
    params: &[ParamSpec::new(
        "premultiplied",
        ParamKind::Bool,
        "Whether colours are multiplied by alpha already, in both images and in the result",
    )
    .default_is("false")],
    extra: Extra::NONE,
    examples: &["", "premultiplied=true"],
    create: create::<Composite>,
};

/// The foreground over the background (source-over, T. Porter and T. Duff, 1984), in the background's format.
///
/// With alphas `f` and `b` from 0 to 1 (`b` is 1 for a background without alpha) the result's alpha is `f + b (1 - f)` and its
/// colours are `(F f + B b (1 - f)) / alpha`, 0 where alpha is 0; or `F + B (1 - f)` if `premultiplied`. The foreground is rgba
/// or bgra; both images agree in size, dtype and layout.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Composite {
    premultiplied: bool,
}

impl Composite {
    /// Of images with straight alpha.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether colours are multiplied by alpha already; they are not by default.
    #[must_use]
    pub const fn premultiplied(self, premultiplied: bool) -> Self {
        Self { premultiplied }
    }

    fn results(&self, background: &ImageDesc) -> Vec<Term> {
        let full = background.dtype().full_scale() as f32;
        let (above, clear) = (alpha_of(0), full - alpha_of(0));
        let has_alpha = background.format().has_alpha();
        let pairs = [(red_of(0), red_of(1)), (green_of(0), green_of(1)), (blue_of(0), blue_of(1))];
        // Everything times full scale, and with a background's alpha times its square: whole numbers of integers.
        let cover = has_alpha.then(|| above.clone().mul_add(full, alpha_of(1) * clear.clone()));
        let color = |(front, back): (Term, Term)| match (self.premultiplied, &cover) {
            (true, _) => front.mul_add(full, back * clear.clone()) / full,
            (false, None) => front.mul_add(above.clone(), back * clear.clone()) / full,
            (false, Some(cover)) => {
                let behind = back * (alpha_of(1) * clear.clone());
                let sum = front.mul_add(above.clone() * full, behind);
                let quotient = sum / cover.clone();
                cover.clone().compare(Compare::Gt, 0.0).then(quotient, 0.0)
            }
        };
        let mut results = pairs.map(color).to_vec();
        results.extend(cover.map(|cover| cover / full));
        results
    }
}

impl Parameters for Composite {
    fields! { "premultiplied" => premultiplied }
}

impl Operator for Composite {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [front, back] = self.accept(inputs)?;
        let refuse = |slot: usize, allowed: String| {
            let (slot, given) = (SPEC.inputs[slot].to_owned(), inputs[slot].to_string());
            Err(OpError::Input { operator: SPEC.name, slot, given, allowed })
        };
        if !front.format().has_alpha() {
            return refuse(0, "an image with alpha, rgba or bgra".to_owned());
        }
        if front.with_format(back.format())? != back {
            return refuse(1, format!("as large as the foreground, {front}, and of its dtype and layout"));
        }
        if back.format().rgb_indices().is_none() {
            return refuse(1, "in colour; convert it with color_convert".to_owned());
        }
        Ok(back)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let formula = Formula::channels(self.results(&output));
        Ok(lowered(&formula.compile(&SPEC)?, Border::default(), |_| 0.0, output))
    }

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        let (front, back) = match input.format() {
            format if format.has_alpha() => (format, format),
            _ => (PixelFormat::Rgba, PixelFormat::Rgb),
        };
        Ok(vec![input.with_format(front)?, input.with_format(back)?])
    }
}
