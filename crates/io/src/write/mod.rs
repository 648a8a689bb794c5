//! Pixels to files. Every file appears under its name only when it is complete.
//!
//! ```text
//! WholeFile        a file, pipe or device written piece by piece
//!   Unfinished     the temporary file it grows in: locked by its process, removed when given up
//! NpyStack         a whole file of many images, one array
//! ```

mod stack;
mod unfinished;
mod whole;

use std::io;
use std::path::Path;

use mip_core::ImageBuffer;

use crate::{FileFormat, IoError, WriteOptions, encode};

pub use stack::NpyStack;
pub use unfinished::{TemporaryFolder, remove_unfinished, try_remove_unfinished};
pub use whole::{WholeFile, is_direct, is_stdout, output_name};

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
    write_image_as(path, FileFormat::from_path(path)?, image, options)
}

/// [`write_image`] in a format of its own, for names that say none: pipes, devices, `-` for stdout.
///
/// # Errors
/// As for [`write_image`].
pub fn write_image_as(
    path: impl AsRef<Path>,
    format: FileFormat,
    image: &ImageBuffer,
    options: &WriteOptions,
) -> Result<(), IoError> {
    let path = path.as_ref();
    // Encoded first: what cannot be encoded must not open a pipe, whose reader would take that for an empty result.
    let bytes = encode(image, format, options)?;
    WholeFile::create(path)?.write_and_keep(&bytes)
}

fn write_error(path: &Path, source: io::Error) -> IoError {
    IoError::Write { path: path.to_owned(), source: source.into() }
}
