use mip_core::{ImageDesc, ImageError};
use mip_plan::{CropFilter, Crops, Kernel, Warp};

use super::draw::{check_boxes, image_and_boxes};
use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

const SIDE: ParamKind = ParamKind::pixels(1, 1 << 16);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "crop_resize",
    summary: "Cuts boxes out of the image and resizes each to one size: regions for a classifier",
    inputs: &["in", "boxes"],
    params: &[
        ParamSpec::new("width", SIDE, "Width of each region in the result").required().of_image(),
        ParamSpec::new("height", SIDE, "Height of each region in the result").required().of_image(),
        ParamSpec::new("filter", ParamKind::choice(FILTERS), "How pixels between pixels are made")
            .default_is("bilinear"),
        ParamSpec::new(
            "max",
            ParamKind::int(1, 4096),
            "Regions in the result: of the first boxes; as many as there are rows of boxes if not given",
        )
        .of_image(),
    ],
    extra: Extra::NONE,
    examples: &[
        "width=9 height=6",
        "width=40 height=30 filter=nearest",
        "width=33 height=1 max=3",
        "width=1 height=17 max=1 filter=nearest",
        "width=5 height=50 max=2",
    ],
    create: create::<CropResize>,
};

choice! {
    /// How [`CropResize`] makes pixels between pixels.
    pub enum CropResizeFilter as FILTERS {
        /// The nearest pixel.
        Nearest = "nearest",
        /// Weighted means of 2 x 2 pixels.
        #[default]
        Bilinear = "bilinear",
    }
}

/// The pixels of boxes, each box resized to `width` x `height` as [`super::Resize`] does without `antialias`, as if it had been
/// cropped before: nothing beside it is read. The regions of all boxes lie one below the other, the first box's on top; in the
/// layout `hwc` the result is an array of regions x height x width x channels.
///
/// `boxes` are those of `draw`, as `regions` and `nms` make them or a file of arrays holds them: x, y, width and height in pixels.
/// A box contains the pixels of the image from `floor(x + 0.5)` up to `floor(x + width + 0.5)`, and rows likewise; the
/// region of a box that contains none is 0. Each frame of a batch or a stream has boxes of its own. With `max` the first
/// boxes make regions: after `nms` the best ones. torchvision's `crop` and `resize`, CV-CUDA's `CropFlipNormalizeReformat`
/// and NPP's `ResizeBatch` do it one region after the other or for lists on the host; OpenCV's `resize` of a part of an
/// image rounds weights to 1/2048.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CropResize {
    width: u32,
    height: u32,
    filter: CropResizeFilter,
    max: Option<u32>,
}

impl CropResize {
    /// Every box to this size.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, ..Self::default() }
    }

    /// With this filter; [`CropResizeFilter::Bilinear`] by default.
    #[must_use]
    pub const fn filter(self, filter: CropResizeFilter) -> Self {
        Self { filter, ..self }
    }

    /// Of so many boxes.
    #[must_use]
    pub const fn max(self, max: u32) -> Self {
        Self { max: Some(max), ..self }
    }
}

impl Parameters for CropResize {
    fields! { "width" => width, "height" => height, "filter" => filter, "max" => max }
}

impl Operator for CropResize {
    plumbing!(SPEC);

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        image_and_boxes(input)
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input, boxes] = self.accept(inputs)?;
        check_boxes(&SPEC, 1, &boxes)?;
        let regions = self.max.unwrap_or_else(|| boxes.height());
        if regions > boxes.height() {
            let allowed = format!("at most {}, the rows of 'boxes'", boxes.height());
            return Err(self.invalid("max", regions.to_string(), allowed).into());
        }
        Ok(input.with_size(self.width, self.height * regions)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let filter = match self.filter {
            CropResizeFilter::Nearest => CropFilter::Nearest,
            CropResizeFilter::Bilinear => CropFilter::Bilinear,
        };
        let kernel = Kernel::Warp(Warp::Crops(Crops { rows: self.height, filter }));
        Ok(Lowered::single(kernel, [], output))
    }
}
