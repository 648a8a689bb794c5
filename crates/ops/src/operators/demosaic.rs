use mip_core::{ImageDesc, ImageError, PixelFormat};
use mip_plan::{Border, Compare};

use crate::choice::choice;
use crate::expr::{Condition, Term, v, x, y};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

choice! {
    /// Colours of the first four pixels of a raw image: two of the first row, two of the second.
    pub enum BayerPattern as PATTERNS {
        /// Red, green; green, blue.
        #[default]
        Rggb = "rggb",
        /// Blue, green; green, red.
        Bggr = "bggr",
        /// Green, red; blue, green.
        Grbg = "grbg",
        /// Green, blue; red, green.
        Gbrg = "gbrg",
    }
}

choice! {
    /// How [`Demosaic`] makes the colours that a pixel lacks.
    pub enum DemosaicMethod as METHODS {
        /// Means of the nearest pixels of that colour.
        #[default]
        Bilinear = "bilinear",
        /// The same corrected by the gradient of the pixel's own colour.
        Malvar = "malvar",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "demosaic",
    summary: "Colours of a camera's raw image",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "pattern",
            ParamKind::choice(PATTERNS),
            "Colours of the first two pixels of the first two rows",
        )
        .default_is("rggb"),
        ParamSpec::new("method", ParamKind::choice(METHODS), "How missing colours are made")
            .default_is("bilinear"),
    ],
    extra: Extra::NONE,
    examples: &["", "pattern=bggr method=malvar", "pattern=grbg", "pattern=gbrg method=malvar"],
    create: create::<Demosaic>,
};

/// An rgb image of a gray one whose pixels are red, green or blue in turns (a Bayer pattern).
///
/// `bilinear` takes the mean of the two or four nearest pixels of a colour. `malvar` adds to that the second derivative of the
/// pixel's own colour (H. Malvar, L. He, R. Cutler: High-quality linear interpolation for demosaicing of Bayer-patterned color
/// images, 2004). Outside the image it is mirrored without its edge, which keeps the pattern. OpenCV names patterns by the
/// pixel in the second row and column: its `BayerBG` is rggb.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Demosaic {
    pattern: BayerPattern,
    method: DemosaicMethod,
}

impl Demosaic {
    /// Of images with this pattern.
    pub fn new(pattern: BayerPattern) -> Self {
        Self { pattern, ..Self::default() }
    }

    /// With this method; [`DemosaicMethod::Bilinear`] by default.
    #[must_use]
    pub const fn method(self, method: DemosaicMethod) -> Self {
        Self { method, ..self }
    }

    /// Red, green and blue.
    fn results(&self) -> [Term; 3] {
        let (own, Around { sides, ends, corners, far_x, far_y }) = (v(), Around::new());
        let [across, down] = sides;
        let [green, beside, above, opposite] = match self.method {
            DemosaicMethod::Bilinear => {
                let all = (across.clone() + down.clone()) * 0.25;
                [all, across * 0.5, down * 0.5, corners * 0.25]
            }
            DemosaicMethod::Malvar => {
                let green =
                    own.clone().mul_add(4.0, (across.clone() + down.clone()).mul_add(2.0, -ends.clone()));
                let five = own.clone() * 5.0 - corners.clone();
                let beside = across.mul_add(4.0, five.clone()) - far_x.clone() + far_y.clone() * 0.5;
                let above = down.mul_add(4.0, five) - far_y + far_x * 0.5;
                let opposite = own.clone().mul_add(6.0, corners * 2.0) - ends * 1.5;
                [green, beside, above, opposite].map(|sum| sum * 0.125)
            }
        };
        // Where red is: in which columns, and in which rows.
        let (odd_column, odd_row) = match self.pattern {
            BayerPattern::Rggb => (0.0, 0.0),
            BayerPattern::Bggr => (1.0, 1.0),
            BayerPattern::Grbg => (1.0, 0.0),
            BayerPattern::Gbrg => (0.0, 1.0),
        };
        let parity = |place: Term| (-2.0_f32) * (place.clone() * 0.5).floor() + place;
        let red_column = || -> Condition { parity(x()).compare(Compare::Eq, odd_column) };
        let red_row = || -> Condition { parity(y()).compare(Compare::Eq, odd_row) };
        let pick = |red: Term, in_red_row: Term, in_red_column: Term, blue: Term| {
            let row = red_column().then(red, in_red_row);
            red_row().then(row, red_column().then(in_red_column, blue))
        };
        [
            pick(own.clone(), beside.clone(), above.clone(), opposite.clone()),
            pick(green.clone(), own.clone(), own.clone(), green),
            pick(opposite, above, beside, own),
        ]
    }
}

/// Sums of the pixels around one.
struct Around {
    /// Left and right; above and below.
    sides: [Term; 2],
    /// The four two pixels away.
    ends: Term,
    corners: Term,
    far_x: Term,
    far_y: Term,
}

impl Around {
    fn new() -> Self {
        let pair = |x: i8, y: i8| v().at(-x, -y) + v().at(x, y);
        let (far_x, far_y) = (pair(2, 0), pair(0, 2));
        Self {
            sides: [pair(1, 0), pair(0, 1)],
            ends: far_x.clone() + far_y.clone(),
            corners: pair(1, 1) + pair(1, -1),
            far_x,
            far_y,
        }
    }
}

impl Parameters for Demosaic {
    fields! { "pattern" => pattern, "method" => method }
}

impl Operator for Demosaic {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        if input.format() != PixelFormat::Gray {
            return Err(OpError::Input {
                operator: SPEC.name,
                slot: SPEC.inputs[0].to_owned(),
                given: input.to_string(),
                allowed: "gray: one sample a pixel, as a camera's sensor gives them".to_owned(),
            });
        }
        Ok(input.with_format(PixelFormat::Rgb)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        // Of the one channel there is.
        let expr = Formula::channels(self.results()).compile(&SPEC)?;
        Ok(lowered(&expr, Border::Reflect101, |_| 0.0, output))
    }

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        Ok(vec![input.with_format(PixelFormat::Gray)?])
    }
}
