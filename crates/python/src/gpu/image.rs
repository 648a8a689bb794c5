//! [`DeviceImage`]: a result on a GPU, which may still be computed there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mini_image_pipe::cuda::CudaDevice;
use mini_image_pipe::prelude;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::consumer::{Consumer, Lease};
use super::order::Gateway;
use super::run::Run;
use crate::dlpack::{self, Exported};
use crate::errors::Failed;
use crate::image::{Image, Kind, numpy_name, strided, typestr};

/// A result in the memory of a GPU: what a pipeline gives for tensors that lie there. It may still be computed; whoever takes
/// it over by DLPack waits for that on the GPU, and the host does not.
///
/// `torch.from_dlpack(image)`, `.torch()`, `cupy.from_dlpack(image)` and `.cupy()` share its memory. `.numpy()` and `.cpu()` wait for it and
/// copy it to the host. A run that failed says so at the next of these calls, in `wait`, and at the next call of its pipeline.
#[pyclass(frozen, module = "mini_image_pipe")]
#[derive(Debug)]
pub(crate) struct DeviceImage {
    image: prelude::DeviceImage,
    run: Arc<Run>,
    gateway: Arc<Gateway>,
    /// Whether it has an axis of images in front.
    stacked: bool,
    /// Whether its address was given to somebody who will not say when they are done.
    exposed: AtomicBool,
}

impl DeviceImage {
    pub(super) const fn of(image: prelude::DeviceImage, run: Arc<Run>, gateway: Arc<Gateway>) -> Self {
        Self { image, run, gateway, stacked: false, exposed: AtomicBool::new(false) }
    }

    /// Several, with an axis of images in front.
    pub(super) const fn stack_of(image: prelude::DeviceImage, run: Arc<Run>, gateway: Arc<Gateway>) -> Self {
        Self { image, run, gateway, stacked: true, exposed: AtomicBool::new(false) }
    }

    pub(super) const fn is_stacked(&self) -> bool {
        self.stacked
    }

    pub(super) const fn image(&self) -> &prelude::DeviceImage {
        &self.image
    }

    pub(super) const fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// The GPU's index.
    pub(super) fn index(&self) -> usize {
        self.gateway.index()
    }

    fn strided(&self) -> (Vec<usize>, Vec<usize>) {
        let layout = self.image.layout();
        let (mut shape, mut strides) = strided(layout);
        if self.stacked {
            shape.insert(0, layout.batch_size);
            strides.insert(0, layout.batch_stride);
        }
        (shape, strides)
    }

    fn start(&self) -> PyResult<usize> {
        let address = CudaDevice::address(&self.image).and_then(|address| usize::try_from(address).ok());
        address.ok_or_else(|| PyBufferError::new_err("this image's memory has been freed"))
    }

    /// A copy in memory of the host. Waits for the run.
    fn download(&self, py: Python<'_>) -> PyResult<mini_image_pipe::ImageBuffer> {
        let copied = py.detach(|| {
            self.run.wait()?;
            self.gateway.device().download(&self.image).map_err(Failed::from)
        });
        Ok(copied?)
    }
}

impl Drop for DeviceImage {
    fn drop(&mut self) {
        if *self.exposed.get_mut()
            && let Ok(consumer) = Consumer::unknown(&self.gateway)
        {
            consumer.give_back(self.image.clone());
        }
    }
}

#[pymethods]
impl DeviceImage {
    /// Width in pixels.
    #[getter]
    const fn width(&self) -> u32 {
        self.image.desc().width()
    }

    /// Height in pixels.
    #[getter]
    const fn height(&self) -> u32 {
        self.image.desc().height()
    }

