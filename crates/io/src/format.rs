use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::IoError;

/// An image file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// Lossless, 8 or 16 bit, with or without alpha.
    Png,
    /// Lossy, 8 bit, no alpha.
    Jpeg,
}

impl FileFormat {
    /// The extensions that name an image file, lower case.
    pub const EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];

    /// The format that a file to be written asks for by its extension (case does not matter).
    ///
    /// # Errors
    /// [`IoError::UnknownExtension`].
    pub fn from_path(path: &Path) -> Result<Self, IoError> {
        let extension = path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        extension.parse().map_err(|_| IoError::UnknownExtension { path: path.to_owned(), extension })
    }

    /// The usual extension: `png` or `jpg`.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }

    /// The format of some bytes, told by their first few.
    pub(crate) fn sniff(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if bytes.starts_with(&[0xFF, 0xD8, 0xFF]) {
            Some(Self::Jpeg)
        } else {
            None
        }
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
        })
    }
}

impl FromStr for FileFormat {
    type Err = IoError;

    /// An extension without the dot: `png`, `jpg` or `jpeg`.
    fn from_str(text: &str) -> Result<Self, IoError> {
        match text.to_ascii_lowercase().as_str() {
            "png" => Ok(Self::Png),
            "jpg" | "jpeg" => Ok(Self::Jpeg),
            _ => Err(IoError::UnknownFormat { given: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_in_any_case_and_clear_refusals() {
        assert_eq!(FileFormat::from_path(Path::new("a/b.JPeG")).unwrap(), FileFormat::Jpeg);
        assert_eq!(FileFormat::from_path(Path::new("x.y.png")).unwrap(), FileFormat::Png);
        let text = FileFormat::from_path(Path::new("out/a.webp")).unwrap_err().to_string();
        assert_eq!(text, "out/a.webp has extension '.webp'; images are written as .png, .jpg or .jpeg");
        let text = FileFormat::from_path(Path::new("out")).unwrap_err().to_string();
        assert!(text.starts_with("out has no extension;"), "{text}");
    }
}
