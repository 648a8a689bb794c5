use mip_core::ImageDesc;
use mip_plan::{Kernel, Point};

use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "blend",
    summary: "Weighted mean of two images",
    inputs: &["a", "b"],
    params: &[ParamSpec::new("alpha", ParamKind::number(0.0, 1.0), "Weight of a; b weighs 1 - alpha")
        .default_is("0.5")
        .uniform()],
    extra: Extra::NONE,
    examples: &["", "alpha=0.3", "alpha=0.001"],
    create: create::<Blend>,
};

/// `alpha * a + (1 - alpha) * b` for every channel, alpha channels included (colours are not premultiplied).
///
/// Both inputs must agree in size, format, dtype and layout, and so does the result. Integers are
/// rounded once, to the nearest, ties to even.
#[derive(Debug, Clone, PartialEq)]
pub struct Blend {
    alpha: f64,
}

impl Blend {
    /// A blend with the weight of the first input, 0 to 1 (0.5 by default).
    pub const fn new(alpha: f64) -> Self {
        Self { alpha }
    }
}

impl Default for Blend {
    fn default() -> Self {
        Self::new(0.5)
    }
}

impl Parameters for Blend {
    fields! { "alpha" => alpha }
}

impl Operator for Blend {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        self.accept_alike(inputs)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let weights = [(1.0 - self.alpha) as f32, self.alpha as f32];
        Ok(Lowered::single(Kernel::Point(Point::blend(output.format())), weights, output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, Layout, PixelFormat};

    use super::*;

    #[test]
    fn weights_add_up_to_one() {
        let image = ImageDesc::new(4, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let lowered = Blend::new(0.25).lower(&[image, image]).unwrap();
        assert_eq!(lowered.steps[0].uniforms[..], [0.75, 0.25]);
    }

    #[test]
    fn inputs_that_differ_are_named_with_the_remedy() {
        let a = ImageDesc::new(4, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let b = a.with_size(5, 3).unwrap().with_layout(Layout::Chw);
        assert_eq!(
            Blend::default().infer(&[a, b]).unwrap_err().to_string(),
            "input 'b' of 'blend' is 5x3 rgb u8 chw, but must be like input 'a', 4x3 rgb u8; \
             bring them together with resize, layout"
        );
        let one = Blend::default().infer(&[a]).unwrap_err().to_string();
        assert_eq!(one, "'blend' takes 2 input(s) (a, b), but 1 are connected");
    }
}
