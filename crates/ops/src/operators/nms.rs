use mip_core::{ImageDesc, ImageError};
use mip_plan::{Boxes, Kernel, Whole};

use super::draw::{check_boxes, image_and_boxes};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "nms",
    summary: "Keeps the best of boxes that overlap (non-maximum suppression)",
    inputs: &["boxes"],
    params: &[
        ParamSpec::new(
            "iou",
            ParamKind::number(0.0, 1.0),
            "Intersection over union up to which two boxes are both kept",
        )
        .default_is("0.5")
        .uniform(),
        ParamSpec::new("score", ParamKind::any_number(), "Least score of a box that is kept")
            .default_is("0")
            .uniform(),
    ],
    extra: Extra::NONE,
    examples: &["", "iou=0.2 score=0.3", "iou=0", "iou=1 score=-5"],
    create: create::<Nms>,
};

/// Boxes that no better one overlaps by more than `iou`, best first, then rows of zeros: as many rows as were given.
///
/// `boxes` is gray f32, 5 wide: a row of x, y, width, height and score for each of at most 4096 boxes; what `regions` makes has
/// the area as its score. Boxes with a score below `score`, without width or height or with a number that is not finite are left out; equal scores stay in the
/// order of their rows. torchvision's `ops.nms` with boxes of two corners, which leaves the order of equal scores open; OpenCV's
/// `dnn.NMSBoxes` keeps boxes at the threshold in the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct Nms {
    iou: f64,
    score: f64,
}

impl Default for Nms {
    fn default() -> Self {
        Self::new(0.5)
    }
}

impl Nms {
    /// With this intersection over union.
    pub const fn new(iou: f64) -> Self {
        Self { iou, score: 0.0 }
    }

    /// Without boxes of lower scores.
    #[must_use]
    pub const fn score(self, score: f64) -> Self {
        Self { score, ..self }
    }
}

impl Parameters for Nms {
    fields! { "iou" => iou, "score" => score }
}

impl Operator for Nms {
    plumbing!(SPEC);

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        Ok(image_and_boxes(input)?.split_off(1))
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [boxes] = self.accept(inputs)?;
        check_boxes(&SPEC, 0, &boxes)?;
        Ok(boxes)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let uniforms = [self.iou, self.score].map(|number| number as f32);
        Ok(Lowered::single(Kernel::Whole(Whole::Boxes(Boxes::Suppress)), uniforms, output))
    }
}
