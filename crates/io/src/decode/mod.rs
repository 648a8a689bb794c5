//! Files to pixels.

mod alpha;
#[cfg(feature = "avif")]
mod avif;
#[cfg(any(feature = "avif", feature = "jxl"))]
pub(crate) mod boxes;
mod exif;
#[cfg(feature = "exr")]
mod exr;
mod gif;
mod hdr;
mod icc;
mod jpeg;
#[cfg(feature = "jxl")]
mod jxl;
mod library;
mod load;
mod loaded;
mod look;
mod npy;
mod orient;
mod pages;
mod png;
mod pnm;
mod spares;
mod spread;
mod tiff;
mod warning;
#[cfg(feature = "webp")]
mod webp;

use std::path::Path;
use std::sync::Arc;

use image::metadata::Orientation;
use mip_core::{
    BatchLayout, ImageBuffer, ImageDesc, ImageError, MemoryBudget, OverBudget, Reservation, faults, panics,
};

pub use icc::IccUse;
pub use jpeg::JpegScale;
pub(crate) use jpeg::{Level as JpegLevel, NATURAL};
pub use loaded::Loaded;
pub use pages::Page;
pub(crate) use tiff::{is_plausible as is_plausible_tiff, page_source as tiff_page};
pub use warning::{ReadWarning, WarningKind};

use crate::{FileFormat, IoError, Metadata};
pub use spares::Spares;

/// Limits for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Largest `width * height` that is decoded; guards against files that claim enormous sizes.
    /// Default 2^29, about 23,000 pixels squared.
    pub max_pixels: u64,
    /// Whether a file that gives rise to a [`WarningKind::Damage`] or [`WarningKind::Further`] is refused. Default
    /// `false`.
    pub strict: bool,
    /// How large the pictures of JPEG files are decoded; files of other formats are not scaled. Default [`JpegScale::Full`].
    pub jpeg_scale: JpegScale,
    /// What is done with ICC profiles. Default [`IccUse::Keep`].
    pub icc: IccUse,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_pixels: 1 << 29, strict: false, jpeg_scale: JpegScale::Full, icc: IccUse::Keep }
    }
}

/// Reads an image file with default limits. See [`Reader::read`]; warnings are for those who keep a [`Reader`].
///
/// # Errors
/// As [`Reader::read`].
pub fn read_image(path: impl AsRef<Path>) -> Result<ImageBuffer, IoError> {
    Reader::default().read(path)
}

/// Decodes an image file held in memory; `name` stands for it in errors. See [`Reader::read`].
///
/// # Errors
/// As [`Reader::read`].
pub fn read_bytes(bytes: &[u8], name: &str) -> Result<ImageBuffer, IoError> {
    Reader::default().read_bytes(bytes, name)
}

/// Reads many files, keeping its file buffer and the pixel buffers given back with [`Reader::recycle`].
///
/// A file is looked at before it is read: what is no picture, has too many pixels, or would take more memory than the
/// budget has, is refused by its first bytes. What is read and decoded counts in the budget, pixels until the last
/// clone of the picture is dropped. A decoder that panics fails that one file.
#[derive(Debug)]
pub struct Reader {
    options: ReadOptions,
    budget: Arc<MemoryBudget>,
    file: Vec<u8>,
    spares: Arc<Spares>,
    /// What the picture in hand may take.
    held: Option<Reservation>,
    warnings: Vec<ReadWarning>,
    metadata: Metadata,
    jpeg: jpeg::Scratch,
    /// The conversion to sRGB that was used last: files of a folder often have the same profile.
    conversion: Option<icc::Conversion>,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new(ReadOptions::default())
    }
}

/// What a decoder found wrong, before the file's name is put to it.
#[derive(Debug)]
enum Fault {
    Truncated(String),
    Corrupt(String),
    TooManyPixels { width: u32, height: u32 },
    Memory(OverBudget),
    Image(ImageError),
    Profile(String),
    NotBuilt(&'static str),
}

impl Fault {
    fn name(self, name: &str, format: FileFormat, reader: &Reader) -> IoError {
        let name = name.to_owned();
        match self {
            Self::Truncated(detail) => IoError::Truncated { name, detail },
            Self::Corrupt(reason) => IoError::Corrupt { name, format, reason },
            Self::TooManyPixels { width, height } => {
                IoError::TooManyPixels { name, width, height, limit: reader.options.max_pixels }
            }
            Self::Memory(source) => IoError::Memory { name, source },
            Self::Image(source) => IoError::Image { name, source },
            Self::Profile(reason) => IoError::IccProfile { name, reason },
            Self::NotBuilt(feature) => IoError::NotBuilt { name, format, feature },
        }
    }
}

impl Reader {
    /// A file buffer larger than this is not kept for the next file.
    const KEPT: usize = 8 << 20;

