use mip_core::{DType, ImageDesc, ImageError, PixelFormat};
use mip_plan::{Border, Channel};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::expr::{Term, alpha_of, blue_of, green_of, red_of, uniform};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "bilateral",
    summary: "Smooths and keeps edges: the mean of pixels that are near and alike",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "diameter",
            ParamKind::int(0, 9),
            "Of the round neighbourhood in pixels; 0: that of the radius round(1.5 * sigma_space)",
        )
        .default_is("5"),
        ParamSpec::new(
            "sigma_color",
            ParamKind::number(0.001, 1e6),
            "Standard deviation of the distance of colours, in sample units",
        )
        .required()
        .uniform(),
        ParamSpec::new(
            "sigma_space",
            ParamKind::number(0.001, 1e6),
            "Standard deviation of the distance in pixels",
        )
        .required(),
        BORDER,
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "sigma_color=30 sigma_space=3",
        "diameter=9 sigma_color=0.2 sigma_space=2.5 border=replicate",
        "diameter=0 sigma_color=100 sigma_space=1.2",
        "diameter=3 sigma_color=500 sigma_space=10 border=constant border_value=1",
    ],
    create: create::<Bilateral>,
};

/// The mean of the pixels in a circle, weighted by `exp(-s^2 / (2 sigma_space^2) - d^2 / (2 sigma_color^2))`: s is the distance in
/// pixels, d the sum of the absolute differences of the channels.
///
/// The circle has the radius `diameter / 2` rounded down, at least 1, and holds the pixels that are no farther away. OpenCV's
/// `bilateralFilter` is the same with `borderType = BORDER_REFLECT_101`, up to the tables that it takes for the weights of bytes. Images
/// with alpha are refused. The weights are computed with [`mip_plan::Function::Exp2`]; pixels are added from the middle one on, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Bilateral {
    diameter: u32,
    sigma_color: Option<f64>,
    sigma_space: Option<f64>,
    border: BorderFields,
}

impl Default for Bilateral {
    fn default() -> Self {
        Self { diameter: 5, sigma_color: None, sigma_space: None, border: BorderFields::default() }
    }
}

/// Largest radius.
const MAX_RADIUS: u32 = 4;
/// Neighbours whose weights fit in one expression.
const AT_ONCE: usize = 28;

impl Bilateral {
    /// With these standard deviations: of colours in sample units, and of places in pixels.
    pub fn new(sigma_color: f64, sigma_space: f64) -> Self {
        Self { sigma_color: Some(sigma_color), sigma_space: Some(sigma_space), ..Self::default() }
    }

    /// With a circle of this diameter in pixels, up to 9; 0: as wide as `sigma_space` wants. 5 by default.
    #[must_use]
    pub fn diameter(self, diameter: u32) -> Self {
        Self { diameter, ..self }
    }

    /// With this border; [`Border::Reflect101`] by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }

    fn radius(&self) -> u32 {
        let radius = match self.diameter {
            0 => (1.5 * self.sigma_space.unwrap_or(1.0)).round() as u32,
            diameter => diameter / 2,
        };
        radius.max(1)
    }

    /// The neighbours, row by row.
    fn neighbours(&self) -> Vec<(i8, i8)> {
        let radius = self.radius() as i8;
        let square = (-radius..=radius).flat_map(|y| (-radius..=radius).map(move |x| (x, y)));
        square.filter(|place| (1..=radius * radius).contains(&distance(*place))).collect()
    }
}

/// The exponent, of 2, of a squared distance.
fn exponent(square: f64, sigma: Option<f64>) -> f64 {
    let sigma = sigma.unwrap_or(1.0);
    -square * std::f64::consts::LOG2_E / (2.0 * sigma * sigma)
}

/// The square of a distance in pixels.
const fn distance((x, y): (i8, i8)) -> i8 {
    x * x + y * y
}

/// Sums of the weighted channels, and of the weights; with the pixel itself in the first part. `space` is a standard deviation.
fn sums(channels: &[Term], neighbours: &[(i8, i8)], first: bool, space: Option<f64>) -> Vec<Term> {
    let start = |own: &Term| if first { own.clone() } else { 0.0.into() };
    let mut sums: Vec<Term> = channels.iter().map(start).collect();
    let mut weights: Term = if first { 1.0.into() } else { 0.0.into() };
    for &(x, y) in neighbours {
        let there: Vec<Term> = channels.iter().map(|channel| channel.at(x, y)).collect();
        let differences = there.iter().zip(channels).map(|(there, own)| (there.clone() - own.clone()).abs());
        let difference = differences.reduce(|sum, next| sum + next).unwrap_or_else(|| 0.0.into());
        let space = exponent(distance((x, y)).into(), space) as f32;
        let weight = (difference.clone() * difference).mul_add(uniform("color"), space).exp2();
        for (sum, there) in sums.iter_mut().zip(there) {
            *sum = there.mul_add(weight.clone(), sum.clone());
        }
        weights = weights + weight;
    }
    sums.push(weights);
    sums
}

