use mip_core::{ImageDesc, ImageError};
use mip_plan::{Boxes, Kernel, Whole};

use super::draw::{check_boxes, image_and_boxes};
use super::{GaussianBlur, Resize, ResizeFilter};
use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

choice! {
    /// What [`Redact`] makes of the pixels in a box.
    pub enum RedactMethod as METHODS {
        /// Squares of one colour each.
        #[default]
        Mosaic = "mosaic",
        /// A Gaussian blur.
        Blur = "blur",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "redact",
    summary: "Makes boxes unrecognisable: faces, number plates, names",
    inputs: &["in", "boxes"],
    params: &[
        ParamSpec::new("method", ParamKind::choice(METHODS), "What becomes of the pixels")
            .default_is("mosaic"),
        ParamSpec::new(
            "size",
            ParamKind::int(2, 64),
            "About the side of a square, 16 if not given; or the radius of the blur, at most 15, which is the default",
        ),
    ],
    extra: Extra::NONE,
    examples: &["size=5", "", "method=blur size=3", "method=blur", "size=64"],
    create: create::<Redact>,
};

/// The image with the pixels of boxes replaced by coarse squares or by a blur; everything else stays byte for byte.
///
/// `mosaic` is the whole image resized by `area` to `ceil(width / size)` by `ceil(height / size)` pixels and back by `nearest`;
/// `blur` is a Gaussian with a radius of `size`, at most 15, and the default deviation of that radius, 5 of the largest: use `mosaic` for
/// large boxes. `boxes` are those of `draw`: x, y, width and
/// height. Make boxes a little larger than what they hide.
#[derive(Debug, Clone, PartialEq)]
pub struct Redact {
    method: RedactMethod,
    size: Option<u32>,
}

/// The largest radius of a blur.
const MAX_RADIUS: u32 = 15;

impl Default for Redact {
    fn default() -> Self {
        Self::new(RedactMethod::Mosaic)
    }
}

impl Redact {
    /// In this way: with squares of 16 pixels, or a blur with a radius of 15.
    pub const fn new(method: RedactMethod) -> Self {
        Self { method, size: None }
    }

    /// With squares or a radius of so many pixels.
    #[must_use]
    pub const fn size(self, size: u32) -> Self {
        Self { size: Some(size), ..self }
    }

    /// The whole image made unrecognisable.
    fn coarse(&self, input: &ImageDesc) -> Result<Lowered, OpError> {
        match self.method {
            RedactMethod::Blur => GaussianBlur::new(2 * self.size.unwrap_or(MAX_RADIUS) + 1).lower(&[*input]),
            RedactMethod::Mosaic => {
                let size = self.size.unwrap_or(16);
                let (width, height) = (input.width().div_ceil(size), input.height().div_ceil(size));
                let small = Resize::to(width, height).filter(ResizeFilter::Area).lower(&[*input])?;
                let from = small.steps[small.steps.len() - 1].output;
                let large = Resize::to(input.width(), input.height()).filter(ResizeFilter::Nearest);
                Ok(small.then(large.lower(&[from])?))
            }
        }
    }
}

impl Parameters for Redact {
    fields! { "method" => method, "size" => size }

    fn conflicts(&self) -> Result<(), ParamError> {
        match (self.method, self.size) {
            (RedactMethod::Blur, Some(size)) if size > MAX_RADIUS => {
                let allowed = format!("at most {MAX_RADIUS} with method = blur; mosaic takes up to 64");
                Err(self.invalid("size", size.to_string(), allowed))
            }
            (RedactMethod::Blur | RedactMethod::Mosaic, _) => Ok(()),
        }
    }
}

impl Operator for Redact {
    plumbing!(SPEC);

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        image_and_boxes(input)
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input, boxes] = self.accept(inputs)?;
        check_boxes(&SPEC, 1, &boxes)?;
        self.coarse(&input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let mut lowered = self.coarse(&output)?;
        let coarse = StepInput::Step(lowered.steps.len() - 1);
        lowered.steps.push(KernelStep {
            kernel: Kernel::Whole(Whole::Boxes(Boxes::Cover)),
            uniforms: [].into(),
            inputs: vec![StepInput::Slot(0), coarse, StepInput::Slot(1)],
            output,
        });
        Ok(lowered)
    }
}
