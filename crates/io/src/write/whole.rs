use std::fs::{self, File, Metadata};
use std::io::{self, Seek as _, Write, stdout};
use std::path::{Path, PathBuf};

use mip_core::faults::{self, Fault};

use super::unfinished::Unfinished;
use super::write_error;
use crate::IoError;

/// A file written piece by piece that appears under its name only when it is complete. Dropped before
/// [`WholeFile::keep`], it leaves nothing behind.
///
/// * A link is followed: what it leads to is written, and the link stays.
/// * A file that was there keeps its mode, and its owner and group. Where the process may not give a new file the same
///   owner, or the folder does not allow replacing the file (it is mounted, or the folder is not writable), it is
///   overwritten in place, but only once everything to be written is there.
/// * Pipes and devices are written directly; `-` and `/dev/stdout` are this process's stdout.
/// * What a process that was killed left unfinished in the folder is removed. Its files are recognised by their names
///   and by being locked by nobody; those of processes that still run are locked.
#[derive(Debug)]
pub struct WholeFile {
    /// As given.
    path: PathBuf,
    to: To,
}

#[derive(Debug)]
enum To {
    Stdout,
    /// A pipe or a device.
    Direct(File),
    /// Takes the place of `place`, of which `old` is known if it exists.
    Replace {
        part: Unfinished,
        place: PathBuf,
        old: Option<Box<Metadata>>,
    },
    /// Collects what is to be written over `place`, whose folder takes no new file. Has no name: it goes with the process.
    Overwrite {
        collected: File,
        place: File,
    },
}

/// Whether a path stands for the stdout of this process: `-`, or the system's names for it.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

fn is_descriptor(path: &Path) -> bool {
    path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// Whether what is written to a path is out of our hands at once: stdout, descriptors, pipes and devices. Their names
/// promise no format.
pub fn is_direct(path: &Path) -> bool {
    let special = |found: Metadata| !found.is_dir() && (!found.is_file() || is_descriptor(path));
    is_stdout(path) || fs::metadata(path).is_ok_and(special)
}

/// How a file is called in messages.
pub fn output_name(path: &Path) -> String {
    if is_stdout(path) { "stdout".to_owned() } else { path.display().to_string() }
}

impl WholeFile {
    /// Begins a file. Opening a named pipe waits for its reader.
    ///
    /// # Errors
    /// [`IoError::Write`] for a folder, or a file in a folder that is missing or not writable.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, IoError> {
        let path = path.into();
        match open(&path, Unfinished::create) {
            Ok(to) => Ok(Self { path, to }),
            Err(source) => Err(write_error(&path, source)),
        }
    }

    /// Whether a complete file stands under the name, which [`WholeFile::keep`] would replace.
    pub const fn replaces(&self) -> bool {
        matches!(self.to, To::Replace { old: Some(_), .. } | To::Overwrite { .. })
    }

    /// Whether what is written is out of our hands at once, as in a pipe.
    pub const fn is_direct(&self) -> bool {
        matches!(self.to, To::Stdout | To::Direct(_))
    }

    /// The temporary file that becomes this one, for another program to write; `None` where there is none (a pipe, a device, a
    /// file in a folder that takes no new one).
    pub fn temporary(&self) -> Option<&Path> {
        match &self.to {
            To::Replace { part, .. } => Some(part.path()),
            To::Stdout | To::Direct(_) | To::Overwrite { .. } => None,
        }
    }

    /// Writes all there is, and puts the file in its place.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn write_and_keep(mut self, bytes: &[u8]) -> Result<(), IoError> {
        match self.write_all(bytes) {
            Ok(()) => self.keep(),
            Err(source) => Err(write_error(&self.path, source)),
        }
    }

    /// Writes over the first bytes, and goes on at the end: for headers that say what follows.
    ///
    /// # Errors
    /// What the system says; where what is written is out of our hands at once ([`WholeFile::is_direct`]).
    pub(super) fn write_over(&mut self, start: &[u8]) -> io::Result<()> {
        faults::check(Fault::Write)?;
        let file = match &mut self.to {
            To::Stdout | To::Direct(_) => return Err(io::ErrorKind::NotSeekable.into()),
            To::Replace { part, .. } => &mut part.file,
            To::Overwrite { collected, .. } => collected,
        };
        file.rewind()?;
        file.write_all(start)?;
        file.seek(io::SeekFrom::End(0)).map(drop)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn keep(self) -> Result<(), IoError> {
        let Self { path, to } = self;
        let kept = match to {
            To::Stdout => stdout().flush(),
            To::Direct(mut file) => file.flush(),
            To::Replace { part, place, old: None } => part.rename(&place).map_err(|(error, _)| error),
            To::Replace { part, place, old: Some(old) } => replace(part, &place, &old, Unfinished::rename),
            To::Overwrite { mut collected, place } => overwrite(&mut collected, place),
        };
        kept.map_err(|source| write_error(&path, source))
    }

    /// Puts the file beside what stands under its name: as `NAME.interrupted.EXT`, numbered where there is one already.
    /// Gives the name. What has no place of its own ([`WholeFile::is_direct`]) is kept as it is.
    ///
    /// # Errors
    /// [`IoError::Write`], also where nothing can be put into the folder.
    pub fn keep_beside(self) -> Result<PathBuf, IoError> {
        let Self { path, to } = self;
        let To::Replace { mut part, .. } = to else {
            if matches!(to, To::Overwrite { .. }) {
                let text =
                    "it was there before, and nothing can be put beside it: its folder is not writable";
                return Err(write_error(&path, io::Error::other(text)));
            }
            return Ok(path);
        };
        for number in 1_u32.. {
            let beside = beside(&path, number);
            match part.rename_new(&beside) {
                Ok(()) => return Ok(beside),
                Err((error, back)) if error.kind() == io::ErrorKind::AlreadyExists => part = back,
                Err((error, _)) => return Err(write_error(&beside, error)),
            }
        }
        unreachable!("a folder does not hold 2^32 files of one name")
    }
}

