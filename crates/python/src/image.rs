//! [`Image`]: pixels with the meaning that an array does not have, lent to NumPy and DLPack where they lie.

use std::ffi::c_int;

use mini_image_pipe::types::ImageView;
use mini_image_pipe::{BatchLayout, DType, ImageBuffer, Layout, PixelFormat};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::array::{Meaning, asarray, image_of, pillow_mode};
use crate::buffer::{self, Axes};
use crate::errors::{Failed, function};
use crate::{dlpack, files};

/// Pixels with a format (gray, rgb, bgr, rgba, bgra or a colour space), a dtype and a layout (hwc or chw).
///
/// `Image(array)` lends an array's memory without a copy; `format="bgr"` and `layout="chw"` say what an array
/// does not. NumPy reads it without a copy too: `numpy.asarray(image)`.
#[pyclass(frozen, module = "mini_image_pipe")]
#[derive(Debug)]
pub(crate) struct Image {
    buffer: ImageBuffer,
    /// The first sample's address, where Python may write: of results, which nothing in Rust reads any more.
    start: usize,
    writable: bool,
    axes: Axes,
    /// Whether the memory is for the next picture to be decoded into when this is gone.
    decoded: bool,
}

impl Image {
    /// An image that others may hold, or whose memory is lent: read only.
    pub(crate) fn shared(buffer: ImageBuffer) -> Self {
        let axes = Axes::of(buffer.layout());
        Self { start: buffer.view().data().as_ptr() as usize, writable: false, axes, buffer, decoded: false }
    }

    /// An image that nobody else holds: Python may write into it.
    pub(crate) fn owned(mut buffer: ImageBuffer) -> Self {
        match buffer.start_mut() {
            Some(start) => {
                let axes = Axes::of(buffer.layout());
                Self { start: start.as_ptr() as usize, writable: true, axes, buffer, decoded: false }
            }
            None => Self::shared(buffer),
        }
    }

    /// An image that was read from a file.
    pub(crate) fn decoded(buffer: ImageBuffer) -> Self {
        let mut image = Self::owned(buffer);
        image.decoded = true;
        image
    }

    pub(crate) const fn buffer(&self) -> &ImageBuffer {
        &self.buffer
    }

    pub(crate) const fn start(&self) -> usize {
        self.start
    }

    pub(crate) const fn is_writable(&self) -> bool {
        self.writable
    }

    pub(crate) const fn axes(&self) -> &Axes {
        &self.axes
    }

    /// Shape as an array has it, and strides in bytes.
    pub(crate) fn strided(&self) -> (Vec<usize>, Vec<usize>) {
        strided(self.buffer.layout())
    }

    fn view(&self) -> ImageView<'_> {
        self.buffer.view()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // Arrays of it and whoever reads them keep the image: nobody has the memory any more.
        if self.decoded {
            files::recycle(&self.buffer);
        }
    }
}

/// Shape as an array has it, and strides in bytes.
pub(crate) fn strided(layout: &BatchLayout) -> (Vec<usize>, Vec<usize>) {
    let desc = &layout.desc;
    let (height, width, channels) = (desc.height() as usize, desc.width() as usize, desc.channels());
    let size = desc.dtype().size();
    match (desc.layout(), channels) {
        (Layout::Chw, _) => {
            (vec![channels, height, width], vec![layout.plane_stride, layout.row_stride, size])
        }
        (Layout::Hwc, 1) => (vec![height, width], vec![layout.row_stride, size]),
        (Layout::Hwc, _) => (vec![height, width, channels], vec![layout.row_stride, channels * size, size]),
    }
}

/// What Python gives back for an image that came in this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Array,
    Image,
    Pillow,
}

impl Kind {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<Image>() {
            return Ok(Self::Image);
        }
        Ok(if pillow_mode(object)?.is_some() { Self::Pillow } else { Self::Array })
    }

    /// A result, as the input came.
    pub(crate) fn give(self, py: Python<'_>, buffer: ImageBuffer) -> PyResult<Bound<'_, PyAny>> {
        let image = Bound::new(py, Image::owned(buffer))?;
        match self {
            Self::Image => Ok(image.into_any()),
            Self::Array => asarray(&image),
            Self::Pillow => pillow(&image),
        }
    }
}

