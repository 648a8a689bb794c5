//! Arrays of Python as images: NumPy and whatever else has the buffer protocol, without a copy.

use std::ffi::CStr;
use std::sync::Arc;

use mini_image_pipe::{BatchLayout, DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyMemoryView;

use crate::buffer::Lent;
use crate::errors::{Failed, function, wrong_type};
use crate::gpu::OnGpu;
use crate::image::Image;
use crate::{dlpack, errors};

/// What an array does not say of itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meaning {
    pub(crate) format: Option<PixelFormat>,
    pub(crate) layout: Layout,
}

/// A shape and its strides in bytes, as a description of images.
pub(crate) struct Strided<'a> {
    pub(crate) shape: &'a [usize],
    pub(crate) strides: &'a [isize],
    pub(crate) dtype: DType,
}

impl Strided<'_> {
    /// The image that such memory holds.
    pub(crate) fn desc(&self, meaning: Meaning) -> Result<ImageDesc, Failed> {
        let (height, width, channels) = match (self.shape, meaning.layout) {
            (&[height, width], _) => (height, width, 1),
            (&[height, width, channels], Layout::Hwc) | (&[channels, height, width], Layout::Chw) => {
                (height, width, channels)
            }
            _ => {
                return Err(Failed::usage(format!(
                    "an array of shape {:?} is no image; it must be height x width or height x width x channels (a batch goes \
                     to run_batch)",
                    self.shape
                )));
            }
        };
        let format = match (meaning.format, channels) {
            (Some(format), _) if format.channels() == channels => format,
            (None, 1) => PixelFormat::Gray,
            (None, 3) => PixelFormat::Rgb,
            (None, 4) => PixelFormat::Rgba,
            (Some(format), _) => {
                return Err(Failed::usage(format!(
                    "an array of shape {:?} has {channels} channels, but {format} has {}",
                    self.shape,
                    format.channels()
                )));
            }
            (None, _) => {
                let remedy = match (meaning.layout, self.shape[0]) {
                    (Layout::Hwc, 1 | 3 | 4) => "; of planar arrays say layout=\"chw\"",
                    _ => "",
                };
                return Err(Failed::usage(format!(
                    "an array of shape {:?} has {channels} channels, but images have 1, 3 or 4{remedy}",
                    self.shape
                )));
            }
        };
        let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
        Ok(ImageDesc::new(side(width), side(height), format, self.dtype)?.with_layout(meaning.layout))
    }

    /// The same strides as the engine names them; `None` where it cannot read them in place.
    pub(crate) fn layout(&self, desc: ImageDesc) -> Option<BatchLayout> {
        let tight = BatchLayout::tight(desc, 1).ok()?;
        let size = desc.dtype().size() as isize;
        // An axis of length 1 is never stepped along.
        let stride = |axis: usize| (self.shape[axis] > 1).then(|| self.strides[axis]);
        let is = |axis: usize, wanted: isize| stride(axis).is_none_or(|given| given == wanted);
        let (rows, in_place) = match (self.shape.len(), desc.layout()) {
            (2, _) => (0, is(1, size)),
            (_, Layout::Hwc) => (0, is(2, size) && is(1, size * self.shape[2] as isize)),
            (_, Layout::Chw) => (1, is(2, size)),
        };
        let row_stride = stride(rows).map_or(Some(tight.row_stride), |s| usize::try_from(s).ok())?;
        let plane_stride = match desc.planes() {
            1 => row_stride * desc.height() as usize,
            _ => usize::try_from(self.strides[0]).ok()?,
        };
        let layout =
            BatchLayout { row_stride, plane_stride, batch_stride: plane_stride * desc.planes(), ..tight };
        (in_place && layout.check().is_ok()).then_some(layout)
    }
}

/// An image that was given.
pub(crate) enum Given<'py> {
    Host(ImageBuffer),
    Gpu(OnGpu<'py>),
}

/// The image in the host's memory that an object is; `reader` is what cannot read others.
pub(crate) fn image_of(object: &Bound<'_, PyAny>, meaning: Meaning, reader: &str) -> PyResult<ImageBuffer> {
    match given(object, meaning)? {
        Given::Host(image) => Ok(image),
        Given::Gpu(tensor) => Err(tensor.elsewhere(&format!("{reader} reads the CPU's memory")).into()),
    }
}

