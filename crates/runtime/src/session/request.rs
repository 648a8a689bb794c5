use std::sync::Arc;

use mip_core::ImageBuffer;
use mip_plan::{Plan, Uniforms};

use super::RunInput;
use crate::device::Event;
use crate::{CancelToken, RuntimeError};

/// The place of a run among what else the device does.
#[derive(Debug, Clone)]
pub struct RunOrder {
    /// Nothing of the run begins before the last recorded points of these have been reached.
    pub after: Vec<Arc<dyn Event>>,
    /// Recorded where everything of the run has ended, failures included. An event for each run under way.
    pub done: Arc<dyn Event>,
}

/// What one run works on.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// One image (batch) for each of [`Plan::inputs`], in order; any strides. Read in place where the device
    /// can, so they stay unchanged until the run has ended.
    pub inputs: Vec<RunInput>,
    /// For each group, the uniforms of its stages; empty for those of the plan.
    pub uniforms: Vec<Arc<[Uniforms]>>,
    /// Cancels this run.
    pub cancel: CancelToken,
    /// Leaves the results in device memory: they are in [`super::RunReport::device_outputs`] then.
    pub keep_on_device: bool,
    /// Orders the run by events, without the host. Runs of one session that all have an order follow each other on the
    /// device, and submitting one does not wait for the run before it.
    pub order: Option<RunOrder>,
}

impl RunRequest {
    /// A run over `inputs` with the plan's own uniforms.
    pub fn new(inputs: Vec<ImageBuffer>) -> Self {
        Self::of(inputs.into_iter().map(RunInput::Host).collect())
    }

    /// As [`RunRequest::new`], of images in host or device memory.
    pub fn of(inputs: Vec<RunInput>) -> Self {
        Self { inputs, ..Self::default() }
    }

    /// Compares the request with the plan.
    pub(super) fn check(&self, plan: &Plan, initial: &[Arc<[Uniforms]>]) -> Result<(), RuntimeError> {
        self.check_inputs(plan)?;
        if self.uniforms.is_empty() { Ok(()) } else { self.check_uniforms(plan, initial) }
    }

    fn check_inputs(&self, plan: &Plan) -> Result<(), RuntimeError> {
        let (given, expected) = (self.inputs.len(), plan.inputs.len());
        if given != expected {
            let names: Vec<&str> = plan.inputs.iter().map(|input| input.name.as_str()).collect();
            return Err(RuntimeError::InputCount { given, expected, names: names.join(", ") });
        }
        for (image, input) in self.inputs.iter().zip(&plan.inputs) {
            let layout = &plan.buffers[input.buffer].layout;
            let given = image.layout();
            if given.desc != layout.desc || given.batch_size != layout.batch_size {
                return Err(RuntimeError::Input {
                    input: input.name.clone(),
                    given: format!("{} (batch of {})", given.desc, given.batch_size),
                    expected: format!("{} (batch of {})", layout.desc, layout.batch_size),
                });
            }
        }
        Ok(())
    }

    fn check_uniforms(&self, plan: &Plan, initial: &[Arc<[Uniforms]>]) -> Result<(), RuntimeError> {
        let compare = |given: usize, expected: usize, what: &dyn Fn() -> String| {
            if given == expected {
                return Ok(());
            }
            Err(RuntimeError::Uniforms { what: what(), given, expected })
        };
        compare(self.uniforms.len(), initial.len(), &|| "sets of uniforms (one a group)".to_owned())?;
        for (index, (given, initial)) in self.uniforms.iter().zip(initial).enumerate() {
            let stages = &plan.groups[index].stages;
            compare(given.len(), initial.len(), &|| format!("lists of uniforms for group {index}"))?;
            for (stage, (given, initial)) in stages.iter().zip(given.iter().zip(initial.iter())) {
                let task = &plan.tasks[stage.task].name;
                let what = || format!("uniforms of kernel '{}' of task '{task}'", stage.kernel.name());
                compare(given.len(), initial.len(), &what)?;
            }
        }
        Ok(())
    }
}
