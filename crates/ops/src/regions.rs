//! Operators made of connected regions, step by step.

use mip_core::{DType, ImageDesc};
use mip_plan::{Connectivity, Kernel, Regions, Uniforms};

use crate::counted::refusal;
use crate::{KernelStep, Lowered, OpError, OperatorSpec, StepInput};

/// Refuses images of so many pixels that they have no numbers of 32 bits.
pub(crate) fn numbered(spec: &'static OperatorSpec, input: &ImageDesc) -> Result<(), OpError> {
    if Regions::numbers_fit(input) {
        return Ok(());
    }
    Err(refusal(spec, input, "an image of fewer than 2^32 pixels, with rows rounded up to 1024; resize it"))
}

/// Steps of an operator, each of which may read all before it.
#[derive(Default)]
pub(crate) struct Steps {
    steps: Vec<KernelStep>,
}

impl Steps {
    pub(crate) fn new(first: Lowered) -> Self {
        Self { steps: first.steps }
    }

    /// Where the last step's result is read; the operator's first input before any.
    fn last(&self) -> StepInput {
        self.steps.len().checked_sub(1).map_or(StepInput::Slot(0), StepInput::Step)
    }

    /// Adds a step; its result.
    pub(crate) fn add(
        &mut self,
        step: Regions,
        inputs: &[StepInput],
        uniforms: impl Into<Uniforms>,
        output: ImageDesc,
    ) -> StepInput {
        self.steps.push(KernelStep {
            kernel: Kernel::Whole(step.into()),
            uniforms: uniforms.into(),
            inputs: inputs.to_vec(),
            output,
        });
        self.last()
    }

    /// Adds the forest of the last result, or of the operator's first input.
    pub(crate) fn connect(
        &mut self,
        image: &ImageDesc,
        connectivity: Connectivity,
        seeds: bool,
    ) -> Result<StepInput, OpError> {
        let forest = image.with_dtype(DType::F32)?;
        let input = self.last();
        Ok(self.add(Regions::Connect { connectivity, seeds }, &[input], [], forest))
    }

    pub(crate) fn lowered(self) -> Lowered {
        Lowered { steps: self.steps }
    }
}
