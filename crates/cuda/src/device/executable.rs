use std::any::Any;
use std::sync::Arc;

use mip_core::BatchLayout;
use mip_plan::Uniforms;
use mip_runtime::device::{BufferRef, DeviceError, Executable, Launch};

use super::memory::{device_buffer, device_memory};
use super::shared::Shared;
use crate::codegen::{Grid, put_floats, put_image, put_uint};
use crate::driver::{DeviceMemory, Function, LaunchShape, RawStream};

/// Most blocks along y and z; kernels loop over what lies beyond.
const MOST_BLOCKS: u64 = 65_535;

/// A group ready to be launched: one kernel, or a kernel a stage.
#[derive(Debug)]
pub(super) struct CudaExecutable {
    pub(super) shared: Arc<Shared>,
    /// For errors: the group's kernels.
    pub(super) name: String,
    pub(super) stages: Vec<LoadedStage>,
    /// All tables of all stages. The parameters hold addresses inside.
    pub(super) _tables: Option<DeviceMemory>,
    /// Bytes of workspace a launch needs.
    pub(super) workspace: usize,
    /// What every launch fails with: a custom kernel's source does not compile, which fails its task, no more.
    pub(super) broken: Option<DeviceError>,
}

/// A kernel and its parameters.
#[derive(Debug)]
pub(super) struct LoadedStage {
    /// Ways to launch it, best first.
    pub(super) functions: Vec<LoadedFunction>,
    /// Parameters with everything but images, batch and uniforms filled in.
    pub(super) parameters: Vec<u8>,
    pub(super) fields: FieldOffsets,
    pub(super) grid: Grid,
    pub(super) inputs: Vec<Location>,
    pub(super) outputs: Vec<Location>,
}

#[derive(Debug)]
pub(super) struct LoadedFunction {
    pub(super) function: Function,
    pub(super) align_in: u64,
    pub(super) align_out: u64,
}

/// One kernel to be launched.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) function: &'a Function,
    pub(super) shape: LaunchShape,
    /// The kernel's one parameter: its struct, in words.
    pub(super) parameter: Vec<u64>,
}

/// Where the fields set at each launch begin.
#[derive(Debug, Clone)]
pub(super) struct FieldOffsets {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) batch: usize,
    /// Stages with uniforms: where theirs begin, and how many there are.
    pub(super) uniforms: Vec<(usize, usize, usize)>,
}

/// Where an image is at a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    /// Index into [`Launch::inputs`].
    Input(usize),
    /// Index into [`Launch::outputs`].
    Output(usize),
    /// Inside the workspace.
    Workspace { offset: usize, layout: BatchLayout },
}

/// An image with its address.
#[derive(Debug, Clone, Copy)]
struct Bound {
    address: u64,
    layout: BatchLayout,
}

impl Bound {
    fn of(buffer: &BufferRef) -> Result<Self, DeviceError> {
        let address = device_buffer(buffer)?.address() + buffer.offset as u64;
        Ok(Self { address, layout: buffer.layout })
    }

    /// Whether every row's address is a multiple of `align`.
    fn is_aligned(&self, align: u64) -> bool {
        let l = &self.layout;
        let planes = if l.desc.planes() > 1 { l.plane_stride } else { 0 };
        let frames = if l.batch_size > 1 { l.batch_stride } else { 0 };
        (self.address | l.row_stride as u64 | planes as u64 | frames as u64).is_multiple_of(align)
    }
}