impl Parameters for Bilateral {
    fields! {
        "diameter" => diameter,
        "sigma_color" => sigma_color,
        "sigma_space" => sigma_space,
        "border" => border.mode,
        "border_value" => border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        if self.radius() > MAX_RADIUS {
            let (radius, with) =
                (self.radius(), format!("with sigma_space = {}", self.sigma_space.unwrap_or(1.0)));
            return Err(self.conflict(
                "diameter",
                with,
                format!("0 would make the radius {radius}, and {MAX_RADIUS} is the most; say diameter = 9"),
            ));
        }
        self.border.conflicts(self)
    }
}

impl Operator for Bilateral {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        if input.format().has_alpha() {
            return Err(OpError::Input {
                operator: SPEC.name,
                slot: SPEC.inputs[0].to_owned(),
                given: input.to_string(),
                allowed: "without alpha; remove it with color_convert or flatten".to_owned(),
            });
        }
        self.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let border = self.border.resolve(self, &output)?;
        let (color, space) = (exponent(1.0, self.sigma_color), self.sigma_space);
        let channels: Vec<Term> = match output.channels() {
            1 => vec![Term::channel(0, Channel::Index(0))],
            _ => Channel::of_colors(output.format())[..3].iter().map(|&c| Term::channel(0, c)).collect(),
        };
        let neighbours = self.neighbours();
        let quotients = |mut sums: Vec<Term>| {
            let weights = sums.pop().unwrap_or_else(|| 1.0.into());
            Formula::channels(sums.into_iter().map(|sum| sum / weights.clone()).collect::<Vec<_>>())
        };
        if neighbours.len() <= AT_ONCE {
            let expr = quotients(sums(&channels, &neighbours, true, space)).compile(&SPEC)?;
            return Ok(lowered(&expr, border, |_| color, output));
        }
        // Sums of parts, in images of their own.
        let format = if output.channels() == 1 { PixelFormat::Rgb } else { PixelFormat::Rgba };
        let wide = output.with_format(format)?.with_dtype(DType::F32)?;
        let mut steps: Vec<KernelStep> = Vec::new();
        for (part, neighbours) in neighbours.chunks(AT_ONCE).enumerate() {
            let mut results = sums(&channels, neighbours, part == 0, space);
            results.resize(wide.channels(), 0.0.into());
            let expr = Formula::channels(results).compile(&SPEC)?;
            steps.append(&mut lowered(&expr, border, |_| color, wide).steps);
        }
        let of_slot = |slot: u8| match output.channels() {
            1 => vec![red_of(slot), green_of(slot)],
            _ => vec![red_of(slot), green_of(slot), blue_of(slot), alpha_of(slot)],
        };
        let add = |all: Vec<Term>, next: Vec<Term>| all.into_iter().zip(next).map(|(a, b)| a + b).collect();
        let total = (0..steps.len() as u8).map(of_slot).reduce(add).unwrap_or_default();
        let expr = quotients(total).compile(&SPEC)?;
        let mut last = lowered(&expr, Border::default(), |_| 0.0, output).steps.remove(0);
        last.inputs = (0..steps.len()).map(StepInput::Step).collect();
        steps.push(last);
        Ok(Lowered { steps })
    }

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        let format = match input.format() {
            PixelFormat::Rgba => PixelFormat::Rgb,
            PixelFormat::Bgra => PixelFormat::Bgr,
            format => format,
        };
        Ok(vec![input.with_format(format)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neighbourhood_is_round_and_limited() {
        let count = |diameter| Bilateral::new(1.0, 1.0).diameter(diameter).neighbours().len();
        assert_eq!([0, 3, 5, 7, 9].map(count), [12, 4, 12, 28, 48]);
        let image = ImageDesc::new(9, 7, PixelFormat::Rgb, DType::U8).unwrap();
        let wide = Bilateral::new(10.0, 5.0).diameter(0).infer(&[image]).unwrap_err().to_string();
        assert!(wide.contains("radius 8") && wide.contains("diameter = 9"), "{wide}");
        let alpha = Bilateral::new(10.0, 5.0).infer(&[image.with_format(PixelFormat::Rgba).unwrap()]);
        assert!(alpha.unwrap_err().to_string().contains("flatten"));
    }

    #[test]
    fn what_is_too_long_for_one_expression_is_added_up_in_parts() {
        for format in [PixelFormat::Gray, PixelFormat::Bgr, PixelFormat::Lab] {
            let image = ImageDesc::new(9, 7, format, DType::U8).unwrap();
            let steps = |diameter| {
                let lowered = Bilateral::new(10.0, 2.0).diameter(diameter).lower(&[image]).unwrap();
                assert_eq!(lowered.steps.last().unwrap().output, image);
                lowered.steps.len()
            };
            assert_eq!([steps(7), steps(9)], [1, 3]);
        }
    }
}
