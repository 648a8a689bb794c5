//! Whether the driver and NVRTC are there, with every function that is called: calling one that is missing panics.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::environment;

/// Folder to look for NVRTC in, before anywhere else.
pub(crate) const NVRTC_VARIABLE: &str = "MIP_NVRTC_LIB";

/// Functions that the driver is asked its version by.
pub(crate) const FIRST_FUNCTIONS: &[&str] = &["cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"];

/// All other functions of the driver that are called; each is in drivers of CUDA 12.0.
pub(crate) const FUNCTIONS: &[&str] = &[
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxReset_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuGraphAddEventRecordNode",
    "cuGraphAddKernelNode_v2",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAllocFromPoolAsync",
    "cuMemAlloc_v2",
    "cuMemFreeAsync",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostGetDevicePointer_v2",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuPointerGetAttributes",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuStreamWriteValue32_v2",
];

/// Functions of newer drivers, asked for where they are called.
pub(crate) const NEWER_FUNCTIONS: &[&str] = &["cuEventElapsedTime_v2"];

/// The functions of NVRTC that are called.
const NVRTC_FUNCTIONS: &[&str] = &[
    "nvrtcCompileProgram",
    "nvrtcCreateProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetCUBIN",
    "nvrtcGetCUBINSize",
    "nvrtcGetErrorString",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
    "nvrtcVersion",
];

/// Whether the CUDA driver's library can be loaded.
pub(crate) fn driver_is_present() -> bool {
    // SAFETY: loads libcuda and runs its initialisers, which have no preconditions.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

/// The first of some functions that the driver's library, which must be present, does not have.
pub(crate) fn driver_lacks(functions: &[&'static str]) -> Option<&'static str> {
    // SAFETY: the library is present; this is the handle that calls go through.
    lacking(unsafe { cudarc::driver::sys::culib() }, functions)
}

fn lacking(library: &Library, functions: &[&'static str]) -> Option<&'static str> {
    let there = |name: &str| {
        // SAFETY: the symbol is looked for, and never called or read as anything.
        unsafe { library.get::<unsafe extern "C" fn()>(name) }.is_ok()
    };
    functions.iter().find(|name| !there(name)).copied()
}

/// Looks for NVRTC: in the folder that `MIP_NVRTC_LIB` names, where the system looks, and where toolkits are installed.
///
/// Looks once. A library found in a folder stays loaded, so that loading it by name finds it.
///
/// # Errors
/// That it is not there, or is something else of that name.
pub(crate) fn nvrtc() -> Result<(), String> {
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    FOUND.get_or_init(find_nvrtc).clone()
}

fn find_nvrtc() -> Result<(), String> {
    let named = environment::path(NVRTC_VARIABLE)?;
    let mut ignored = Vec::new();
    let mut toolkits = Vec::new();
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        match environment::path(variable) {
            Ok(folder) => toolkits.extend(folder),
            Err(reason) => ignored.push(reason),
        }
    }
    toolkits.push(PathBuf::from("/usr/local/cuda"));
    let found = named.is_some_and(|folder| preload(&folder))
        || nvrtc_is_present()
        || toolkits.iter().any(|toolkit| preload(&toolkit.join("lib64")));
    if !found {
        let problem = "the CUDA compiler library (libnvrtc) is not installed".to_owned();
        return Err(std::iter::once(problem).chain(ignored).collect::<Vec<_>>().join("; "));
    }
    // SAFETY: the library is present; this is the handle that calls go through.
    match lacking(unsafe { cudarc::nvrtc::sys::culib() }, NVRTC_FUNCTIONS) {
        Some(function) => {
            Err(format!("the CUDA compiler library (libnvrtc) that was found has no function {function}"))
        }
        None => Ok(()),
    }
}

fn nvrtc_is_present() -> bool {
    // SAFETY: loads libnvrtc and runs its initialisers, which have no preconditions.
    unsafe { cudarc::nvrtc::sys::is_culib_present() }
}

/// Loads NVRTC and the library of built-ins that it opens by name from a folder; whether that made it available.
fn preload(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    for prefix in ["libnvrtc-builtins.so", "libnvrtc.so"] {
        let matching =
            files.iter().filter(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix)));
        for file in matching {
            // SAFETY: loads a library named like NVRTC from a folder the user or the toolkit's installer
            // named; its initialisers have no preconditions.
            if let Ok(library) = unsafe { Library::new(file) } {
                std::mem::forget(library); // stays for as long as the process
                break;
            }
        }
    }
    nvrtc_is_present()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Words of this folder's sources that name a function of the driver or of NVRTC.
    fn called() -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/driver");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("library.rs") {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                let rest = word.strip_prefix("cu").or_else(|| word.strip_prefix("nvrtc"));
                if rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase())) {
                    names.insert(word.to_owned());
                }
            }
        }
        for types in ["nvrtcProgram", "nvrtcResult"] {
            names.remove(types);
        }
        names
    }

    #[test]
    fn every_function_called_is_looked_for() {
        let lists = [FIRST_FUNCTIONS, FUNCTIONS, NEWER_FUNCTIONS, NVRTC_FUNCTIONS];
        let listed: BTreeSet<String> = lists.concat().into_iter().map(str::to_owned).collect();
        // Errors name a function as its documentation does, without the version that is called.
        let named: BTreeSet<String> = called();
        let called = named.into_iter().filter(|name| !listed.contains(&format!("{name}_v2")));
        assert_eq!(called.collect::<BTreeSet<_>>(), listed);
    }
}
