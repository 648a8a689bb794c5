use mip_core::{DType, ImageDesc};

use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "normalize",
    summary: "To floats with mean 0 and deviation 1: (v * scale - mean) / std",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "mean",
            ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
            "Subtracted after scaling: one number, or one a channel",
        )
        .default_is("0")
        .uniform(),
        ParamSpec::new(
            "std",
            ParamKind::PerChannel { min: 0.0, max: 1e30, above_min: true },
            "Divided by at the end: one number, or one a channel",
        )
        .default_is("1")
        .uniform(),
        ParamSpec::new(
            "scale",
            ParamKind::any_number(),
            "Multiplied with first; 1 / full scale (1/255, 1/65535, 1) if not given",
        )
        .uniform(),
        ParamSpec::new("to", ParamKind::choice(&["f16", "f32"]), "Dtype of the result").default_is("f32"),
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "mean=0.5 std=0.25",
        "mean=[0.485,0.456,0.406] std=[0.229,0.224,0.225]",
        "mean=[0.485,-0.5,0.406,0.1] std=[0.229,4,0.225,0.001]",
        "scale=1 mean=2 std=3",
        "scale=-0.01 mean=3 std=7",
        "std=1e-20",
        "scale=0",
        "mean=[0.485,0.456,0.406] std=[0.229,0.224,0.225] to=f16",
    ],
    create: create::<Normalize>,
};

/// `(v * scale - mean[c]) / std[c]` for every channel c, alpha included, as f32 or f16.
///
/// `mean` and `std` hold one number for all channels or one for each; `scale` is 1 / full scale of the input's
/// dtype when not set. Computed as `fma(v, scale / std, -mean / std)` with both constants made in f64
/// and rounded to binary32 once; f16 is that result rounded to the nearest.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalize {
    mean: Vec<f64>,
    std: Vec<f64>,
    scale: Option<f64>,
    to: DType,
}

impl Normalize {
    /// With mean and standard deviation, each a list of one number or of one for every channel.
    pub fn new(mean: impl Into<Vec<f64>>, std: impl Into<Vec<f64>>) -> Self {
        Self { mean: mean.into(), std: std.into(), scale: None, to: DType::F32 }
    }

    /// With this factor before the mean is subtracted.
    #[must_use]
    pub fn scale(self, scale: f64) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// With f16 as the result's type, which halves what a network has to read.
    #[must_use]
    pub fn half(self) -> Self {
        Self { to: DType::F16, ..self }
    }

    /// Factor and offset of each channel, checked against the input.
    fn constants(&self, input: &ImageDesc) -> Result<Vec<(f64, f64)>, ParamError> {
        let channels = input.channels();
        let mean = self.per_channel("mean", &self.mean, channels, input)?;
        let std = self.per_channel("std", &self.std, channels, input)?;
        let scale = self.scale.unwrap_or_else(|| 1.0 / input.dtype().full_scale());
        mean.into_iter()
            .zip(std)
            .map(|(mean, std)| {
                let (factor, offset) = (scale / std, -mean / std);
                if (factor as f32).is_finite() && (offset as f32).is_finite() {
                    return Ok((factor, offset));
                }
                let allowed = format!(
                    "large enough that scale / std and mean / std fit in f32 (mean {mean}, scale {scale})"
                );
                Err(self.invalid("std", std.to_string(), allowed))
            })
            .collect()
    }
}

impl Default for Normalize {
    fn default() -> Self {
        Self::new([0.0], [1.0])
    }
}

impl Parameters for Normalize {
    fields! { "mean" => mean, "std" => std, "scale" => scale, "to" => to }
}

impl Operator for Normalize {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.constants(&input)?;
        Ok(input.with_dtype(self.to)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let constants = self.constants(&inputs[0])?;
        Ok(Lowered::affine(output, |channel| constants[channel]))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::PixelFormat;

    use super::*;

    fn image(format: PixelFormat) -> ImageDesc {
        ImageDesc::new(5, 3, format, DType::U8).unwrap()
    }

    #[test]
    fn constants_of_the_usual_network() {
        let op = Normalize::new([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
        let lowered = op.lower(&[image(PixelFormat::Rgb)]).unwrap();
        let expected = [
            1.0 / 255.0 / 0.229,
            -0.485 / 0.229,
            1.0 / 255.0 / 0.224,
            -0.456 / 0.224,
            1.0 / 255.0 / 0.225,
            -0.406 / 0.225,
        ];
        assert_eq!(lowered.steps[0].uniforms[..], expected.map(|v: f64| v as f32));
        assert_eq!(lowered.steps[0].output.dtype(), DType::F32);
    }

    #[test]
    fn one_number_serves_all_channels() {
        let lowered = Normalize::new([2.0], [4.0]).scale(1.0).lower(&[image(PixelFormat::Bgra)]).unwrap();
        assert_eq!(lowered.steps[0].uniforms[..], [0.25, -0.5, 0.25, -0.5, 0.25, -0.5, 0.25, -0.5]);
    }

    #[test]
    fn lists_must_match_the_channels() {
        let op = Normalize::new([0.5, 0.5, 0.5], [1.0]);
        let refusal = |format| op.infer(&[image(format)]).unwrap_err().to_string();
        assert_eq!(
            refusal(PixelFormat::Rgba),
            "parameter 'mean' of 'normalize' is 3 numbers, but must be one number or 4 (one a channel) \
             for 5x3 rgba u8"
        );
        assert!(refusal(PixelFormat::Gray).ends_with("one number for 5x3 gray u8"));
    }

    #[test]
    fn constants_that_overflow_are_refused() {
        let refusal = |op: Normalize| op.lower(&[image(PixelFormat::Gray)]).unwrap_err().to_string();
        assert!(refusal(Normalize::new([1.0], [1e-300])).contains("'std' of 'normalize' is 0.000"));
        assert!(refusal(Normalize::new([], [1.0])).contains("'mean'"));
        assert!(refusal(Normalize::new([0.0], [0.0])).contains("greater than 0"));
    }
}
