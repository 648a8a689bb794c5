use crate::y4m::Y4mHeader;
use crate::yuv::Sampling;

/// The four bytes by which FFmpeg knows the format of raw frames (`ff_raw_pix_fmt_tags` in libavcodec/raw.c).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NutTag(pub(super) [u8; 4]);

impl NutTag {
    /// The tag of planar frames as Y4M has them; `None` for depths that FFmpeg has no format for.
    pub fn of(header: &Y4mHeader) -> Option<Self> {
        if header.bits == 8 {
            return Some(Self(*match header.sampling {
                Sampling::Mono => b"Y800",
                Sampling::C422 => b"Y42B",
                Sampling::C444 => b"444P",
                Sampling::C420 | Sampling::C420Jpeg | Sampling::C420Mpeg2 | Sampling::C420Paldv => b"I420",
            }));
        }
        let bits = u8::try_from(header.bits).ok().filter(|bits| matches!(bits, 9 | 10 | 12 | 14 | 16))?;
        Some(Self(match header.sampling {
            Sampling::Mono => [b'Y', b'1', 0, bits],
            Sampling::C422 => [b'Y', b'3', 10, bits],
            Sampling::C444 => [b'Y', b'3', 0, bits],
            Sampling::C420 | Sampling::C420Jpeg | Sampling::C420Mpeg2 | Sampling::C420Paldv => {
                [b'Y', b'3', 11, bits]
            }
        }))
    }
}
