//! Whether the driver and NVRTC are there.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

/// Folder to look for NVRTC in, before anywhere else.
pub(crate) const NVRTC_VARIABLE: &str = "MIP_NVRTC_LIB";

/// Whether the CUDA driver's library can be loaded.
pub(crate) fn driver_is_present() -> bool {
    // SAFETY: loads libcuda and runs its initialisers, which have no preconditions.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

/// Whether NVRTC can be loaded: from `MIP_NVRTC_LIB`, where the system looks, or where toolkits are installed.
///
/// Looks once. A library found in a folder stays loaded, so that loading it by name finds it.
pub(crate) fn nvrtc_is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        if let Some(folder) = std::env::var_os(NVRTC_VARIABLE)
            && preload(Path::new(&folder))
        {
            return true;
        }
        // SAFETY: loads libnvrtc and runs its initialisers, which have no preconditions.
        if unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return true;
        }
        let toolkits =
            ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|name| std::env::var_os(name).map(PathBuf::from));
        toolkits.chain([PathBuf::from("/usr/local/cuda")]).any(|toolkit| preload(&toolkit.join("lib64")))
    })
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
    // SAFETY: as above.
    unsafe { cudarc::nvrtc::sys::is_culib_present() }
}
