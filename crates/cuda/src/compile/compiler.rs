use super::KernelCache;
use crate::codegen::without_comments;
use crate::driver;

/// Compiles for one architecture, through a cache.
#[derive(Debug)]
pub(crate) struct Compiler {
    cache: KernelCache,
    options: Vec<String>,
    version: (u32, u32),
}

impl Compiler {
    /// A compiler for a compute capability, with macros to define. NVRTC must be present.
    ///
    /// # Errors
    /// When NVRTC does not answer.
    pub(crate) fn new(cache: KernelCache, capability: (u32, u32), macros: &[&str]) -> Result<Self, String> {
        let version = driver::nvrtc_version()?;
        let macros = macros.iter().map(|name| format!("--define-macro={name}"));
        let options = options(capability).into_iter().chain(macros).collect();
        Ok(Self { cache, options, version })
    }

    /// NVRTC's version.
    pub(crate) const fn version(&self) -> (u32, u32) {
        self.version
    }

    pub(crate) const fn cache(&self) -> &KernelCache {
        &self.cache
    }

    /// Machine code for a source.
    ///
    /// # Errors
    /// NVRTC's log.
    pub(crate) fn cubin(&self, source: &str) -> Result<Vec<u8>, String> {
        let key = self.key(source);
        if let Some(cubin) = self.cache.get(&key) {
            return Ok(cubin);
        }
        let cubin = self.compile(source)?;
        self.cache.put(&key, &cubin);
        Ok(cubin)
    }

    /// The same without looking into the cache, for an entry the driver refused.
    ///
    /// # Errors
    /// NVRTC's log.
    pub(crate) fn fresh_cubin(&self, source: &str) -> Result<Vec<u8>, String> {
        let cubin = self.compile(source)?;
        self.cache.put(&self.key(source), &cubin);
        Ok(cubin)
    }

    fn key(&self, source: &str) -> String {
        let (code, (major, minor)) = (without_comments(source), self.version);
        KernelCache::key(&[&code, &self.options.join(" "), &format!("{major}.{minor}")])
    }

    fn compile(&self, source: &str) -> Result<Vec<u8>, String> {
        driver::compile(source, &self.options).map(|compiled| compiled.cubin)
    }
}

/// Options for exact results: nothing is contracted, flushed or approximated unless the source says so.
pub(crate) fn options((major, minor): (u32, u32)) -> Vec<String> {
    let fixed = ["--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"];
    std::iter::once(format!("--gpu-architecture=sm_{major}{minor}")).chain(fixed.map(str::to_owned)).collect()
}
