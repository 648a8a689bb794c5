use std::path::PathBuf;

/// How a device is opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CudaOptions {
    /// Where compiled kernels are kept; `None` for the folder that `MIP_CACHE_DIR` names, or the platform's.
    pub cache_folder: Option<PathBuf>,
    /// Wait for every launch: slow, but a fault is put down to the kernel that caused it. `MIP_CUDA_SYNC` set to
    /// something other than `0` turns it on as well.
    pub synchronous: bool,
    /// Threads that copy pageable images into pinned memory; `None` for as many as the machine has cores, at most 12.
    /// Images in pinned memory need none.
    pub upload_threads: Option<usize>,
}

impl CudaOptions {
    /// These options and what the environment adds.
    pub(super) fn with_environment(self) -> Self {
        let variable = std::env::var_os("MIP_CUDA_SYNC").is_some_and(|v| !v.is_empty() && v != "0");
        Self { synchronous: self.synchronous || variable, ..self }
    }
}
