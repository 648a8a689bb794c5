use mip_core::{DType, ImageDesc, PixelFormat};

use super::{Labels, Regions};

/// What is done with a list of boxes: gray f32, [`Regions::MEASURES`] wide, a row of x, y, width, height and a fifth number for
/// each, in pixels.
///
/// A box contains the pixels whose column is at least `floor(x + 0.5)` and below `floor(x + width + 0.5)`, and likewise for rows;
/// each operation is rounded to binary32. One that is no number contains none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boxes {
    /// An image and boxes to the image with the boxes' outlines: pixels of a box less than `thickness` from its edge. Uniforms:
    /// `[thickness]` and the colour, a number for each channel in its order in memory, which is quantised.
    Outline,
    /// An image and boxes to the image with texts at the boxes' corners. Uniforms: `[scale]`, the colour behind characters and theirs,
    /// four numbers each, a number for each channel in its order in memory, which is quantised; and the texts.
    Label(Labels),
    /// An image, another one like it, and boxes: the other one's pixels within any box, the image's elsewhere. No uniforms.
    Cover,
    /// Boxes to those of them that no better one overlaps, best first, then zeros. Uniforms: `[iou, score]`.
    ///
    /// The fifth number is the score. Left out are boxes whose score is below the uniform, whose width or height is not above 0,
    /// or with a number that is not finite. Of the others, by falling score and then by row, one is kept if its intersection with each that
    /// was kept is at most `iou` times their union: with areas `a` and `b` and the intersection `c`, `c / ((a + b) - c) <= iou`.
    Suppress,
}

impl Boxes {
    /// Boxes at most.
    pub const MAX: u32 = 4096;

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Outline => "outline",
            Self::Label(_) => "label_boxes",
            Self::Cover => "cover",
            Self::Suppress => "suppress",
        }
    }

    pub(super) const fn input_count(self) -> usize {
        match self {
            Self::Outline | Self::Label(_) => 2,
            Self::Cover => 3,
            Self::Suppress => 1,
        }
    }

    /// Uniforms, the four of a colour among them.
    pub(super) const fn uniform_count(self) -> usize {
        match self {
            Self::Outline => 5,
            Self::Label(labels) => labels.uniform_count(),
            Self::Cover => 0,
            Self::Suppress => 2,
        }
    }

    /// Whether an image is a list of boxes.
    pub fn is_list(desc: &ImageDesc) -> bool {
        (desc.format(), desc.dtype(), desc.width()) == (PixelFormat::Gray, DType::F32, Regions::MEASURES)
            && desc.height() <= Self::MAX
    }

    pub(super) fn check(self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        if let Self::Label(labels) = self {
            labels.check()?;
        }
        let boxes = inputs[inputs.len() - 1];
        if !Self::is_list(&boxes) {
            let (width, most) = (Regions::MEASURES, Self::MAX);
            return Err(format!("boxes must be {width}x1 to {width}x{most} gray f32 instead of {boxes}"));
        }
        let images = &inputs[..inputs.len() - 1];
        let alike = match self {
            Self::Outline | Self::Label(_) | Self::Cover => images.iter().all(|image| image == output),
            Self::Suppress => *output == boxes,
        };
        if alike { Ok(()) } else { Err(format!("{output} is not like what it is made of")) }
    }
}