fn pillow<'py>(image: &Bound<'py, Image>) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let desc = image.get().buffer.desc();
    let (format, dtype) = (desc.format(), desc.dtype());
    let fits = match dtype {
        DType::U8 => matches!(format, PixelFormat::Gray | PixelFormat::Rgb | PixelFormat::Rgba),
        DType::U16 | DType::F32 => format == PixelFormat::Gray,
        DType::I16 | DType::I32 | DType::F16 => false,
    };
    if !fits || (desc.layout() == Layout::Chw && desc.channels() > 1) {
        let text = format!(
            "Pillow has no {desc}; it holds gray, rgb and rgba u8 and gray u16 and f32, interleaved: add color_convert, cast or \
             layout at the end, or give the pipeline an array"
        );
        return Err(Failed::usage(text).into());
    }
    let array = asarray(image)?;
    function(&FUNCTION, image.py(), "PIL.Image", "fromarray")?.call1((array,))
}

pub(crate) fn meaning(format: Option<&str>, layout: Option<&str>) -> Result<Meaning, Failed> {
    let layout = layout.map(str::parse).transpose()?.unwrap_or_default();
    Ok(Meaning { format: format.map(str::parse).transpose()?, layout })
}

#[pymethods]
impl Image {
    #[new]
    #[pyo3(signature = (data, *, format=None, layout=None))]
    fn new(data: &Bound<'_, PyAny>, format: Option<&str>, layout: Option<&str>) -> PyResult<Self> {
        Ok(Self::shared(image_of(data, meaning(format, layout)?, "an Image")?))
    }

    /// Width in pixels.
    #[getter]
    const fn width(&self) -> u32 {
        self.buffer.desc().width()
    }

    /// Height in pixels.
    #[getter]
    const fn height(&self) -> u32 {
        self.buffer.desc().height()
    }

    /// Channels and their order: gray, rgb, bgr, rgba, bgra, hsv, hls, ycbcr, lab, luv, xyz or linear.
    #[getter]
    const fn format(&self) -> &'static str {
        self.buffer.desc().format().name()
    }

    /// hwc (interleaved) or chw (planar).
    #[getter]
    const fn layout(&self) -> &'static str {
        self.buffer.desc().layout().name()
    }

    /// NumPy's name of the samples' type: uint8, uint16, int16, int32, float16 or float32.
    #[getter]
    const fn dtype(&self) -> &'static str {
        numpy_name(self.buffer.desc().dtype())
    }

    /// Shape as an array: (height, width), (height, width, channels) or (channels, height, width).
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.strided().0)
    }

    /// Bytes of all samples, without padding.
    #[getter]
    const fn nbytes(&self) -> usize {
        self.buffer.desc().bytes()
    }

    /// The samples as a NumPy array over the same memory. Results can be written to, lent arrays are read-only.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        asarray(slf)
    }

    /// The pixels as a picture of Pillow, which copies them.
    fn pil<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        pillow(slf)
    }

    /// The samples as a tensor of PyTorch over the same memory.
    fn torch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("torch")?.getattr("from_dlpack")?.call1((slf,))
    }

    /// The samples for whoever reads memory by the buffer protocol, as NumPy does.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: the view is the one that Python hands over to be filled in.
        unsafe { buffer::lend(slf, view, flags) }
    }

    /// Where the samples lie: <https://numpy.org/doc/stable/reference/arrays.interface.html>
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (shape, strides) = self.strided();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", typestr(self.buffer.desc().dtype()))?;
        interface.set_item("shape", PyTuple::new(py, shape)?)?;
        interface.set_item("data", (self.start, !self.writable))?;
        if self.buffer.layout().is_tight() {
            interface.set_item("strides", py.None())?;
        } else {
            interface.set_item("strides", PyTuple::new(py, strides)?)?;
        }
        Ok(interface)
    }

    /// The samples for another library over the same memory: <https://dmlc.github.io/dlpack>
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::export_host(slf, stream.as_ref(), max_version, dl_device, copy)
    }

    /// The CPU, as DLPack numbers devices.
    #[expect(clippy::unused_self, reason = "a method to Python")]
    const fn __dlpack_device__(&self) -> (i32, i32) {
        dlpack::CPU
    }

    fn __repr__(&self) -> String {
        format!("<mini_image_pipe.Image {}>", self.buffer.desc())
    }

    /// For notebooks; nothing for what PNG does not hold.
    fn _repr_png_<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        files::png(&self.buffer).map(|bytes| PyBytes::new(py, &bytes))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        self.view().layout().desc == other.get().view().layout().desc && self.buffer == other.get().buffer
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let this = slf.get();
        let rebuild = py.import("mini_image_pipe._support")?.getattr("image")?;
        let array = asarray(slf)?;
        let arguments = (array, this.format(), this.layout()).into_pyobject(py)?;
        Ok((rebuild, arguments))
    }
}

/// The samples' type in the array interfaces.
pub(crate) const fn typestr(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
    }
}

pub(crate) const fn numpy_name(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::F16 => "float16",
        DType::F32 => "float32",
    }
}
