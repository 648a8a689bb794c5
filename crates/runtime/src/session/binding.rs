use std::sync::Arc;

use mip_core::{ALIGNMENT, BatchLayout, ImageBuffer, ImageDesc};
use mip_plan::{Buffer, BufferId, Place, Plan, Uniforms};

use super::{DeviceImage, RunInput, Session};
use crate::device::{BufferMemory, BufferRef, DeviceError, Memory};
use crate::scheduler::{Download, Ordered, Upload};
use crate::{Bindings, Block, RuntimeError};

/// The memory that one run has beside the arena.
#[derive(Debug)]
pub(super) struct RunMemory {
    /// By input: the device's copy that it is uploaded to; `None` for those read in place.
    inputs: Vec<Option<Arc<Block>>>,
    /// Every buffer handed to the caller, in ascending order.
    outputs: Vec<OutputMemory>,
}

/// The memory of an output among those of all, which are in ascending order of their buffers.
pub(super) fn output_of(outputs: &[OutputMemory], buffer: BufferId) -> Option<&OutputMemory> {
    outputs.binary_search_by_key(&buffer, |output| output.buffer).ok().map(|index| &outputs[index])
}

/// The memory of one output.
#[derive(Debug)]
pub(super) struct OutputMemory {
    pub(super) buffer: BufferId,
    pub(super) layout: BatchLayout,
    /// Written by the kernels.
    device: Arc<Block>,
    /// Copied to afterwards, where the host cannot read what kernels write.
    pinned: Option<Arc<Block>>,
    /// Stays where it is.
    kept: bool,
}

impl OutputMemory {
    /// The result, if it stays on the device.
    pub(super) fn on_device(&self) -> Option<DeviceImage> {
        self.kept.then(|| DeviceImage::new(self.layout, self.device.clone()))
    }

    /// Whether it stays on the device.
    pub(super) const fn is_kept(&self) -> bool {
        self.kept
    }

    /// The memory the host reads.
    pub(super) fn host_block(&self) -> &Arc<Block> {
        self.pinned.as_ref().unwrap_or(&self.device)
    }
}

impl RunMemory {
    /// Fresh blocks for the outputs, the session's own for the inputs that have to be copied.
    pub(super) fn allocate(
        session: &Session,
        inputs: &[RunInput],
        kept: &mut [Option<Arc<Block>>],
        keep_on_device: bool,
    ) -> Result<Self, RuntimeError> {
        let plan = session.plan();
        let unified = session.device.info().unified_memory;
        let mut copies = Vec::with_capacity(inputs.len());
        for ((image, input), kept) in inputs.iter().zip(&plan.inputs).zip(kept) {
            let in_place = match image {
                RunInput::Host(image) => unified && is_aligned(image),
                RunInput::Device(_) => true,
            };
            copies.push(if in_place { None } else { Some(Self::input_block(session, input, kept)?) });
        }
        let handed_out = plan.buffers.iter().enumerate().filter(|(_, b)| matches!(b.place, Place::Output(_)));
        let outputs = handed_out.map(|(id, buffer)| Self::output(session, id, buffer, keep_on_device));
        Ok(Self { inputs: copies, outputs: outputs.collect::<Result<_, _>>()? })
    }

    fn input_block(
        session: &Session,
        input: &mip_plan::PlanInput,
        kept: &mut Option<Arc<Block>>,
    ) -> Result<Arc<Block>, RuntimeError> {
        if let Some(block) = kept {
            return Ok(block.clone());
        }
        let layout = copied_layout(&session.plan().buffers[input.buffer])?;
        let block = device_block(session, layout.span());
        let what = || format!("the device's copy of input '{}'", input.name);
        let block = Arc::new(block.map_err(|error| RuntimeError::Allocation { what: what(), error })?);
        if session.ordered.is_none() {
            *kept = Some(block.clone());
        }
        Ok(block)
    }

    fn output(
        session: &Session,
        id: BufferId,
        buffer: &Buffer,
        kept: bool,
    ) -> Result<OutputMemory, RuntimeError> {
        let bytes = buffer.layout.span();
        let own = |block: Result<Block, DeviceError>| {
            let what = || format!("output '{}'", buffer.name);
            block.map(Arc::new).map_err(|error| RuntimeError::Allocation { what: what(), error })
        };
        let device = own(device_block(session, bytes))?;
        let readable = kept || session.device.info().unified_memory;
        let pinned = if readable { None } else { Some(own(session.manager.allocate_pinned(bytes))?) };
        Ok(OutputMemory { buffer: id, layout: buffer.layout, device, pinned, kept })
    }

    /// Blocks that hold nothing of value yet.
    pub(super) fn written_blocks(&self) -> impl Iterator<Item = &Block> {
        self.outputs.iter().flat_map(|o| [Some(&*o.device), o.pinned.as_deref()]).flatten()
    }

    /// What is handed to the caller.
    pub(super) fn outputs(&self) -> &[OutputMemory] {
        &self.outputs
    }

