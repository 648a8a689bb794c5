//! What a file says beside its pixels, and what of it a result can still say.
//!
//! Carried over: the ICC profile, to results of the kind of colours it is for; the density; and PNG's own chunks on
//! colours, to PNG. Everything else is left behind, and named: camera data (EXIF; its orientation has been applied to
//! the pixels), XMP, texts, gain maps and so on speak of the picture that was, not of the result.

mod jpeg;
#[cfg(feature = "jxl")]
mod jxl;
mod png;
#[cfg(test)]
mod tests;
mod tiff;
mod webp;

use std::collections::BTreeSet;
use std::sync::Arc;

use mip_core::{ImageDesc, PixelFormat};

use crate::FileFormat;

/// What a file says beside its pixels.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// The ICC profile (ICC.1), as it stood in the file but for its packing.
    icc: Option<Arc<[u8]>>,
    density: Option<Density>,
    /// PNG's chunks on colours beside the profile (gAMA, cHRM, sRGB, cICP), name and contents, in the file's order.
    colours: Vec<([u8; 4], Vec<u8>)>,
    /// What else there is, in words.
    others: BTreeSet<&'static str>,
}

/// Pixels for a length, across and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Density {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) unit: DensityUnit,
}

/// The length that a density is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DensityUnit {
    /// None: only the pixels' aspect is said.
    Aspect,
    Metre,
    Centimetre,
    Inch,
}

/// What of a file's metadata goes with a result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Carried {
    icc: Option<Arc<[u8]>>,
    density: Option<Density>,
    colours: Vec<([u8; 4], Vec<u8>)>,
}

impl Metadata {
    /// What a whole file of that format says. Metadata that is damaged counts as something that is left behind: it is
    /// no reason to refuse pixels.
    pub(crate) fn of(file: &[u8], format: FileFormat) -> Self {
        match format {
            FileFormat::Png => png::read(file),
            FileFormat::Jpeg => jpeg::read(file),
            // What there may be in these (names, dates) says nothing about the pixels.
            FileFormat::Pbm
            | FileFormat::Pgm
            | FileFormat::Ppm
            | FileFormat::Pam
            | FileFormat::Pnm
            | FileFormat::Bmp
            | FileFormat::Qoi
            | FileFormat::Tga
            | FileFormat::Hdr
            | FileFormat::Gif
            | FileFormat::Npy
            | FileFormat::Exr => Self::default(),
            // Decoding finds what there is.
            FileFormat::Avif => Self::default(),
            #[cfg(feature = "jxl")]
            FileFormat::Jxl => jxl::read(file),
            #[cfg(not(feature = "jxl"))]
            FileFormat::Jxl => Self::default(),
            FileFormat::WebP => webp::read(file),
            FileFormat::Tiff => tiff::read(file),
        }
    }

    /// What the page of a TIFF file says whose directory begins there.
    pub(crate) fn of_page(file: &[u8], start: u64) -> Self {
        tiff::read_page(file, start)
    }

    /// Notes a profile that decoding has found.
    #[cfg(any(feature = "avif", feature = "jxl"))]
    pub(crate) fn set_profile(&mut self, profile: Option<Vec<u8>>) {
        match profile {
            Some(profile) if is_profile(&profile) => self.icc = Some(profile.into()),
            Some(_) => _ = self.others.insert(PROFILE),
            None => {}
        }
    }

    /// Notes colours by their numbers of ITU-T H.273, as PNG has them.
    #[cfg(feature = "avif")]
    pub(crate) fn set_numbers(&mut self, primaries: u8, transfer: u8) {
        self.colours.push((*b"cICP", vec![primaries, transfer, 0, 1]));
    }

    /// Notes something that cannot go on.
    #[cfg(feature = "avif")]
    pub(crate) fn lose(&mut self, what: &'static str) {
        self.others.insert(what);
    }

    /// Notes EXIF data, unless it has nothing but an orientation.
    #[cfg(feature = "avif")]
    pub(crate) fn lose_exif(&mut self, tiff: &[u8]) {
        if !jpeg::only_orientation(tiff) {
            self.lose("EXIF");
        }
    }

