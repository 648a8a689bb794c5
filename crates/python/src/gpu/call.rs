//! Runs over tensors on a GPU.

use std::sync::Arc;

use mini_image_pipe::{BatchLayout, prelude};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::order::{Gateway, Orders};
use super::{DeviceImage, OnGpu};
use crate::errors::Failed;
use crate::pipeline::Pipeline;
use crate::state::{Started, State, names_of};

/// What a pipeline of the GPU at hand needs; why not, where it runs elsewhere.
fn gateway(pipeline: &Pipeline, tensor: &OnGpu<'_>, py: Python<'_>) -> PyResult<Arc<Gateway>> {
    let gateway = pipeline.with(py, State::gateway)?;
    Ok(gateway.ok_or_else(|| tensor.elsewhere("the pipeline runs on the CPU or on several devices"))?)
}

/// Runs a pipeline over tensors, at least one, by the names of its inputs or in their order.
pub(crate) fn call<'py>(
    pipeline: &Pipeline,
    py: Python<'py>,
    tensors: &[(Option<String>, OnGpu<'py>)],
) -> PyResult<Bound<'py, PyAny>> {
    let gateway = gateway(pipeline, &tensors[0].1, py)?;
    let mut orders = Orders::default();
    let images = tensors.iter().map(|(_, tensor)| tensor.borrow(&gateway, &mut orders, false));
    let images = images.collect::<PyResult<Vec<_>>>()?;
    let names: Vec<_> = tensors.iter().map(|(name, _)| name.as_deref()).collect();
    let (run, mut outputs) = pipeline.with(py, |state, settings| {
        let names = names_of(state.engine(settings)?, names.into_iter())?;
        let images = names.iter().map(String::as_str).zip(&images);
        state.start(settings, &gateway, &orders, &images.collect::<Vec<_>>())
    })?;
    // Of stacks that a pipeline made come stacks.
    let stacked = tensors.iter().any(|(_, tensor)| tensor.is_stack_of_ours());
    let of = if stacked { DeviceImage::stack_of } else { DeviceImage::of };
    let object = |image| Bound::new(py, of(image, run.clone(), gateway.clone()));
    if outputs.len() == 1 {
        return Ok(object(outputs.remove(0).1)?.into_any());
    }
    let results = PyDict::new(py);
    for (task, image) in outputs {
        results.set_item(task, object(image)?)?;
    }
    Ok(results.into_any())
}

/// Runs a pipeline of one input and one output over a tensor with an axis of images in front, in as few launches as
/// `max_batch_size` allows, or over several tensors, one after the other. `stack`: the result is one, too.
pub(crate) fn batch<'py>(
    pipeline: &Pipeline,
    py: Python<'py>,
    tensors: &[OnGpu<'py>],
    (stacked, stack): (bool, bool),
) -> PyResult<Bound<'py, PyAny>> {
    let results = PyList::empty(py);
    let Some(first) = tensors.first() else { return Ok(results.into_any()) };
    let stacked = stacked || first.is_stack_of_ours();
    let gateway = gateway(pipeline, first, py)?;
    let mut orders = Orders::default();
    let images = tensors.iter().map(|tensor| tensor.borrow(&gateway, &mut orders, stacked));
    let images = images.collect::<PyResult<Vec<_>>>()?;
    // Those that lie behind each other are a batch as they are: files that were decoded together.
    let joined = prelude::DeviceImage::joined(&images).filter(|_| !stacked);
    if stack && !(joined.is_some() || stacked && tensors.len() == 1) {
        let text = "stack=True makes one result of one tensor with an axis of images in front, or of files that were decoded together; \
                    stack those that you have (torch.stack)";
        return Err(Failed::usage(text.to_owned()).into());
    }
    let images = joined.map_or(images, |batch| vec![batch]);
    let runs = pipeline.with(py, |state, settings| {
        let input = state.only_input(settings)?;
        let (most, count) = (settings.max_batch_size, images[0].layout().batch_size);
        if stack && count > most {
            return Err(Failed::usage(format!(
                "stack=True makes one result of at most max_batch_size = {most} images, and the tensor has {count}; \
                 Pipeline(..., max_batch_size={count}) takes them at once"
            )));
        }
        let mut runs: Vec<Started> = Vec::new();
        for image in &images {
            for part in parts(image, settings.max_batch_size)? {
                runs.push(state.start(settings, &gateway, &orders, &[(&input, &part)])?);
            }
        }
        Ok(runs)
    })?;
    for (run, outputs) in runs {
        for (_, image) in outputs {
            if stack {
                let made = DeviceImage::stack_of(image, run, gateway);
                return Ok(Bound::new(py, made)?.into_any());
            }
            for index in 0..image.layout().batch_size {
                results.append(Bound::new(
                    py,
                    DeviceImage::of(image.frame(index), run.clone(), gateway.clone()),
                )?)?;
            }
        }
    }
    Ok(results.into_any())
}

/// Batches of at most `max` images.
fn parts(image: &prelude::DeviceImage, max: usize) -> Result<Vec<prelude::DeviceImage>, Failed> {
    let layout = *image.layout();
    if layout.batch_size <= max {
        return Ok(vec![image.clone()]);
    }
    let part = |first: usize| {
        let batch_size = max.min(layout.batch_size - first);
        let part = BatchLayout { batch_size, ..layout };
        let offset = image.offset() + first * layout.batch_stride;
        Ok(prelude::DeviceImage::in_memory(image.memory().clone(), part, offset)?)
    };
    (0..layout.batch_size).step_by(max.max(1)).map(part).collect()
}
