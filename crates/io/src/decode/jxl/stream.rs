//! The stream of a JPEG XL file (ISO/IEC 18181-2), and what its header says, before the library takes memory for it.

use std::borrow::Cow;

use jxl_bitstream::Bitstream;
use jxl_oxide::image::{BitDepth, ImageHeader};
use jxl_oxide_common::Bundle as _;
use mip_core::{DType, ImageError, faults};

use super::super::Fault;
use super::super::boxes::boxes;

/// How a stream begins.
const START: &[u8] = b"\xFF\x0A";

/// Bytes of the longest profile that is taken, packed. A stream may claim one of 256 MiB, and a few bytes can be unpacked to it.
const LONGEST_PROFILE: u64 = 4 << 20;

/// The stream: all of the file, or the contents of its boxes. `whole` refuses one whose end is missing.
///
/// The library reads boxes too, but unpacks metadata in them without a limit.
pub(super) fn of(file: &[u8], whole: bool) -> Result<Cow<'_, [u8]>, Fault> {
    if file.starts_with(START) {
        return Ok(Cow::Borrowed(file));
    }
    let mut stream: Vec<u8> = Vec::new();
    let mut parts = 0;
    for found in boxes(file) {
        let body = if whole { found.whole()? } else { found.body };
        match &found.kind {
            b"jxlc" if parts == 0 => return Ok(Cow::Borrowed(body)),
            b"jxlp" => {
                let Some((number, part)) = body.split_first_chunk::<4>() else { break };
                // The highest bit is that of the last part.
                let number = u32::from_be_bytes(*number);
                if number & 0x7FFF_FFFF != parts {
                    return Err(Fault::Corrupt(format!("part {parts} of its stream is out of order")));
                }
                parts += 1;
                let none = |_| ImageError::OutOfMemory {
                    bytes: part.len(),
                    what: "the parts of the stream".to_owned(),
                };
                faults::try_reserve(&mut stream, part.len()).map_err(none)?;
                stream.extend_from_slice(part);
                if number >> 31 == 1 {
                    return Ok(Cow::Owned(stream));
                }
            }
            _ => {}
        }
    }
    if whole { Err(Fault::Truncated(super::CUT.to_owned())) } else { Ok(Cow::Owned(stream)) }
}

/// What a stream says of its picture.
pub(super) struct Header {
    /// Sides once the orientation is applied.
    pub(super) width: u32,
    pub(super) height: u32,
    /// Planes that the stream has: three, or one of gray, and those beside colours.
    planes: usize,
    pub(super) alpha: bool,
    pub(super) gray: bool,
    /// Of the colours.
    pub(super) depth: BitDepth,
}

impl Header {
    pub(super) fn of(stream: &[u8]) -> Result<Self, Fault> {
        let fault = |error: jxl_bitstream::Error| {
            if error.unexpected_eof() {
                Fault::Truncated(super::CUT.to_owned())
            } else {
                Fault::Corrupt(error.to_string())
            }
        };
        let mut bits = Bitstream::new(stream);
        let header = ImageHeader::parse(&mut bits, ()).map_err(fault)?;
        let about = &header.metadata;
        if about.colour_encoding.want_icc() {
            let length = bits.read_u64().map_err(fault)?;
            if length > LONGEST_PROFILE {
                let text = format!(
                    "its ICC profile has {length} bytes, packed, and at most {LONGEST_PROFILE} are read"
                );
                return Err(Fault::Corrupt(text));
            }
        }
        if about.ec_info.len() > MOST_CHANNELS {
            let text = format!(
                "it has {} channels beside its colours, and at most {MOST_CHANNELS} are read",
                about.ec_info.len()
            );
            return Err(Fault::Corrupt(text));
        }
        let gray = about.grayscale();
        // What is stored as XYB has three planes even where it is gray.
        let colours = if gray && !about.xyb_encoded { 1 } else { 3 };
        Ok(Self {
            width: header.width_with_orientation(),
            height: header.height_with_orientation(),
            planes: colours + about.ec_info.len(),
            alpha: about.alpha().is_some(),
            gray,
            depth: about.bit_depth,
        })
    }

    /// The type that samples become. Integers of fewer than 8 or 16 bits are scaled; floats of other sizes fit f32.
    pub(super) fn dtype(&self) -> Result<DType, Fault> {
        match self.depth {
            BitDepth::IntegerSample { bits_per_sample: ..=8 } => Ok(DType::U8),
            BitDepth::IntegerSample { bits_per_sample: ..=16 } => Ok(DType::U16),
            BitDepth::IntegerSample { bits_per_sample } => Err(Fault::Corrupt(format!(
                "its samples are integers of {bits_per_sample} bits, and at most 16 are read; save it with 16, or as floats"
            ))),
            BitDepth::FloatSample { bits_per_sample: 16, exp_bits: 5 } => Ok(DType::F16),
            BitDepth::FloatSample { .. } => Ok(DType::F32),
        }
    }

    /// Bytes that the library may take: planes of 4 bytes a sample, several times where they are filtered and blended.
    pub(super) fn scratch(&self) -> usize {
        let side = |side: u32| side as usize + MARGIN;
        let plane = side(self.width).saturating_mul(side(self.height)).saturating_mul(4);
        plane.saturating_mul(self.planes).saturating_mul(COPIES).saturating_add(16 << 20)
    }
}

/// What is added to sides: whole blocks are decoded, and filters look beyond them.
const MARGIN: usize = 64;

/// Copies of all planes that there may be at once: two of the frame in hand, and up to four that later ones refer to.
const COPIES: usize = 6;

/// Channels beside those of colours that a file may have, or decoding them would take many times the memory of its picture.
const MOST_CHANNELS: usize = 16;
