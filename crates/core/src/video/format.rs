use std::fmt;
use std::str::FromStr;

use crate::{DType, ImageDesc, ImageError, PixelFormat};

/// Pixels that share a chroma sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChromaSampling {
    /// Two across and two down.
    #[default]
    C420,
    /// Two across.
    C422,
    /// None: full resolution.
    C444,
    /// There is no chroma, luma alone.
    C400,
}

impl ChromaSampling {
    /// Every sampling, in declaration order.
    pub const ALL: [Self; 4] = [Self::C420, Self::C422, Self::C444, Self::C400];

    /// `420`, `422`, `444` or `400`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::C400 => "400",
            Self::C420 => "420",
            Self::C422 => "422",
            Self::C444 => "444",
        }
    }

    /// How many pixels share a chroma sample across and down, as powers of two. 0 without chroma.
    pub const fn shifts(self) -> (u32, u32) {
        match self {
            Self::C420 => (1, 1),
            Self::C422 => (1, 0),
            Self::C444 | Self::C400 => (0, 0),
        }
    }

    /// Width and height of chroma. Odd sizes round up.
    pub const fn size(self, width: u32, height: u32) -> (u32, u32) {
        let (x, y) = self.shifts();
        (width.div_ceil(1 << x), height.div_ceil(1 << y))
    }
}

impl fmt::Display for ChromaSampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where the chroma samples of a frame are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Packing {
    /// U and V in a plane each.
    #[default]
    Planar,
    /// U and V take turns in one plane.
    Uv,
    /// V and U take turns in one plane.
    Vu,
    /// All in one plane: Y U Y V for each two pixels.
    Yuyv,
    /// All in one plane: U Y V Y for each two pixels.
    Uyvy,
}

impl Packing {
    /// Every packing, in declaration order.
    pub const ALL: [Self; 5] = [Self::Planar, Self::Uv, Self::Vu, Self::Yuyv, Self::Uyvy];

    /// `planar`, `uv`, `vu`, `yuyv` or `uyvy`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planar => "planar",
            Self::Uv => "uv",
            Self::Vu => "vu",
            Self::Yuyv => "yuyv",
            Self::Uyvy => "uyvy",
        }
    }

    /// Whether luma and chroma are in one plane.
    pub const fn is_packed(self) -> bool {
        matches!(self, Self::Yuyv | Self::Uyvy)
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How the samples of a video frame are arranged in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VideoFormat {
    /// Where chroma is.
    pub packing: Packing,
    /// Pixels that share a chroma sample.
    pub sampling: ChromaSampling,
    /// The plane of V lies before that of U.
    pub v_first: bool,
    /// Bits of a sample: 8 in a byte, 9 to 16 in two.
    pub bits: u32,
    /// Zero bits below those.
    pub shift: u32,
}

/// A plane of a frame: a gray image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// `y`, `u`, `v`, `uv` (or `vu`), or `yuv` where there is only one.
    pub name: &'static str,
    /// Its samples, those that take turns side by side.
    pub desc: ImageDesc,
}

