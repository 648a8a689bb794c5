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

/// A format of lossless pictures of any size that is written in one way; what others say is what differs.
const LOSSLESS: Facts = Facts {
    name: "",
    extensions: &[],
    magic: &[],
    reads: &[U8],
    writes: &[U8],
    lossy: false,
    longest_side: ImageDesc::MAX_SIDE,
    quality: false,
    compression: false,
};

pub(super) const PBM: Facts = Facts {
    name: "PBM",
    extensions: &["pbm"],
    magic: &[b"P1\n", b"P1 ", b"P1\r", b"P1\t", b"P1#", b"P4\n", b"P4 ", b"P4\r", b"P4\t", b"P4#"],
    reads: &[samples(DType::U8, &[Gray])],
    writes: &[],
    ..LOSSLESS
};

const GRAYS: &[Samples] = &[samples(DType::U8, &[Gray]), samples(DType::U16, &[Gray])];
const COLOURS: &[Samples] = &[samples(DType::U8, &[Rgb]), samples(DType::U16, &[Rgb])];
const OPAQUE: &[Samples] = &[samples(DType::U8, &[Gray, Rgb]), samples(DType::U16, &[Gray, Rgb])];

pub(super) const PGM: Facts = Facts {
    name: "PGM",
    extensions: &["pgm"],
    magic: &[b"P2\n", b"P2 ", b"P2\r", b"P2\t", b"P2#", b"P5\n", b"P5 ", b"P5\r", b"P5\t", b"P5#"],
    reads: GRAYS,
    writes: GRAYS,
    ..LOSSLESS
};

pub(super) const PPM: Facts = Facts {
    name: "PPM",
    extensions: &["ppm"],
    magic: &[b"P3\n", b"P3 ", b"P3\r", b"P3\t", b"P3#", b"P6\n", b"P6 ", b"P6\r", b"P6\t", b"P6#"],
    reads: COLOURS,
    writes: COLOURS,
    ..LOSSLESS
};

pub(super) const PAM: Facts = Facts {
    name: "PAM",
    extensions: &["pam"],
    magic: &[b"P7\n"],
    reads: &[U8, U16],
    writes: &[U8, U16],
    ..LOSSLESS
};

pub(super) const PNM: Facts =
    Facts { name: "PNM", extensions: &["pnm"], reads: OPAQUE, writes: OPAQUE, ..LOSSLESS };

pub(super) const BMP: Facts = Facts {
    name: "BMP",
    extensions: &["bmp"],
    // Behind the two letters come three numbers of 4 bytes, then the length of a header of one of these versions.
    magic: &[
        b"BM????????????\x0C\0\0\0",
        b"BM????????????\x28\0\0\0",
        b"BM????????????\x34\0\0\0",
        b"BM????????????\x38\0\0\0",
        b"BM????????????\x40\0\0\0",
        b"BM????????????\x6C\0\0\0",
        b"BM????????????\x7C\0\0\0",
    ],
    longest_side: 65535,
    ..LOSSLESS
};

pub(super) const QOI: Facts = Facts {
    name: "QOI",
    extensions: &["qoi"],
    magic: &[b"qoif"],
    reads: &[samples(DType::U8, &[Rgb, Rgba])],
    writes: &[samples(DType::U8, &[Rgb, Rgba])],
    ..LOSSLESS
};

pub(super) const TGA: Facts = Facts { name: "TGA", extensions: &["tga"], longest_side: 65535, ..LOSSLESS };

pub(super) const WEBP: Facts = Facts {
    name: "WebP",
    extensions: &["webp"],
    magic: &[b"RIFF????WEBP"],
    reads: &[samples(DType::U8, &[Rgb, Rgba])],
    writes: &[samples(DType::U8, &[Rgb, Rgba])],
    longest_side: 16384,
    ..LOSSLESS
};

const I16: Samples = samples(DType::I16, ANY);
const I32: Samples = samples(DType::I32, ANY);
const F16: Samples = samples(DType::F16, ANY);
const F32: Samples = samples(DType::F32, ANY);

pub(super) const TIFF: Facts = Facts {
    name: "TIFF",
    extensions: &["tif", "tiff"],
    magic: &[b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"],
    reads: &[U8, U16, F16, F32],
    writes: &[U8, U16, F16, F32],
    compression: true,
    ..LOSSLESS
};

pub(super) const HDR: Facts = Facts {
    name: "HDR",
    extensions: &["hdr"],
    magic: &[b"#?RADIANCE", b"#?RGBE"],
    reads: &[samples(DType::F32, &[Rgb])],
    writes: &[samples(DType::F32, &[Rgb])],
    lossy: true,
    ..LOSSLESS
};

pub(super) const GIF: Facts = Facts {
    name: "GIF",
    extensions: &["gif"],
    magic: &[b"GIF87a", b"GIF89a"],
    reads: &[samples(DType::U8, &[Rgb, Rgba])],
    writes: &[],
    ..LOSSLESS
};

pub(super) const NPY: Facts = Facts {
    name: "NPY",
    extensions: &["npy"],
    magic: &[b"\x93NUMPY"],
    reads: &[U8, U16, I16, I32, F16, F32],
    writes: &[U8, U16, I16, I32, F16, F32],
    ..LOSSLESS
};

pub(super) const EXR: Facts = Facts {
    name: "EXR",
    extensions: &["exr"],
    magic: &[b"\x76\x2F\x31\x01"],
    reads: &[F16, F32],
    writes: &[F16, F32],
    ..LOSSLESS
};

pub(super) const JXL: Facts = Facts {
    name: "JXL",
    extensions: &["jxl"],
    // A stream of its own, and one in boxes.
    magic: &[b"\xFF\x0A", b"\0\0\0\x0CJXL \r\n\x87\n"],
    reads: &[U8, U16, F16, F32],
    writes: &[],
    ..LOSSLESS
};

pub(super) const AVIF: Facts = Facts {
    name: "AVIF",
    extensions: &["avif"],
    // Of HEIF with another brand in front, AVIF stands behind it.
    magic: &[
        b"????ftypavif",
        b"????ftypavis",
        b"????ftypmif1????avif",
        b"????ftypmif1????mif1avif",
        b"????ftypmif1????miafavif",
    ],
    reads: &[U8, U16],
    writes: &[],
    ..LOSSLESS
};

impl Facts {
    /// Whether a file can hold such images.
    pub fn holds(&self, image: &ImageDesc) -> bool {
        let format = image.format();
        // To an array numbers have no further meaning.
        let format = if *self == NPY && format.is_color_space() { Rgb } else { in_files(format) };
        self.writes.iter().any(|held| held.dtype == image.dtype() && held.formats.contains(&format))
            && image.width().max(image.height()) <= self.longest_side
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
        // Of pictures' formats none holds these.
        PixelFormat::Hsv
        | PixelFormat::Hls
        | PixelFormat::Ycbcr
        | PixelFormat::Lab
        | PixelFormat::Luv
        | PixelFormat::Xyz
        | PixelFormat::Linear => format,
    }
}
