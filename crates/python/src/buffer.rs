//! The buffer protocol both ways: memory that an array lends, and an [`Image`] as NumPy takes it over without asking for anything
//! else. <https://docs.python.org/3/c-api/buffer.html>

use std::ffi::{CStr, c_int, c_void};
use std::fmt;
use std::ptr::{NonNull, null_mut};

use mini_image_pipe::types::HostStorage;
use mini_image_pipe::{BatchLayout, DType};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

use crate::image::{Image, strided};

/// Memory that a Python object lends for as long as this lives.
pub(crate) struct Lent {
    /// A view, which keeps the object from moving or freeing its memory; gone when this is dropped.
    view: Option<Py<PyMemoryView>>,
    start: usize,
    len: usize,
}

impl Lent {
    /// `len` bytes from `start` on of the memory that `view` shows.
    pub(crate) const fn new(view: Py<PyMemoryView>, start: usize, len: usize) -> Self {
        Self { view: Some(view), start, len }
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} bytes)", self.len)
    }
}

impl HostStorage for Lent {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the view's exporter keeps `len` bytes from `start` valid while the view is there (PEP 3118), and `len` ends with
        // the last of its samples. That nobody writes there meanwhile is for the caller to see to, as for every function
        // of NumPy or OpenCV that lets go of the GIL: the documentation says so.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.len) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Not attached it is noted, and given back by whoever attaches next: a thread of the engine, which often is the last to hold
        // an image, neither waits for the interpreter nor takes it away from the caller.
        self.view = None;
        // SAFETY: all three may be called on any thread, attached or not, and `give_back` takes no argument.
        unsafe {
            if ffi::PyGILState_GetThisThreadState().is_null() && ffi::Py_IsInitialized() != 0 {
                // Where nobody attaches any more, the interpreter does. If its list of such calls is full, others do so soon.
                ffi::Py_AddPendingCall(Some(give_back), null_mut());
            }
        }
    }
}

/// Gives back what was noted: attaching does.
extern "C" fn give_back(_: *mut c_void) -> c_int {
    // At the interpreter's end there is nothing to give back to.
    Python::try_attach(|_| 0).unwrap_or_default()
}

/// Shape and strides in bytes where a view of the buffer protocol can point to them: inside an image, which stays where it is
/// while a view holds it.
#[derive(Debug)]
pub(crate) struct Axes {
    shape: [isize; 3],
    strides: [isize; 3],
    count: c_int,
}

impl Axes {
    pub(crate) fn of(layout: &BatchLayout) -> Self {
        let (shape, strides) = strided(layout);
        let fixed = |numbers: &[usize]| {
            let mut fixed = [0; 3];
            for (to, from) in fixed.iter_mut().zip(numbers) {
                *to = *from as isize;
            }
            fixed
        };
        // Two or three.
        let count = c_int::try_from(shape.len()).unwrap_or_default();
        Self { shape: fixed(&shape), strides: fixed(&strides), count }
    }
}

/// The samples' type as the module `struct` writes it.
const fn format(dtype: DType) -> &'static CStr {
    match dtype {
        DType::U8 => c"B",
        DType::U16 => c"H",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::F16 => c"e",
        DType::F32 => c"f",
    }
}

/// Fills in a view of an image, as `flags` ask for.
///
/// # Safety
/// `view` is null or points to a `Py_buffer` that may be written, as Python hands it to `bf_getbuffer`.
pub(crate) unsafe fn lend(image: Bound<'_, Image>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
    let Some(view) = NonNull::new(view) else {
        return Err(PyBufferError::new_err("there is no view to be filled in"));
    };
    let asks_for = |flag: c_int| flags & flag == flag;
    let this = image.get();
    let desc = this.buffer().desc();
    let is_tight = this.buffer().layout().is_tight();
    let refused = if asks_for(ffi::PyBUF_WRITABLE) && !this.is_writable() {
        Some("this image is read-only: numpy.array(image) copies it")
    } else if asks_for(ffi::PyBUF_F_CONTIGUOUS) {
        Some("the rows of this image lie behind each other, not its columns")
    } else if !is_tight
        && (!asks_for(ffi::PyBUF_STRIDES)
            || asks_for(ffi::PyBUF_C_CONTIGUOUS)
            || asks_for(ffi::PyBUF_ANY_CONTIGUOUS))
    {
        Some("the rows of this image have gaps between them: numpy.ascontiguousarray(image) copies it")
    } else {
        None
    };
    let axes = this.axes();
    let size = desc.dtype().size() as isize;
    let filled = ffi::Py_buffer {
        buf: this.start() as *mut _,
        obj: null_mut(),
        len: desc.bytes() as isize,
        itemsize: size,
        readonly: c_int::from(!this.is_writable()),
        ndim: axes.count,
        format: if asks_for(ffi::PyBUF_FORMAT) {
            format(desc.dtype()).as_ptr().cast_mut()
        } else {
            null_mut()
        },
        // Nobody writes to these, though the protocol's pointers could.
        shape: if asks_for(ffi::PyBUF_ND) { axes.shape.as_ptr().cast_mut() } else { null_mut() },
        strides: if asks_for(ffi::PyBUF_STRIDES) { axes.strides.as_ptr().cast_mut() } else { null_mut() },
        ..ffi::Py_buffer::new()
    };
    // SAFETY: by the contract `view` may be written. What `filled` points to is in the image, a frozen object that does not move and that
    // the view holds from here on by `obj`, or is static. Where the view is refused `obj` is null, as the protocol asks.
    unsafe {
        view.write(filled);
        if let Some(text) = refused {
            return Err(PyBufferError::new_err(text));
        }
        (*view.as_ptr()).obj = image.into_ptr();
    }
    Ok(())
}
