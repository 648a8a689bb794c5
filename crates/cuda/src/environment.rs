//! Paths that the environment names.
//!
//! A path that is not absolute means another place in every folder that a program is started in: whoever can write
//! there would choose the library that is loaded, or the machine code that runs. So only absolute ones count.

use std::ffi::OsString;
use std::path::PathBuf;

use mip_core::text::quoted_path;

/// A folder or file that a variable of the environment names; `None` where it is not set, or empty.
///
/// # Errors
/// What is wrong with a path that is not absolute, naming the variable.
pub(crate) fn path(variable: &str) -> Result<Option<PathBuf>, String> {
    absolute(variable, std::env::var_os(variable))
}

fn absolute(variable: &str, value: Option<OsString>) -> Result<Option<PathBuf>, String> {
    match value.filter(|value| !value.is_empty()).map(PathBuf::from) {
        Some(path) if !path.is_absolute() => {
            Err(format!("{variable} is '{}', which is no absolute path", quoted_path(&path)))
        }
        path => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths_count() {
        let path = |value: &str| absolute("V", Some(value.into()));
        assert_eq!(absolute("V", None), Ok(None));
        assert_eq!(path(""), Ok(None));
        let whole = std::env::current_dir().unwrap();
        assert_eq!(path(whole.to_str().unwrap()), Ok(Some(whole)));
        for relative in [".", "lib64", "./a", "../a"] {
            assert!(path(relative).unwrap_err().contains("V is '"), "{relative}");
        }
    }
}
