use mip_core::{DType, ImageDesc, ImageError, PixelFormat};
use mip_plan::{Boxes, Kernel, Regions, Whole};

use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "draw",
    summary: "Draws the outlines of boxes",
    inputs: &["in", "boxes"],
    params: &[
        ParamSpec::new(
            "color",
            ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
            "One number, or one a channel in the image's own order, in sample units; full scale if not given",
        )
        .uniform(),
        ParamSpec::new("thickness", ParamKind::int(1, 1 << 16), "Pixels from the box's edge inwards")
            .default_is("2")
            .uniform(),
    ],
    extra: Extra::NONE,
    examples: &["", "color=[10,200.4,-3] thickness=1", "color=7", "color=[1,2,3,4] thickness=5"],
    create: create::<Draw>,
};

/// The image with the outlines of boxes, which `thickness` draws from their edges inwards.
///
/// `boxes` is gray f32, 5 wide, with a row of x, y, width, height and a number that is not used for each of at most 4096 boxes:
/// what `regions` and `nms` make, or an array in an `.npy`. A box covers the pixels from `floor(x + 0.5)` to before
/// `floor(x + width + 0.5)`, and likewise its rows; one without width or height draws nothing. Colours are rounded to the
/// image's dtype. OpenCV's `rectangle` draws lines with their middle on the edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    color: Option<Vec<f64>>,
    thickness: u32,
}

impl Default for Draw {
    fn default() -> Self {
        Self { color: None, thickness: 2 }
    }
}

impl Draw {
    /// At full scale, two pixels thick.
    pub fn new() -> Self {
        Self::default()
    }

    /// In this colour: one number, or one a channel, in sample units.
    #[must_use]
    pub fn color(self, color: impl Into<Vec<f64>>) -> Self {
        Self { color: Some(color.into()), ..self }
    }

    /// So many pixels thick.
    #[must_use]
    pub fn thickness(self, thickness: u32) -> Self {
        Self { thickness, ..self }
    }

    /// One number a channel.
    fn numbers(&self, input: &ImageDesc) -> Result<Vec<f64>, ParamError> {
        let full = [input.dtype().full_scale()];
        self.per_channel("color", self.color.as_deref().unwrap_or(&full), input.channels(), input)
    }
}

impl Parameters for Draw {
    fields! { "color" => color, "thickness" => thickness }
}

/// Refuses what is no list of boxes; `slot` is where it is.
pub(super) fn check_boxes(
    spec: &'static OperatorSpec,
    slot: usize,
    boxes: &ImageDesc,
) -> Result<(), OpError> {
    if Boxes::is_list(boxes) {
        return Ok(());
    }
    Err(OpError::Input {
        operator: spec.name,
        slot: spec.inputs[slot].to_owned(),
        given: boxes.to_string(),
        allowed: format!(
            "a list of boxes: gray f32, {} wide and at most {} high, as regions and nms make it",
            Regions::MEASURES,
            Boxes::MAX
        ),
    })
}

/// An image and a few boxes.
pub(super) fn image_and_boxes(input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
    Ok(vec![*input, ImageDesc::new(Regions::MEASURES, 7, PixelFormat::Gray, DType::F32)?])
}

impl Operator for Draw {
    plumbing!(SPEC);

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        image_and_boxes(input)
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input, boxes] = self.accept(inputs)?;
        check_boxes(&SPEC, 1, &boxes)?;
        self.numbers(&input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let mut uniforms = vec![self.thickness as f32];
        uniforms.extend(self.numbers(&output)?.into_iter().map(|number| number as f32));
        uniforms.resize(Whole::Boxes(Boxes::Outline).uniform_count(), 0.0);
        Ok(Lowered::single(Kernel::Whole(Whole::Boxes(Boxes::Outline)), uniforms, output))
    }
}
