use mip_core::{DType, ImageDesc};
use mip_plan::{Connectivity, Regions};

use crate::choice::choice;
use crate::counted::{mask_only, refusal};
use crate::field::{Parameters, create, fields, plumbing};
use crate::regions::{Steps, numbered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

choice! {
    /// Which neighbours of a pixel belong to its region.
    pub enum Neighbors as NEIGHBORS {
        /// Those beside, above and below it.
        Four = "4",
        /// Those at its corners too.
        #[default]
        Eight = "8",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "label",
    summary: "Numbers the connected regions of a mask: 1, 2, ... in reading order",
    inputs: &["in"],
    params: &[
        ParamSpec::new("connectivity", ParamKind::choice(NEIGHBORS), "Neighbours that belong together")
            .default_is("8"),
        ParamSpec::new(
            "min_area",
            ParamKind::int(1, 1 << 24),
            "Pixels that a region has at least; smaller ones are left out",
        )
        .default_is("1"),
    ],
    extra: Extra::NONE,
    examples: &["", "connectivity=4", "min_area=5", "connectivity=4 min_area=3"],
    create: create::<Label>,
};

/// Connected regions of what is not 0 in a gray image of u8: each pixel becomes the number of its region, 0 where there is none,
/// as gray f32.
///
/// Regions are numbered from 1 on by their first pixel in reading order, left to right and top to bottom; with `min_area` those
/// with fewer pixels become 0 and are not counted. `regions` tells boxes and areas. OpenCV's
/// `connectedComponentsWithAlgorithm` numbers in the same way with `CCL_WU` (its default does not), SciPy's
/// `ndimage.label` too; theirs are 32-bit whole numbers, ours binary32, which is exact for as many regions as an image of 32
/// million pixels can have.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    connectivity: Neighbors,
    min_area: u32,
}

impl Default for Label {
    fn default() -> Self {
        Self { connectivity: Neighbors::default(), min_area: 1 }
    }
}

impl Label {
    /// Of eight neighbours, regions of any size.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these neighbours.
    #[must_use]
    pub const fn connectivity(self, connectivity: Neighbors) -> Self {
        Self { connectivity, ..self }
    }

    /// Without regions of fewer pixels.
    #[must_use]
    pub const fn min_area(self, min_area: u32) -> Self {
        Self { min_area, ..self }
    }

    /// Regions that an image can have at most.
    fn most(&self, input: &ImageDesc) -> u64 {
        let (width, height) = (u64::from(input.width()), u64::from(input.height()));
        match self.connectivity {
            Neighbors::Four => (width * height).div_ceil(2),
            Neighbors::Eight => width.div_ceil(2) * height.div_ceil(2),
        }
    }
}

impl Parameters for Label {
    fields! { "connectivity" => connectivity, "min_area" => min_area }
}

impl Operator for Label {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        mask_only(&SPEC, &input)?;
        if self.most(&input) > 1 << 24 {
            return Err(refusal(&SPEC, &input, "an image of at most 2^24 possible regions; resize it"));
        }
        numbered(&SPEC, &input)?;
        Ok(input.with_dtype(DType::F32)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let connectivity = match self.connectivity {
            Neighbors::Four => Connectivity::Four,
            Neighbors::Eight => Connectivity::Eight,
        };
        let mut steps = Steps::default();
        let forest = steps.connect(&inputs[0], connectivity, false)?;
        let by_area = self.min_area > 1;
        let ranks = if by_area {
            let areas = steps.add(Regions::Areas, &[forest], [], output);
            steps.add(Regions::Rank { by_area }, &[forest, areas], [self.min_area as f32], output)
        } else {
            steps.add(Regions::Rank { by_area }, &[forest], [], output)
        };
        let row = output.with_size(output.height(), 1)?;
        let starts = steps.add(Regions::RowStarts, &[ranks], [], row);
        steps.add(Regions::Number, &[forest, ranks, starts], [], output);
        Ok(steps.lowered())
    }
}
