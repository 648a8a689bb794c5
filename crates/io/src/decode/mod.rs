//! Files to pixels.

mod exif;
mod jpeg;
mod orient;
mod png;
mod warning;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use image::metadata::Orientation;
use mip_core::{BatchLayout, ImageBuffer, ImageDesc};

pub use warning::{ReadWarning, WarningKind};

use crate::{FileFormat, IoError};

/// Limits for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Largest `width * height` that is decoded; guards against files that claim enormous sizes.
    /// Default 2^29, about 23,000 pixels squared.
    pub max_pixels: u64,
    /// Whether a file that gives rise to a [`WarningKind::Damage`] is refused. Default `false`.
    pub strict: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_pixels: 1 << 29, strict: false }
    }
}

/// Reads a PNG or JPEG file with default limits. See [`Reader::read`]; warnings are for those who keep a [`Reader`].
///
/// # Errors
/// As [`Reader::read`].
pub fn read_image(path: impl AsRef<Path>) -> Result<ImageBuffer, IoError> {
    Reader::default().read(path)
}

/// Decodes a PNG or JPEG file held in memory; `name` stands for it in errors. See [`Reader::read`].
///
/// # Errors
/// As [`Reader::read`].
pub fn read_bytes(bytes: &[u8], name: &str) -> Result<ImageBuffer, IoError> {
    Reader::default().read_bytes(bytes, name)
}

/// Reads many files, keeping its file buffer and the pixel buffers given back with [`Reader::recycle`]:
/// touching fresh memory for every picture costs about as much as decoding a fifth of it.
#[derive(Debug, Default)]
pub struct Reader {
    options: ReadOptions,
    file: Vec<u8>,
    spare: Vec<ImageBuffer>,
    warnings: Vec<ReadWarning>,
    jpeg: jpeg::Scratch,
}

/// What a decoder found wrong, before the file's name is put to it.
#[derive(Debug)]
enum Fault {
    Truncated(String),
    Corrupt(String),
    TooManyPixels { width: u32, height: u32 },
    Image(mip_core::ImageError),
}

impl Reader {
    /// At most this many buffers are kept by [`Reader::recycle`].
    const MAX_SPARE: usize = 8;

    /// A reader with its own limits.
    pub fn new(options: ReadOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Reads one PNG or JPEG file: format from the content, not the name.
    ///
    /// Gray, RGB and RGBA keep their channels and their 8 or 16 bits (native endian); palettes become rgb or
    /// rgba, gray with alpha becomes rgba, 1 to 4 bit gray becomes 8 bit, CMYK JPEG becomes rgb. EXIF
    /// orientation is applied. Bytes behind the end of the image are ignored. An animated PNG gives its
    /// default image.
    ///
    /// # Errors
    /// A file that cannot be read, is no PNG or JPEG, stops early, does not decode cleanly or has more
    /// pixels than [`ReadOptions::max_pixels`].
    pub fn read(&mut self, path: impl AsRef<Path>) -> Result<ImageBuffer, IoError> {
        let path = path.as_ref();
        self.file.clear();
        File::open(path)
            .and_then(|mut file| file.read_to_end(&mut self.file))
            .map_err(|source| IoError::Read { path: path.to_owned(), source })?;
        self.decode(&path.display().to_string())
    }

    /// Decodes a file held in memory; `name` stands for it in errors.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_bytes(&mut self, bytes: &[u8], name: &str) -> Result<ImageBuffer, IoError> {
        self.file.clear();
        self.file.extend_from_slice(bytes);
        self.decode(name)
    }

    /// Gives back a buffer that is no longer needed; a later picture of the same shape is decoded into it.
    /// Clones of it may live on, but then it saves nothing.
    pub fn recycle(&mut self, image: ImageBuffer) {
        if self.spare.len() < Self::MAX_SPARE && image.batch_size() == 1 && image.layout().is_tight() {
            self.spare.push(image);
        }
    }

    /// What there was to warn of since the last call, in the order of the files.
    pub fn take_warnings(&mut self) -> Vec<ReadWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// Notes a warning about the file in hand; its name is put to it by [`Reader::decode`].
    fn warn(&mut self, kind: WarningKind, text: impl Into<String>) {
        self.warnings.push(ReadWarning { name: String::new(), kind, text: text.into() });
    }

    fn decode(&mut self, name: &str) -> Result<ImageBuffer, IoError> {
        let format = FileFormat::sniff(&self.file)
            .ok_or_else(|| IoError::NotAnImage { name: name.to_owned(), found: describe(&self.file) })?;
        let earlier = self.warnings.len();
        let decoded = match format {
            FileFormat::Jpeg => self.decode_jpeg(),
            FileFormat::Png => self.decode_png(),
        };
        let name = || name.to_owned();
        self.warnings[earlier..].iter_mut().for_each(|warning| warning.name = name());
        let (image, orientation) = decoded.map_err(|fault| match fault {
            Fault::Truncated(detail) => IoError::Truncated { name: name(), detail },
            Fault::Corrupt(reason) => IoError::Corrupt { name: name(), format, reason },
            Fault::TooManyPixels { width, height } => {
                IoError::TooManyPixels { name: name(), width, height, limit: self.options.max_pixels }
            }
            Fault::Image(source) => IoError::Image { name: name(), source },
        })?;
        let damage = self.warnings[earlier..].iter().position(|w| w.kind == WarningKind::Damage);
        if let (true, Some(index)) = (self.options.strict, damage) {
            return Err(IoError::Strict {
                name: name(),
                format,
                text: self.warnings.remove(earlier + index).text,
            });
        }
        self.upright(image, orientation).map_err(|source| IoError::Image { name: name(), source })
    }

    fn upright(
        &mut self,
        image: ImageBuffer,
        orientation: Orientation,
    ) -> Result<ImageBuffer, mip_core::ImageError> {
        if orientation == Orientation::NoTransforms {
            return Ok(image);
        }
        let mut upright = self.buffer(orient::desc(*image.desc(), orientation))?;
        orient::copy(&image, &mut upright, orientation);
        self.recycle(image);
        Ok(upright)
    }

    /// A tight single-image buffer with unspecified contents.
    fn buffer(&mut self, desc: ImageDesc) -> Result<ImageBuffer, mip_core::ImageError> {
        let layout = BatchLayout::tight(desc, 1)?;
        match self.spare.iter().position(|image| *image.layout() == layout) {
            Some(index) => Ok(self.spare.swap_remove(index)),
            None => ImageBuffer::with_layout(layout),
        }
    }

    fn check_size(&self, width: u32, height: u32) -> Result<(), Fault> {
        if u64::from(width) * u64::from(height) > self.options.max_pixels {
            return Err(Fault::TooManyPixels { width, height });
        }
        Ok(())
    }
}

impl From<mip_core::ImageError> for Fault {
    fn from(error: mip_core::ImageError) -> Self {
        Self::Image(error)
    }
}

/// Orientation from an EXIF block; upright when there is none or it is unreadable.
fn orientation(exif: Option<&[u8]>) -> Orientation {
    exif.and_then(exif::orientation).unwrap_or(Orientation::NoTransforms)
}

/// What a file that is no PNG or JPEG looks like.
fn describe(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "empty".into();
    }
    match image::guess_format(bytes) {
        Ok(format) => {
            format!("a {} file", format.extensions_str().first().unwrap_or(&"foreign").to_uppercase())
        }
        Err(_) if b"\x89PNG\r\n\x1a\n".starts_with(bytes) || [0xFF, 0xD8].starts_with(bytes) => {
            format!("only {} byte(s) long", bytes.len())
        }
        Err(_) => "no image format known here".into(),
    }
}
