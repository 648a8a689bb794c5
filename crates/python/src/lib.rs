//! The native half of the Python package `mini_image_pipe`: images, pipelines, files and devices. What is only Python
//! (operators as functions, from the registry that is handed out here) is in `python/mini_image_pipe`.

mod array;
mod buffer;
mod chain;
mod devices;
mod dlpack;
mod errors;
mod files;
mod gpu;
mod image;
mod inputs;
mod params;
mod pipeline;
mod plan;
mod registry;
mod report;
mod state;
mod stream;
mod task;

use pyo3::prelude::*;

/// Images, pipelines, files and devices.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<image::Image>()?;
    module.add_class::<gpu::DeviceImage>()?;
    module.add_class::<pipeline::Pipeline>()?;
    module.add_class::<task::Task>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(files::open, module)?)?;
    module.add_function(wrap_pyfunction!(files::decode, module)?)?;
    module.add_function(wrap_pyfunction!(files::save, module)?)?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    module.add_function(wrap_pyfunction!(registry::operators, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
