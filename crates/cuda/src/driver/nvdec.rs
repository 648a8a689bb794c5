//! Safe wrappers over NVDEC: a stream of packets goes in, pictures come out in device memory, in the order of display.

use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype};
use mip_core::panics;
use mip_runtime::device::DeviceError;

use super::nvcuvid::{
    Abilities, Area, DecodeStatus, DecoderParameters, END_OF_STREAM, HAS_TIMESTAMP, MapParameters, Nvcuvid,
    Opaque, Packet, ParserParameters, SequenceFormat, Shown, Status,
};
use super::{Context, DriverError, RawStream};

/// How a stream is coded (`cudaVideoCodec`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VideoCodec {
    /// ITU-T H.264, as a stream of bytes (annex B).
    H264,
    /// ITU-T H.265, as a stream of bytes (annex B).
    Hevc,
    /// VP8.
    Vp8,
    /// VP9.
    Vp9,
    /// AV1, as a stream of OBUs.
    Av1,
}

impl VideoCodec {
    /// Every codec.
    pub const ALL: [Self; 5] = [Self::H264, Self::Hevc, Self::Vp8, Self::Vp9, Self::Av1];

    /// `h264`, as ffmpeg calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::H264 => "h264",
            Self::Hevc => "hevc",
            Self::Vp8 => "vp8",
            Self::Vp9 => "vp9",
            Self::Av1 => "av1",
        }
    }

    const fn number(self) -> c_int {
        match self {
            Self::H264 => 4,
            Self::Hevc => 8,
            Self::Vp8 => 9,
            Self::Vp9 => 10,
            Self::Av1 => 11,
        }
    }
}

/// A call of NVDEC that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed: {} ({status})", self.name())]
pub(crate) struct VideoStatus {
    pub(crate) call: &'static str,
    pub(crate) status: Status,
}

impl VideoStatus {
    const fn name(&self) -> &'static str {
        match self.status {
            1 => "CUDA_ERROR_INVALID_VALUE",
            2 => "CUDA_ERROR_OUT_OF_MEMORY",
            3 => "CUDA_ERROR_NOT_INITIALIZED",
            100 => "CUDA_ERROR_NO_DEVICE",
            201 => "CUDA_ERROR_INVALID_CONTEXT",
            205 => "CUDA_ERROR_MAP_FAILED",
            700 => "CUDA_ERROR_ILLEGAL_ADDRESS",
            801 => "CUDA_ERROR_NOT_SUPPORTED",
            999 => "CUDA_ERROR_UNKNOWN",
            _ => "a status unknown here",
        }
    }
}

fn check(call: &'static str, status: Status) -> Result<(), VideoStatus> {
    if status == 0 { Ok(()) } else { Err(VideoStatus { call, status }) }
}

/// Why a stream is not decoded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum VideoRefusal {
    #[error(transparent)]
    Status(#[from] VideoStatus),
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The stream is of a kind that this GPU does not decode.
    #[error("{0}")]
    Stream(String),
    #[error(transparent)]
    Memory(#[from] DeviceError),
}

/// What all pictures of a stream are: 4:2:0, luma and then U and V taking turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureKind {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Bits of a sample: 8 in a byte, more in the upper bits of two.
    pub(crate) bits: u32,
}

/// Engines of the GPU for 4:2:0 of 8 bits in a codec; 0 where it has none.
pub(crate) fn engines(
    library: &Nvcuvid,
    context: &Arc<Context>,
    codec: VideoCodec,
) -> Result<u32, VideoRefusal> {
    let _bound = context.bind()?;
    let abilities = abilities(library, codec, 1, 8)?;
    Ok(if abilities.supported == 0 { 0 } else { abilities.engines.into() })
}

/// What the GPU does with pictures of that chroma and so many bits; a context is current.
fn abilities(
    library: &Nvcuvid,
    codec: VideoCodec,
    chroma: c_int,
    bits: u32,
) -> Result<Abilities, VideoStatus> {
    let mut found =
        Abilities { codec: codec.number(), chroma, bits_above_8: bits - 8, ..Abilities::default() };
    // SAFETY: fills in one structure.
    let status = unsafe { (library.functions.abilities)(&raw mut found) };
    check("cuvidGetDecoderCaps", status)?;
    Ok(found)
}

/// Where a plane goes: `rows` of `bytes` bytes, tight, from `address` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlaneTarget {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) rows: usize,
}

/// Takes pictures as they come.
pub(crate) trait Pictures: Send {
    /// Where the next picture's planes go, luma first. The memory is kept at least until [`Pictures::done`].
    fn next(&mut self, kind: &PictureKind) -> Result<[PlaneTarget; 2], DeviceError>;
    /// That picture is there. `damaged`: some of it was missing from the stream.
    fn done(&mut self, timestamp: i64, damaged: bool);
}

