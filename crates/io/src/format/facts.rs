//! What there is to know about each format, once: names, first bytes, and what a file can hold.

use mip_core::{DType, ImageDesc, PixelFormat};

/// What there is to know about a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// As people call it: `PNG`.
    pub name: &'static str,
    /// The extensions that name it, lower case; the usual one first.
    pub extensions: &'static [&'static str],
    /// How a file begins, any of these; `?` stands for any byte. None: only the extension tells.
    pub(crate) magic: &'static [&'static [u8]],
    /// The pictures that reading can give.
    pub reads: &'static [Samples],
    /// The pictures that are written, which are the same when read again but for what [`Facts::lossy`] says; none where
    /// a format is only read.
    pub writes: &'static [Samples],
    /// Whether written samples come back only closely.
    pub lossy: bool,
    /// Longest side that a file can say, in pixels.
    pub longest_side: u32,
    /// Whether writing has a quality.
    pub quality: bool,
    /// Whether writing can be told to take more or less time for a smaller file.
    pub compression: bool,
}

/// Pictures of one sample type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Samples {
    /// Type of the samples.
    pub dtype: DType,
    /// Of gray, rgb and rgba those that there are.
    pub formats: &'static [PixelFormat],
}

use PixelFormat::{Gray, Rgb, Rgba};

const fn samples(dtype: DType, formats: &'static [PixelFormat]) -> Samples {
    Samples { dtype, formats }
}

const ANY: &[PixelFormat] = &[Gray, Rgb, Rgba];
const U8: Samples = samples(DType::U8, ANY);
const U16: Samples = samples(DType::U16, ANY);

pub(super) const PNG: Facts = Facts {
    name: "PNG",
    extensions: &["png"],
    magic: &[b"\x89PNG\r\n\x1a\n"],
    reads: &[U8, U16],
    writes: &[U8, U16],
    lossy: false,
    longest_side: ImageDesc::MAX_SIDE,
    quality: false,
    compression: true,
};

pub(super) const JPEG: Facts = Facts {
    name: "JPEG",
    extensions: &["jpg", "jpeg"],
    magic: &[b"\xFF\xD8\xFF"],
    reads: &[samples(DType::U8, &[Gray, Rgb])],
    writes: &[samples(DType::U8, &[Gray, Rgb])],
    lossy: true,
    longest_side: 65535,
    quality: true,
    compression: false,
};

impl Facts {
    /// Whether a file can hold such images.
    pub fn holds(&self, image: &ImageDesc) -> bool {
        self.writes
            .iter()
            .any(|held| held.dtype == image.dtype && held.formats.contains(&in_files(image.format)))
            && image.width.max(image.height) <= self.longest_side
    }

    /// Whether some bytes begin as a file of this format does.
    pub(crate) fn begins(&self, bytes: &[u8]) -> bool {
        self.magic.iter().any(|magic| bytes.len() >= magic.len() && agree(magic, bytes))
    }

    /// Whether some bytes may be the first few of such a beginning.
    pub(crate) fn may_begin(&self, bytes: &[u8]) -> bool {
        self.magic.iter().any(|magic| bytes.len() < magic.len() && agree(magic, bytes))
    }
}

fn agree(magic: &[u8], bytes: &[u8]) -> bool {
    magic.iter().zip(bytes).all(|(wanted, byte)| *wanted == b'?' || wanted == byte)
}

/// The format under which a file holds pixels: the order of channels is the file's own.
pub(crate) const fn in_files(format: PixelFormat) -> PixelFormat {
    match format {
        PixelFormat::Gray => PixelFormat::Gray,
        PixelFormat::Rgb | PixelFormat::Bgr => PixelFormat::Rgb,
        PixelFormat::Rgba | PixelFormat::Bgra => PixelFormat::Rgba,
    }
}
