use mip_core::{ImageDesc, PixelFormat};
use mip_plan::{Above, Automatic, Lookup, Rule};

use super::threshold::ThresholdMode;
use crate::choice::choice;
use crate::counted::{countable, looked_up, table};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{check_picture, of_gray};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

choice! {
    /// How [`AutoThreshold`] finds its threshold.
    pub enum AutoMethod as METHODS {
        /// Otsu's: the two sides differ most.
        #[default]
        Otsu = "otsu",
        /// The triangle: for an image with one peak.
        Triangle = "triangle",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "auto_threshold",
    summary: "One value above a threshold that follows from the image, 0 elsewhere",
    inputs: &["in"],
    params: &[
        ParamSpec::new("method", ParamKind::choice(METHODS), "How the threshold is found").default_is("otsu"),
        ParamSpec::new(
            "mode",
            ParamKind::choice(super::threshold::MODES),
            "What becomes of samples above the threshold, and of the others",
        )
        .default_is("binary"),
        ParamSpec::new("max_value", ParamKind::any_number(), "In sample units; 255 if not given").uniform(),
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "method=triangle",
        "mode=binary_inv max_value=100",
        "mode=trunc",
        "method=triangle mode=tozero",
        "mode=tozero_inv",
    ],
    create: create::<AutoThreshold>,
};

/// Whether a gray sample is greater than a threshold that the image's own values give; colours are turned to gray first. u8.
///
/// `otsu`: the first t with the largest variance between the samples up to t and those above,
/// `w (n - w) (mean below - mean above)^2` with w samples up to t of n. `triangle`: the value whose count lies farthest below
/// the line from the peak to the end of the longer slope, less one. The modes are those of [`crate::Threshold`]. OpenCV's
/// `threshold` with `THRESH_OTSU` or `THRESH_TRIANGLE`: where several thresholds part the samples in the same way, ours is the
/// first, OpenCV's is as its sums happen to round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AutoThreshold {
    method: AutoMethod,
    mode: ThresholdMode,
    max_value: Option<f64>,
}

impl AutoThreshold {
    /// Otsu's threshold.
    pub fn otsu() -> Self {
        Self::default()
    }

    /// The triangle's threshold.
    pub fn triangle() -> Self {
        Self { method: AutoMethod::Triangle, ..Self::default() }
    }

    /// With this mode; [`ThresholdMode::Binary`] by default.
    #[must_use]
    pub const fn mode(self, mode: ThresholdMode) -> Self {
        Self { mode, ..self }
    }

    /// With this result above the threshold, in sample units.
    #[must_use]
    pub const fn max_value(self, max_value: f64) -> Self {
        Self { max_value: Some(max_value), ..self }
    }
}

impl Parameters for AutoThreshold {
    fields! { "method" => method, "mode" => mode, "max_value" => max_value }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.mode.check_maximum(self, self.max_value)
    }
}

impl Operator for AutoThreshold {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_picture(self, &input)?;
        countable(&SPEC, &input)?;
        Ok(input.with_format(PixelFormat::Gray)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let automatic = match self.method {
            AutoMethod::Otsu => Automatic::Otsu,
            AutoMethod::Triangle => Automatic::Triangle,
        };
        let above = match self.mode {
            ThresholdMode::Binary => Above::Binary,
            ThresholdMode::BinaryInv => Above::BinaryInv,
            ThresholdMode::Trunc => Above::Trunc,
            ThresholdMode::ToZero => Above::ToZero,
            ThresholdMode::ToZeroInv => Above::ToZeroInv,
        };
        let max_value = self.max_value.unwrap_or_else(|| output.dtype().full_scale());
        let table = table(&output, Rule::Threshold(automatic, above), [max_value as f32])?;
        of_gray(looked_up(&output, table, Lookup::Rows), &inputs[0])
    }
}