    /// Gives up everything but what the host reads.
    pub(super) fn into_outputs(self) -> Vec<OutputMemory> {
        self.outputs
    }

    /// Memory for every buffer, and the copies to make.
    pub(super) fn bind(
        &self,
        session: &Session,
        inputs: Vec<RunInput>,
        uniforms: Vec<Arc<[Uniforms]>>,
        arena: Option<&Arc<Block>>,
    ) -> Result<Bindings, RuntimeError> {
        let plan = session.plan();
        let arena = arena.map(|block| block.memory().clone());
        let buffers = plan.buffers.iter().enumerate().map(|(id, buffer)| {
            let layout = buffer.layout;
            match buffer.place {
                Place::Arena { offset } => {
                    let memory = arena.clone().expect("a plan with buffers in the arena has an arena");
                    Ok(BufferRef { memory: BufferMemory::Block(memory), offset, layout })
                }
                Place::Output(_) => {
                    let output = output_of(&self.outputs, id).expect("allocated for every output buffer");
                    Ok(block_ref(&output.device, layout))
                }
                Place::Input(index) => match &self.inputs[index] {
                    Some(block) => Ok(block_ref(block, copied_layout(buffer)?)),
                    None => Ok(in_place_ref(&inputs[index])),
                },
            }
        });
        let buffers = buffers.collect::<Result<_, RuntimeError>>()?;
        let copied =
            inputs.into_iter().zip(&plan.inputs).zip(&self.inputs).filter(|(_, block)| block.is_some());
        let uploads = copied.filter_map(|((from, input), _)| match from {
            RunInput::Host(from) => Some(Upload { buffer: input.buffer, from }),
            RunInput::Device(_) => None,
        });
        let uploads = uploads.collect();
        let download = |output: &OutputMemory| {
            let pinned = output.pinned.as_ref()?;
            Some(Download { buffer: output.buffer, to: block_ref(pinned, output.layout) })
        };
        let downloads = self.outputs.iter().filter_map(download).collect();
        let ordered = session
            .ordered
            .as_ref()
            .map(|events| Ordered { frees: self.frees(session, arena.as_ref()), ..events.ordered() });
        Ok(Bindings { buffers, arena, uniforms, uploads, downloads, ordered })
    }

    /// Stream-ordered memory that nobody needs after the run.
    fn frees(&self, session: &Session, arena: Option<&Arc<dyn Memory>>) -> Vec<Arc<dyn Memory>> {
        let inputs = self.inputs.iter().flatten().map(|block| block.memory().clone());
        let copied_out = self.outputs.iter().filter(|output| output.pinned.is_some());
        let outputs = copied_out.map(|output| output.device.memory().clone());
        let arena = arena.filter(|_| !session.replay).cloned();
        inputs.chain(outputs).chain(arena).collect()
    }
}

fn block_ref(block: &Block, layout: BatchLayout) -> BufferRef {
    BufferRef { memory: BufferMemory::Block(block.memory().clone()), offset: 0, layout }
}

fn in_place_ref(input: &RunInput) -> BufferRef {
    match input {
        RunInput::Device(image) => image.buffer(),
        RunInput::Host(image) => {
            BufferRef { memory: BufferMemory::Host(image.clone()), offset: 0, layout: *image.layout() }
        }
    }
}

/// Device memory for one run.
fn device_block(session: &Session, bytes: usize) -> Result<Block, DeviceError> {
    match session.loaded.streams.first() {
        Some(first) => session.manager.allocate_on(&**first, bytes),
        None => session.manager.allocate_device(bytes),
    }
}

/// The arena of a plan, if it needs one.
pub(super) fn arena(
    plan: &Plan,
    allocate: impl Fn(usize) -> Result<Block, DeviceError>,
) -> Result<Option<Arc<Block>>, RuntimeError> {
    let what = || "the arena of intermediate images".to_owned();
    let failed = |error| RuntimeError::Allocation { what: what(), error };
    match plan.arena_bytes {
        0 => Ok(None),
        bytes => Ok(Some(Arc::new(allocate(bytes).map_err(failed)?))),
    }
}

/// Rows aligned.
pub(super) fn pitched(desc: &ImageDesc, batch: usize) -> Result<BatchLayout, DeviceError> {
    let layout = BatchLayout::pitched(*desc, batch, ALIGNMENT);
    layout.map_err(|error| DeviceError::Unsupported(error.to_string()))
}

/// The device's copy of an input: rows aligned, whatever the caller's strides are.
fn copied_layout(buffer: &Buffer) -> Result<BatchLayout, RuntimeError> {
    let what = || format!("the device's copy of '{}'", buffer.name);
    let layout = pitched(&buffer.layout.desc, buffer.layout.batch_size);
    layout.map_err(|error| RuntimeError::Allocation { what: what(), error })
}

/// Whether samples can be read as their type where they lie. Memory from outside may start anywhere.
fn is_aligned(image: &ImageBuffer) -> bool {
    image.view().data().as_ptr().addr().is_multiple_of(image.desc().dtype().size())
}
