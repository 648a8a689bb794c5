//! Files that a glob pattern matches.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};

use crate::inputs::may_be_file;

/// Stands for byte 0 where a name is not UTF-8; byte N is this plus N. Unicode gives these code points (the second private
/// plane) no meaning, so that no name of a file is expected to have them.
const RAW: u32 = 0x10_FE00;

const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that a pattern matches; an error text, to stand after the pattern, when there are none.
///
/// Patterns are those of the `glob` crate (`*`, `?`, `[a-z]`, `**`), matched by it name by name: its own walk through
/// folders panics at a name that is not UTF-8.
pub(crate) fn matches(pattern: &Path) -> Result<Vec<PathBuf>, String> {
    if !is_pattern(pattern.as_os_str()) {
        return Err("does not exist".into());
    }
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let mut next = Vec::new();
        match component {
            Component::Normal(name) if name == "**" => {
                for folder in found {
                    subfolders(folder, &mut next)?;
                }
            }
            Component::Normal(name) if is_pattern(name) => {
                let matcher = Pattern::new(&text(name)).map_err(|e| format!("is no valid pattern: {e}"))?;
                for folder in found {
                    let named =
                        |entry: &fs::DirEntry| matcher.matches_with(&text(&entry.file_name()), OPTIONS);
                    next.extend(
                        entries(&folder)?.iter().filter(|e| named(e)).map(|e| folder.join(e.file_name())),
                    );
                }
            }
            other => {
                next.extend(found.into_iter().map(|folder| folder.join(other)).filter(|path| path.exists()));
            }
        }
        found = next;
    }
    found.retain(|path| may_be_file(path));
    // Two `**` find one file in several ways.
    found.sort();
    found.dedup();
    if found.is_empty() { Err("matches no file".into()) } else { Ok(found) }
}

fn is_pattern(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// A name or pattern as text that keeps every byte.
fn text(name: &OsStr) -> String {
    let mut out = String::with_capacity(name.len());
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().filter_map(|&byte| char::from_u32(RAW + u32::from(byte))));
    }
    out
}

/// What is in a folder; nothing where there is no folder.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, String> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !listed.is_dir() {
        return Ok(Vec::new());
    }
    let read = fs::read_dir(listed).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    read.map_err(|error| {
        format!(
            "cannot be searched: the folder {} cannot be read: {error}",
            mip_core::text::quoted_path(listed)
        )
    })
}

/// A folder and all folders in it, at any depth; hidden ones left out, and links not followed, which may lead back.
fn subfolders(folder: PathBuf, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        for entry in entries(&folder)? {
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(folder.join(entry.file_name()));
            }
        }
        found.push(folder);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(folder: &Path, pattern: &str) -> Result<Vec<String>, String> {
        let files = matches(&folder.join(pattern))?;
        let inside = files.iter().map(|file| file.strip_prefix(folder).unwrap());
        Ok(inside.map(|file| mip_core::text::path(file).replace('\\', "/")).collect())
    }

    #[test]
    fn patterns_over_several_folders() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        for name in
            ["a/x1.png", "a/x2.png", "a/.x3.png", "b/c/x4.png", "b/x.jpg", ".h/x5.png", "b/c/x[6].png"]
        {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(found(folder, "a/x?.png").unwrap(), ["a/x1.png", "a/x2.png"]);
        assert_eq!(found(folder, "*/x[2-9].png").unwrap(), ["a/x2.png"]);
        assert_eq!(found(folder, "**/x?.png").unwrap(), ["a/x1.png", "a/x2.png", "b/c/x4.png"]);
        assert_eq!(found(folder, "**/c/**/*4.png").unwrap(), ["b/c/x4.png"]);
        assert_eq!(found(folder, "b/c/x[[]6].png").unwrap(), ["b/c/x[6].png"]);
        assert_eq!(found(folder, "a/x*/y.png").unwrap_err(), "matches no file");
        assert_eq!(found(folder, "gone/*").unwrap_err(), "matches no file");
        assert_eq!(found(folder, "a/x.png").unwrap_err(), "does not exist");
        assert!(found(folder, "a/x[1.png").unwrap_err().starts_with("is no valid pattern"));
    }

    #[cfg(unix)]
    #[test]
    fn names_and_patterns_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(name(b"d\xff"));
        fs::create_dir(&folder).unwrap();
        for bytes in [&b"a\xfe.png"[..], b"a\xfd.png", b"\xfc.png", b"b.png"] {
            fs::write(folder.join(name(bytes)), "").unwrap();
        }
        let count = |pattern: &[u8]| matches(&place.path().join(name(pattern))).map(|files| files.len());
        assert_eq!(count(b"d*/*.png"), Ok(4));
        assert_eq!(count(b"d\xff/a?.png"), Ok(2));
        assert_eq!(count(b"d?/a\xfe*"), Ok(1));
        assert_eq!(count(b"**/?.png"), Ok(2));
        assert_eq!(count(b"d\xfe/*"), Err("matches no file".into()));
    }
}
