use mip_core::ImageDesc;
use mip_plan::Rule;

use crate::counted::{countable, table};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "stats",
    summary: "Mean, standard deviation, minimum, maximum and sum of each colour channel",
    inputs: &["in"],
    params: &[],
    extra: Extra::NONE,
    examples: &[""],
    create: create::<Stats>,
};

/// Mean, standard deviation of the population, minimum, maximum and sum of each colour channel of an image of u8; alpha is left
/// out.
///
/// The result is gray f32, 5 wide, with a row for each channel in its order in memory. Sums are exact in whole numbers, mean and
/// deviation are computed in binary64, and each number is rounded to binary32. OpenCV's `meanStdDev` and `minMaxLoc`, NumPy's
/// `mean` and `std`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {}

impl Stats {
    /// Has no parameters.
    pub const fn new() -> Self {
        Self {}
    }
}

impl Parameters for Stats {
    fields! {}
}

impl Operator for Stats {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        Ok(self.lower(inputs)?.steps[1].output)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let [input] = self.accept(inputs)?;
        countable(&SPEC, &input)?;
        table(&input, Rule::Statistics, [])
    }
}
