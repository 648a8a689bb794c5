use mip_core::ImageDesc;
use mip_plan::{Border, Kernel, Separable};

use crate::border::{BORDER, BORDER_VALUE, BorderFields};
use crate::field::{Parameters, create, fields, plumbing};
use crate::tables::{LONGEST, SHORT, mean_weights, smoothed, weighable};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "box_blur",
    summary: "Smooths with the mean of a rectangle",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "kernel",
            ParamKind::numbers(&[1, 2], LONGEST as f64),
            "Side of the square in pixels, or width and height: odd whole numbers",
        )
        .default_is("3")
        .of_image(),
        BORDER,
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "kernel=5 border=replicate",
        "kernel=[7,1]",
        "kernel=[1,9] border=wrap",
        "kernel=31 border=reflect",
        "kernel=[33,3]",
        "kernel=63 border=replicate",
        "kernel=255 border=reflect",
        "kernel=[3,5] border=constant border_value=1",
    ],
    create: create::<BoxBlur>,
};

/// The mean of the samples in a rectangle around each pixel, each axis from 1 to 255 pixels long and odd.
///
/// Pixels outside the image follow `border`. Integers are rounded to the nearest (there are no ties). Colours with alpha are
/// smoothed premultiplied, so that clear pixels do not bleed. Where an axis is longer than 31 pixels, `border` is one of
/// reflect101, reflect and replicate, and a pixel takes some five times as long on a CPU and fifty times on a GPU. OpenCV's
/// `blur`; NPP's box filter truncates instead.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxBlur {
    kernel: Vec<f64>,
    border: BorderFields,
}

impl Default for BoxBlur {
    fn default() -> Self {
        Self::new(3)
    }
}

impl BoxBlur {
    /// Over `kernel` x `kernel` pixels; odd, 1 to 255 (3 by default).
    pub fn new(kernel: u32) -> Self {
        Self { kernel: vec![kernel.into()], border: BorderFields::default() }
    }

    /// Over `width` x `height` pixels; both odd, 1 to 255.
    pub fn rect(width: u32, height: u32) -> Self {
        Self { kernel: vec![width.into(), height.into()], border: BorderFields::default() }
    }

    /// With this border; [`Border::Reflect101`] by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { border: border.into(), ..self }
    }

    /// Columns and rows to each side.
    fn radii(&self) -> Result<[u32; 2], ParamError> {
        let (Some(&width), Some(&height)) = (self.kernel.first(), self.kernel.last()) else {
            return Ok([1; 2]);
        };
        let odd = |side: f64| side >= 1.0 && side % 2.0 == 1.0;
        if !odd(width) || !odd(height) {
            let given = crate::Value::List(self.kernel.clone()).to_string();
            return Err(self.invalid("kernel", given, "odd whole numbers from 1 to 255"));
        }
        Ok([width as u32 / 2, height as u32 / 2])
    }
}

impl Parameters for BoxBlur {
    fields! { "kernel" => kernel, "border" => border.mode, "border_value" => border.value }

    fn conflicts(&self) -> Result<(), ParamError> {
        let [radius_x, radius_y] = self.radii()?;
        self.border.conflicts(self)?;
        self.border.folds(self, radius_x.max(radius_y))
    }
}

impl Operator for BoxBlur {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.border.resolve(self, &input)?;
        let [radius_x, radius_y] = self.radii()?;
        weighable(&SPEC, &input, radius_x.max(radius_y))?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let [radius_x, radius_y] = self.radii()?;
        let border = self.border.resolve(self, &output)?;
        if radius_x.max(radius_y) > SHORT {
            let axes =
                [radius_x, radius_y].map(|radius| vec![1.0 / f64::from(2 * radius + 1); radius as usize + 1]);
            return Ok(Lowered::single(smoothed(&output, [&axes[0], &axes[1]], border), [], output));
        }
        let weights = |radius: u32| mean_weights(2 * radius + 1);
        let kernel = Kernel::Separable(Separable { radius_x, radius_y, border });
        Ok(Lowered::single(kernel, [weights(radius_x), weights(radius_y)].concat(), output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_odd() {
        for kernel in [vec![2.0], vec![3.0, 4.0], vec![2.5], vec![-3.0], vec![0.0]] {
            let error = BoxBlur::default().set("kernel", crate::Value::List(kernel)).unwrap_err().to_string();
            assert!(error.contains("but must be odd whole numbers from 1 to 255"), "{error}");
        }
    }
}