    /// A reader with its own limits, and as much memory as there is.
    pub fn new(options: ReadOptions) -> Self {
        Self::within(options, Arc::new(MemoryBudget::unlimited()), Arc::default())
    }

    /// A reader that takes its memory from a budget, and pixel buffers from those given back.
    pub fn within(options: ReadOptions, budget: Arc<MemoryBudget>, spares: Arc<Spares>) -> Self {
        Self {
            options,
            budget,
            file: Vec::new(),
            spares,
            held: None,
            warnings: Vec::new(),
            metadata: Metadata::default(),
            jpeg: jpeg::Scratch::default(),
            conversion: None,
        }
    }

    /// Where its memory comes from.
    pub const fn budget(&self) -> &Arc<MemoryBudget> {
        &self.budget
    }

    /// Reads one image file (`-`: stdin): format from the content, not the name.
    ///
    /// Gray, RGB and RGBA keep their channels and their 8 or 16 bits (native endian); palettes become rgb or
    /// rgba, gray with alpha becomes rgba, 1 to 4 bit gray becomes 8 bit, CMYK JPEG becomes rgb. EXIF
    /// orientation is applied. Bytes behind the end of the image are ignored. An animated PNG gives its
    /// default image; of several pages or frames in another format the first is read, with a warning.
    /// f32 samples are as the file has them.
    ///
    /// # Errors
    /// A file that cannot be read, is no image, stops early, does not decode cleanly, has more
    /// pixels than [`ReadOptions::max_pixels`], or takes more memory than there is.
    pub fn read(&mut self, path: impl AsRef<Path>) -> Result<ImageBuffer, IoError> {
        let budget = self.budget.clone();
        self.read_admitted(path, |bytes| budget.reserve(bytes))
    }

    /// As [`Reader::read`], with the bytes that it takes asked for by `admit`, which may wait. Not called for a file
    /// that is refused by its first bytes.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_admitted(
        &mut self,
        path: impl AsRef<Path>,
        admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
    ) -> Result<ImageBuffer, IoError> {
        let file = self.load(path, admit)?;
        self.decode(file)
    }

