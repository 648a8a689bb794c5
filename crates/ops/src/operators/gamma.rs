use mip_core::ImageDesc;

use crate::expr::{Term, uniform, v};
use crate::field::create;
use crate::pointwise::{Formula, Pointwise, pointwise};
use crate::{Extra, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "gamma",
    summary: "Brightens or darkens by a power of the samples",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "gamma",
            ParamKind::number(0.01, 10.0),
            "Exponent: below 1 brightens dark parts, above 1 darkens them",
        )
        .required()
        .uniform(),
        ParamSpec::new("gain", ParamKind::number(0.0, 100.0), "Factor of the result")
            .default_is("1")
            .uniform(),
    ],
    extra: Extra::NONE,
    examples: &["gamma=2.2", "gamma=0.45 gain=1.1", "gamma=1", "gamma=3 gain=0"],
    create: create::<Gamma>,
};

/// `full scale * gain * (v / full scale)^gamma` for every colour channel, saturated; alpha is kept.
///
/// Full scale is 255, 65535, 32767 or 1.0. Negative samples (of i16 and floats) count as 0; floats above 1 are not cut off. torchvision's
/// `adjust_gamma` and scikit-image's are the same. Computed as `pow(max(v, 0) / full scale, gamma) * (gain * full scale)`
/// with [`mip_plan::Function::Pow`].
#[derive(Debug, Clone, PartialEq)]
pub struct Gamma {
    gamma: Option<f64>,
    gain: f64,
}

impl Default for Gamma {
    fn default() -> Self {
        Self { gamma: None, gain: 1.0 }
    }
}

impl Gamma {
    /// With this exponent, 0.01 to 10.
    pub const fn new(gamma: f64) -> Self {
        Self { gamma: Some(gamma), gain: 1.0 }
    }

    /// With this factor of the result, 0 to 100; 1 by default.
    #[must_use]
    pub const fn gain(self, gain: f64) -> Self {
        Self { gain, ..self }
    }
}

pointwise! { Gamma: SPEC, "gamma" => gamma, "gain" => gain }

impl Pointwise for Gamma {
    fn formula(&self, input: &ImageDesc) -> Result<Formula, ParamError> {
        let full = input.dtype().full_scale();
        // NaN stays.
        let share = Term::from(0.0).max(v()) / full as f32;
        let numbers =
            vec![("gamma".to_owned(), self.gamma.unwrap_or(1.0)), ("scale".to_owned(), self.gain * full)];
        Ok(Formula::each(share.pow(uniform("gamma")) * uniform("scale")).numbers(numbers))
    }
}