impl Plane {
    /// The names that planes have.
    pub const NAMES: [&'static str; 6] = ["y", "u", "v", "uv", "vu", "yuv"];
}

const fn planar(sampling: ChromaSampling, bits: u32) -> VideoFormat {
    VideoFormat { packing: Packing::Planar, sampling, v_first: false, bits, shift: 0 }
}

const fn packed(packing: Packing, sampling: ChromaSampling) -> VideoFormat {
    VideoFormat { packing, ..planar(sampling, 8) }
}

const fn high(bits: u32) -> VideoFormat {
    VideoFormat { packing: Packing::Uv, bits, shift: 16 - bits, ..planar(ChromaSampling::C420, 16) }
}

impl VideoFormat {
    /// The formats with a name. FFmpeg calls `i420` `yuv420p`, and `i420p10` `yuv420p10le`.
    pub const KNOWN: [(&'static str, Self); 25] = {
        use ChromaSampling::{C400, C420, C422, C444};
        [
            ("nv12", packed(Packing::Uv, C420)),
            ("nv21", packed(Packing::Vu, C420)),
            ("nv16", packed(Packing::Uv, C422)),
            ("nv61", packed(Packing::Vu, C422)),
            ("nv24", packed(Packing::Uv, C444)),
            ("i420", planar(C420, 8)),
            ("yv12", Self { v_first: true, ..planar(C420, 8) }),
            ("i422", planar(C422, 8)),
            ("i444", planar(C444, 8)),
            ("yuyv", packed(Packing::Yuyv, C422)),
            ("uyvy", packed(Packing::Uyvy, C422)),
            ("p010", high(10)),
            ("p012", high(12)),
            ("p016", high(16)),
            ("i420p10", planar(C420, 10)),
            ("i422p10", planar(C422, 10)),
            ("i444p10", planar(C444, 10)),
            ("i420p12", planar(C420, 12)),
            ("i422p12", planar(C422, 12)),
            ("i444p12", planar(C444, 12)),
            ("i420p16", planar(C420, 16)),
            ("i422p16", planar(C422, 16)),
            ("i444p16", planar(C444, 16)),
            ("gray", planar(C400, 8)),
            ("gray16", planar(C400, 16)),
        ]
    };

    /// Luma, then U and V taking turns, of half width and height: what cameras and decoders give.
    pub const NV12: Self = packed(Packing::Uv, ChromaSampling::C420);

    /// Planes of one sampling, U before V, of so many bits.
    pub const fn planar(sampling: ChromaSampling, bits: u32) -> Self {
        planar(sampling, bits)
    }

    /// Type of a sample in memory.
    pub const fn dtype(&self) -> DType {
        if self.bits > 8 { DType::U16 } else { DType::U8 }
    }

    /// The planes of a frame, in the order in which they lie in memory. Chroma of odd sizes is rounded up; packed formats hold
    /// an even number of columns.
    ///
    /// # Errors
    /// When a plane is empty or too large.
    pub fn planes(&self, width: u32, height: u32) -> Result<Vec<Plane>, ImageError> {
        let dtype = self.dtype();
        let too_large = || ImageError::TooLarge { what: format!("a {self} frame"), width, height };
        let gray = |name, columns: Option<u32>, rows| {
            let columns = columns.ok_or_else(too_large)?;
            Ok(Plane { name, desc: ImageDesc::new(columns, rows, PixelFormat::Gray, dtype)? })
        };
        if self.sampling == ChromaSampling::C400 {
            return Ok(vec![gray("y", Some(width), height)?]);
        }
        let (across, down) = self.sampling.size(width, height);
        let pairs = across.checked_mul(2);
        if self.packing.is_packed() {
            return Ok(vec![gray("yuv", pairs.and_then(|n| n.checked_mul(2)), height)?]);
        }
        let luma = gray("y", Some(width), height)?;
        Ok(match self.packing {
            Packing::Uv => vec![luma, gray("uv", pairs, down)?],
            Packing::Vu => vec![luma, gray("vu", pairs, down)?],
            Packing::Planar | Packing::Yuyv | Packing::Uyvy => {
                let names = if self.v_first { ["v", "u"] } else { ["u", "v"] };
                let [first, second] = names.map(|name| gray(name, Some(across), down));
                vec![luma, first?, second?]
            }
        })
    }

    /// Bytes of a frame whose planes lie behind each other without padding.
    ///
    /// # Errors
    /// As for [`VideoFormat::planes`].
    pub fn bytes(&self, width: u32, height: u32) -> Result<usize, ImageError> {
        let too_large = || ImageError::TooLarge { what: format!("a {self} frame"), width, height };
        let planes = self.planes(width, height)?;
        let add = |sum: usize, plane: &Plane| sum.checked_add(plane.desc.bytes());
        planes.iter().try_fold(0, add).filter(|&sum| isize::try_from(sum).is_ok()).ok_or_else(too_large)
    }
}

impl fmt::Display for VideoFormat {
    /// Its name; of one without a name what it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::KNOWN.iter().find(|(_, known)| known == self) {
            Some((name, _)) => f.pad(name),
            None => write!(f, "{} {} of {} bits", self.packing, self.sampling, self.bits),
        }
    }
}

impl FromStr for VideoFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::KNOWN.iter().find(|(name, _)| *name == text);
        known.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<&str> = Self::KNOWN.iter().map(|(name, _)| *name).collect();
            format!("unknown video format '{text}'; allowed: {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planes(name: &str, width: u32, height: u32) -> Vec<String> {
        let format: VideoFormat = name.parse().unwrap();
        let planes = format.planes(width, height).unwrap();
        planes.iter().map(|plane| format!("{} {}", plane.name, plane.desc)).collect()
    }

    #[test]
    fn planes_of_odd_sizes_round_chroma_up() {
        assert_eq!(planes("i420", 5, 3), ["y 5x3 gray u8", "u 3x2 gray u8", "v 3x2 gray u8"]);
        assert_eq!(planes("yv12", 4, 2), ["y 4x2 gray u8", "v 2x1 gray u8", "u 2x1 gray u8"]);
        assert_eq!(planes("nv12", 5, 3), ["y 5x3 gray u8", "uv 6x2 gray u8"]);
        assert_eq!(planes("nv61", 5, 3), ["y 5x3 gray u8", "vu 6x3 gray u8"]);
        assert_eq!(planes("yuyv", 5, 3), ["yuv 12x3 gray u8"]);
        assert_eq!(planes("p010", 2, 2), ["y 2x2 gray u16", "uv 2x1 gray u16"]);
        assert_eq!(planes("i444p12", 2, 1), ["y 2x1 gray u16", "u 2x1 gray u16", "v 2x1 gray u16"]);
    }

    #[test]
    fn bytes_are_those_of_all_planes() {
        let bytes = |name: &str| name.parse::<VideoFormat>().unwrap().bytes(1920, 1080).unwrap();
        assert_eq!((bytes("nv12"), bytes("i422"), bytes("yuyv")), (3_110_400, 4_147_200, 4_147_200));
        assert_eq!(bytes("p010"), 2 * bytes("i420"));
        let nv12: VideoFormat = "nv12".parse().unwrap();
        assert!(nv12.bytes(0, 4).is_err() && nv12.planes(u32::MAX, u32::MAX).is_err());
    }

    #[test]
    fn every_name_reads_back_and_stands_once() {
        for (i, (name, format)) in VideoFormat::KNOWN.iter().enumerate() {
            assert_eq!(format.to_string().parse::<VideoFormat>().unwrap(), *format, "{name}");
            assert!(VideoFormat::KNOWN[..i].iter().all(|(other, same)| other != name && same != format));
            assert!(format.bits + format.shift <= 16);
        }
        let error = "nv13".parse::<VideoFormat>().unwrap_err();
        assert!(error.contains("nv12") && error.contains("p010"), "{error}");
    }
}
