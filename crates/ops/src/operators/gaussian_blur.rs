use mip_core::ImageDesc;
use mip_plan::{Border, Kernel, Separable};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::field::{Parameters, create, fields, plumbing};
use crate::tables::{LONGEST, SHORT, gaussian, gaussian_weights, sigma_of, smoothed, weighable};
use crate::{Change, Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "gaussian_blur",
    summary: "Smooths with a Gaussian",
    inputs: &["in"],
    params: &[
        ParamSpec::new("kernel", ParamKind::odd(1, LONGEST as i64), "Side of the neighbourhood in pixels")
            .default_is("5"),
        ParamSpec::new(
            "sigma",
            ParamKind::above(0.0, 1e6),
            "Standard deviation in pixels; 0.15 * kernel + 0.35 if not given",
        )
        .uniform(),
        BORDER,
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "kernel=1",
        "kernel=31 border=reflect",
        "kernel=33",
        "kernel=63 sigma=9 border=replicate",
        "kernel=45 border=reflect",
        "kernel=101",
        "sigma=0.001 border=wrap",
        "kernel=7 sigma=3 border=replicate",
        "border=constant border_value=1",
    ],
    create: create::<GaussianBlur>,
};

/// Gaussian smoothing over `kernel` x `kernel` pixels.
///
/// With `r = (kernel - 1) / 2` each axis has the weights `exp(-d^2 / (2 sigma^2))` for d = -r..=r, divided by
/// their sum; `sigma` is `0.15 * kernel + 0.35` when not set. Both axes are applied before the single rounding
/// at the end (integers: to the nearest, ties to even). Pixels outside the image follow `border`. Colours with
/// alpha are smoothed premultiplied, so that clear pixels do not bleed.
///
/// Above 31 pixels a table holds the weights of each column and row: `border` is one of reflect101, reflect and replicate
/// then, and a change of `sigma` needs a new plan. The time goes with the number of pixels a side, not with their square.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianBlur {
    kernel: u32,
    sigma: Option<f64>,
    border: BorderFields,
}

impl GaussianBlur {
    /// A blur over `kernel` x `kernel` pixels; odd, 1 to 255 (5 by default).
    pub fn new(kernel: u32) -> Self {
        Self { kernel, sigma: None, border: BorderFields::default() }
    }

    /// With this standard deviation in pixels, greater than 0.
    #[must_use]
    pub const fn sigma(self, sigma: f64) -> Self {
        Self { sigma: Some(sigma), ..self }
    }

    /// With this border; [`Border::Reflect101`] by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }
}

impl Default for GaussianBlur {
    fn default() -> Self {
        Self::new(5)
    }
}

impl Parameters for GaussianBlur {
    fields! {
        "kernel" => kernel,
        "sigma" => sigma,
        "border" => border.mode,
        "border_value" => border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.border.conflicts(self)?;
        self.border.folds(self, self.kernel / 2)
    }
}

impl Operator for GaussianBlur {
    plumbing!(SPEC);

    fn change(&self, parameter: &str) -> Change {
        match SPEC.param(parameter) {
            // Large neighbourhoods have their weights in a table.
            Ok(param) if self.kernel / 2 <= SHORT => param.change,
            Ok(_) | Err(_) => Change::Structural,
        }
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.border.resolve(self, &input)?;
        weighable(&SPEC, &input, self.kernel / 2)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let radius = self.kernel / 2;
        let border = self.border.resolve(self, &output)?;
        if radius > SHORT {
            let axis = gaussian(radius, sigma_of(self.kernel, self.sigma));
            return Ok(Lowered::single(smoothed(&output, [&axis; 2], border), [], output));
        }
        let axis = gaussian_weights(self.kernel, self.sigma);
        let kernel = Kernel::Separable(Separable { radius_x: radius, radius_y: radius, border });
        Ok(Lowered::single(kernel, [&axis[..], &axis[..]].concat(), output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn image() -> ImageDesc {
        ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap()
    }

    #[test]
    fn sigma_follows_the_kernel_unless_given() {
        let uniforms = |blur: GaussianBlur| blur.lower(&[image()]).unwrap().steps[0].uniforms.clone();
        assert_eq!(uniforms(GaussianBlur::new(5)), uniforms(GaussianBlur::new(5).sigma(1.1)));
        assert_ne!(uniforms(GaussianBlur::new(5)), uniforms(GaussianBlur::new(5).sigma(1.2)));
        assert_eq!(uniforms(GaussianBlur::new(1))[..], [1.0, 1.0]);
        assert_eq!(uniforms(GaussianBlur::new(7)).len(), 8);
    }

    #[test]
    fn wrong_builder_values_are_refused_when_used() {
        let refusal = |blur: GaussianBlur| blur.lower(&[image()]).unwrap_err().to_string();
        assert!(
            refusal(GaussianBlur::new(4)).contains("'kernel' of 'gaussian_blur' is 4, but must be an odd")
        );
        assert!(refusal(GaussianBlur::new(257)).contains("from 1 to 255"));
        assert!(
            refusal(GaussianBlur::new(33).border(Border::Wrap)).contains("reflect101, reflect or replicate")
        );
        assert!(refusal(GaussianBlur::new(5).sigma(0.0)).contains("'sigma'"));
        assert!(
            refusal(GaussianBlur::new(5).sigma(f64::NAN))
                .contains("is NaN, but must be a number greater than 0")
        );
    }

    #[test]
    fn tables_have_a_limit() {
        let long = ImageDesc::new(2_000_000_000, 1, PixelFormat::Gray, DType::U8).unwrap();
        let refusal = GaussianBlur::new(255).lower(&[long]).unwrap_err().to_string();
        assert!(refusal.contains("at most 87724 pixels on a side"), "{refusal}");
        assert!(GaussianBlur::new(31).lower(&[long]).is_ok());
    }

    #[test]
    fn a_constant_border_must_be_a_sample() {
        let border = |v| GaussianBlur::new(5).border(Border::Constant(v)).lower(&[image()]);
        let Kernel::Separable(kernel) = border(7.0).unwrap().steps[0].kernel else { panic!() };
        assert_eq!(kernel.border, Border::Constant(7.0));
        assert_eq!(
            border(256.0).unwrap_err().to_string(),
            "parameter 'border_value' of 'gaussian_blur' is 256, but must be a whole number from 0 to 255 \
             for 5x3 rgb u8"
        );
        assert!(border(0.5).is_err() && border(f32::NAN).is_err());
        let float = image().with_dtype(DType::F32).unwrap();
        assert!(GaussianBlur::new(5).border(Border::Constant(-0.5)).lower(&[float]).is_ok());
    }

    #[test]
    fn a_border_value_needs_the_constant_border() {
        let mut blur = GaussianBlur::new(5);
        assert_eq!(
            blur.set("border_value", 1.into()).unwrap_err().to_string(),
            "parameter 'border_value' of 'gaussian_blur' cannot be given with border = reflect101; \
             it needs border = constant"
        );
        blur.set("border", "constant".into()).unwrap();
        blur.set("border_value", 1.into()).unwrap();
    }
}
