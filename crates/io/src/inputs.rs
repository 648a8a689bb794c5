use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mip_core::faults::{self, Fault};
use mip_core::text;

use crate::{FileFormat, IoError, format, natural, pattern};

/// Turns files, folders and glob patterns into a list of files.
///
/// * A file stands for itself, also when its name contains `*`, `?` or `[`.
/// * A folder stands for the files directly in it whose extension names a format that is read (case does not matter).
/// * `-` is stdin; a file of that name is `./-`.
/// * Anything else is a glob (`*`, `?`, `[a-z]`, `**`); it gives the files it matches, hidden ones left out. Names need
///   not be UTF-8: `?` stands for a character, or for a byte that is part of none.
///
/// Files of a folder or glob come in natural order (`frame9` before `frame10`); arguments keep theirs. A name
/// given twice is taken once, at its first place; two names (links) of one file are two.
///
/// # Errors
/// [`IoError::NoInput`] when an argument gives no file or a folder cannot be listed.
pub fn expand_inputs<P: AsRef<Path>>(patterns: &[P]) -> Result<Vec<PathBuf>, IoError> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for pattern in patterns {
        for file in expand(pattern.as_ref())? {
            if seen.insert(name_of(&file)) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// The name of a file, however its folder is spelled.
fn name_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match (folder.map(fs::canonicalize), file.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        (None, Some(name)) if !is_stdin(file) => {
            fs::canonicalize(".").map_or_else(|_| file.to_owned(), |folder| folder.join(name))
        }
        _ => file.to_owned(),
    }
}

/// Whether a path stands for the stdin of this process: `-`, or the system's names for it.
pub fn is_stdin(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}

/// Opens a file for reading; `-` (and the system's names for it) is this process's stdin, read from where it stands.
///
/// # Errors
/// What the operating system says.
pub fn open_input(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    faults::check(Fault::Read)?;
    let input: Box<dyn Read + Send> =
        if is_stdin(path) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    Ok(if cfg!(debug_assertions) { Box::new(Watched(input)) } else { input })
}

/// Lets tests have a read fail.
struct Watched<R>(R);

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        faults::check(Fault::Read)?;
        self.0.read(buffer)
    }
}

/// How a file is called in messages.
pub fn input_name(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { text::quoted_path(path) }
}

fn expand(pattern: &Path) -> Result<Vec<PathBuf>, IoError> {
    let no_input = |reason: String| IoError::NoInput { pattern: text::quoted_path(pattern), reason };
    if is_stdin(pattern) {
        return Ok(vec![pattern.to_owned()]);
    }
    let mut files = if pattern.is_dir() {
        let files =
            images_in(pattern).map_err(|e| no_input(format!("is a folder that cannot be listed: {e}")))?;
        if files.is_empty() {
            let names: Vec<String> = format::extensions(false).map(|e| format!(".{e}")).collect();
            return Err(no_input(format!("is a folder without {} files", format::listed(&names, "or"))));
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

/// Whether a path that was found is to be read: folders, pipes and devices are not meant by a folder or a glob. What
/// cannot be looked at (a link that leads nowhere) is: reading it says so, and it is not left out in silence.
pub(crate) fn may_be_file(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

fn images_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().map(OsStr::to_string_lossy);
        let format = extension.and_then(|e| FileFormat::from_extension(&e));
        let is_image = format.is_some_and(|format| format.missing_feature().is_none());
        let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        if is_image && !hidden && may_be_file(&path) {
            files.push(path);
        }
    }
    Ok(files)
}
