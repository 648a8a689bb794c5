//! Image files.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use mini_image_pipe::ImageBuffer;
use mini_image_pipe::io::{
    FileFormat, IccUse, IoError, JpegScale, ReadOptions, Reader, Spares, WriteOptions, encode, write_image,
};
use mini_image_pipe::types::MemoryBudget;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::array::{asarray, image_of};
use crate::errors::Failed;
use crate::image::{Image, meaning};

/// Reads an image file as a NumPy array: (height, width) for gray, (height, width, 3) for rgb and (height, width, 4)
/// for rgba, of uint8, uint16 or float32 as the file holds them. The file's first bytes tell its format.
///
/// What a warning of `mip run` would say of the file is a Python warning; `strict=True` makes it an error. `jpeg_scale` 2, 4 or 8 decodes
/// a JPEG file at a half, a quarter or an eighth of its width and height, as `Image.draft` of Pillow does; files of other formats stay
/// as they are. `icc="srgb"` converts pixels to sRGB by the profile that came with them; otherwise they are as they are stored.
#[pyfunction]
#[pyo3(signature = (path, *, strict=false, max_pixels=None, jpeg_scale=1, icc="keep"))]
pub(crate) fn open<'py>(
    py: Python<'py>,
    path: PathBuf,
    strict: bool,
    max_pixels: Option<u64>,
    jpeg_scale: u8,
    icc: &str,
) -> PyResult<Bound<'py, PyAny>> {
    read(py, options(strict, max_pixels, jpeg_scale, icc)?, |reader| reader.read(&path))
}

/// An image file's bytes as a NumPy array, as `open` gives that of a file. They may be `bytes` or a `bytearray`, which is copied.
#[pyfunction]
#[pyo3(signature = (data, *, strict=false, max_pixels=None, jpeg_scale=1, icc="keep"))]
pub(crate) fn decode<'py>(
    py: Python<'py>,
    data: PyBackedBytes,
    strict: bool,
    max_pixels: Option<u64>,
    jpeg_scale: u8,
    icc: &str,
) -> PyResult<Bound<'py, PyAny>> {
    read(py, options(strict, max_pixels, jpeg_scale, icc)?, |reader| {
        reader.read_bytes(&data, "the bytes given")
    })
}

fn options(strict: bool, max_pixels: Option<u64>, jpeg_scale: u8, icc: &str) -> PyResult<ReadOptions> {
    let defaults = ReadOptions::default();
    let scale = JpegScale::ALL.into_iter().find(|scale| scale.divisor() == usize::from(jpeg_scale));
    let scale = scale.ok_or_else(|| {
        PyValueError::new_err(format!("jpeg_scale is {jpeg_scale}, but must be 1, 2, 4 or 8"))
    })?;
    let icc = match icc {
        "keep" => IccUse::Keep,
        "srgb" => IccUse::Srgb,
        other => {
            return Err(PyValueError::new_err(format!("icc is {other:?}, but must be \"keep\" or \"srgb\"")));
        }
    };
    Ok(ReadOptions { strict, max_pixels: max_pixels.unwrap_or(defaults.max_pixels), jpeg_scale: scale, icc })
}

/// What a reader gives, made without the GIL, and its warnings as Python's.
fn read(
    py: Python<'_>,
    options: ReadOptions,
    how: impl FnOnce(&mut Reader) -> Result<ImageBuffer, IoError> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    let (image, warnings) = py.detach(|| {
        let mut reader = Reader::within(options, Arc::new(MemoryBudget::unlimited()), spares());
        let image = how(&mut reader).map_err(Failed::from);
        image.map(|image| (image, reader.take_warnings()))
    })?;
    for warning in warnings {
        py.import("warnings")?.call_method1("warn", (warning.to_string(),))?;
    }
    let image = Bound::new(py, Image::decoded(image))?;
    asarray(&image)
}

/// Memory of pictures that are gone, by the process that it is for.
static SPARES: Mutex<Option<(u32, Arc<Spares>)>> = Mutex::new(None);

/// Pictures of more bytes are not kept: eight of these at most are, whatever their sizes.
const KEPT: usize = 16 << 20;

/// Where pictures of this process are decoded into. A fork may have happened while another thread held a lock, which then stays locked
/// in the child: this one is not waited for, and those inside are not used there.
fn spares() -> Arc<Spares> {
    let Ok(mut kept) = SPARES.try_lock() else { return Arc::default() };
    let process = std::process::id();
    if kept.as_ref().is_none_or(|(of, _)| *of != process) {
        std::mem::forget(kept.replace((process, Arc::default())));
    }
    kept.as_ref().map_or_else(Arc::default, |(_, spares)| Arc::clone(spares))
}

/// Keeps the memory of a picture for one of the same shape: the kernel takes as long to hand out fresh pages as a decoder for a fifth
/// of the picture.
pub(crate) fn recycle(image: &ImageBuffer) {
    if image.layout().span() <= KEPT {
        spares().give(image.clone());
    }
}

/// Writes an image file; the extension chooses the format. A file that is there is replaced when the new one is
/// complete. `format` is the pixel format of an array that is bgr or bgra.
#[pyfunction]
#[pyo3(signature = (image, path, *, quality=None, format=None))]
pub(crate) fn save(
    py: Python<'_>,
    image: &Bound<'_, PyAny>,
    path: PathBuf,
    quality: Option<u8>,
    format: Option<&str>,
) -> PyResult<()> {
    let image = image_of(image, meaning(format, None)?, "save")?;
    let defaults = WriteOptions::default();
    let options = WriteOptions { jpeg_quality: quality.unwrap_or(defaults.jpeg_quality), ..defaults };
    Ok(py.detach(move || write_image(&path, &image, &options).map_err(Failed::from))?)
}

/// The image as a PNG, where PNG holds it.
pub(crate) fn png(image: &ImageBuffer) -> Option<Vec<u8>> {
    encode(image, FileFormat::Png, &WriteOptions::default()).ok()
}
