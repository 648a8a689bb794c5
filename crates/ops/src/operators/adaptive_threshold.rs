use mip_core::{ImageDesc, PixelFormat};
use mip_plan::{Border, Kernel, Separable};

use crate::choice::choice;
use crate::counted::bytes_only;
use crate::expr::{uniform, v, v_of};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, check_picture, lowered, of_gray};
use crate::tables::{gaussian_weights, mean_weights};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec, StepInput};

choice! {
    /// What [`AdaptiveThreshold`] compares a sample with.
    pub enum AdaptiveMethod as METHODS {
        /// The mean of the square around it.
        #[default]
        Mean = "mean",
        /// The same weighted by a Gaussian.
        Gaussian = "gaussian",
    }
}

choice! {
    /// What [`AdaptiveThreshold`] makes of samples above, and of the others.
    pub enum AdaptiveMode as MODES {
        /// The maximum above, 0 elsewhere.
        #[default]
        Binary = "binary",
        /// 0 above, the maximum elsewhere.
        BinaryInv = "binary_inv",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "adaptive_threshold",
    summary: "Compares each pixel with the mean around it: writing on uneven paper",
    inputs: &["in"],
    params: &[
        ParamSpec::new("kernel", ParamKind::odd(3, 31), "Side of the square in pixels").default_is("11"),
        ParamSpec::new("c", ParamKind::number(-1e6, 1e6), "Subtracted from the mean, in sample units")
            .default_is("2")
            .uniform(),
        ParamSpec::new("method", ParamKind::choice(METHODS), "Which mean").default_is("mean"),
        ParamSpec::new("mode", ParamKind::choice(MODES), "What becomes of samples above, and of the others")
            .default_is("binary"),
        ParamSpec::new("max_value", ParamKind::any_number(), "In sample units; 255 if not given").uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "kernel=5 c=-3.5",
        "kernel=7 method=gaussian mode=binary_inv",
        "kernel=3 c=0.25 max_value=7 mode=binary_inv",
    ],
    create: create::<AdaptiveThreshold>,
};

/// Whether a gray sample is above the mean of the square around it less `c`; colours are turned to gray first.
///
/// Images are u8. The mean is rounded; pixels outside the image stand for those at its edge. A sample is above where
/// `v - mean > -ceil(c)` with `mode = binary`, and `v - mean > -floor(c)` with `binary_inv`, as in OpenCV's
/// `adaptiveThreshold`. The Gaussian has sigma `0.3 ((kernel - 1) / 2 - 1) + 0.8`, and for 3, 5 and 7 OpenCV's weights
/// `1 2 1` / 4, `1 4 6 4 1` / 16 and `1 3.5 7 9 7 3.5 1` / 32.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptiveThreshold {
    kernel: u32,
    c: f64,
    method: AdaptiveMethod,
    mode: AdaptiveMode,
    max_value: Option<f64>,
}

impl Default for AdaptiveThreshold {
    fn default() -> Self {
        Self::new(11, 2.0)
    }
}

impl AdaptiveThreshold {
    /// With a square of this side (odd, 3 to 31), and this taken from the mean.
    pub const fn new(kernel: u32, c: f64) -> Self {
        let (method, mode) = (AdaptiveMethod::Mean, AdaptiveMode::Binary);
        Self { kernel, c, method, mode, max_value: None }
    }

    /// With this mean.
    #[must_use]
    pub const fn method(self, method: AdaptiveMethod) -> Self {
        Self { method, ..self }
    }

    /// With this mode.
    #[must_use]
    pub const fn mode(self, mode: AdaptiveMode) -> Self {
        Self { mode, ..self }
    }

    /// With this maximum in sample units.
    #[must_use]
    pub const fn max_value(self, max_value: f64) -> Self {
        Self { max_value: Some(max_value), ..self }
    }

    /// From the middle outwards.
    fn weights(&self) -> Vec<f32> {
        match (self.method, self.kernel) {
            // What OpenCV has instead of small Gaussians.
            (AdaptiveMethod::Gaussian, 3) => vec![0.5, 0.25],
            (AdaptiveMethod::Gaussian, 5) => vec![0.375, 0.25, 0.0625],
            (AdaptiveMethod::Gaussian, 7) => vec![0.28125, 0.21875, 0.109_375, 0.03125],
            (AdaptiveMethod::Mean, kernel) => mean_weights(kernel),
            (AdaptiveMethod::Gaussian, kernel) => {
                gaussian_weights(kernel, Some(0.3 * (f64::from(kernel / 2) - 1.0) + 0.8))
            }
        }
    }

    /// What the distance from the mean must be above.
    fn limit(&self) -> f64 {
        match self.mode {
            AdaptiveMode::Binary => -self.c.ceil(),
            AdaptiveMode::BinaryInv => -self.c.floor(),
        }
    }
}

impl Parameters for AdaptiveThreshold {
    fields! {
        "kernel" => kernel,
        "c" => c,
        "method" => method,
        "mode" => mode,
        "max_value" => max_value,
    }
}

impl Operator for AdaptiveThreshold {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_picture(self, &input)?;
        bytes_only(&SPEC, &input)?;
        Ok(input.with_format(PixelFormat::Gray)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let radius = self.kernel / 2;
        let kernel = Separable { radius_x: radius, radius_y: radius, border: Border::Replicate };
        let axis = self.weights();
        let mean = Lowered::single(Kernel::Separable(kernel), [&axis[..], &axis[..]].concat(), output);
        let mut steps = of_gray(mean, &inputs[0])?.steps;
        let gray = if steps.len() == 1 { StepInput::Slot(0) } else { StepInput::Step(0) };
        let (above, maximum) = ((v() - v_of(1)).greater(uniform("limit")), uniform("max_value"));
        let result = match self.mode {
            AdaptiveMode::Binary => above.then(maximum, 0.0),
            AdaptiveMode::BinaryInv => above.then(0.0, maximum),
        };
        let number = |name: &str| match name {
            "limit" => self.limit(),
            _ => self.max_value.unwrap_or_else(|| output.dtype().full_scale()),
        };
        let compare = Formula::each(result).compile(&SPEC)?;
        let mut compare = lowered(&compare, Border::default(), number, output).steps.remove(0);
        compare.inputs = vec![gray, StepInput::Step(steps.len() - 1)];
        steps.push(compare);
        Ok(Lowered { steps })
    }
}