/// A stream that is being decoded, on one engine; used by one thread at a time.
pub(crate) struct VideoSession {
    parser: Opaque,
    /// Owned; the parser's callbacks have its address.
    state: NonNull<State>,
}

// SAFETY: every call takes `&mut self`, and callbacks run within those calls, on the same thread.
unsafe impl Send for VideoSession {}

struct State {
    library: &'static Nvcuvid,
    context: Arc<Context>,
    stream: RawStream,
    codec: VideoCodec,
    decoder: Option<Decoder>,
    pictures: Box<dyn Pictures>,
    /// What went wrong in a callback, which can only say that something did.
    failed: Option<VideoRefusal>,
}

#[derive(Debug)]
struct Decoder {
    raw: Opaque,
    kind: PictureKind,
    /// Rows of luma in a surface, behind which chroma is.
    rows: u32,
    surfaces: c_int,
}

/// Pictures that the parser holds back at most, so that the engine works on some while others are copied.
const DISPLAY_DELAY: c_uint = 4;

impl VideoSession {
    pub(crate) fn new(
        library: &'static Nvcuvid,
        context: &Arc<Context>,
        codec: VideoCodec,
        pictures: Box<dyn Pictures>,
    ) -> Result<Self, VideoRefusal> {
        let _bound = context.bind()?;
        let stream = RawStream::new(context)?;
        let (context, decoder, failed) = (context.clone(), None, None);
        let state = Box::new(State { library, context, stream, codec, decoder, pictures, failed });
        let state = NonNull::from(Box::leak(state));
        // From here on `drop` frees it.
        let mut session = Self { parser: null_mut(), state };
        let mut parameters = ParserParameters {
            codec: codec.number(),
            // The callback for sequences says how many there are.
            decode_surfaces: 1,
            clock_rate: 0,
            error_threshold: 0,
            display_delay: DISPLAY_DELAY,
            annex_b: 0,
            reserved: [0; 4],
            user: state.as_ptr().cast(),
            on_sequence,
            on_decode,
            on_display,
            on_operating_point: null_mut(),
            reserved_behind: [null_mut(); 6],
            extended: null_mut(),
        };
        // SAFETY: writes one handle, destroyed in `drop`; callbacks get the state's address, which lives as long.
        let status =
            unsafe { (library.functions.create_parser)(&raw mut session.parser, &raw mut parameters) };
        check("cuvidCreateVideoParser", status)?;
        Ok(session)
    }

    /// Decodes a packet, which holds whole pictures; pictures whose turn it is are handed over.
    pub(crate) fn push(&mut self, packet: &[u8], timestamp: i64) -> Result<(), VideoRefusal> {
        self.parse(packet, timestamp, HAS_TIMESTAMP)
    }

    /// Ends the stream: hands the pictures over that were held back.
    pub(crate) fn finish(&mut self) -> Result<(), VideoRefusal> {
        self.parse(&[], 0, END_OF_STREAM)
    }

    fn parse(&mut self, packet: &[u8], timestamp: i64, flags: c_ulong) -> Result<(), VideoRefusal> {
        // SAFETY: the state lives, and no callback runs now.
        let (library, context) =
            unsafe { (self.state.as_ref().library, self.state.as_ref().context.clone()) };
        let _bound = context.bind()?;
        let data = if packet.is_empty() { null() } else { packet.as_ptr() };
        let mut packet = Packet { flags, size: packet.len() as c_ulong, data, timestamp };
        // SAFETY: the parser lives, the packet is as long as said and read before the call returns; callbacks alone use
        // the state meanwhile.
        let status = unsafe { (library.functions.parse)(self.parser, &raw mut packet) };
        // SAFETY: as above; the call has returned.
        let failed = unsafe { self.state.as_mut().failed.take() };
        failed.map_or_else(|| Ok(check("cuvidParseVideoData", status)?), Err)
    }
}

impl Drop for VideoSession {
    fn drop(&mut self) {
        // SAFETY: made by `Box::leak`, and freed once.
        let mut state = unsafe { Box::from_raw(self.state.as_ptr()) };
        // In a context that was thrown away there is nothing left to free.
        if let Ok(_bound) = state.context.clone().bind() {
            if !self.parser.is_null() {
                // SAFETY: created in `new`, destroyed once; it calls back no more.
                let _ = unsafe { (state.library.functions.destroy_parser)(self.parser) };
            }
            if let Some(decoder) = state.decoder.take() {
                // SAFETY: created for this state, destroyed once; no surface of it is mapped.
                let _ = unsafe { (state.library.functions.destroy_decoder)(decoder.raw) };
            }
        }
    }
}

