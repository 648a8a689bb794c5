use mip_core::ImageDesc;
use mip_plan::{AxisMap, Gather, Kernel, Warp};

use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "rotate90",
    summary: "Turns the image by 90 or 180 degrees",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "direction",
        ParamKind::choice(TURNS),
        "Clockwise, counter-clockwise, or half a turn, as the image is looked at",
    )
    .required()],
    extra: Extra::SUMS,
    examples: &["direction=cw", "direction=ccw", "direction=180"],
    create: create::<Rotate90>,
};

choice! {
    /// Which way, and how far.
    pub enum Turn as TURNS {
        /// A quarter turn clockwise: the left column becomes the top row.
        #[default]
        Clockwise = "cw",
        /// A quarter turn counter-clockwise: the top row becomes the left column.
        CounterClockwise = "ccw",
        /// Half a turn.
        Half = "180",
    }
}

/// Turns the image by a multiple of 90 degrees. With an input of `w` x `h` pixels, the pixel at column `x` and row `y` of
/// the result is the input's at
/// * `cw`: column `y`, row `h - 1 - x`; the result has `h` x `w` pixels
/// * `ccw`: column `w - 1 - y`, row `x`; `h` x `w`
/// * `180`: column `w - 1 - x`, row `h - 1 - y`; `w` x `h`
///
/// Samples stay as they are. Others count differently, so the direction must be given: Pillow's `ROTATE_90` and `k = 1`
/// of torch's and `NumPy`'s `rot90` are `ccw`; `OpenCV`'s `ROTATE_90_CLOCKWISE` and libvips' `rot90` are `cw`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rotate90 {
    direction: Option<Turn>,
}

impl Rotate90 {
    /// A turn in the given direction.
    pub const fn new(direction: Turn) -> Self {
        Self { direction: Some(direction) }
    }
}

impl Parameters for Rotate90 {
    fields! { "direction" => direction }
}

impl Operator for Rotate90 {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(match self.direction.unwrap_or_default() {
            Turn::Clockwise | Turn::CounterClockwise => input.with_size(input.height(), input.width())?,
            Turn::Half => input,
        })
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let (width, height) = (inputs[0].width(), inputs[0].height());
        let forward = AxisMap::Offset { first: 0 };
        let (columns, rows) = (AxisMap::Flip { last: width - 1 }, AxisMap::Flip { last: height - 1 });
        let kernel = match self.direction.unwrap_or_default() {
            Turn::Clockwise => Kernel::Warp(Warp::Transposed { x: forward, y: rows }),
            Turn::CounterClockwise => Kernel::Warp(Warp::Transposed { x: columns, y: forward }),
            Turn::Half => Kernel::Gather(Gather { x: columns, y: rows }),
        };
        Ok(Lowered::single(kernel, [], output))
    }
}
