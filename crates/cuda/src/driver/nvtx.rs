//! NVTX: names for what a thread does, shown by NVIDIA's profilers. Used where its library is, and not missed elsewhere.

use std::ffi::{CString, OsStr, c_char, c_int};
use std::sync::OnceLock;

use libloading::Library;

use crate::environment;

/// A library to take instead of those looked for: a file's whole path.
const VARIABLE: &str = "MIP_NVTX_LIB";

/// Version 3 as CUDA 12 and 13 have it for programs that do not compile its headers, then version 2 of older ones;
/// by name, then where toolkits are installed.
const NAMES: [&str; 4] = [
    "libnvtx3interop.so.1",
    "libnvToolsExt.so.1",
    "/usr/local/cuda/lib64/libnvtx3interop.so.1",
    "/usr/local/cuda/lib64/libnvToolsExt.so.1",
];

/// The calls used.
#[derive(Debug)]
pub(crate) struct Nvtx {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    /// Kept loaded for the calls.
    _library: Library,
}

impl Nvtx {
    /// NVTX, if its library is there. Looks once.
    pub(crate) fn get() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Nvtx>> = OnceLock::new();
        FOUND
            .get_or_init(|| match environment::path(VARIABLE) {
                Ok(Some(file)) => Self::load(file.as_os_str()),
                Ok(None) => NAMES.iter().find_map(|name| Self::load(OsStr::new(name))),
                // Ranges are for profilers only; nobody misses a wrong library.
                Err(_) => None,
            })
            .as_ref()
    }

    fn load(name: &OsStr) -> Option<Self> {
        // SAFETY: a library of NVTX's name, or one that the user named for it; its initialisers have no preconditions.
        let library = unsafe { Library::new(name) }.ok()?;
        // SAFETY: the types are those of NVTX's C interface, the same in versions 2 and 3; the calls are dropped with
        // the library.
        unsafe {
            let push =
                *library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(c"nvtxRangePushA").ok()?;
            let pop = *library.get::<unsafe extern "C" fn() -> c_int>(c"nvtxRangePop").ok()?;
            Some(Self { push, pop, _library: library })
        }
    }

    /// A range begins on the calling thread.
    pub(crate) fn push(&self, name: &str) {
        let name = CString::new(name.replace('\0', "")).unwrap_or_default();
        // SAFETY: the text ends in a zero and is copied, if anybody listens, before the call returns.
        let _depth = unsafe { (self.push)(name.as_ptr()) };
    }

    /// The range begun last on the calling thread ends; with none begun, the library says so and does nothing.
    pub(crate) fn pop(&self) {
        // SAFETY: no preconditions.
        let _depth = unsafe { (self.pop)() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_or_is_another_is_none() {
        assert!(Nvtx::load(OsStr::new("libnvtx-of-no-machine.so.9")).is_none());
        assert!(Nvtx::load(OsStr::new("libc.so.6")).is_none());
    }

    /// On machines without the library the calls are not made, which is what the others do too.
    #[test]
    fn ranges_are_pushed_and_popped_where_the_library_is() {
        let found = Nvtx::get();
        if let Some(nvtx) = found {
            nvtx.push("a name with a \0 inside");
            nvtx.pop();
        }
        assert_eq!(found.is_some(), Nvtx::get().is_some(), "looked for once");
    }
}
