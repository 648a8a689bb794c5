use mip_core::ImageDesc;
use mip_plan::{AxisMap, Kernel, Warp};

use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "transpose",
    summary: "Swaps rows and columns: mirrors the image at the diagonal through its top left corner",
    inputs: &["in"],
    params: &[],
    extra: Extra::SUMS,
    examples: &[""],
    create: create::<Transpose>,
};

/// Swaps rows and columns: the pixel at column `x` and row `y` of the result is the input's at column `y` and row `x`, and
/// an input of `w` x `h` pixels gives `h` x `w`.
///
/// Samples stay as they are. The same as Pillow's `TRANSPOSE`, `OpenCV`'s `transpose`, and torch's `transpose(-1, -2)` of
/// planar images.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transpose {}

impl Transpose {
    /// The transposition.
    pub const fn new() -> Self {
        Self {}
    }
}

impl Parameters for Transpose {
    fields! {}
}

impl Operator for Transpose {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(input.with_size(input.height(), input.width())?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let same = AxisMap::Offset { first: 0 };
        Ok(Lowered::single(Kernel::Warp(Warp::Transposed { x: same, y: same }), [], output))
    }
}
