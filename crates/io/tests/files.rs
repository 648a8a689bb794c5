//! Writing to disk, and lists of inputs.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::picture;
use mip_core::{DType, Layout, PixelFormat};
use mip_io::{IoError, WriteOptions, expand_inputs, read_image, write_image};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.PNG");
    fs::write(&path, "old").unwrap();
    let floats = picture(4, 4, PixelFormat::Rgb, DType::F32, Layout::Hwc);
    assert!(write_image(&path, &floats, &WriteOptions::default()).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");

    let image = picture(4, 4, PixelFormat::Rgba, DType::U16, Layout::Hwc);
    write_image(&path, &image, &WriteOptions::default()).unwrap();
    assert_eq!(read_image(&path).unwrap(), image);
    assert_eq!(names(folder.path()), ["a.PNG"]);
}

#[test]
fn a_missing_folder_or_unknown_extension_is_an_error_that_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let image = picture(4, 4, PixelFormat::Gray, DType::U8, Layout::Hwc);
    let missing = write_image(folder.path().join("no/a.png"), &image, &WriteOptions::default());
    assert!(matches!(missing, Err(IoError::Write { .. })));
    let unknown = write_image(folder.path().join("a.heic"), &image, &WriteOptions::default());
    assert!(matches!(unknown, Err(IoError::UnknownExtension { .. })));
    fs::create_dir(folder.path().join("taken.png")).unwrap();
    let taken = write_image(folder.path().join("taken.png"), &image, &WriteOptions::default());
    assert!(matches!(taken, Err(IoError::Write { .. })));
    assert_eq!(names(folder.path()), ["taken.png"]);
}

#[cfg(unix)]
#[test]
fn written_files_are_readable_like_any_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (ours, plain) = (folder.path().join("a.png"), folder.path().join("plain"));
    write_image(&ours, &picture(2, 2, PixelFormat::Gray, DType::U8, Layout::Hwc), &WriteOptions::default())
        .unwrap();
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&plain));
}

fn folder_with(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    folder
}

fn expanded(folder: &Path, patterns: &[&str]) -> Result<Vec<String>, IoError> {
    let patterns: Vec<PathBuf> = patterns.iter().map(|p| folder.join(p)).collect();
    let files = expand_inputs(&patterns)?;
    Ok(files.iter().map(|f| f.strip_prefix(folder).unwrap().to_string_lossy().into_owned()).collect())
}

#[test]
fn folders_give_their_images_in_natural_order() {
    let folder = folder_with(&["f10.png", "f9.PNG", "f1.jpeg", "notes.txt", ".hidden.png", "sub/deep.png"]);
    assert_eq!(expanded(folder.path(), &["."]).unwrap(), ["f1.jpeg", "f9.PNG", "f10.png"]);
}

#[test]
fn globs_match_files_and_duplicates_are_dropped() {
    let folder = folder_with(&["a2.png", "a10.png", "b.jpg", "sub/c.png", ".a3.png"]);
    assert_eq!(expanded(folder.path(), &["a*.png"]).unwrap(), ["a2.png", "a10.png"]);
    assert_eq!(expanded(folder.path(), &["**/*.png"]).unwrap(), ["a2.png", "a10.png", "sub/c.png"]);
    assert_eq!(
        expanded(folder.path(), &["b.jpg", "a10.png", "*", "sub/../b.jpg"]).unwrap(),
        ["b.jpg", "a10.png", "a2.png"]
    );
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_is_itself() {
    let folder = folder_with(&["photo[1].png", "photo1.png"]);
    assert_eq!(expanded(folder.path(), &["photo[1].png"]).unwrap(), ["photo[1].png"]);
}

#[test]
fn inputs_that_give_nothing_are_errors() {
    let folder = folder_with(&["empty/notes.txt"]);
    let text = |pattern: &str| expanded(folder.path(), &[pattern]).unwrap_err().to_string();
    assert!(text("empty").contains("is a folder without .png, .jpg"));
    assert!(text("gone.png").ends_with("gone.png' does not exist"));
    assert!(text("*.png").ends_with("*.png' matches no file"));
    assert!(text("a[.png").contains("is no valid pattern"));
}
