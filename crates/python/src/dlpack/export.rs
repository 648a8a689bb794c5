//! Images as tensors for other libraries.

use std::any::Any;
use std::ffi::{CStr, c_void};

use mini_image_pipe::{DType, ImageBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::{CPU, DlTensor, IS_COPIED, Managed, ManagedVersioned, NAME, READ_ONLY, VERSIONED, type_of};
use crate::errors::Failed;
use crate::image::Image;

/// What a consumer holds on to: `context` of the structs handed out.
struct Owner {
    /// Shape and strides, to which the tensor points.
    numbers: Vec<i64>,
    _keeps: Box<dyn Any + Send>,
}

/// Memory to be handed out.
pub(crate) struct Exported {
    /// Its first sample's address.
    pub(crate) start: usize,
    /// As DLPack numbers devices.
    pub(crate) device: (i32, i32),
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    /// In bytes.
    pub(crate) strides: Vec<usize>,
    pub(crate) writable: bool,
    pub(crate) copied: bool,
    /// Dropped when the consumer no longer needs the memory, on whatever thread.
    pub(crate) keeps: Box<dyn Any + Send>,
}

/// An image as a capsule that another library takes over.
pub(crate) fn export_host<'py>(
    image: &Bound<'py, Image>,
    stream: Option<&Bound<'py, PyAny>>,
    max_version: Option<(u32, u32)>,
    dl_device: Option<(i32, i32)>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = image.py();
    if stream.is_some() {
        return Err(PyBufferError::new_err("memory of the CPU has no stream: pass stream=None"));
    }
    if dl_device.is_some_and(|device| device != CPU) {
        return Err(PyBufferError::new_err("this image is in memory of the CPU: pass dl_device=(1, 0)"));
    }
    let copied = copy == Some(true);
    let copy = if copied { Some(Image::owned(copy_of(image.get().buffer())?)) } else { None };
    let image = copy.as_ref().unwrap_or_else(|| image.get());
    let (shape, strides) = image.strided();
    let exported = Exported {
        start: image.start(),
        device: CPU,
        dtype: image.buffer().desc().dtype(),
        shape,
        strides,
        writable: image.is_writable(),
        copied,
        keeps: Box::new(image.buffer().clone()),
    };
    hand_out(py, exported, max_version)
}

/// Memory as a capsule of the version that the consumer knows.
pub(crate) fn hand_out(
    py: Python<'_>,
    exported: Exported,
    max_version: Option<(u32, u32)>,
) -> PyResult<Bound<'_, PyAny>> {
    let versioned = max_version.is_some_and(|(major, _)| major >= 1);
    let Exported { start, device, dtype, shape, strides, writable, copied, keeps } = exported;
    if !versioned && !writable {
        return Err(PyBufferError::new_err(
            "this image is read-only, which DLPack can only say from version 1.0 on: pass max_version=(1, 0) or copy=True",
        ));
    }
    let ndim = shape.len();
    let strides = strides.into_iter().map(|bytes| bytes / dtype.size());
    let numbers = shape.iter().copied().chain(strides).map(|number| number as i64).collect();
    let mut owner = Box::new(Owner { numbers, _keeps: keeps });
    let (shape, strides) = owner.numbers.split_at_mut(ndim);
    let tensor = DlTensor {
        data: start as *mut c_void,
        device: device.into(),
        // Two or three.
        ndim: i32::try_from(ndim).unwrap_or_default(),
        dtype: type_of(dtype),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let context = Box::into_raw(owner).cast();
    if versioned {
        let flags = u64::from(!writable) * READ_ONLY + u64::from(copied) * IS_COPIED;
        let deleter = Some(delete_versioned as _);
        capsule(
            py,
            Box::new(ManagedVersioned { version: [1, 0], context, deleter, flags, tensor }),
            VERSIONED,
            drop_versioned,
        )
    } else {
        capsule(py, Box::new(Managed { tensor, context, deleter: Some(delete as _) }), NAME, drop_unversioned)
    }
}

fn copy_of(buffer: &ImageBuffer) -> Result<ImageBuffer, Failed> {
    Ok(ImageBuffer::from_bytes(*buffer.desc(), &buffer.try_to_bytes()?)?)
}

fn capsule<'py, T>(
    py: Python<'py>,
    managed: Box<T>,
    name: &'static CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    let pointer = Box::into_raw(managed).cast();
    // SAFETY: the pointer is not null and the name is static; the destructor or the consumer frees what it points to, exactly once,
    // as the name tells them (DLPack's protocol). The thread is attached, since there is a `py`.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destructor))) }
}

/// Called once by whoever took the tensor over.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: made by `hand_out` with `Box::into_raw`, and deleted once (DLPack's protocol).
    drop(unsafe { (Box::from_raw((*managed).context.cast::<Owner>()), Box::from_raw(managed)) });
}

/// As [`delete`].
unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: as in `delete`.
    drop(unsafe { (Box::from_raw((*managed).context.cast::<Owner>()), Box::from_raw(managed)) });
}

/// The destructor of a capsule; a consumer that took the tensor over has renamed it.
unsafe extern "C" fn drop_unversioned(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule, attached; under its first name it holds what `hand_out` put there.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

/// As [`drop_unversioned`].
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as in `drop_unversioned`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}
