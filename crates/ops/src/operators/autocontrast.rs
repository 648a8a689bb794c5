use mip_core::ImageDesc;
use mip_plan::{Lookup, Rule};

use crate::counted::{countable, looked_up, table};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "autocontrast",
    summary: "Stretches each channel so that its darkest value becomes 0 and its brightest full scale",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "cutoff",
        ParamKind::number(0.0, 50.0),
        "Percent of the samples at each end that may be lost",
    )
    .default_is("0")
    .uniform()],
    extra: Extra::NONE,
    examples: &["", "cutoff=2.5", "cutoff=49.9"],
    create: create::<AutoContrast>,
};

/// Each colour channel stretched to the full range, leaving `cutoff` percent of the samples at each end out of account. u8;
/// alpha is kept.
///
/// `floor(n * cutoff / 100)` samples are left out at each end; of the rest, from low to high, v becomes
/// `(v - low) * 255 / (high - low)`, rounded half to even and saturated. A channel with one value stays. Pillow's
/// `ImageOps.autocontrast` and torchvision's `autocontrast`, which cut fractions off instead of rounding: theirs may be 1
/// lower.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AutoContrast {
    cutoff: f64,
}

impl AutoContrast {
    /// From the darkest to the brightest value.
    pub fn new() -> Self {
        Self::default()
    }

    /// With so many percent of the samples lost at each end, 0 to 50.
    #[must_use]
    pub const fn cutoff(self, cutoff: f64) -> Self {
        Self { cutoff }
    }
}

impl Parameters for AutoContrast {
    fields! { "cutoff" => cutoff }
}

impl Operator for AutoContrast {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        countable(&SPEC, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let input = self.infer(inputs)?;
        Ok(looked_up(&input, table(&input, Rule::Stretch, [self.cutoff as f32])?, Lookup::Rows))
    }
}
