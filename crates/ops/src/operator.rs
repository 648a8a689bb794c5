use std::fmt;

use mip_core::{ImageDesc, ImageError};
use mip_plan::{Kernel, Point, Uniforms};

use crate::{Change, OpError, OperatorSpec, ParamError, Value};

/// One image transformation with typed parameters. Pure description; owns no memory of any device.
///
/// The parameters' names, ranges and defaults stand in [`Operator::spec`]; values have been checked against
/// it before they reach [`Operator::set`].
pub trait Operator: fmt::Debug + Send + Sync {
    /// Name, documentation, input slots and parameters.
    fn spec(&self) -> &'static OperatorSpec;

    /// Value of a parameter; `None` when it is unset (an optional one) or unknown.
    fn get(&self, parameter: &str) -> Option<Value>;

    /// Sets a parameter. Call [`OperatorSpec::check`] first: this refuses a wrong type, but not a value out of
    /// range. After an error the operator is as before.
    ///
    /// # Errors
    /// When there is no such parameter, its type is another, or it contradicts the operator's other parameters.
    fn set(&mut self, parameter: &str, value: Value) -> Result<(), ParamError>;

    /// What setting a parameter costs now, which its specification may say too well of: [`crate::ParamSpec::change`] unless
    /// other parameters make it structural.
    fn change(&self, parameter: &str) -> Change {
        self.spec().param(parameter).map_or(Change::Structural, |param| param.change)
    }

    /// Shape, format and type of the result.
    ///
    /// # Errors
    /// When the inputs do not fit.
    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError>;

    /// Inputs that go with a first one like `input`, one for each slot: what suites, `mip validate` and fuzzing feed it. All
    /// alike, unless an operator wants something else.
    ///
    /// # Errors
    /// When there can be no such image.
    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        Ok(vec![*input; self.spec().inputs.len()])
    }

    /// Numbers that follow from the shapes of accepted inputs and that users of the result need, by name: the scale of a
    /// letterboxed image, and where it lies. Plans and reports print them.
    fn derived(&self, _inputs: &[ImageDesc]) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// The kernels that compute it, for inputs that [`Operator::infer`] accepted.
    ///
    /// A change of uniform parameters alone must change nothing but the uniforms.
    ///
    /// # Errors
    /// As [`Operator::infer`].
    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError>;

    /// A copy behind a new box.
    fn clone_box(&self) -> Box<dyn Operator>;
}

impl Clone for Box<dyn Operator> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// Kernels in order; the last one's output is the operator's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// At least one step.
    pub steps: Vec<KernelStep>,
}

/// One kernel of an operator.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelStep {
    /// What is computed.
    pub kernel: Kernel,
    /// Its uniforms.
    pub uniforms: Uniforms,
    /// Where its inputs come from.
    pub inputs: Vec<StepInput>,
    /// Shape and type of its result.
    pub output: ImageDesc,
}

/// Source of a step's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepInput {
    /// The operator's input slot.
    Slot(usize),
    /// An earlier step.
    Step(usize),
}

impl Lowered {
    /// An operator that is one kernel reading the slots in order.
    pub fn single(kernel: Kernel, uniforms: impl Into<Uniforms>, output: ImageDesc) -> Self {
        let inputs = (0..kernel.input_count()).map(StepInput::Slot).collect();
        Self { steps: vec![KernelStep { kernel, uniforms: uniforms.into(), inputs, output }] }
    }

    /// These steps, and then others, whose slots all read the result of these.
    #[must_use]
    pub(crate) fn then(mut self, next: Self) -> Self {
        let before = self.steps.len();
        self.steps.extend(next.steps.into_iter().map(|step| {
            let inputs = step.inputs.iter().map(|&input| match input {
                StepInput::Slot(_) => StepInput::Step(before - 1),
                StepInput::Step(index) => StepInput::Step(before + index),
            });
            KernelStep { inputs: inputs.collect(), ..step }
        }));
        self
    }

    /// One [`Point::affine`] with `(factor, offset)` of each channel in its order in memory, rounded to binary32.
    pub(crate) fn affine(output: ImageDesc, constants: impl Fn(usize) -> (f64, f64)) -> Self {
        // Red first, wherever the format keeps it.
        let mut places: Vec<usize> = (0..output.channels()).collect();
        if let Some(rgb) = output.format().rgb_indices() {
            places[..3].copy_from_slice(&rgb);
        }
        let pair = |c| <[f64; 2]>::from(constants(c)).map(|number| number as f32);
        let uniforms: Uniforms = places.into_iter().flat_map(pair).collect();
        Self::single(Kernel::Point(Point::affine(output.format())), uniforms, output)
    }
}
