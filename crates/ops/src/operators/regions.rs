use mip_core::{DType, ImageDesc, ImageError, PixelFormat};
use mip_plan::Regions as Step;

use crate::counted::refusal;
use crate::field::{Parameters, create, fields, plumbing};
use crate::regions::{Steps, numbered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec, StepInput};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "regions",
    summary: "Bounding boxes and areas of labelled regions",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "max",
        ParamKind::int(1, Step::MAX_MEASURED as i64),
        "Regions that are measured: those numbered from 1 to this",
    )
    .default_is("256")],
    extra: Extra::NONE,
    examples: &["max=12", "", "max=1"],
    create: create::<Regions>,
};

/// What `label` has numbered, measured: for each region a row of x, y, width and height of its bounding box and its area, in
/// pixels, as gray f32, 5 wide and `max` high.
///
/// The first row is region 1's. Rows of numbers that do not occur are 0, so the regions end where the area is 0; regions above
/// `max` are left out. Samples that are no whole number from 1 to `max` are not measured. OpenCV's
/// `connectedComponentsWithStats` has the same numbers, with the background in its first row.
#[derive(Debug, Clone, PartialEq)]
pub struct Regions {
    max: u32,
}

impl Default for Regions {
    fn default() -> Self {
        Self::new(256)
    }
}

impl Regions {
    /// Of so many regions.
    pub const fn new(max: u32) -> Self {
        Self { max }
    }
}

impl Parameters for Regions {
    fields! { "max" => max }
}

impl Operator for Regions {
    plumbing!(SPEC);

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        Ok(vec![input.with_format(PixelFormat::Gray)?.with_dtype(DType::F32)?])
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        if (input.format(), input.dtype()) != (PixelFormat::Gray, DType::F32) {
            return Err(refusal(&SPEC, &input, "gray f32, as label makes it"));
        }
        numbered(&SPEC, &input)?;
        Ok(input.with_size(Step::MEASURES, self.max)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let mut steps = Steps::default();
        steps.add(Step::Measure, &[StepInput::Slot(0)], [], output);
        Ok(steps.lowered())
    }
}
