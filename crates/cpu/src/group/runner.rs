use mip_core::{AlignedBytes, BatchLayout, ImageView, ImageViewMut};
use mip_plan::{Group, Plan, Uniforms};
use mip_runtime::device::DeviceError;

use super::program::Program;
use super::run::{ThreadTeam, run};
use crate::CpuConfig;
use crate::simd::Level;
use crate::threads::Threads;

/// A group of a plan made ready to run on this machine, without streams or devices.
#[derive(Debug)]
pub struct GroupRunner {
    pub(super) program: Program,
    uniforms: Vec<usize>,
    level: Level,
    pub(super) threads: Threads,
}

impl GroupRunner {
    /// Prepares group `group` of `plan` and the threads to run it, as many as the system has to give.
    ///
    /// # Errors
    /// [`DeviceError::Build`] when the group's kernels and shapes do not fit together.
    pub fn new(plan: &Plan, group: usize, config: &CpuConfig) -> Result<Self, DeviceError> {
        let layout = |id: usize| plan.buffers[id].layout;
        Self::with_threads(&plan.groups[group], layout, config, Threads::start(config))
    }

    pub(crate) fn with_threads(
        group: &Group,
        layout: impl Fn(usize) -> BatchLayout,
        config: &CpuConfig,
        threads: Threads,
    ) -> Result<Self, DeviceError> {
        let program = Program::new(group, layout)
            .map_err(|(kernel, message)| DeviceError::Build { kernel, message })?;
        let uniforms = group.stages.iter().map(|s| s.uniforms.len()).collect();
        let level = Level::new(config.simd);
        Ok(Self { program, uniforms, level, threads })
    }

    /// Scratch bytes for the full number of threads; a multiple of [`mip_core::ALIGNMENT`].
    pub fn workspace_bytes(&self) -> usize {
        match &self.program {
            Program::Rows(rows) => rows.worker_bytes.saturating_mul(self.threads.count),
            Program::Steps(steps) => steps.workspace_bytes(self.threads.count),
            Program::Custom { .. } => 0,
        }
    }

    /// Computes everything the group writes, for all frames of the batch.
    ///
    /// `inputs` and `outputs` are in the order of [`Group::reads`] and [`Group::writes`]; `uniforms` has an
    /// entry a stage; `workspace` has [`GroupRunner::workspace_bytes`], aligned to [`mip_core::ALIGNMENT`]
    /// (with less, down to the share of one thread, fewer threads work). Its contents and those of the
    /// outputs do not matter.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] when a custom kernel fails; [`DeviceError::Unsupported`] for memory that is
    /// missing or not aligned for its samples, or the wrong number of uniforms.
    pub fn run(
        &self,
        inputs: &[ImageView<'_>],
        outputs: &mut [ImageViewMut<'_>],
        uniforms: &[Uniforms],
        workspace: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.check(inputs, outputs, uniforms, workspace)?;
        let team = ThreadTeam { workers: self.threads.count, pool: self.threads.pool.as_deref() };
        match &self.program {
            Program::Rows(rows) => {
                run(rows, self.level, team, (inputs, outputs), uniforms, workspace);
                Ok(())
            }
            Program::Steps(steps) => {
                steps.run(self.level, team, (inputs, outputs), uniforms, workspace);
                Ok(())
            }
            Program::Custom { kernel, inputs: order } => {
                let inputs: Vec<ImageView<'_>> = order.iter().map(|&i| inputs[i]).collect();
                let failed =
                    |message: String| DeviceError::Kernel { kernel: kernel.name().to_owned(), message };
                kernel.run(&inputs, &uniforms[0], &mut outputs[0]).map_err(|e| failed(e.0))
            }
        }
    }

    fn check(
        &self,
        inputs: &[ImageView<'_>],
        outputs: &mut [ImageViewMut<'_>],
        uniforms: &[Uniforms],
        workspace: &[u8],
    ) -> Result<(), DeviceError> {
        let unsupported = |text: String| Err(DeviceError::Unsupported(text));
        let aligned = |address: usize, size: usize| address.is_multiple_of(size);
        let read = inputs.iter().map(|v| (v.data().as_ptr().addr(), v.layout().desc));
        let written = outputs.iter_mut().map(|v| (v.data_mut().as_ptr().addr(), v.layout().desc));
        for (address, desc) in read.chain(written) {
            if !aligned(address, desc.dtype().size()) {
                return unsupported(format!(
                    "{desc} at address {address:#x}: samples of {} bytes must lie at multiples of their size",
                    desc.dtype().size()
                ));
            }
        }
        let lengths = uniforms.iter().map(|u| u.len());
        if !lengths.clone().eq(self.uniforms.iter().copied()) {
            let given: Vec<usize> = lengths.collect();
            return unsupported(format!("uniforms of lengths {given:?} given, {:?} needed", self.uniforms));
        }
        let needed = match &self.program {
            Program::Rows(rows) => Some(rows.worker_bytes),
            Program::Steps(steps) => Some(steps.workspace_bytes(1)),
            Program::Custom { .. } => None,
        };
        if let Some(needed) = needed {
            let given = workspace.len();
            if given < needed || (needed > 0 && !aligned(workspace.as_ptr().addr(), mip_core::ALIGNMENT)) {
                return unsupported(format!(
                    "a workspace of {given} bytes at {:p}: at least {needed} aligned to {} are needed",
                    workspace.as_ptr(),
                    mip_core::ALIGNMENT
                ));
            }
        }
        Ok(())
    }
}

/// Runs one group of a plan once with the plan's own uniforms: for tests and experiments. Prepares the group,
/// starts its threads and allocates its workspace each time; use [`GroupRunner`] to run it often.
///
/// # Errors
/// As for [`GroupRunner::new`] and [`GroupRunner::run`].
pub fn execute_group(
    plan: &Plan,
    group: usize,
    inputs: &[ImageView<'_>],
    outputs: &mut [ImageViewMut<'_>],
    config: &CpuConfig,
) -> Result<(), DeviceError> {
    let runner = GroupRunner::new(plan, group, config)?;
    let uniforms: Vec<Uniforms> = plan.groups[group].stages.iter().map(|s| s.uniforms.clone()).collect();
    let workspace = AlignedBytes::try_zeroed(runner.workspace_bytes(), "the scratch of a group");
    let mut workspace = workspace.map_err(|error| DeviceError::Unsupported(error.to_string()))?;
    runner.run(inputs, outputs, &uniforms, workspace.as_mut_slice())
}
