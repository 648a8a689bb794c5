/// How the CPU device works. No setting changes a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuConfig {
    /// Threads that share the work of a group, at least 1; `None` takes as many as the machine has cores.
    pub threads: Option<usize>,
    /// Instructions to use.
    pub simd: SimdLevel,
    /// Whether branches of a plan that need the same program share a group, as on a GPU. Here nothing is
    /// gained by it: it is for looking at what a GPU will do, and for tests.
    pub horizontal_fusion: bool,
}

/// Which instructions kernels use. All give the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SimdLevel {
    /// What every machine of this architecture has.
    Portable,
    /// The best that this machine offers, found at run time.
    #[default]
    Native,
}
