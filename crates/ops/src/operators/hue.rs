use mip_core::ImageDesc;
use mip_plan::{Border, Compare};

use super::color_matrix::check_colors;
use crate::expr::{Term, a, b, g, r, uniform};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "hue",
    summary: "Turns the colours around the wheel",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "factor",
        ParamKind::number(-0.5, 0.5),
        "Turns: 1/3 makes red green, -1/3 makes it blue",
    )
    .required()
    .uniform()],
    extra: Extra::NONE,
    examples: &["factor=0.25", "factor=-0.1", "factor=0.5", "factor=0"],
    create: create::<Hue>,
};

/// The hue of HSV turned by `factor` turns; saturation and value (the largest channel) stay, and alpha is kept.
///
/// With M and m the largest and the smallest of a pixel's colours, `d = M - m`, and the hue h in sixths of a turn (`(g - b) / d` where
/// red is the largest, else `2 + (b - r) / d` where green is, else `4 + (r - g) / d`; 0 where d is 0), a channel becomes `M - d max(0, min(k, 4 - k, 1))` with
/// `k = (n + h + 6 factor) mod 6` and n 5, 3, 1 for red, green, blue. torchvision's `adjust_hue` is the same for floats; for bytes it rounds hue and
/// saturation in between where it goes through Pillow. A pixel stays as it is where a colour, or d, is not finite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hue {
    factor: Option<f64>,
}

impl Hue {
    /// By so many turns, -0.5 to 0.5.
    pub const fn new(factor: f64) -> Self {
        Self { factor: Some(factor) }
    }
}

impl Parameters for Hue {
    fields! { "factor" => factor }
}

impl Operator for Hue {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_colors(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let mut channels = turned();
        if output.format().has_alpha() {
            channels.push(a());
        }
        let expr = Formula::channels(channels).compile(&SPEC)?;
        // The wheel has six parts.
        let turn = 6.0 * self.factor.unwrap_or(0.0);
        Ok(lowered(&expr, Border::default(), |_| turn, output))
    }
}

/// Red, green and blue, turned by the uniform `turn`.
fn turned() -> Vec<Term> {
    let (largest, smallest) = (r().max(g()).max(b()), r().min(g()).min(b()));
    let range = largest.clone() - smallest;
    let part = |from: Term, to: Term| (from - to) / range.clone();
    let is_largest = |color: Term| color.compare(Compare::Ge, largest.clone());
    let hue = is_largest(g()).then(part(b(), r()) + 2.0, part(r(), g()) + 4.0);
    let hue = is_largest(r()).then(part(g(), b()), hue);
    let hue = range.clone().compare(Compare::Gt, 0.0).then(hue, 0.0) + uniform("turn");
    // Zero where all are finite, else NaN.
    let finite = (r() - r()) + (g() - g()) + (b() - b());
    let channel = |own: Term, n: f32| {
        let k = hue.clone() + n;
        let k = k.clone() - (k / 6.0).floor() * 6.0;
        let k = k.clone().min(Term::from(4.0) - k).min(1.0).max(0.0);
        let turned = largest.clone() - range.clone() * k;
        (range.clone() + finite.clone()).compare(Compare::Le, f32::MAX).then(turned, own)
    };
    vec![channel(r(), 5.0), channel(g(), 3.0), channel(b(), 1.0)]
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    #[test]
    fn a_turn_has_six_parts() {
        let image = ImageDesc::new(6, 5, PixelFormat::Bgra, DType::F32).unwrap();
        let lowered = Hue::new(0.25).lower(&[image]).unwrap();
        assert_eq!(lowered.steps[0].uniforms[..], [1.5]);
        assert_eq!(lowered.steps[0].output, image);
        let gray = Hue::new(0.25).infer(&[image.with_format(PixelFormat::Gray).unwrap()]).unwrap_err();
        assert!(gray.to_string().contains("in colour"), "{gray}");
    }
}
