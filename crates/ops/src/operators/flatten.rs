use mip_core::{ImageDesc, ImageError, PixelFormat};
use mip_plan::Border;

use crate::expr::{Term, a, b, g, r, uniform};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "flatten",
    summary: "Puts an image with alpha on a background of one colour",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "background",
        ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
        "One number, or one a colour channel, in sample units",
    )
    .default_is("0")
    .uniform()],
    extra: Extra::NONE,
    examples: &["background=255", "", "background=[0.5,128,300]"],
    create: create::<Flatten>,
};

/// `(v * alpha + background * (full - alpha)) / full` for every colour channel, without alpha: rgba becomes rgb, bgra bgr.
///
/// `full` is full scale of the dtype (255, 65535, 1.0). `background` is one number or one for each colour channel in the
/// image's own order, in sample units. Pillow's `paste` of an image on a canvas with the image itself as the mask.
#[derive(Debug, Clone, PartialEq)]
pub struct Flatten {
    background: Vec<f64>,
}

impl Default for Flatten {
    /// On black.
    fn default() -> Self {
        Self::on([0.0])
    }
}

impl Flatten {
    /// On this colour: one number, or one a channel, in sample units.
    pub fn on(background: impl Into<Vec<f64>>) -> Self {
        Self { background: background.into() }
    }
}

impl Parameters for Flatten {
    fields! { "background" => background }
}

impl Operator for Flatten {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.per_channel("background", &self.background, 3, &input)?;
        let format = match input.format() {
            PixelFormat::Rgba => PixelFormat::Rgb,
            PixelFormat::Bgra => PixelFormat::Bgr,
            _ => {
                return Err(OpError::Input {
                    operator: SPEC.name,
                    slot: SPEC.inputs[0].to_owned(),
                    given: input.to_string(),
                    allowed: "an image with alpha, rgba or bgra; others need no background".to_owned(),
                });
            }
        };
        Ok(input.with_format(format)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let full = output.dtype().full_scale() as f32;
        let background = self.per_channel("background", &self.background, 3, &inputs[0])?;
        let places = output.format().rgb_indices().unwrap_or([0; 3]);
        let names = ["background_r", "background_g", "background_b"];
        let on = |v: Term, name: &str| {
            let below = uniform(name) * (full - a());
            v.mul_add(a(), below) / full
        };
        let results = [(r(), names[0]), (g(), names[1]), (b(), names[2])].map(|(v, name)| on(v, name));
        let number = |name: &str| {
            let channel = names.iter().position(|n| *n == name).unwrap_or(0);
            background[places[channel]]
        };
        Ok(lowered(&Formula::channels(results).compile(&SPEC)?, Border::default(), number, output))
    }

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        let format = match input.format() {
            PixelFormat::Bgr | PixelFormat::Bgra => PixelFormat::Bgra,
            _ => PixelFormat::Rgba,
        };
        Ok(vec![input.with_format(format)?])
    }
}