    /// Decodes a file held in memory; `name` stands for it in errors.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_bytes(&mut self, bytes: &[u8], name: &str) -> Result<ImageBuffer, IoError> {
        let file = self.load_bytes(bytes, name)?;
        self.decode(file)
    }

    /// A copy of a file's bytes.
    fn fill_bytes(&mut self, bytes: &[u8], name: &str) -> Result<(), IoError> {
        self.file.clear();
        let short = |_| ImageError::OutOfMemory { bytes: bytes.len(), what: "a copy of the file".to_owned() };
        let reserved = faults::try_reserve_exact(&mut self.file, bytes.len()).map_err(short);
        reserved.map_err(|source| IoError::Image { name: name.to_owned(), source })?;
        self.file.extend_from_slice(bytes);
        Ok(())
    }

    /// Gives back a buffer that is no longer needed; a later picture of the same shape is decoded into it.
    pub fn recycle(&mut self, image: ImageBuffer) {
        self.spares.give(image);
    }

    fn decode_held(
        &mut self,
        format: FileFormat,
        held: Reservation,
        name: &str,
    ) -> Result<ImageBuffer, IoError> {
        let file = std::mem::take(&mut self.file);
        let metadata = Metadata::of(&file, format);
        let decoded =
            self.decode_named(name, format, held, metadata, |reader| reader.decode_file(format, &file));
        if file.capacity() <= Self::KEPT {
            self.file = file;
        }
        decoded
    }

    /// Decodes a picture within `held` bytes, turns it upright, and puts the file's name to what is wrong with it.
    fn decode_named(
        &mut self,
        name: &str,
        format: FileFormat,
        held: Reservation,
        metadata: Metadata,
        decode: impl FnOnce(&mut Self) -> Result<(ImageBuffer, Orientation), Fault>,
    ) -> Result<ImageBuffer, IoError> {
        self.held = Some(held);
        // Decoders may find more.
        self.metadata = metadata;
        let mut turned = false;
        let earlier = self.warnings.len();
        let decoded = guarded(name, format, || {
            let (mut image, orientation) = decode(self)?;
            turned = orient::swaps(orientation);
            if self.options.icc == IccUse::Srgb {
                self.make_srgb(&mut image)?;
            }
            self.upright(image, orientation)
        });
        self.held = None;
        let metadata = std::mem::take(&mut self.metadata);
        self.warnings[earlier..].iter_mut().for_each(|warning| name.clone_into(&mut warning.name));
        let image = decoded?.map_err(|fault| fault.name(name, format, self))?;
        let refused = self.warnings[earlier..].iter().position(|warning| warning.kind.is_refused());
        match refused {
            Some(index) if self.options.strict => {
                let text = self.warnings.remove(earlier + index).text;
                Err(IoError::Strict { name: name.to_owned(), format, text })
            }
            _ => {
                self.metadata = if turned { metadata.turned() } else { metadata };
                Ok(image)
            }
        }
    }

    fn decode_file(&mut self, format: FileFormat, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let upright = |image| (image, Orientation::NoTransforms);
        if let Some(feature) = format.missing_feature() {
            return Err(Fault::NotBuilt(feature));
        }
        if let Some(needs) = look::needs(format, file, self.options.jpeg_scale) {
            self.check_size(needs.width, needs.height)?;
            scratch(needs.scratch)?;
        }
        match format {
            FileFormat::Png => self.decode_png(file),
            FileFormat::Jpeg => self.decode_jpeg(file),
            FileFormat::Pbm | FileFormat::Pgm | FileFormat::Ppm | FileFormat::Pam | FileFormat::Pnm => {
                self.decode_pnm(file).map(upright)
            }
            FileFormat::Bmp => self.decode_bmp(file).map(upright),
            FileFormat::Qoi => self.decode_qoi(file).map(upright),
            FileFormat::Tga => self.decode_tga(file).map(upright),
            #[cfg(feature = "webp")]
            FileFormat::WebP => self.decode_webp(file),
            FileFormat::Tiff => self.decode_tiff(file, None),
            FileFormat::Hdr => self.decode_hdr(file),
            FileFormat::Gif => self.decode_gif(file).map(upright),
            FileFormat::Npy => self.decode_npy(file).map(upright),
            #[cfg(feature = "exr")]
            FileFormat::Exr => self.decode_exr(file).map(upright),
            #[cfg(feature = "jxl")]
            FileFormat::Jxl => self.decode_jxl(file).map(upright),
            #[cfg(feature = "avif")]
            FileFormat::Avif => self.decode_avif(file),
            #[cfg(not(all(feature = "avif", feature = "exr", feature = "jxl", feature = "webp")))]
            _ => Err(Fault::Corrupt("no decoder was built".to_owned())),
        }
    }

    /// What there was to warn of since the last call, in the order of the files.
    pub fn take_warnings(&mut self) -> Vec<ReadWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// What the file read last says beside its pixels; nothing after a failure.
    pub fn take_metadata(&mut self) -> Metadata {
        std::mem::take(&mut self.metadata)
    }

    /// Notes a warning about the file in hand; its name is put to it by [`Reader::decode_named`].
    fn warn(&mut self, kind: WarningKind, text: impl Into<String>) {
        self.warnings.push(ReadWarning { name: String::new(), kind, text: text.into() });
    }

    /// Converts pixels by the profile that came with them, which then is gone.
    fn make_srgb(&mut self, image: &mut ImageBuffer) -> Result<(), Fault> {
        let Some(profile) = self.metadata.take_profile().map_err(|text| Fault::Profile(text.to_owned()))?
        else {
            return Ok(());
        };
        let kind = (image.desc().format(), image.desc().dtype());
        let conversion = match self.conversion.take().filter(|kept| kept.is_for(&profile, kind)) {
            Some(kept) => kept,
            None => icc::Conversion::new(&profile, kind)?,
        };
        conversion.convert(image);
        self.conversion = Some(conversion);
        Ok(())
    }

    fn upright(&mut self, image: ImageBuffer, orientation: Orientation) -> Result<ImageBuffer, Fault> {
        if orientation == Orientation::NoTransforms {
            return Ok(image);
        }
        let mut upright = self.buffer(orient::desc(*image.desc(), orientation)?)?;
        orient::copy(&image, &mut upright, orientation);
        self.recycle(image);
        Ok(upright)
    }

    /// A tight single-image buffer with unspecified contents.
    fn buffer(&mut self, desc: ImageDesc) -> Result<ImageBuffer, Fault> {
        let layout = BatchLayout::tight(desc, 1)?;
        if let Some(spare) = self.spares.take(&layout) {
            return Ok(spare);
        }
        let held = self.held.get_or_insert(self.budget.reserve(0).map_err(Fault::Memory)?);
        let mut part = held.split(layout.span());
        part.grow_to(layout.span()).map_err(Fault::Memory)?;
        Ok(ImageBuffer::reserved(layout, part)?)
    }

    fn check_size(&self, width: u32, height: u32) -> Result<(), Fault> {
        if u64::from(width) * u64::from(height) > self.options.max_pixels {
            return Err(Fault::TooManyPixels { width, height });
        }
        Ok(())
    }
}