    /// Takes the profile away, and what else was said of the colours, which is no longer true once pixels are converted by it.
    /// `Ok(None)` where there is no profile.
    ///
    /// # Errors
    /// There is one, but not all of it.
    pub(crate) fn take_profile(&mut self) -> Result<Option<Arc<[u8]>>, &'static str> {
        if self.others.contains(PROFILE) {
            return Err("it is damaged");
        }
        let profile = self.icc.take().filter(|icc| is_profile(icc));
        if profile.is_some() {
            self.colours.clear();
        }
        Ok(profile)
    }

    /// The metadata of a picture whose sides were swapped.
    pub(crate) fn turned(mut self) -> Self {
        if let Some(density) = &mut self.density {
            std::mem::swap(&mut density.x, &mut density.y);
        }
        self
    }

    /// What a result of that kind can carry in a file of that format; and what is lost, in words that stand for it in
    /// a list ("an ICC profile"), in alphabetical order.
    pub fn carried(&self, result: &ImageDesc, format: FileFormat) -> (Carried, Vec<&'static str>) {
        let mut lost = self.others.clone();
        let icc = self.icc.clone().filter(|icc| holds(format).icc && fits(icc, result.format()));
        if self.icc.is_some() && icc.is_none() {
            lost.insert(PROFILE);
        }
        let density =
            self.density.filter(|_| holds(format).density).and_then(|density| density.held_by(format));
        if self.density.is_some() && density.is_none() {
            lost.insert("density");
        }
        // Primaries say nothing of gray, gamma does.
        let keeps =
            |name: [u8; 4]| format == FileFormat::Png && (name == *b"gAMA" || !is_gray(result.format()));
        let colours: Vec<_> = self.colours.iter().filter(|(name, _)| keeps(*name)).cloned().collect();
        if colours.len() < self.colours.len() {
            lost.insert("gamma and primaries");
        }
        (Carried { icc, density, colours }, lost.into_iter().collect())
    }
}

/// What a format has room for.
struct Room {
    icc: bool,
    density: bool,
}

const fn holds(format: FileFormat) -> Room {
    match format {
        FileFormat::Png | FileFormat::Jpeg | FileFormat::Tiff => Room { icc: true, density: true },
        FileFormat::WebP => Room { icc: true, density: false },
        FileFormat::Pbm
        | FileFormat::Pgm
        | FileFormat::Ppm
        | FileFormat::Pam
        | FileFormat::Pnm
        | FileFormat::Bmp
        | FileFormat::Qoi
        | FileFormat::Tga
        | FileFormat::Hdr
        | FileFormat::Gif
        | FileFormat::Npy
        | FileFormat::Exr
        | FileFormat::Jxl
        | FileFormat::Avif => Room { icc: false, density: false },
    }
}

/// What a profile is called in lists of what is lost.
const PROFILE: &str = "ICC profile";

impl Carried {
    pub(crate) fn icc(&self) -> Option<&[u8]> {
        self.icc.as_deref()
    }

    /// Adds what the encoder does not write to a PNG file: chunks behind the header chunk.
    pub(crate) fn add_to_png(&self, file: &mut Vec<u8>) {
        png::add(file, self.density, &self.colours);
    }

    /// The density in the units that the format has, which it was made for.
    pub(crate) fn density(&self) -> Option<(u32, u32, DensityUnit)> {
        self.density.map(|density| (density.x, density.y, density.unit))
    }

    /// The density in a JFIF header: across, down, unit.
    pub(crate) fn jfif_density(&self) -> Option<(u16, u16, DensityUnit)> {
        let density = self.density?;
        Some((u16::try_from(density.x).ok()?, u16::try_from(density.y).ok()?, density.unit))
    }
}

impl Density {
    /// The same density in the units of a format: PNG has metres, JFIF inches, centimetres and 16 bits. `None` where it
    /// does not fit.
    fn held_by(self, format: FileFormat) -> Option<Self> {
        use DensityUnit as U;
        // Pixels for an inch are whole numbers in nearly every file: 11811 a metre is 300 an inch.
        let inches = |value: u32| (f64::from(value) * 0.0254).round() as u32;
        let to = |unit, convert: &dyn Fn(u32) -> u32| Self { x: convert(self.x), y: convert(self.y), unit };
        let converted = match (format, self.unit) {
            (FileFormat::Png, U::Inch) => to(U::Metre, &|value| (f64::from(value) / 0.0254).round() as u32),
            (FileFormat::Png, U::Centimetre) => to(U::Metre, &|value| value.saturating_mul(100)),
            (FileFormat::Jpeg | FileFormat::Tiff, U::Metre) => to(U::Inch, &inches),
            _ => self,
        };
        let largest = if format == FileFormat::Jpeg { u32::from(u16::MAX) } else { u32::MAX >> 1 };
        let fits = |side: u32| (1..=largest).contains(&side);
        (fits(converted.x) && fits(converted.y)).then_some(converted)
    }
}

const fn is_gray(format: PixelFormat) -> bool {
    matches!(format, PixelFormat::Gray)
}

/// Whether a profile is for colours of the kind that a format has, by the colour space in its header (ICC.1 7.2.6), and
/// has the length that it says (7.2.2).
fn fits(icc: &[u8], format: PixelFormat) -> bool {
    let space: &[u8] = if is_gray(format) { b"GRAY" } else { b"RGB " };
    is_profile(icc) && icc.get(16..20) == Some(space)
}

/// Whether some bytes begin as a profile and have the length that it says.
fn is_profile(icc: &[u8]) -> bool {
    let length = icc.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes));
    icc.len() >= 128 && length.is_some_and(|length| length as usize == icc.len()) && icc[36..40] == *b"acsp"
}
