use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use mip_core::text;

use crate::{FileFormat, IoError, natural, pattern};

/// Turns files, folders and glob patterns into a list of files.
///
/// * A file stands for itself, also when its name contains `*`, `?` or `[`.
/// * A folder stands for the `.png`, `.jpg` and `.jpeg` files directly in it (case does not matter).
/// * Anything else is a glob (`*`, `?`, `[a-z]`, `**`); it gives the files it matches, hidden ones left out. Names need
///   not be UTF-8: `?` stands for a character, or for a byte that is part of none.
///
/// Files of a folder or glob come in natural order (`frame9` before `frame10`); arguments keep theirs. A file
/// named twice is taken once, at its first place.
///
/// # Errors
/// [`IoError::NoInput`] when an argument gives no file or a folder cannot be listed.
pub fn expand_inputs<P: AsRef<Path>>(patterns: &[P]) -> Result<Vec<PathBuf>, IoError> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for pattern in patterns {
        for file in expand(pattern.as_ref())? {
            let identity = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
            if seen.insert(identity) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn expand(pattern: &Path) -> Result<Vec<PathBuf>, IoError> {
    let no_input = |reason: String| IoError::NoInput { pattern: text::quoted_path(pattern), reason };
    let mut files = if pattern.is_dir() {
        let files =
            images_in(pattern).map_err(|e| no_input(format!("is a folder that cannot be listed: {e}")))?;
        if files.is_empty() {
            return Err(no_input("is a folder without .png, .jpg or .jpeg files".into()));
        }
        files
    } else if fs::symlink_metadata(pattern).is_ok() {
        return Ok(vec![pattern.to_owned()]);
    } else {
        pattern::matches(pattern).map_err(no_input)?
    };
    files.sort_by(|a, b| natural::compare(&text::path(a), &text::path(b)));
    Ok(files)
}

fn images_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let is_image = extension.is_some_and(|e| FileFormat::EXTENSIONS.contains(&e.as_str()));
        let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        if is_image && !hidden && path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}