fn beside(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".interrupted");
    if number > 1 {
        name.push(format!("-{number}"));
    }
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn open(path: &Path, begin: impl FnOnce(&Path, bool) -> io::Result<Unfinished>) -> io::Result<To> {
    if is_stdout(path) {
        return Ok(To::Stdout);
    }
    let old = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("it is a folder")),
        // A descriptor of ours, however it was opened: the name of the file behind it, if any, is not what was asked for.
        Ok(_) if is_descriptor(path) => return File::options().append(true).open(path).map(To::Direct),
        Ok(metadata) if !metadata.is_file() => {
            return File::options().write(true).open(path).map(To::Direct);
        }
        Ok(metadata) => Some(Box::new(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let place = followed(path)?;
    match begin(folder_of(&place), old.is_some()) {
        Ok(part) => Ok(To::Replace { part, place, old }),
        // The folder takes no new file, but the file itself may be writable.
        Err(error) if old.is_some() => match File::options().write(true).open(&place) {
            Ok(place) => Ok(To::Overwrite { collected: collected()?, place }),
            Err(_) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// A file without a name.
fn collected() -> io::Result<File> {
    faults::check(Fault::Create)?;
    tempfile::tempfile()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a chain of links ends, whether or not there is a file.
fn followed(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        if !fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(place);
        }
        place = folder_of(&place).join(fs::read_link(&place)?);
    }
    Err(io::Error::other("it is a link into a circle of links"))
}

/// Renames `part` to `place`, where a file stands now; writes over that file where it must not be replaced.
fn replace(
    part: Unfinished,
    place: &Path,
    old: &Metadata,
    rename: impl FnOnce(Unfinished, &Path) -> Result<(), (io::Error, Unfinished)>,
) -> io::Result<()> {
    let (error, mut part) = match inherit(&part.file, old) {
        Ok(()) => match rename(part, place) {
            Ok(()) => return Ok(()),
            Err(failed) => failed,
        },
        Err(error) => (error, part),
    };
    match File::options().write(true).open(place) {
        Ok(place) => overwrite(&mut part.file, place),
        Err(_) => Err(error),
    }
}

/// Gives a file the mode, owner and group of the one that it replaces.
fn inherit(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            fchown(file, Some(old.uid()), Some(old.gid()))?;
        }
    }
    // Last: a change of owner takes bits away.
    file.set_permissions(old.permissions())
}

/// Writes all of `new` over a file.
fn overwrite(new: &mut File, mut place: File) -> io::Result<()> {
    let incomplete = |error: io::Error| {
        let text = format!("{error}; it could only be overwritten in place, and is incomplete now");
        io::Error::new(error.kind(), text)
    };
    new.rewind()?;
    let length = io::copy(new, &mut place).map_err(incomplete)?;
    place.set_len(length).map_err(incomplete)
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        faults::check(Fault::Write)?;
        match &mut self.to {
            To::Stdout => stdout().write(bytes),
            To::Direct(file) => file.write(bytes),
            To::Replace { part, .. } => part.file.write(bytes),
            To::Overwrite { collected, .. } => collected.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        faults::check(Fault::Write)?;
        match &mut self.to {
            To::Stdout => stdout().flush(),
            To::Direct(file) => file.flush(),
            To::Replace { part, .. } => part.file.flush(),
            To::Overwrite { collected, .. } => collected.flush(),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    /// What `mip` writes over a file of mode 600 that holds something longer, with `rename` in place of renaming.
    fn replaced(
        rename: impl FnOnce(Unfinished, &Path) -> Result<(), (io::Error, Unfinished)>,
    ) -> (tempfile::TempDir, io::Result<()>, bool) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("x");
        fs::write(&place, "what stood there before").unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).unwrap();
        let old = fs::metadata(&place).unwrap();
        let mut part = Unfinished::create(folder.path(), true).unwrap();
        part.file.write_all(b"new").unwrap();
        let result = replace(part, &place, &old, rename);
        let new = fs::metadata(&place).unwrap();
        assert_eq!(new.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        (folder, result, new.ino() == old.ino())
    }

    #[test]
    fn a_file_that_cannot_be_replaced_is_overwritten_in_place() {
        let refused = |part, _: &Path| Err((io::ErrorKind::ResourceBusy.into(), part));
        for (in_place, (folder, result, same)) in
            [(false, replaced(Unfinished::rename)), (true, replaced(refused))]
        {
            result.unwrap();
            assert_eq!(same, in_place);
            assert_eq!(fs::read_to_string(folder.path().join("x")).unwrap(), "new");
        }
    }

    #[test]
    fn in_a_folder_that_takes_no_new_file_an_old_one_is_overwritten_once_all_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let closed = |_: &Path, _| Err(io::ErrorKind::PermissionDenied.into());
        assert!(open(&path, closed).is_err() && !path.exists());
        fs::write(&path, "what stood there before").unwrap();
        for (kept, holds) in [(false, "what stood there before"), (true, "new")] {
            let mut file = WholeFile { to: open(&path, closed).unwrap(), path: path.clone() };
            assert!(file.replaces());
            file.write_all(b"new").unwrap();
            if kept {
                file.keep().unwrap();
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), holds);
        }
    }

    #[test]
    fn links_are_followed_to_where_they_end() {
        let folder = tempfile::tempdir().unwrap();
        let name = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("b", name("a")).unwrap();
        std::os::unix::fs::symlink("c", name("b")).unwrap();
        assert_eq!(followed(&name("a")).unwrap(), name("c"));
        std::os::unix::fs::symlink("b", name("c")).unwrap();
        assert!(followed(&name("a")).unwrap_err().to_string().contains("circle"));
    }

    #[test]
    fn names_beside_a_file_are_numbered() {
        assert_eq!(beside(Path::new("a/x.y4m"), 1), Path::new("a/x.interrupted.y4m"));
        assert_eq!(beside(Path::new("x"), 3), Path::new("x.interrupted-3"));
    }
}
