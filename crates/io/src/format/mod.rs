mod facts;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

pub(crate) use facts::in_files;
pub use facts::{Facts, Samples};

use crate::IoError;

macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $facts:ident,)*) => {
        /// An image file format. [`FileFormat::facts`] tells what it can hold.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FileFormat {
            $($(#[$doc])* $format,)*
        }

        impl FileFormat {
            /// Every format, in the order of declaration.
            pub const ALL: [Self; [$(Self::$format),*].len()] = [$(Self::$format),*];

            /// The feature of this crate that the format needs and that this program was built without.
            pub const fn missing_feature(self) -> Option<&'static str> {
                match self {
                    #[cfg(not(feature = "avif"))]
                    Self::Avif => Some("avif"),
                    #[cfg(not(feature = "exr"))]
                    Self::Exr => Some("exr"),
                    #[cfg(not(feature = "webp"))]
                    Self::WebP => Some("webp"),
                    #[cfg(not(feature = "jxl"))]
                    Self::Jxl => Some("jxl"),
                    _ => None,
                }
            }

            /// What there is to know about the format.
            pub const fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$format => &facts::$facts,)*
                }
            }
        }
    };
}

// A format is a line here, its facts, and an arm wherever the compiler then asks for one.
formats! {
    /// Lossless, 8 or 16 bit, with or without alpha.
    Png = PNG,
    /// Lossy, 8 bit, no alpha.
    Jpeg = JPEG,
    /// Netpbm's black and white; only read.
    Pbm = PBM,
    /// Netpbm's gray, 8 or 16 bit.
    Pgm = PGM,
    /// Netpbm's rgb, 8 or 16 bit.
    Ppm = PPM,
    /// Netpbm's pictures with or without alpha, 8 or 16 bit.
    Pam = PAM,
    /// A name for PGM and PPM: what is written is one of them.
    Pnm = PNM,
    /// Windows bitmaps, 8 bit.
    Bmp = BMP,
    /// The Quite OK Image Format: lossless, 8 bit, colours.
    Qoi = QOI,
    /// Truevision's: 8 bit. Nothing in a file tells that it is one, only its extension.
    Tga = TGA,
    /// Reads lossy and lossless files, writes lossless ones; 8 bit, colours.
    WebP = WEBP,
    /// Tagged image files: u8, u16, f16 and f32, with or without alpha. Of several pages the first is read.
    Tiff = TIFF,
    /// Radiance's: f32 colours with about 8 bits that count.
    Hdr = HDR,
    /// Palettes of 8 bits; only read, and of an animation the first picture.
    Gif = GIF,
    /// NumPy's arrays of every type, with or without alpha.
    Npy = NPY,
    /// `OpenEXR`: f16 and f32, with or without alpha.
    Exr = EXR,
    /// JPEG XL: u8, u16, f16 and f32, with or without alpha; only read, and of an animation the first picture. Needs the
    /// feature `jxl`.
    Jxl = JXL,
    /// AVIF: u8, and u16 of 10 and 12 bits, with or without alpha; only read, and of a sequence the primary picture. Needs the
    /// feature `avif`.
    Avif = AVIF,
}

impl FileFormat {
    /// The format that a file to be written asks for by its extension (case does not matter).
    ///
    /// # Errors
    /// [`IoError::UnknownExtension`], also for formats that are only read.
    pub fn from_path(path: &Path) -> Result<Self, IoError> {
        let extension = extension_of(path);
        extension.parse().map_err(|_| IoError::UnknownExtension { path: path.to_owned(), extension })
    }

    /// The format that an extension names (no dot; case does not matter), read or written.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let named =
            |format: &Self| format.facts().extensions.iter().any(|e| e.eq_ignore_ascii_case(extension));
        Self::ALL.into_iter().find(named)
    }

    /// The usual extension: `png`, `jpg`.
    pub const fn extension(self) -> &'static str {
        self.facts().extensions[0]
    }

    /// The format of a file, told by its first bytes; by its extension only where none fits and the format has none.
    pub(crate) fn sniff(bytes: &[u8], name: &Path) -> Option<Self> {
        let named = || Self::from_extension(&extension_of(name)).filter(|format| format.is_told_by_name());
        let named = || if bytes.is_empty() { None } else { named() };
        Self::ALL.into_iter().find(|format| format.facts().begins(bytes)).or_else(named)
    }

    /// Whether nothing in a file tells that it is of this format.
    const fn is_told_by_name(self) -> bool {
        matches!(self, Self::Tga)
    }
}

/// The extension of a file, empty where there is none.
fn extension_of(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Extensions of the formats that this program writes, or of all that it reads.
pub(crate) fn extensions(written: bool) -> impl Iterator<Item = &'static str> {
    let formats = FileFormat::ALL.into_iter().filter(|format| format.missing_feature().is_none());
    formats
        .map(FileFormat::facts)
        .filter(move |facts| !written || !facts.writes.is_empty())
        .flat_map(|facts| facts.extensions)
        .copied()
}

/// Names in a sentence: `PNG, JPEG and TIFF`.
pub(crate) fn listed<T: AsRef<str>>(names: &[T], last: &str) -> String {
    let join = |names: &[T]| names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names {
        [] | [_] => join(names),
        [most @ .., end] => format!("{} {last} {}", join(most), end.as_ref()),
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.facts().name)
    }
}

impl FromStr for FileFormat {
    type Err = IoError;

    /// An extension without the dot, of a format that is written: `png`, `jpg`, `jpeg`.
    fn from_str(text: &str) -> Result<Self, IoError> {
        let format = Self::from_extension(text).filter(|format| !format.facts().writes.is_empty());
        format.ok_or_else(|| IoError::UnknownFormat { given: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_in_any_case_and_clear_refusals() {
        assert_eq!(FileFormat::from_path(Path::new("a/b.JPeG")).unwrap(), FileFormat::Jpeg);
        assert_eq!(FileFormat::from_path(Path::new("x.y.png")).unwrap(), FileFormat::Png);
        let text = FileFormat::from_path(Path::new("out/a.heic")).unwrap_err().to_string();
        let start = "out/a.heic has extension '.heic'; images are written as .png, .jpg";
        assert!(text.starts_with(start), "{text}");
        let text = FileFormat::from_path(Path::new("out")).unwrap_err().to_string();
        assert!(text.starts_with("out has no extension;"), "{text}");
    }

    #[test]
    fn each_format_is_known_once() {
        let all = FileFormat::ALL;
        for (index, format) in all.into_iter().enumerate() {
            let facts = format.facts();
            assert_eq!(FileFormat::from_extension(format.extension()), Some(format), "{format}");
            for other in &all[index + 1..] {
                assert_ne!(facts.name, other.facts().name);
                assert!(
                    !facts.magic.iter().any(|magic| other.facts().magic.contains(magic)),
                    "{format} {other}"
                );
            }
        }
        let mut names: Vec<&str> = extensions(false).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), extensions(false).count());
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(listed(&["a"], "and"), "a");
        assert_eq!(listed(&["a", "b", "c"], "or"), "a, b or c");
    }
}
