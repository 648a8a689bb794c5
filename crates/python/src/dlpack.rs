//! DLPack both ways, of memory of the CPU: <https://dmlc.github.io/dlpack/latest/c_api.html>.
//!
//! The structs are those of its header, and all that is not safe about them is in this file.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use mini_image_pipe::types::HostStorage;
use mini_image_pipe::{DType, ImageBuffer};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{Meaning, Strided};
use crate::errors::Failed;
use crate::image::Image;

/// `kDLCPU`, device 0.
pub(crate) const CPU: (i32, i32) = (1, 0);
/// `kDLCUDAHost`: memory of the host that is pinned.
const PINNED: i32 = 3;
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    dtype: Type,
    shape: *mut i64,
    /// In samples; null for rows without padding.
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLDataType`.
#[repr(C)]
struct Type {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct ManagedVersioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
}

/// What a consumer holds on to: `context` of the structs handed out.
struct Owner {
    /// Shape and strides, to which the tensor points.
    numbers: Vec<i64>,
    _image: ImageBuffer,
}

fn type_of(dtype: DType) -> Type {
    let (code, bits) = match dtype {
        DType::U8 => (1, 8),
        DType::U16 => (1, 16),
        DType::I16 => (0, 16),
        DType::F16 => (2, 16),
        DType::F32 => (2, 32),
    };
    Type { code, bits, lanes: 1 }
}

/// An image as a capsule that another library takes over.
pub(crate) fn export<'py>(
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
    let versioned = max_version.is_some_and(|(major, _)| major >= 1);
    let copied = copy == Some(true);
    let copy = if copied { Some(Image::owned(copy_of(image.get().buffer())?)) } else { None };
    let image = copy.as_ref().unwrap_or_else(|| image.get());
    if !versioned && !image.is_writable() {
        return Err(PyBufferError::new_err(
            "this image is read-only, which DLPack can only say from version 1.0 on: pass max_version=(1, 0) or copy=True",
        ));
    }
    let size = image.buffer().desc().dtype().size();
    let (shape, strides) = image.strided();
    let ndim = shape.len();
    let strides = strides.into_iter().map(|bytes| bytes / size);
    let numbers = shape.iter().copied().chain(strides).map(|number| number as i64).collect();
    let mut owner = Box::new(Owner { numbers, _image: image.buffer().clone() });
    let (shape, strides) = owner.numbers.split_at_mut(ndim);
    let tensor = Tensor {
        data: image.start() as *mut c_void,
        device: CPU.into(),
        // Two or three.
        ndim: i32::try_from(ndim).unwrap_or_default(),
        dtype: type_of(image.buffer().desc().dtype()),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let context = Box::into_raw(owner).cast();
    if versioned {
        let flags = u64::from(!image.is_writable()) * READ_ONLY + u64::from(copied) * IS_COPIED;
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
    // SAFETY: made by `export` with `Box::into_raw`, and deleted once (DLPack's protocol).
    drop(unsafe { (Box::from_raw((*managed).context.cast::<Owner>()), Box::from_raw(managed)) });
}

/// As [`delete`].
unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: as in `delete`.
    drop(unsafe { (Box::from_raw((*managed).context.cast::<Owner>()), Box::from_raw(managed)) });
}

/// The destructor of a capsule; a consumer that took the tensor over has renamed it.
unsafe extern "C" fn drop_unversioned(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule, attached; under its first name it holds what `export` put there.
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

/// What was taken over from another library: given back by its deleter.
enum Taken {
    Unversioned(NonNull<Managed>),
    Versioned(NonNull<ManagedVersioned>),
}

struct Lent {
    taken: Taken,
    start: *const u8,
    len: usize,
}

// SAFETY: DLPack lets tensors be read and deleted on any thread; nothing here is written after it was made.
unsafe impl Send for Lent {}
// SAFETY: as for `Send`.
unsafe impl Sync for Lent {}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} bytes)", self.len)
    }
}

impl HostStorage for Lent {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the producer keeps the tensor's memory valid until its deleter is called, which is when this is dropped; `len`
        // ends with its last sample.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Attached, because some producers count references there.
        let deleted = Python::try_attach(|_| match self.taken {
            // SAFETY: taken over in `import`, and deleted here, once.
            Taken::Unversioned(tensor) => unsafe {
                if let Some(delete) = tensor.as_ref().deleter {
                    delete(tensor.as_ptr());
                }
            },
            // SAFETY: as above.
            Taken::Versioned(tensor) => unsafe {
                if let Some(delete) = tensor.as_ref().deleter {
                    delete(tensor.as_ptr());
                }
            },
        });
        // At the interpreter's end its memory goes with it.
        let _ = deleted;
    }
}

/// The image that a tensor of another library is; its memory is taken over, not copied.
pub(crate) fn import(object: &Bound<'_, PyAny>, meaning: Meaning) -> PyResult<ImageBuffer> {
    let py = object.py();
    let (device, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
    if device != CPU.0 && device != PINNED {
        let text = "a tensor in memory of another device cannot be read here; move it to the CPU first (tensor.cpu())";
        return Err(Failed::usage(text).into());
    }
    let options = PyDict::new(py);
    options.set_item("max_version", (1, 0))?;
    let capsule = match object.call_method("__dlpack__", (), Some(&options)) {
        // Producers from before DLPack 1.0 do not know the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => object.call_method0("__dlpack__")?,
        other => other?,
    };
    let taken = take(&capsule)?;
    // SAFETY: `take` has just taken the tensor over, so that it lives until its deleter is called.
    let tensor = unsafe {
        match &taken {
            Taken::Unversioned(tensor) => &tensor.as_ref().tensor,
            Taken::Versioned(tensor) => &tensor.as_ref().tensor,
        }
    };
    let ndim = usize::try_from(tensor.ndim).unwrap_or(0);
    let dtype = DType::ALL.into_iter().find(|dtype| {
        let Type { code, bits, lanes } = type_of(*dtype);
        (code, bits, lanes) == (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
    });
    let start = tensor
        .data
        .cast::<u8>()
        .cast_const()
        .wrapping_add(usize::try_from(tensor.byte_offset).unwrap_or_default());
    // SAFETY: a tensor has `ndim` numbers at `shape` and, unless that is null, at `strides`.
    let (shape, strides) = unsafe {
        let numbers = |at: *mut i64| std::slice::from_raw_parts(at, ndim).to_vec();
        let strides = (!tensor.strides.is_null()).then(|| numbers(tensor.strides));
        (if ndim == 0 { Vec::new() } else { numbers(tensor.shape) }, strides)
    };
    // From here on it is given back whatever happens.
    let mut lent = Lent { taken, start, len: 0 };
    let Some(dtype) = dtype else {
        let text =
            "this tensor's samples are none of uint8, uint16, int16, float16 and float32; convert it first";
        return Err(Failed::usage(text).into());
    };
    let shape: Vec<usize> = shape.into_iter().map(|side| usize::try_from(side).unwrap_or(0)).collect();
    let size = dtype.size() as isize;
    let strides: Vec<isize> = if let Some(strides) = strides {
        strides.into_iter().map(|samples| isize::try_from(samples).unwrap_or_default() * size).collect()
    } else {
        // Packed: what an axis steps over is all that the axes behind it hold.
        let packed = |axis: usize| shape[axis + 1..].iter().product::<usize>() as isize * size;
        (0..ndim).map(packed).collect()
    };
    let lies = Strided { shape: &shape, strides: &strides, dtype };
    let desc = lies.desc(meaning)?;
    let Some(layout) = lies.layout(desc) else {
        let text = "this tensor's rows are not contiguous; use tensor.contiguous()";
        return Err(Failed::usage(text).into());
    };
    lent.len = layout.span();
    Ok(ImageBuffer::from_storage(layout, Arc::new(lent), 0).map_err(Failed::from)?)
}

/// Takes the tensor out of its capsule: from then on it is ours to delete.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Taken> {
    // SAFETY: `capsule` is an object and the thread is attached; every function here says by an error when it is no such capsule.
    // Under these names it holds such a struct (DLPack's protocol), which renaming takes over.
    unsafe {
        let of = |name: &CStr| ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) == 1;
        let (name, used) = if of(VERSIONED) { (VERSIONED, USED_VERSIONED) } else { (NAME, USED) };
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
        let Some(pointer) = NonNull::new(pointer) else { return Err(PyErr::fetch(capsule.py())) };
        if name == VERSIONED && pointer.cast::<ManagedVersioned>().as_ref().version[0] != 1 {
            return Err(PyBufferError::new_err("a tensor of another major version of DLPack than 1"));
        }
        if ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        let versioned = name == VERSIONED;
        Ok(if versioned { Taken::Versioned(pointer.cast()) } else { Taken::Unversioned(pointer.cast()) })
    }
}

#[allow(dead_code, reason = "says that the structs are as large as the header's, on 64 bits")]
const LAYOUT: () = {
    assert!(size_of::<Tensor>() == 48 && size_of::<Managed>() == 64 && size_of::<ManagedVersioned>() == 80);
    assert!(null_mut::<u8>().is_null());
};
