use std::ffi::{CStr, CString, c_char};

use cudarc::nvrtc::sys::{self, nvrtcResult};

/// What NVRTC made of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compiled {
    /// Machine code.
    pub cubin: Vec<u8>,
    /// Warnings, and what was asked for with `--ptxas-options=-v`.
    pub log: String,
}

/// NVRTC's version: (13, 0).
pub(crate) fn nvrtc_version() -> Result<(u32, u32), String> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two integers.
    check("nvrtcVersion", unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) })?;
    Ok((major as u32, minor as u32))
}

fn check(call: &str, result: nvrtcResult) -> Result<(), String> {
    if result == nvrtcResult::NVRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: returns a static string for every code.
    let text = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(result)) };
    Err(format!("{call} failed: {}", text.to_string_lossy()))
}

/// A program of NVRTC's, destroyed when dropped.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created in `compile`, destroyed once.
        unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}

impl Program {
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program lives; writes one size.
        if unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut size) } != nvrtcResult::NVRTC_SUCCESS {
            return String::new();
        }
        let mut text = vec![0_u8; size];
        // SAFETY: the buffer has the size just asked for.
        unsafe { sys::nvrtcGetProgramLog(self.0, text.as_mut_ptr().cast::<c_char>()) };
        String::from_utf8_lossy(&text).trim_end_matches('\0').trim().to_owned()
    }

    fn cubin(&self) -> Result<Vec<u8>, String> {
        let mut size = 0;
        // SAFETY: the program lives and was compiled; writes one size.
        check("nvrtcGetCUBINSize", unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut size) })?;
        let mut cubin = vec![0_u8; size];
        // SAFETY: the buffer has the size just asked for.
        check("nvrtcGetCUBIN", unsafe { sys::nvrtcGetCUBIN(self.0, cubin.as_mut_ptr().cast::<c_char>()) })?;
        Ok(cubin)
    }
}

/// Compiles CUDA C++ to machine code. `options` name a real architecture (`--gpu-architecture=sm_90`).
///
/// # Errors
/// The compiler's log.
pub(crate) fn compile(source: &str, options: &[String]) -> Result<Compiled, String> {
    let zero = |_| "the source holds a zero byte".to_owned();
    let source = CString::new(source).map_err(zero)?;
    let options = options.iter().map(|o| CString::new(o.as_str()).map_err(zero));
    let options = options.collect::<Result<Vec<_>, _>>()?;
    let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
    let mut raw = std::ptr::null_mut();
    // SAFETY: writes one handle; source and name end in zeros and are copied; no headers are given.
    let created = unsafe {
        sys::nvrtcCreateProgram(
            &raw mut raw,
            source.as_ptr(),
            c"group.cu".as_ptr(),
            0,
            std::ptr::null(),
            std::ptr::null(),
        )
    };
    check("nvrtcCreateProgram", created)?;
    let program = Program(raw);
    // SAFETY: the program lives; the options are as many as said and end in zeros.
    let result = unsafe { sys::nvrtcCompileProgram(program.0, pointers.len() as i32, pointers.as_ptr()) };
    let log = program.log();
    check("nvrtcCompileProgram", result).map_err(|error| format!("{error}\n{log}"))?;
    Ok(Compiled { cubin: program.cubin()?, log })
}
