use std::path::PathBuf;

/// How a device is opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CudaOptions {
    /// Where compiled kernels are kept; `None` for the folder that `MIP_CACHE_DIR` names, or the platform's.
    pub cache_folder: Option<PathBuf>,
    /// Wait for every launch: slow, but a fault is attributed to the kernel that caused it. `MIP_CUDA_SYNC`
    /// set to something other than `0` turns it on as well.
    pub synchronous: bool,
    /// Compile kernels so that asynchronous copies of fewer bytes than 16 are loads of single bytes: slower, the same
    /// results. For memory checkers that take such a copy for one of 16 bytes (`compute-sanitizer --tool initcheck` of
    /// CUDA 13.0 does). `MIP_EXACT_COPIES` set to something other than `0` turns it on as well.
    pub exact_copies: bool,
    /// Threads that copy pageable images into pinned memory; `None` for as many as the machine has cores, at most 12.
    /// Images in pinned memory need none.
    pub upload_threads: Option<usize>,
}

impl CudaOptions {
    /// These options and what the environment adds.
    pub(super) fn with_environment(self) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
        Self {
            synchronous: self.synchronous || is_set("MIP_CUDA_SYNC"),
            exact_copies: self.exact_copies || is_set("MIP_EXACT_COPIES"),
            ..self
        }
    }
}
