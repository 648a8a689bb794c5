use mip_core::ImageDesc;
use mip_plan::Rule;

use crate::counted::{countable, table};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "histogram",
    summary: "How often each value occurs: a row of 256 counts for each colour channel",
    inputs: &["in"],
    params: &[],
    extra: Extra::NONE,
    examples: &[""],
    create: create::<Histogram>,
};

/// How often each of the 256 values occurs in each colour channel of an image of u8; alpha is not counted.
///
/// The result is gray f32, 256 wide, with a row for each channel in its order in memory. Counts are exact up to 2^24, and
/// rounded to binary32 above. OpenCV's `calcHist` with 256 bins, NumPy's `bincount`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Histogram {}

impl Histogram {
    /// Has no parameters.
    pub const fn new() -> Self {
        Self {}
    }
}

impl Parameters for Histogram {
    fields! {}
}

impl Operator for Histogram {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        Ok(self.lower(inputs)?.steps[1].output)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let [input] = self.accept(inputs)?;
        countable(&SPEC, &input)?;
        table(&input, Rule::Counts, [])
    }
}
