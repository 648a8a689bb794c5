use mip_core::ImageDesc;
use mip_plan::{AxisMap, Gather, Kernel};

use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "flip",
    summary: "Mirrors the image",
    inputs: &["in"],
    params: &[ParamSpec::new("direction", ParamKind::choice(DIRECTIONS), "horizontal swaps left and right")
        .default_is("horizontal")],
    extra: Extra::SUMS,
    examples: &["", "direction=horizontal", "direction=vertical", "direction=both"],
    create: create::<Flip>,
};

choice! {
    /// Which sides change places.
    pub enum FlipDirection as DIRECTIONS {
        /// Left and right.
        #[default]
        Horizontal = "horizontal",
        /// Top and bottom.
        Vertical = "vertical",
        /// Both: a turn by 180 degrees.
        Both = "both",
    }
}

/// Mirrors the image: column `x` of the result is column `width - 1 - x` of the input, rows likewise.
///
/// Samples stay as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flip {
    direction: FlipDirection,
}

impl Flip {
    /// A flip in the given direction.
    pub const fn new(direction: FlipDirection) -> Self {
        Self { direction }
    }

    /// Swaps left and right.
    pub const fn horizontal() -> Self {
        Self::new(FlipDirection::Horizontal)
    }

    /// Swaps top and bottom.
    pub const fn vertical() -> Self {
        Self::new(FlipDirection::Vertical)
    }

    /// Turns by 180 degrees.
    pub const fn both() -> Self {
        Self::new(FlipDirection::Both)
    }
}

impl Parameters for Flip {
    fields! { "direction" => direction }
}

impl Operator for Flip {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let axis = |flipped, extent| {
            if flipped { AxisMap::Flip { last: extent - 1 } } else { AxisMap::Offset { first: 0 } }
        };
        let gather = Gather {
            x: axis(self.direction != FlipDirection::Vertical, output.width()),
            y: axis(self.direction != FlipDirection::Horizontal, output.height()),
        };
        Ok(Lowered::single(Kernel::Gather(gather), [], output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    #[test]
    fn corners_go_where_they_should() {
        let image = ImageDesc::new(5, 3, PixelFormat::Gray, DType::U8).unwrap();
        let source = |flip: Flip| {
            let Kernel::Gather(g) = flip.lower(&[image]).unwrap().steps[0].kernel else { panic!() };
            [(g.x.map(0), g.y.map(0)), (g.x.map(4), g.y.map(2))]
        };
        assert_eq!(source(Flip::horizontal()), [(4, 0), (0, 2)]);
        assert_eq!(source(Flip::vertical()), [(0, 2), (4, 0)]);
        assert_eq!(source(Flip::both()), [(4, 2), (0, 0)]);
    }
}