/// Runs a callback, whose failure the parser's caller then gets: neither errors nor panics go through the library.
///
/// # Safety
/// `user` is the state of a session in a call of [`VideoSession::parse`].
unsafe fn guarded(user: *mut c_void, work: impl FnOnce(&mut State) -> Result<c_int, VideoRefusal>) -> c_int {
    // SAFETY: the caller's promise; nothing else uses the state during the call.
    let state = unsafe { &mut *user.cast::<State>() };
    if state.failed.is_some() {
        return 0;
    }
    let done = panics::caught(|| work(state)).unwrap_or_else(|reason| Err(VideoRefusal::Stream(reason)));
    done.unwrap_or_else(|refusal| {
        state.failed = Some(refusal);
        0
    })
}

unsafe extern "C" fn on_sequence(user: *mut c_void, format: *mut SequenceFormat) -> c_int {
    // SAFETY: the parser passes what it was given, and a structure that lives during the call.
    unsafe { guarded(user, |state| state.sequence(&*format)) }
}

unsafe extern "C" fn on_decode(user: *mut c_void, picture: *mut c_void) -> c_int {
    // SAFETY: as above; the structure goes to the decoder as it is.
    unsafe {
        guarded(user, |state| {
            let decoder = state.decoder()?.raw;
            check("cuvidDecodePicture", (state.library.functions.decode)(decoder, picture))?;
            Ok(1)
        })
    }
}

unsafe extern "C" fn on_display(user: *mut c_void, shown: *mut Shown) -> c_int {
    if shown.is_null() {
        return 1;
    }
    // SAFETY: as above.
    unsafe { guarded(user, |state| state.show(&*shown)) }
}

impl State {
    fn decoder(&self) -> Result<&Decoder, VideoRefusal> {
        let none = || VideoRefusal::Stream("the stream has a picture before its headers".to_owned());
        self.decoder.as_ref().ok_or_else(none)
    }

    /// The headers of a sequence: makes the decoder, or finds that it is the right one.
    fn sequence(&mut self, format: &SequenceFormat) -> Result<c_int, VideoRefusal> {
        let refuse = |text: String| Err(VideoRefusal::Stream(text));
        let [left, top, right, bottom] = format.display_area;
        let (width, height) = (right - left, bottom - top);
        let inside = left >= 0
            && top >= 0
            && width > 0
            && height > 0
            && u32::try_from(right).is_ok_and(|right| right <= format.coded_width)
            && u32::try_from(bottom).is_ok_and(|bottom| bottom <= format.coded_height);
        if !inside {
            return refuse("the stream's headers have no picture that can be shown".to_owned());
        }
        let bits = 8 + u32::from(format.luma_bits_above_8);
        let kind = PictureKind { width: width as u32, height: height as u32, bits };
        if format.chroma != 1 || format.chroma_bits_above_8 != format.luma_bits_above_8 {
            let kinds = ["gray", "4:2:0", "4:2:2", "4:4:4"];
            let chroma = usize::try_from(format.chroma).ok().and_then(|c| kinds.get(c)).copied();
            return refuse(format!(
                "its pictures are {}; 4:2:0 is decoded",
                chroma.unwrap_or("of another kind")
            ));
        }
        if let Some(decoder) = &self.decoder {
            if decoder.kind == kind {
                return Ok(decoder.surfaces);
            }
            let (old, new) = (decoder.kind, kind);
            return refuse(format!(
                "its pictures change from {}x{} of {} bits to {}x{} of {} bits",
                old.width, old.height, old.bits, new.width, new.height, new.bits
            ));
        }
        self.able(format, kind)?;
        let decoder = self.create(format, kind)?;
        let surfaces = decoder.surfaces;
        self.decoder = Some(decoder);
        Ok(surfaces)
    }

    /// Refuses what this GPU does not decode.
    fn able(&self, format: &SequenceFormat, kind: PictureKind) -> Result<(), VideoRefusal> {
        let abilities = abilities(self.library, self.codec, format.chroma, kind.bits)?;
        let what = format!("{} of {} bits", self.codec.name(), kind.bits);
        if abilities.supported == 0 {
            return Err(VideoRefusal::Stream(format!("this GPU does not decode {what}")));
        }
        let (width, height) = (format.coded_width, format.coded_height);
        if width > abilities.max_width || height > abilities.max_height {
            let (most_wide, most_high) = (abilities.max_width, abilities.max_height);
            return Err(VideoRefusal::Stream(format!(
                "this GPU decodes {what} up to {most_wide}x{most_high} pixels, not {width}x{height}"
            )));
        }
        Ok(())
    }

