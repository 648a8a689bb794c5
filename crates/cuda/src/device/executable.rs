use std::any::Any;
use std::sync::Arc;

use mip_core::BatchLayout;
use mip_plan::Uniforms;
use mip_runtime::device::{BufferRef, DeviceError, Executable, Launch};

use super::memory::{device_buffer, device_memory};
use super::shared::Shared;
use crate::codegen::{Grid, corner_offset, put_floats, put_image, put_uint};
use crate::driver::{DeviceMemory, Function, LaunchShape, RawStream};

/// Most blocks along y and z; kernels loop over what lies beyond.
const MAX_BLOCKS: u64 = 65_535;

/// A group ready to be launched: one kernel, or an unfused launch for each stage; of a group of branches one
/// for each kind of them.
#[derive(Debug)]
pub(super) struct CudaExecutable {
    pub(super) shared: Arc<Shared>,
    /// For errors: the group's kernels.
    pub(super) name: String,
    pub(super) kernels: Vec<LoadedKernel>,
    /// All tables of all stages. The parameters hold addresses inside.
    pub(super) _tables: Option<DeviceMemory>,
    /// Bytes of workspace a launch needs.
    pub(super) workspace: usize,
    /// What every launch fails with: a custom kernel's source does not compile, which fails its task, no more.
    pub(super) broken: Option<DeviceError>,
}

/// A kernel, and the branches of the group that it is launched for.
#[derive(Debug)]
pub(super) struct LoadedKernel {
    /// Ways to launch it, best first.
    pub(super) functions: Vec<LoadedFunction>,
    pub(super) fields: FieldOffsets,
    pub(super) grid: Grid,
    /// Branches of a launch at most: what its parameter has room for.
    pub(super) at_once: usize,
    /// One, unless there are more branches than that.
    pub(super) launches: Vec<LoadedLaunch>,
}

/// A launch, and the branches that it is for.
#[derive(Debug)]
pub(super) struct LoadedLaunch {
    /// The kernel's parameter with everything but images, batch and uniforms filled in.
    pub(super) parameter: Vec<u8>,
    /// At least one.
    pub(super) branches: Vec<LoadedBranch>,
}

/// What a kernel is given for a branch.
#[derive(Debug)]
pub(super) struct LoadedBranch {
    /// Where its parameters begin in the kernel's.
    pub(super) offset: usize,
    /// By stage with uniforms: where its begin in the kernel's parameter, and how many there are.
    pub(super) uniforms: Vec<(usize, usize, usize)>,
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

/// Where the fields set at each launch begin, in the parameters of a branch.
#[derive(Debug, Clone)]
pub(super) struct FieldOffsets {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) batch: usize,
}

/// Where an image is at a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    /// Index into [`Launch::inputs`].
    Input(usize),
    /// Part of an input, from the given column and row on: the same strides, another address.
    Part { input: usize, corner: [u32; 2] },
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

    /// A number that is a multiple of a power of two when every row's address is.
    const fn alignment(&self) -> u64 {
        let l = &self.layout;
        let planes = if l.desc.planes() > 1 { l.plane_stride } else { 0 };
        let frames = if l.batch_size > 1 { l.batch_stride } else { 0 };
        self.address | l.row_stride as u64 | planes as u64 | frames as u64
    }
}