impl From<ImageError> for Fault {
    fn from(error: ImageError) -> Self {
        Self::Image(error)
    }
}

/// Finds out that there are so many bytes for a decoder's own use, which it takes without asking.
fn scratch(bytes: usize) -> Result<(), Fault> {
    let none = |_| ImageError::OutOfMemory { bytes, what: "the decoder's own use".to_owned() };
    Ok(faults::try_reserve_exact(&mut Vec::<u8>::new(), bytes).map_err(none)?)
}

/// So many zeros; `what` stands for them in the error.
fn zeroes<T: Clone + Default>(len: usize, what: &str) -> Result<Vec<T>, Fault> {
    let mut zeroes = Vec::new();
    let none =
        |_| ImageError::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()), what: what.to_owned() };
    faults::try_reserve_exact(&mut zeroes, len).map_err(none)?;
    zeroes.resize(len, T::default());
    Ok(zeroes)
}

/// A decoder's panic, as the failure of this one file.
fn guarded<T>(name: &str, format: FileFormat, decode: impl FnOnce() -> T) -> Result<T, IoError> {
    panics::caught(decode).map_err(|reason| IoError::Internal { name: name.to_owned(), format, reason })
}

/// Orientation from an EXIF block; upright when there is none or it is unreadable.
fn orientation(exif: Option<&[u8]>) -> Orientation {
    exif.and_then(exif::orientation).unwrap_or(Orientation::NoTransforms)
}

/// What a file of no format that is read looks like.
fn describe(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "empty".into();
    }
    if FileFormat::ALL.iter().any(|format| format.facts().may_begin(bytes)) {
        return format!("only {} byte(s) long", bytes.len());
    }
    match image::guess_format(bytes) {
        Ok(format) => {
            format!("a file of kind {}", format.extensions_str().first().unwrap_or(&"foreign").to_uppercase())
        }
        Err(_) => "no image format known here (TGA is known by its extension alone)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_that_panics_fails_its_file() {
        let error =
            guarded("a.png", FileFormat::Png, || assert_eq!(1, 2, "lengths")).unwrap_err().to_string();
        assert!(error.starts_with("a.png: the PNG decoder failed on it (internal error: "), "{error}");
        assert!(guarded("a.png", FileFormat::Png, || 1).is_ok());
    }

    #[test]
    fn a_format_that_was_not_built_is_named_with_its_feature() {
        let beginnings: [(FileFormat, &[u8]); 3] = [
            (FileFormat::Exr, b"\x76\x2f\x31\x01\x02\0\0\0"),
            (FileFormat::Jxl, b"\xFF\x0A\0\0\0\0"),
            (FileFormat::Avif, b"\0\0\0\x10ftypavif\0\0\0\0"),
        ];
        for (format, file) in beginnings {
            let text = read_bytes(file, "a.png").unwrap_err().to_string();
            match format.missing_feature() {
                Some(feature) => {
                    let start = format!("a.png is a {format} file, which needs the feature `{feature}`");
                    assert!(text.starts_with(&start), "{text}");
                }
                None => assert!(text.starts_with("a.png is "), "{text}"),
            }
        }
    }
}
