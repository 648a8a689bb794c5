//! What a command reads and what it writes, so that it never destroys the one with the other.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mip_io::{WholeFile, is_stdin, is_stdout};

use crate::failure::Failure;

/// The files of one command, told apart by what they are and not by their names: a link to an input is that input.
///
/// Every file that a command writes is claimed here, by [`Files::claim`] or [`Files::create`], before anything is written.
#[derive(Debug, Default)]
pub(crate) struct Files {
    read: HashMap<Identity, PathBuf>,
    /// With what each is written for.
    written: HashMap<Identity, PathBuf>,
}

/// Why a file must not be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    /// It is this input.
    Input(PathBuf),
    /// It is written already, for this.
    Written(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity {
    #[cfg(unix)]
    File { device: u64, inode: u64 },
    #[cfg(not(unix))]
    File { path: PathBuf },
    /// A file that does not exist yet.
    Name { folder: PathBuf, name: OsString },
}

impl Files {
    /// Notes files that are read, or have been.
    pub(crate) fn reading<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let identified = |path: P| {
            let path = path.as_ref();
            let found = if is_stdin(path) { Path::new("/dev/stdin") } else { path };
            Some((Identity::of(found)?, path.to_owned()))
        };
        Self { read: paths.into_iter().filter_map(identified).collect(), written: HashMap::new() }
    }

    /// Notes that `path` is written, for `purpose`.
    pub(crate) fn claim(&mut self, path: &Path, purpose: &Path) -> Result<(), Clash> {
        // `-` is stdout here, and stdin where it is read.
        let found = if is_stdout(path) { Path::new("/dev/stdout") } else { path };
        let Some(identity) = Identity::of(found) else { return Ok(()) };
        if let Some(input) = self.read.get(&identity) {
            return Err(Clash::Input(input.clone()));
        }
        match self.written.insert(identity, purpose.to_owned()) {
            None => Ok(()),
            Some(other) => Err(Clash::Written(other)),
        }
    }

    /// Begins a file that `option` (`-o`, `--html`) names.
    pub(crate) fn create(&mut self, path: &Path, option: &str) -> Result<WholeFile, Failure> {
        let refuse = |text: String| Err(Failure::Request(text));
        match self.claim(path, Path::new(option)) {
            Ok(()) => Ok(WholeFile::create(path)?),
            Err(Clash::Input(input)) => refuse(format!(
                "{option} {} would replace the input {}; choose another file with {option}",
                mip_io::output_name(path),
                mip_io::input_name(&input)
            )),
            Err(Clash::Written(other)) => refuse(format!(
                "{option} {} names the file that {} names; choose another",
                path.display(),
                other.display()
            )),
        }
    }

    /// [`Files::create`] for a report beside what goes to stdout.
    pub(crate) fn create_beside_stdout(&mut self, path: &Path, option: &str) -> Result<WholeFile, Failure> {
        if is_stdout(path) {
            let text = format!("{option}: results go to stdout already; name a file");
            return Err(Failure::Request(text));
        }
        self.create(path, option)
    }
}

impl Identity {
    /// `None` for what nothing is lost in when it is read and written at once: terminals and other devices.
    fn of(path: &Path) -> Option<Self> {
        if let Ok(metadata) = std::fs::metadata(path) {
            return Self::existing(path, &metadata);
        }
        // A link to what is not there is written where it leads.
        let path = std::fs::read_link(path).map_or_else(|_| path.to_owned(), |to| folder(path).join(to));
        let folder = folder(&path);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Some(Self::Name { folder, name: path.file_name()?.to_owned() })
    }

    #[cfg(unix)]
    fn existing(_: &Path, metadata: &std::fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
        let kind = metadata.file_type();
        let harmless = kind.is_char_device() || kind.is_fifo() || kind.is_socket();
        (!harmless).then(|| Self::File { device: metadata.dev(), inode: metadata.ino() })
    }

    #[cfg(not(unix))]
    fn existing(path: &Path, _: &std::fs::Metadata) -> Option<Self> {
        Some(Self::File { path: path.canonicalize().ok()? })
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_under_every_name() {
        let place = tempfile::tempdir().unwrap();
        let name = |name: &str| place.path().join(name);
        std::fs::write(name("a"), "a").unwrap();
        std::os::unix::fs::symlink("a", name("soft")).unwrap();
        std::fs::hard_link(name("a"), name("hard")).unwrap();
        std::os::unix::fs::symlink("new", name("dangling")).unwrap();
        let mut files = Files::reading([name("a")]);
        for same in ["a", "soft", "hard", "./a"] {
            assert_eq!(files.claim(&name(same), Path::new("x")), Err(Clash::Input(name("a"))), "{same}");
        }
        assert_eq!(files.claim(&name("new"), Path::new("x")), Ok(()));
        for same in ["new", "./new", "dangling"] {
            assert_eq!(files.claim(&name(same), Path::new("y")), Err(Clash::Written("x".into())), "{same}");
            files.written.insert(Identity::of(&name("new")).unwrap(), "x".into());
        }
        let mut nothing = Files::reading(["/dev/null"]);
        assert_eq!(nothing.claim(Path::new("/dev/null"), Path::new("x")), Ok(()));
    }
}
