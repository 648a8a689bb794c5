use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError as Busy};
use std::time::Duration;

use mip_core::faults::{self, Fault};
use tempfile::{TempDir, TempPath};

const PREFIX: &str = ".mip-";
const SUFFIX: &str = ".part";
/// Random letters and digits between the two: so many that no other program's file looks like one of ours.
const RANDOM: usize = 12;

/// What is unfinished in this process, and the folders that have been searched for leftovers of others.
#[derive(Debug, Default)]
struct Here {
    unfinished: BTreeSet<PathBuf>,
    searched: BTreeSet<PathBuf>,
}

static HERE: Mutex<Here> = Mutex::new(Here { unfinished: BTreeSet::new(), searched: BTreeSet::new() });

fn here() -> MutexGuard<'static, Here> {
    HERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files that this process has not finished, for a process that is about to end without unwinding. Nothing
/// can be begun afterwards: whoever tries waits for the end of the process.
pub fn remove_unfinished() {
    remove_all(here());
}

/// [`remove_unfinished`] where that is possible soon: not while a file is being begun on a file system that does not
/// answer. What is left then is found by the next run, see [`crate::WholeFile`].
pub fn try_remove_unfinished() {
    /// Beginning a file takes far less.
    const TRIES: u32 = 50;
    for _ in 0..TRIES {
        match HERE.try_lock() {
            Ok(here) => return remove_all(here),
            Err(Busy::Poisoned(poisoned)) => return remove_all(poisoned.into_inner()),
            Err(Busy::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

fn remove_all(here: MutexGuard<'static, Here>) {
    for path in &here.unfinished {
        // One of the two fails. Both fail for what has just got its place: then there is nothing to remove.
        let _ = fs::remove_file(path);
        let _ = fs::remove_dir_all(path);
    }
    std::mem::forget(here);
}

/// A temporary file in the folder of the file that it becomes: renaming is atomic within a file system.
///
/// It is locked for as long as its process lives. A file of such a name that nobody has locked was left by a process
/// that was killed; the next process that writes into the folder removes it.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) file: File,
    // Removes the file when dropped.
    path: TempPath,
    noted: Noted,
}

impl Unfinished {
    /// Begins a file: readable for everyone as far as the umask allows, or for its owner only.
    pub(super) fn create(folder: &Path, private: bool) -> io::Result<Self> {
        search(folder);
        faults::check(Fault::Create)?;
        loop {
            let (file, path, noted) = {
                // Held until the file is noted: it must not be begun behind the back of `remove_unfinished`.
                let mut here = here();
                let (file, path) = builder(private).tempfile_in(folder)?.into_parts();
                here.unfinished.insert(path.to_path_buf());
                let noted = Noted(path.to_path_buf());
                (file, path, noted)
            };
            // Without locks on this file system nobody can take it for a leftover either.
            let _ = file.lock();
            // Another process that searched the folder before the lock may have done so.
            if exists(&file, &path) {
                return Ok(Self { file, path, noted });
            }
        }
    }

    /// Where it is until then.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name, in place of what bears it now.
    pub(super) fn rename(self, to: &Path) -> Result<(), (io::Error, Self)> {
        if let Err(error) = faults::check(Fault::Rename) {
            return Err((error, self));
        }
        let Self { file, path, noted } = self;
        path.persist(to).map_err(|failed| (failed.error, Self { file, path: failed.path, noted }))
    }

    /// Gives it its name, unless something bears it now.
    pub(super) fn rename_new(self, to: &Path) -> Result<(), (io::Error, Self)> {
        if let Err(error) = faults::check(Fault::Rename) {
            return Err((error, self));
        }
        let Self { file, path, noted } = self;
        path.persist_noclobber(to).map_err(|failed| (failed.error, Self { file, path: failed.path, noted }))
    }
}

/// An entry among what is unfinished.
#[derive(Debug)]
struct Noted(PathBuf);

impl Drop for Noted {
    fn drop(&mut self) {
        here().unfinished.remove(&self.0);
    }
}

/// A folder among the system's temporary files that goes with this value or with the process.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _noted: Noted,
}

impl TemporaryFolder {
    /// An empty folder.
    ///
    /// # Errors
    /// When the system's folder for temporary files is missing, full or not writable.
    pub fn new() -> io::Result<Self> {
        faults::check(Fault::Create)?;
        let mut here = here();
        let folder = tempfile::Builder::new().prefix("mip-").tempdir()?;
        here.unfinished.insert(folder.path().to_owned());
        drop(here);
        Ok(Self { _noted: Noted(folder.path().to_owned()), folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn builder(private: bool) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = if private { 0o600 } else { 0o666 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = private;
    builder
}

#[cfg(unix)]
fn exists(file: &File, _: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

#[cfg(not(unix))]
fn exists(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Removes what killed processes left in a folder; once for each folder.
fn search(folder: &Path) {
    let mut here = here();
    if here.searched.insert(folder.to_owned()) {
        remove_leftovers(folder);
    }
}

/// What cannot be looked at is not ours to remove: it stays, and says nothing about what is to be written.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !plain || !entry.file_name().to_str().is_some_and(is_temporary) {
            continue;
        }
        let Ok(file) = File::open(&path) else { continue };
        match file.try_lock() {
            // Its process is gone. (Or it got its name this moment; then there is nothing to remove under this one.)
            Ok(()) => drop(fs::remove_file(&path)),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_go_and_what_is_locked_or_another_programs_stays() {
        let folder = tempfile::tempdir().unwrap();
        let name = |name: &str| folder.path().join(name);
        let others =
            [".mip-abc.part", ".mip-notes-of-mine.part", "mip-abcdefghijkl.part", ".mip-abcdefghijk-.part"];
        for other in others.into_iter().chain([".mip-abcdefghijkl.part"]) {
            fs::write(name(other), "x").unwrap();
        }
        fs::create_dir(name(".mip-abcdefghijkm.part")).unwrap();
        let locked = File::create(name(".mip-abcdefghijkn.part")).unwrap();
        locked.lock().unwrap();

        let ours = Unfinished::create(folder.path(), false).unwrap();
        assert!(is_temporary(ours.path.file_name().unwrap().to_str().unwrap()), "{ours:?}");
        assert!(!name(".mip-abcdefghijkl.part").exists());
        for kept in others.into_iter().chain([".mip-abcdefghijkm.part", ".mip-abcdefghijkn.part"]) {
            assert!(name(kept).exists(), "{kept}");
        }
        // Ours is locked as well.
        remove_leftovers(folder.path());
        assert!(ours.path.exists());
        let path = ours.path.to_path_buf();
        drop(ours);
        assert!(!path.exists() && !here().unfinished.contains(&path));
    }
}
