use std::sync::Arc;

use mip_core::{BatchLayout, ImageBuffer, ImageView};
use mip_plan::{Group, Operand, Stage, evaluate};

use crate::device::null::{NullDevice, NullOptions, host_of, with_pixels, with_pixels_mut};
use crate::device::{BufferRef, DeviceError, Launch};

/// A null device that computes every kernel, by its definition.
pub fn interpreting_device(options: NullOptions) -> Arc<NullDevice> {
    NullDevice::new(NullOptions { on_launch: Some(Arc::new(interpret)), ..options })
}

/// Computes a group pixel by pixel on memory of a null device. Overwrites the workspace, so that a workspace
/// that overlaps something shows.
///
/// # Errors
/// [`DeviceError::Kernel`] when a custom kernel fails, [`DeviceError::Conflict`] when the memory bound does not fit.
pub fn interpret(launch: &Launch, group: &Group) -> Result<(), DeviceError> {
    let reads = group.reads();
    let inputs = launch.inputs.iter().map(image_of).collect::<Result<Vec<_>, _>>()?;
    if let Some((memory, offset, bytes)) = &launch.workspace {
        let block = host_of(&**memory)
            .ok_or_else(|| DeviceError::Unsupported("workspace of another device".to_owned()))?;
        block.write(*offset..offset + bytes)?.fill(0xEE);
    }
    let batch = launch.outputs[0].layout.batch_size;
    let mut results: Vec<ImageBuffer> = Vec::new();
    for (stage, uniforms) in group.stages.iter().zip(launch.uniforms.iter()) {
        let operand = |operand: &Operand| match *operand {
            Operand::Buffer(id) => &inputs[reads.iter().position(|&r| r == id).expect("among the reads")],
            Operand::Stage(index) => &results[index],
        };
        let operands: Vec<&ImageBuffer> = stage.inputs.iter().map(operand).collect();
        results.push(run(stage, uniforms, &operands, batch)?);
    }
    let stored = group.stages.iter().zip(&results).filter(|(stage, _)| stage.store.is_some());
    for ((_, result), output) in stored.zip(&launch.outputs) {
        store(result, output)?;
    }
    Ok(())
}

/// The pixels of a buffer of a null device, copied.
///
/// # Errors
/// [`DeviceError::Conflict`] when they are lent for writing.
pub fn image_of(buffer: &BufferRef) -> Result<ImageBuffer, DeviceError> {
    with_pixels(buffer, |view| {
        let mut image = ImageBuffer::with_layout(*view.layout()).map_err(misfit)?;
        image.view_mut().data_mut().copy_from_slice(view.data());
        Ok(image)
    })?
}

fn store(image: &ImageBuffer, buffer: &BufferRef) -> Result<(), DeviceError> {
    let from = image.view();
    with_pixels_mut(buffer, |mut to| {
        for (frame, plane, y) in rows(from.layout()) {
            to.row_mut(frame, plane, y).copy_from_slice(from.row(frame, plane, y));
        }
    })
}

fn run(
    stage: &Stage,
    uniforms: &[f32],
    inputs: &[&ImageBuffer],
    batch: usize,
) -> Result<ImageBuffer, DeviceError> {
    let layout = BatchLayout::tight(stage.output, batch).map_err(misfit)?;
    let mut output = ImageBuffer::with_layout(layout).map_err(misfit)?;
    let views: Vec<ImageView<'_>> = inputs.iter().map(|image| image.view()).collect();
    evaluate(&stage.kernel, uniforms, &views, &mut output.view_mut()).map_err(|error| {
        DeviceError::Kernel { kernel: stage.kernel.name().to_owned(), message: error.to_string() }
    })?;
    Ok(output)
}

fn rows(layout: &BatchLayout) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
    let (batch, planes, height) = (layout.batch_size, layout.desc.planes(), layout.desc.height() as usize);
    (0..batch * planes * height).map(move |i| (i / (planes * height), i / height % planes, i % height))
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` wants")]
fn misfit(error: mip_core::ImageError) -> DeviceError {
    DeviceError::Conflict(error.to_string())
}