impl CudaExecutable {
    /// One whose launches fail with `error`.
    pub(super) const fn broken(shared: Arc<Shared>, name: String, error: DeviceError) -> Self {
        Self { shared, name, stages: Vec::new(), _tables: None, workspace: 0, broken: Some(error) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Queues every kernel.
    pub(super) fn launch(&self, stream: &RawStream, launch: &Launch) -> Result<(), DeviceError> {
        for kernel in self.prepare(launch)? {
            // Images lie inside their blocks (checked when they were bound), tables inside `_tables`; the
            // stream's ledger keeps blocks and executable until the stream is past the launch.
            self.shared.check(kernel.function.launch(stream, kernel.shape, &kernel.parameter))?;
        }
        Ok(())
    }

    /// What has to be launched, one kernel after another, with all parameters filled in.
    pub(super) fn prepare(&self, launch: &Launch) -> Result<Vec<Prepared<'_>>, DeviceError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let workspace = self.workspace_address(launch)?;
        let bound = |location: &Location| {
            let missing = || DeviceError::Conflict("a launch with too few buffers".to_owned());
            match *location {
                Location::Input(index) => Bound::of(launch.inputs.get(index).ok_or_else(missing)?),
                Location::Output(index) => Bound::of(launch.outputs.get(index).ok_or_else(missing)?),
                Location::Workspace { offset, layout } => {
                    Ok(Bound { address: workspace + offset as u64, layout })
                }
            }
        };
        let mut kernels = Vec::with_capacity(self.stages.len());
        for stage in &self.stages {
            let inputs = stage.inputs.iter().map(bound).collect::<Result<Vec<_>, _>>()?;
            let outputs = stage.outputs.iter().map(bound).collect::<Result<Vec<_>, _>>()?;
            kernels.push(stage.prepare(&inputs, &outputs, &launch.uniforms)?);
        }
        Ok(kernels)
    }

    fn workspace_address(&self, launch: &Launch) -> Result<u64, DeviceError> {
        if self.workspace == 0 {
            return Ok(0);
        }
        let needed = self.workspace;
        let short =
            |given| DeviceError::Conflict(format!("a workspace of {given} bytes where {needed} are needed"));
        let (memory, offset, bytes) = launch.workspace.as_ref().ok_or_else(|| short(0))?;
        let memory = device_memory(&**memory)?;
        if *bytes < needed || offset + bytes > memory.len() {
            return Err(short(*bytes));
        }
        Ok(memory.address() + *offset as u64)
    }
}

impl LoadedStage {
    fn prepare(
        &self,
        inputs: &[Bound],
        outputs: &[Bound],
        uniforms: &[Uniforms],
    ) -> Result<Prepared<'_>, DeviceError> {
        let fits = |f: &&LoadedFunction| {
            inputs.iter().all(|i| i.is_aligned(f.align_in))
                && outputs.iter().all(|o| o.is_aligned(f.align_out))
        };
        let chosen = self.functions.iter().find(fits).ok_or_else(|| {
            DeviceError::Unsupported("images whose samples do not lie at multiples of their size".to_owned())
        })?;
        let mut bytes = self.parameters.clone();
        for (index, input) in inputs.iter().enumerate() {
            put_image(&mut bytes, self.fields.input, index, input.address, &input.layout);
        }
        for (index, output) in outputs.iter().enumerate() {
            put_image(&mut bytes, self.fields.output, index, output.address, &output.layout);
        }
        let batch = outputs.first().map_or(0, |o| o.layout.batch_size as u64);
        put_uint(&mut bytes, self.fields.batch, batch as u32);
        for &(stage, offset, count) in &self.fields.uniforms {
            let uniforms = uniforms.get(stage).map_or(&[][..], |u| u);
            if uniforms.len() != count {
                let given = uniforms.len();
                return Err(DeviceError::Unsupported(format!(
                    "{given} uniforms given where {count} are needed"
                )));
            }
            put_floats(&mut bytes, offset, uniforms);
        }
        let shape = LaunchShape {
            grid: [
                self.grid.x,
                self.grid.y.min(MOST_BLOCKS) as u32,
                (batch * u64::from(self.grid.planes)).min(MOST_BLOCKS) as u32,
            ],
            block: self.grid.block,
            shared: self.grid.shared,
        };
        let words = bytes.chunks_exact(8).map(|w| u64::from_ne_bytes(w.try_into().expect("8 bytes")));
        Ok(Prepared { function: &chosen.function, shape, parameter: words.collect() })
    }
}

impl Executable for CudaExecutable {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