impl CudaExecutable {
    /// One whose launches fail with `error`.
    pub(super) const fn broken(shared: Arc<Shared>, name: String, error: DeviceError) -> Self {
        Self { shared, name, kernels: Vec::new(), _tables: None, workspace: 0, broken: Some(error) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Queues every kernel.
    pub(super) fn launch(&self, stream: &RawStream, launch: &Launch) -> Result<(), DeviceError> {
        for kernel in self.prepare(launch)? {
            // Images lie inside their blocks (checked when they were bound), tables inside `_tables`; the
            // stream's in-flight list keeps blocks and executable until the stream is past the launch.
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
        let mut prepared = Vec::with_capacity(self.kernels.len());
        for kernel in &self.kernels {
            for own in &kernel.launches {
                prepared.push(kernel.prepare(own, launch, workspace)?);
            }
        }
        Ok(prepared)
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

impl LoadedKernel {
    /// A launch with the memory and uniforms of now.
    fn prepare(
        &self,
        own: &LoadedLaunch,
        launch: &Launch,
        workspace: u64,
    ) -> Result<Prepared<'_>, DeviceError> {
        let mut bytes = own.parameter.clone();
        let (mut of_inputs, mut of_outputs, mut frames) = (0, 0, 0);
        for branch in &own.branches {
            let bound = |location: &Location| location.bound(launch, workspace);
            for (index, input) in branch.inputs.iter().enumerate() {
                let image = bound(input)?;
                of_inputs |= image.alignment();
                put_image(&mut bytes, branch.offset + self.fields.input, index, image.address, &image.layout);
            }
            for (index, output) in branch.outputs.iter().enumerate() {
                let image = bound(output)?;
                of_outputs |= image.alignment();
                frames = image.layout.batch_size as u64;
                put_image(
                    &mut bytes,
                    branch.offset + self.fields.output,
                    index,
                    image.address,
                    &image.layout,
                );
            }
            put_uint(&mut bytes, branch.offset + self.fields.batch, frames as u32);
            branch.put_uniforms(&mut bytes, &launch.uniforms)?;
        }
        let words = bytes.chunks_exact(8).map(|w| u64::from_ne_bytes(w.try_into().expect("8 bytes")));
        let function = &self.fitting(of_inputs, of_outputs)?.function;
        Ok(Prepared { function, shape: self.shape(frames), parameter: words.collect() })
    }

    /// The best function for images of these alignments.
    fn fitting(&self, inputs: u64, outputs: u64) -> Result<&LoadedFunction, DeviceError> {
        let fits =
            |f: &&LoadedFunction| inputs.is_multiple_of(f.align_in) && outputs.is_multiple_of(f.align_out);
        self.functions.iter().find(fits).ok_or_else(|| {
            DeviceError::Unsupported("images whose samples do not lie at multiples of their size".to_owned())
        })
    }

    fn shape(&self, frames: u64) -> LaunchShape {
        let branches = self.at_once as u64;
        let images = (frames * u64::from(self.grid.planes)).min(MAX_BLOCKS / branches);
        LaunchShape {
            grid: [self.grid.x, self.grid.y.min(MAX_BLOCKS) as u32, (images * branches) as u32],
            block: self.grid.block,
            shared: self.grid.shared,
        }
    }
}

impl LoadedBranch {
    fn put_uniforms(&self, bytes: &mut [u8], uniforms: &[Uniforms]) -> Result<(), DeviceError> {
        for &(stage, offset, count) in &self.uniforms {
            let uniforms = uniforms.get(stage).map_or(&[][..], |u| u);
            if uniforms.len() != count {
                let given = uniforms.len();
                return Err(DeviceError::Unsupported(format!(
                    "{given} uniforms given where {count} are needed"
                )));
            }
            put_floats(bytes, offset, uniforms);
        }
        Ok(())
    }
}

impl Location {
    fn bound(&self, launch: &Launch, workspace: u64) -> Result<Bound, DeviceError> {
        let missing = || DeviceError::Conflict("a launch with too few buffers".to_owned());
        match *self {
            Self::Input(index) => Bound::of(launch.inputs.get(index).ok_or_else(missing)?),
            Self::Part { input, corner } => {
                let whole = Bound::of(launch.inputs.get(input).ok_or_else(missing)?)?;
                Ok(Bound { address: whole.address + corner_offset(&whole.layout, corner) as u64, ..whole })
            }
            Self::Output(index) => Bound::of(launch.outputs.get(index).ok_or_else(missing)?),
            Self::Workspace { offset, layout } => Ok(Bound { address: workspace + offset as u64, layout }),
        }
    }
}

impl Executable for CudaExecutable {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
