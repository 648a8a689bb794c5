use std::io::Write as _;
use std::path::Path;

use mip_core::ImageBuffer;

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

/// A temporary file in the same folder, renamed at the end: renaming is atomic within a file system.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mip-").suffix(".part");
    #[cfg(unix)]
    {
        // Temporary files are private by default; this one becomes an ordinary file (the umask still counts).
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
