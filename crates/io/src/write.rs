use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mip_core::ImageBuffer;
use tempfile::NamedTempFile;

use crate::{FileFormat, IoError, WriteOptions, encode};

/// Writes one image in the format that the extension names. The file appears under its name only when it is
/// complete; until then, and when writing fails, what stood there before stays.
///
/// # Errors
/// An extension that is not known, an image that the format cannot hold (see [`crate::check_encodable`]), a
/// folder that is missing or not writable, a full disk.
pub fn write_image(
    path: impl AsRef<Path>,
    image: &ImageBuffer,
    options: &WriteOptions,
) -> Result<(), IoError> {
    let path = path.as_ref();
    let bytes = encode(image, FileFormat::from_path(path)?, options)?;
    write_whole(path, &bytes)
        .map_err(|source| IoError::Write { path: path.to_owned(), source: source.into() })
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary(path)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// A temporary file in the same folder, to be renamed at the end: renaming is atomic within a file system.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mip-").suffix(".part");
    #[cfg(unix)]
    {
        // Temporary files are private by default; this one becomes an ordinary file (the umask still counts).
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// A file written piece by piece that appears under its name only when it is complete. Pipes and devices are
/// written directly. Dropped before [`WholeFile::keep`], it leaves nothing behind.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    file: Part,
}

#[derive(Debug)]
enum Part {
    Temporary(NamedTempFile),
    Direct(File),
}

impl WholeFile {
    /// Begins a file.
    ///
    /// # Errors
    /// [`IoError::Write`] for a folder that is missing or not writable.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, IoError> {
        let path = path.into();
        let special = std::fs::metadata(&path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        let file = if special {
            File::options().write(true).open(&path).map(Part::Direct)
        } else if path.is_dir() {
            Err(io::Error::other("it is a folder"))
        } else {
            temporary(&path).map(Part::Temporary)
        };
        match file {
            Ok(file) => Ok(Self { path, file }),
            Err(source) => Err(IoError::Write { path, source: source.into() }),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn keep(self) -> Result<(), IoError> {
        let Self { path, file } = self;
        match file {
            Part::Temporary(file) => match file.persist(&path) {
                Ok(_) => Ok(()),
                Err(error) => Err(IoError::Write { path, source: error.error.into() }),
            },
            Part::Direct(_) => Ok(()),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Part::Temporary(file) => file.write(bytes),
            Part::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Part::Temporary(file) => file.flush(),
            Part::Direct(file) => file.flush(),
        }
    }
}