/// The image that an object is: an [`Image`], an array, a tensor or a picture of Pillow.
pub(crate) fn given<'py>(object: &Bound<'py, PyAny>, meaning: Meaning) -> PyResult<Given<'py>> {
    if let Ok(image) = object.cast::<Image>() {
        return Ok(Given::Host(image.get().buffer().clone()));
    }
    if let Some(image) = OnGpu::ours(object) {
        return Ok(Given::Gpu(image));
    }
    // Palettes and bits are arrays of indices to NumPy, which would be taken for gray.
    if let Some(mode) = pillow_mode(object)? {
        if !matches!(mode.as_str(), "L" | "RGB" | "RGBA" | "F" | "I;16") {
            let text = format!(
                "a picture of mode {mode} has no counterpart; use picture.convert(\"RGB\"), \"RGBA\" or \"L\""
            );
            return Err(Failed::usage(text).into());
        }
        return buffered(asarray(object)?, meaning).map(Given::Host);
    }
    if let Ok(view) = PyMemoryView::from(object) {
        return from_view(object, view, meaning).map(Given::Host);
    }
    if let Some(tensor) = OnGpu::tensor(object, meaning)? {
        return Ok(Given::Gpu(tensor));
    }
    if object.hasattr("__dlpack__")? {
        return dlpack::import_host(object, meaning).map(Given::Host);
    }
    if object.hasattr("__array_interface__")? || object.hasattr("__array__")? {
        return buffered(asarray(object)?, meaning).map(Given::Host);
    }
    let name = object.get_type().name()?;
    Err(wrong_type(format!(
        "{name} is no image; an image is a NumPy array, a mini_image_pipe.Image, a picture of Pillow, or an object with the buffer \
         protocol, __dlpack__, __array_interface__ or __cuda_array_interface__"
    )))
}

/// Whether an object is an array of NumPy's own class: the usual case, of which nothing else need be asked.
fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = function(&CLASS, object.py(), "numpy", "ndarray")?;
    Ok(object.get_type().is(class))
}

/// The mode of a picture of Pillow; `None` for everything else.
pub(crate) fn pillow_mode(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if is_array(object)? {
        return Ok(None);
    }
    match object.getattr_opt("mode")? {
        Some(mode) if object.hasattr("getbands")? => Ok(mode.extract().ok()),
        _ => Ok(None),
    }
}

fn buffered(object: Bound<'_, PyAny>, meaning: Meaning) -> PyResult<ImageBuffer> {
    let view = PyMemoryView::from(&object)?;
    from_view(&object, view, meaning)
}

fn from_view(
    object: &Bound<'_, PyAny>,
    view: Bound<'_, PyMemoryView>,
    meaning: Meaning,
) -> PyResult<ImageBuffer> {
    let buffer = PyUntypedBuffer::get(&view)?;
    let dtype = dtype(buffer.format())?;
    let strided = Strided { shape: buffer.shape(), strides: buffer.strides(), dtype };
    let desc = strided.desc(meaning)?;
    let Some(layout) = strided.layout(desc) else {
        // Turned, mirrored or thinned out: copied once into rows.
        return buffered(contiguous(object)?, meaning);
    };
    let lent = Lent::new(view.unbind(), buffer.buf_ptr() as usize, layout.span());
    Ok(ImageBuffer::from_storage(layout, Arc::new(lent), 0).map_err(Failed::from)?)
}

/// The dtype of a format of the module `struct`.
fn dtype(format: &CStr) -> PyResult<DType> {
    let text = format.to_string_lossy();
    // Native and little endian are the same here; `>` is another order of bytes.
    match text.trim_start_matches(['@', '=', '<', '|']) {
        "B" => Ok(DType::U8),
        "H" => Ok(DType::U16),
        "h" => Ok(DType::I16),
        "i" => Ok(DType::I32),
        // NumPy's int32 there.
        "l" if cfg!(windows) => Ok(DType::I32),
        "e" => Ok(DType::F16),
        "f" => Ok(DType::F32),
        other => {
            let remedy = match other {
                "?" => "array.astype(np.uint8) * 255",
                "d" => "array.astype(np.float32)",
                other if other.starts_with('>') => "array.astype(array.dtype.newbyteorder(\"=\"))",
                _ => "array.astype(np.uint8), np.uint16 or np.float32",
            };
            let text = format!(
                "an array whose samples have the format '{other}' is no image; allowed: uint8, uint16, int16, int32, float16 and float32; \
                 use {remedy}"
            );
            Err(Failed::usage(text).into())
        }
    }
}

/// The object as NumPy sees it.
pub(crate) fn asarray<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    errors::function(&FUNCTION, object.py(), "numpy", "asarray")?.call1((object,))
}

fn contiguous<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    function(&FUNCTION, object.py(), "numpy", "ascontiguousarray")?.call1((object,))
}
