//! DLPack both ways: <https://dmlc.github.io/dlpack/latest/c_api.html>.
//!
//! The structs are those of its header. All that is not safe about them, and about memory and streams of a GPU that other libraries
//! name by a number, is in this folder: `export` hands tensors out, `import` takes them over.

mod export;
mod import;

use std::ffi::{CStr, c_void};

use mini_image_pipe::DType;

pub(crate) use export::{Exported, export_host, hand_out};
pub(crate) use import::{Tensor, import_host, memory_of, packed, stream_of, tensor_of};

/// `kDLCPU`, device 0.
pub(crate) const CPU: (i32, i32) = (1, 0);
/// `kDLCUDA`: memory of an NVIDIA GPU.
pub(crate) const CUDA: i32 = 2;
/// `kDLCUDAManaged`: memory that moves between a GPU and the host.
pub(crate) const CUDA_MANAGED: i32 = 13;
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
struct DlTensor {
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
    tensor: DlTensor,
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
    tensor: DlTensor,
}

fn type_of(dtype: DType) -> Type {
    let (code, bits) = match dtype {
        DType::U8 => (1, 8),
        DType::U16 => (1, 16),
        DType::I16 => (0, 16),
        DType::I32 => (0, 32),
        DType::F16 => (2, 16),
        DType::F32 => (2, 32),
    };
    Type { code, bits, lanes: 1 }
}

#[allow(dead_code, reason = "says that the structs are as large as the header's, on 64 bits")]
const LAYOUT: () = {
    assert!(size_of::<DlTensor>() == 48 && size_of::<Managed>() == 64 && size_of::<ManagedVersioned>() == 80);
};
