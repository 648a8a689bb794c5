use mip_core::ImageDesc;

use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

const FACTOR: ParamKind = ParamKind::number(-10.0, 10.0);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "brightness_contrast",
    summary: "Brighter or darker, more or less contrast",
    inputs: &["in"],
    params: &[
        ParamSpec::new("brightness", FACTOR, "Factor of everything").default_is("1").uniform(),
        ParamSpec::new("contrast", FACTOR, "Factor of the distance from the center").default_is("1").uniform(),
        ParamSpec::new("shift", ParamKind::any_number(), "Added at the end, in sample units")
            .default_is("0")
            .uniform(),
        ParamSpec::new(
            "center",
            ParamKind::any_number(),
            "What contrast leaves as it is, in sample units; half of full scale (127.5, 32767.5, 0.5) if not given",
        )
        .uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "brightness=1.2 contrast=1.1",
        "",
        "contrast=-0.5 shift=3.25 center=128",
        "brightness=0.5 shift=-10 center=0.25",
    ],
    create: create::<BrightnessContrast>,
};

/// `shift + brightness * (center + contrast * (v - center))` for every colour channel; alpha is kept.
///
/// `shift` and `center` are in sample units. CV-CUDA's `brightness_contrast` and DALI's; torchvision's `adjust_brightness` is
/// `brightness` alone, while its `adjust_contrast` has the image's mean gray as the center. Computed as `fma(v, s, o)` with
/// both numbers made in f64 and rounded to binary32 once.
#[derive(Debug, Clone, PartialEq)]
pub struct BrightnessContrast {
    brightness: f64,
    contrast: f64,
    shift: f64,
    center: Option<f64>,
}

impl Default for BrightnessContrast {
    fn default() -> Self {
        Self::new(1.0, 1.0)
    }
}

impl BrightnessContrast {
    /// With these factors.
    pub const fn new(brightness: f64, contrast: f64) -> Self {
        Self { brightness, contrast, shift: 0.0, center: None }
    }

    /// With this added at the end, in sample units.
    #[must_use]
    pub const fn shift(self, shift: f64) -> Self {
        Self { shift, ..self }
    }

    /// With this value kept by the contrast, in sample units; half of full scale by default.
    #[must_use]
    pub const fn center(self, center: f64) -> Self {
        Self { center: Some(center), ..self }
    }
}

impl Parameters for BrightnessContrast {
    fields! { "brightness" => brightness, "contrast" => contrast, "shift" => shift, "center" => center }
}

impl Operator for BrightnessContrast {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let center = self.center.unwrap_or(output.dtype().full_scale() / 2.0);
        let scale = self.brightness * self.contrast;
        let offset = self.shift + self.brightness * (center - self.contrast * center);
        let alpha = output.format().has_alpha().then_some(3);
        Ok(Lowered::affine(
            output,
            |channel| if alpha == Some(channel) { (1.0, 0.0) } else { (scale, offset) },
        ))
    }
}
