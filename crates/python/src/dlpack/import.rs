//! Tensors of other libraries.

use std::any::Any;
use std::ffi::CStr;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use mini_image_pipe::cuda::{BorrowedMemory, BorrowedStream};
use mini_image_pipe::types::HostStorage;
use mini_image_pipe::{DType, ImageBuffer};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyDict;

use super::{CPU, Managed, ManagedVersioned, NAME, PINNED, Type, USED, USED_VERSIONED, VERSIONED, type_of};
use crate::array::{Meaning, Strided};
use crate::errors::Failed;

/// What was taken over from another library: given back by its deleter.
enum Taken {
    Unversioned(NonNull<Managed>),
    Versioned(NonNull<ManagedVersioned>),
}

// SAFETY: DLPack lets tensors be read and deleted on any thread; nothing here is written after it was made.
unsafe impl Send for Taken {}
// SAFETY: as for `Send`.
unsafe impl Sync for Taken {}

impl Drop for Taken {
    fn drop(&mut self) {
        // Attached, because some producers count references there.
        let deleted = Python::try_attach(|_| match self {
            // SAFETY: taken over in `take`, and deleted here, once.
            Self::Unversioned(tensor) => unsafe {
                if let Some(delete) = tensor.as_ref().deleter {
                    delete(tensor.as_ptr());
                }
            },
            // SAFETY: as above.
            Self::Versioned(tensor) => unsafe {
                if let Some(delete) = tensor.as_ref().deleter {
                    delete(tensor.as_ptr());
                }
            },
        });
        // At the interpreter's end its memory goes with it.
        let _ = deleted;
    }
}

/// A tensor of another library that was taken over: where it lies, and what keeps it there.
pub(crate) struct Tensor {
    /// As DLPack numbers devices.
    pub(crate) device: (i32, i32),
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    /// In bytes.
    pub(crate) strides: Vec<isize>,
    /// Its first sample's address.
    pub(crate) start: usize,
    /// Gives the memory back when it is dropped.
    pub(crate) owner: Arc<dyn Any + Send + Sync>,
}

struct Lent {
    _owner: Arc<dyn Any + Send + Sync>,
    start: usize,
    len: usize,
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} bytes)", self.len)
    }
}

impl HostStorage for Lent {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the producer keeps the tensor's memory valid until its deleter is called, which is when this is dropped; `len`
        // ends with its last sample.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.len) }
    }
}

/// The image that a tensor of another library is, in memory of the CPU; that is taken over, not copied.
pub(crate) fn import_host(object: &Bound<'_, PyAny>, meaning: Meaning) -> PyResult<ImageBuffer> {
    let on_host = |device: (i32, i32)| device.0 == CPU.0 || device.0 == PINNED;
    if !on_host(object.call_method0("__dlpack_device__")?.extract()?) {
        let text = "a tensor in memory of another device cannot be read here; move it to the CPU first (tensor.cpu())";
        return Err(Failed::usage(text).into());
    }
    let tensor = tensor_of(object, None)?;
    if !on_host(tensor.device) {
        let text = "this tensor's capsule names another device than its __dlpack_device__";
        return Err(PyBufferError::new_err(text));
    }
    let lies = Strided { shape: &tensor.shape, strides: &tensor.strides, dtype: tensor.dtype };
    let desc = lies.desc(meaning)?;
    let Some(layout) = lies.layout(desc) else {
        let text = "this tensor's rows are not contiguous; use tensor.contiguous()";
        return Err(Failed::usage(text).into());
    };
    let lent = Lent { _owner: tensor.owner, start: tensor.start, len: layout.span() };
    Ok(ImageBuffer::from_storage(layout, Arc::new(lent), 0).map_err(Failed::from)?)
}

/// Takes a tensor over; `stream` is the one that the producer is to order before whatever we do (-1: none).
pub(crate) fn tensor_of(object: &Bound<'_, PyAny>, stream: Option<i64>) -> PyResult<Tensor> {
    let py = object.py();
    let options = PyDict::new(py);
    if let Some(stream) = stream {
        options.set_item("stream", stream)?;
    }
    options.set_item("max_version", (1, 0))?;
    let capsule = match object.call_method("__dlpack__", (), Some(&options)) {
        // Producers from before DLPack 1.0 do not know the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            options.del_item("max_version")?;
            object.call_method("__dlpack__", (), Some(&options))?
        }
        other => other?,
    };
    // From here on it is given back whatever happens.
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
    let offset = usize::try_from(tensor.byte_offset).unwrap_or_default();
    let start = tensor.data.cast::<u8>().wrapping_add(offset) as usize;
    // SAFETY: a tensor has `ndim` numbers at `shape` and, unless that is null, at `strides`.
    let (shape, strides) = unsafe {
        let numbers = |at: *mut i64| std::slice::from_raw_parts(at, ndim).to_vec();
        let strides = (ndim > 0 && !tensor.strides.is_null()).then(|| numbers(tensor.strides));
        (if ndim == 0 { Vec::new() } else { numbers(tensor.shape) }, strides)
    };
    let device = tensor.device.into();
    let Some(dtype) = dtype else {
        let text = "this tensor's samples are none of uint8, uint16, int16, int32, float16 and float32; convert it first";
        return Err(Failed::usage(text).into());
    };
    let shape: Vec<usize> = shape.into_iter().map(|side| usize::try_from(side).unwrap_or(0)).collect();
    let strides = match strides {
        Some(strides) => {
            let size = dtype.size() as isize;
            strides.into_iter().map(|samples| isize::try_from(samples).unwrap_or_default() * size).collect()
        }
        None => packed(&shape, dtype),
    };
    Ok(Tensor { device, dtype, shape, strides, start, owner: Arc::new(taken) })
}

/// The strides, in bytes, of samples without padding: what an axis steps over is all that the axes behind it hold.
pub(crate) fn packed(shape: &[usize], dtype: DType) -> Vec<isize> {
    let behind = |axis: usize| shape[axis + 1..].iter().product::<usize>() * dtype.size();
    (0..shape.len()).map(|axis| behind(axis) as isize).collect()
}

/// Takes the tensor out of its capsule: from then on it is ours to delete.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Taken> {
    // Without the GIL two threads that were given one capsule would both find it under its first name.
    with_critical_section(capsule, || {
        // SAFETY: `capsule` is an object and the thread is attached; every function here says by an error when it is no such capsule.
        // Under these names it holds such a struct (DLPack's protocol), which renaming takes over; nobody renames it in between.
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
    })
}

/// Memory of a GPU that another library lends, for the engine to read in place.
pub(crate) fn memory_of(start: usize, len: usize, owner: Arc<dyn Any + Send + Sync>) -> BorrowedMemory {
    // SAFETY: the producer says (DLPack, the CUDA array interface) that there is memory of its GPU until `owner` is dropped, and
    // libraries of a process share the GPU's primary context. What writes there is ordered before: every run over it comes
    // after an event recorded on the stream that the producer named or was given (`gpu::Orders`). The documentation forbids
    // to write there before a run over it has ended in any other order than that.
    unsafe { BorrowedMemory::new(start as u64, len, owner) }
}

/// A stream that another library names by its handle.
pub(crate) fn stream_of(handle: u64, owner: Arc<dyn Any + Send + Sync>) -> BorrowedStream {
    // SAFETY: it is 1 or 2, which are streams at all times; or the one that a library has just named, as its current one or as
    // that of a tensor, used before that call returns; or a consumer's (`gpu::Consumer`), which DLPack requires to be one while
    // the tensor lives, and whose object is the owner where we know it.
    unsafe { BorrowedStream::new(handle, owner) }
}
