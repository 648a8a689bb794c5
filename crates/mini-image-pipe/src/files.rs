//! Image files in and out.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use mip_core::ImageBuffer;
use mip_io::{IoError, Reader, WriteOptions};

use crate::Error;

/// Reads an image file; its first bytes tell the format. `mip formats` lists them, [`crate::io`] has the options.
///
/// ```no_run
/// use mini_image_pipe::prelude::*;
///
/// # fn main() -> mini_image_pipe::Result<()> {
/// let out = Pipeline::parse("resize width=640 ! sobel")?.run(&open("photo.jpg")?)?;
/// save(&out, "edges.png")?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A file that cannot be read, is no image, is damaged or too large: see [`Reader::read`].
pub fn open(path: impl AsRef<Path>) -> Result<ImageBuffer, Error> {
    Ok(Reader::default().read(path)?)
}

/// Writes an image file; the extension chooses the format. A file that is there is replaced when the new one is complete.
///
/// # Errors
/// A format that does not exist or does not hold such an image (with what to do instead), and a file that cannot be written.
pub fn save(image: &ImageBuffer, path: impl AsRef<Path>) -> Result<(), Error> {
    Ok(mip_io::write_image(path.as_ref(), image, &WriteOptions::default())?)
}

/// An image file that could not be read or written: an [`IoError`] that can be cloned.
///
/// Two are equal that say the same.
#[derive(Debug, Clone)]
pub struct FileError(Arc<IoError>);

impl Deref for FileError {
    type Target = IoError;

    fn deref(&self) -> &IoError {
        &self.0
    }
}

impl PartialEq for FileError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl From<IoError> for Error {
    fn from(error: IoError) -> Self {
        Self::Io(FileError(Arc::new(error)))
    }
}