    fn create(&self, format: &SequenceFormat, kind: PictureKind) -> Result<Decoder, VideoRefusal> {
        let surfaces = c_int::from(format.min_decode_surfaces) + DISPLAY_DELAY as c_int;
        let [left, top, ..] = format.display_area;
        // Sides of surfaces are even: what is beyond an odd one is left out by the copy.
        let even = |side: u32, coded: u32| side.next_multiple_of(2).min(coded);
        let (columns, rows) = (even(kind.width, format.coded_width), even(kind.height, format.coded_height));
        let short = |value: i64| i16::try_from(value).unwrap_or(i16::MAX);
        let (left, top) = (i64::from(left), i64::from(top));
        let display_area = Area {
            left: short(left),
            top: short(top),
            right: short(left + i64::from(columns)),
            bottom: short(top + i64::from(rows)),
        };
        let mut parameters = DecoderParameters {
            width: format.coded_width.into(),
            height: format.coded_height.into(),
            decode_surfaces: surfaces as c_ulong,
            codec: self.codec.number(),
            chroma: format.chroma,
            // The engines, not the GPU's cores.
            flags: 4,
            bits_above_8: (kind.bits - 8).into(),
            intra_only: 0,
            max_width: format.coded_width.into(),
            max_height: format.coded_height.into(),
            reserved: 0,
            display_area,
            output_format: c_int::from(kind.bits > 8),
            deinterlace: 0,
            target_width: columns.into(),
            target_height: rows.into(),
            output_surfaces: 2,
            lock: null_mut(),
            target_area: Area::default(),
            histogram: 0,
            reserved_behind: [0; 4],
        };
        let mut raw = null_mut();
        // SAFETY: writes one handle, destroyed with the session; a context is current.
        let status = unsafe { (self.library.functions.create_decoder)(&raw mut raw, &raw mut parameters) };
        check("cuvidCreateDecoder", status)?;
        Ok(Decoder { raw, kind, rows, surfaces })
    }

    /// Copies a picture to where it goes, and waits for that: its surface is the decoder's again afterwards.
    fn show(&mut self, shown: &Shown) -> Result<c_int, VideoRefusal> {
        let &Decoder { raw, kind, rows, .. } = self.decoder()?;
        let targets = self.pictures.next(&kind)?;
        let damaged = self.is_damaged(raw, shown.index);
        let mut parameters = MapParameters {
            progressive: shown.progressive,
            second_field: 0,
            top_field_first: shown.top_field_first,
            unpaired_field: c_int::from(shown.repeat_first_field < 0),
            reserved: [0; 2],
            raw_input: 0,
            raw_input_pitch: 0,
            raw_input_format: 0,
            raw_output: 0,
            raw_output_pitch: 0,
            reserved_before: 0,
            stream: self.stream.raw,
            reserved_behind: [0; 46],
            histogram: null_mut(),
            reserved_end: null_mut(),
        };
        let (mut address, mut pitch) = (0, 0);
        let functions = &self.library.functions;
        // SAFETY: the decoder lives; writes an address and a pitch. The surface is unmapped below.
        let status = unsafe {
            (functions.map)(raw, shown.index, &raw mut address, &raw mut pitch, &raw mut parameters)
        };
        check("cuvidMapVideoFrame64", status)?;
        let chroma = address + u64::from(pitch) * u64::from(rows);
        let copied = copy(&self.stream, (address, pitch), &targets[0])
            .and_then(|()| copy(&self.stream, (chroma, pitch), &targets[1]))
            .and_then(|()| self.stream.synchronize());
        // SAFETY: mapped above, once; nothing that is queued reads it any more, or the device is lost.
        let status = unsafe { (functions.unmap)(raw, address) };
        copied?;
        check("cuvidUnmapVideoFrame64", status)?;
        self.pictures.done(shown.timestamp, damaged);
        Ok(1)
    }

    /// Whether the engine had to guess at some of a picture; it does not say so of every codec.
    fn is_damaged(&self, decoder: Opaque, index: c_int) -> bool {
        let mut found = DecodeStatus { status: 0, reserved: [0; 31], reserved_behind: [null_mut(); 8] };
        // SAFETY: the decoder lives; fills in one structure.
        let status = unsafe { (self.library.functions.decode_status)(decoder, index, &raw mut found) };
        // An error, and one that was concealed.
        status == 0 && matches!(found.status, 8 | 9)
    }
}

/// Queues a copy of rows of a surface.
fn copy(stream: &RawStream, (address, pitch): (u64, c_uint), to: &PlaneTarget) -> Result<(), DriverError> {
    let copy = CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: null(),
        srcDevice: address,
        srcArray: null_mut(),
        srcPitch: pitch as usize,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: null_mut(),
        dstDevice: to.address,
        dstArray: null_mut(),
        dstPitch: to.bytes,
        WidthInBytes: to.bytes,
        Height: to.rows,
    };
    // SAFETY: the surface is as large as the decoder was made for, the target as its owner says, and both are kept until the
    // stream was waited for.
    unsafe { call!(cuMemcpy2DAsync_v2(&raw const copy, stream.raw)) }
}