    /// Channels and their order: gray, rgb, bgr, rgba, bgra, hsv, hls, ycbcr, lab, luv, xyz or linear.
    #[getter]
    const fn format(&self) -> &'static str {
        self.image.desc().format().name()
    }

    /// hwc (interleaved) or chw (planar).
    #[getter]
    const fn layout(&self) -> &'static str {
        self.image.desc().layout().name()
    }

    /// NumPy's name of the samples' type: uint8, uint16, int16, int32, float16 or float32.
    #[getter]
    const fn dtype(&self) -> &'static str {
        numpy_name(self.image.desc().dtype())
    }

    /// Shape as an array: (height, width), (height, width, channels) or (channels, height, width); of a stack with the number of
    /// images in front.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.strided().0)
    }

    /// Bytes of all samples, without padding.
    #[getter]
    const fn nbytes(&self) -> usize {
        self.image.desc().bytes() * self.image.layout().batch_size
    }

    /// The GPU that holds it: cuda:N.
    #[getter]
    fn device(&self) -> String {
        format!("cuda:{}", self.index())
    }

    /// Whether the run that makes it has ended, so that nothing would wait for it.
    #[getter]
    fn is_done(&self, py: Python<'_>) -> bool {
        py.detach(|| self.run.is_done())
    }

    /// Waits on the host for the run that makes it, and raises what that failed with. Only who wants to know needs it.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.run.wait())?)
    }

    /// A copy as a NumPy array in the host's memory. Waits for the result.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let copied = self.download(py)?;
        if !self.stacked {
            return Kind::Array.give(py, copied);
        }
        let frames = PyList::empty(py);
        for index in 0..copied.batch_size() {
            frames.append(Kind::Array.give(py, copied.frame(index))?)?;
        }
        py.import("numpy")?.call_method1("stack", (frames,))
    }

    /// A copy as an `Image` in the host's memory. Waits for the result.
    fn cpu(&self, py: Python<'_>) -> PyResult<Image> {
        if self.stacked {
            return Err(PyTypeError::new_err(
                "a stack of images is no image: stack.numpy() copies it to the host",
            ));
        }
        Ok(Image::owned(self.download(py)?))
    }

    /// The samples as a tensor of PyTorch over the same memory. Its current stream waits for them, the host does not.
    fn torch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("torch")?.getattr("from_dlpack")?.call1((slf,))
    }

    /// The samples as an array of CuPy over the same memory. Its current stream waits for them, the host does not.
    fn cupy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("cupy")?.getattr("from_dlpack")?.call1((slf,))
    }

    /// The samples for another library over the same memory: <https://dmlc.github.io/dlpack>. `stream` is the consumer's: it
    /// waits for the samples, and its end of reading them is waited for before the memory is used again.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if dl_device == Some(dlpack::CPU) && copy != Some(false) {
            let image = Bound::new(py, this.cpu(py)?)?;
            return dlpack::export_host(&image, None, max_version, None, None);
        }
        if dl_device.is_some_and(|device| device != this.__dlpack_device__()) {
            let text =
                format!("this image is on {}; only dl_device=(1, 0), the CPU, is copied to", this.device());
            return Err(PyBufferError::new_err(text));
        }
        if copy == Some(true) {
            let text = "a result is not copied on the GPU: take it over and copy it there (tensor.clone())";
            return Err(PyBufferError::new_err(text));
        }
        let consumer = Consumer::named(py, &this.gateway, stream)?;
        py.detach(|| {
            this.run.check()?;
            consumer.as_ref().map_or(Ok(()), |consumer| consumer.wait_for(this.run.done()))
        })?;
        let (shape, strides) = this.strided();
        let exported = Exported {
            start: this.start()?,
            device: this.__dlpack_device__(),
            dtype: this.image.desc().dtype(),
            shape,
            strides,
            writable: true,
            copied: false,
            keeps: Box::new(Lease::new(this.image.clone(), consumer)),
        };
        dlpack::hand_out(py, exported, max_version)
    }

    /// The GPU, as DLPack numbers devices.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CUDA, i32::try_from(self.index()).unwrap_or(i32::MAX))
    }

    /// Where the samples lie: <https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html>. For libraries without DLPack;
    /// some of them wait for the stream on the host.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stream = py.detach(|| {
            self.run.check()?;
            if self.run.is_done() { Ok(None) } else { self.gateway.exit_handle(self.run.done()).map(Some) }
        })?;
        self.exposed.store(true, Ordering::Relaxed);
        let (shape, strides) = self.strided();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", typestr(self.image.desc().dtype()))?;
        interface.set_item("shape", PyTuple::new(py, shape)?)?;
        interface.set_item("data", (self.start()?, false))?;
        if self.image.layout().is_tight() {
            interface.set_item("strides", py.None())?;
        } else {
            interface.set_item("strides", PyTuple::new(py, strides)?)?;
        }
        interface.set_item("stream", stream)?;
        Ok(interface)
    }

    /// NumPy would wait and copy in silence.
    #[pyo3(signature = (*_arguments, **_options))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let text =
            format!("this image is in memory of {}: image.numpy() copies it to the host", self.device());
        Err(PyTypeError::new_err(text))
    }

    fn __repr__(&self) -> String {
        let images =
            if self.stacked { format!("{} x ", self.image.layout().batch_size) } else { String::new() };
        format!("<mini_image_pipe.DeviceImage {images}{} on {}>", self.image.desc(), self.device())
    }
}
