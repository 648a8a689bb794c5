//! nvJPEG's library, looked for when a program runs.

use std::ffi::{OsString, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cudarc::driver::sys::CUstream;
use libloading::Library;

use crate::environment;

/// Folder to look for nvJPEG in, before anywhere else.
pub(crate) const NVJPEG_VARIABLE: &str = "MIP_NVJPEG_LIB";

/// Major versions that are known, newest first.
const MAJORS: [u32; 3] = [13, 12, 11];

/// `nvjpegStatus_t`.
pub(super) type Status = c_int;

/// Where a picture is decoded to (`nvjpegImage_t`): interleaved formats use the first plane.
#[repr(C)]
pub(super) struct Planes {
    pub(super) channel: [*mut u8; 4],
    pub(super) pitch: [usize; 4],
}

/// A handle, a state or a parsed header of nvJPEG's.
pub(super) type Opaque = *mut c_void;

functions! {
    get_property = nvjpegGetProperty(c_int, *mut c_int);
    create = nvjpegCreateEx(c_int, *const c_void, *const c_void, c_uint, *mut Opaque);
    destroy = nvjpegDestroy(Opaque);
    create_state = nvjpegJpegStateCreate(Opaque, *mut Opaque);
    destroy_state = nvjpegJpegStateDestroy(Opaque);
    create_header = nvjpegJpegStreamCreate(Opaque, *mut Opaque);
    destroy_header = nvjpegJpegStreamDestroy(Opaque);
    parse_header = nvjpegJpegStreamParseHeader(Opaque, *const u8, usize, Opaque);
    image_info = nvjpegGetImageInfo(Opaque, *const u8, usize, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
    decode = nvjpegDecode(Opaque, Opaque, *const u8, usize, c_int, *mut Planes, CUstream);
    batch_supported = nvjpegDecodeBatchedSupported(Opaque, Opaque, *mut c_int);
    batch_initialise = nvjpegDecodeBatchedInitialize(Opaque, Opaque, c_int, c_int, c_int);
    batch_decode = nvjpegDecodeBatched(Opaque, Opaque, *const *const u8, *const usize, *mut Planes, CUstream);
}

/// nvJPEG, loaded.
#[derive(Debug)]
pub(crate) struct Nvjpeg {
    pub(super) functions: Functions,
    /// Major, minor and patch: (13, 3, 2).
    pub(crate) version: (u32, u32, u32),
    /// Kept loaded for the functions.
    _library: Library,
}

impl Nvjpeg {
    /// nvJPEG, of a version for a driver of that major version of CUDA or an older one: in the folder that
    /// `MIP_NVJPEG_LIB` names, where the system looks, and where toolkits are installed. Looks once.
    ///
    /// # Errors
    /// That it is not there, or is something else of that name.
    pub(crate) fn get(driver_major: u32) -> Result<&'static Self, String> {
        static FOUND: OnceLock<Result<Nvjpeg, String>> = OnceLock::new();
        FOUND.get_or_init(|| Self::find(driver_major)).as_ref().map_err(Clone::clone)
    }

    fn find(driver_major: u32) -> Result<Self, String> {
        let named = environment::path(NVJPEG_VARIABLE)?;
        let mut ignored = Vec::new();
        let mut toolkits = Vec::new();
        for variable in ["CUDA_HOME", "CUDA_PATH"] {
            match environment::path(variable) {
                Ok(folder) => toolkits.extend(folder),
                Err(reason) => ignored.push(reason),
            }
        }
        toolkits.push(PathBuf::from("/usr/local/cuda"));
        let names = names(driver_major);
        let folders = named.into_iter().map(Some).chain([None]);
        let folders = folders.chain(toolkits.iter().map(|toolkit| Some(toolkit.join("lib64"))));
        for folder in folders {
            if let Some(library) = load(folder.as_deref(), &names) {
                return Self::of(library);
            }
        }
        let problem = "the JPEG library of CUDA (libnvjpeg) is not installed".to_owned();
        Err(std::iter::once(problem).chain(ignored).collect::<Vec<_>>().join("; "))
    }

    fn of(library: Library) -> Result<Self, String> {
        let functions = Functions::of(&library).map_err(|name| {
            format!("the JPEG library of CUDA (libnvjpeg) that was found has no function {name}")
        })?;
        let property = |which| {
            let mut value = 0;
            // SAFETY: writes one integer.
            let status = unsafe { (functions.get_property)(which, &raw mut value) };
            u32::try_from(value).ok().filter(|_| status == 0)
        };
        // The numbers of `libraryPropertyType`.
        let version = (|| Some((property(0)?, property(1)?, property(2)?)))();
        let version =
            version.ok_or("the JPEG library of CUDA (libnvjpeg) that was found does not say its version")?;
        Ok(Self { functions, version, _library: library })
    }
}

/// File names, those of the newest version that the driver runs first.
fn names(driver_major: u32) -> Vec<String> {
    let fitting = MAJORS.iter().filter(|major| **major <= driver_major);
    fitting.map(|major| format!("libnvjpeg.so.{major}")).chain(["libnvjpeg.so".to_owned()]).collect()
}

/// The first library of those names in a folder, or where the system looks.
fn load(folder: Option<&Path>, names: &[String]) -> Option<Library> {
    names.iter().find_map(|name| {
        let file = folder.map_or_else(|| OsString::from(name), |folder| folder.join(name).into_os_string());
        // SAFETY: loads a library of nvJPEG's name from where the system, the user or the toolkit's installer put
        // it; its initialisers have no preconditions.
        unsafe { Library::new(file) }.ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_newer_than_the_driver_are_not_loaded() {
        assert_eq!(names(12), ["libnvjpeg.so.12", "libnvjpeg.so.11", "libnvjpeg.so"]);
        assert_eq!(names(14).len(), 4);
        assert_eq!(names(0), ["libnvjpeg.so"]);
    }
}
