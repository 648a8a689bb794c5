//! The library of NVIDIA's video decoders (NVDEC), which comes with the driver; looked for when a program runs.

use std::ffi::{c_int, c_long, c_short, c_uchar, c_uint, c_ulong, c_ushort, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::CUstream;
use libloading::Library;

/// `CUresult`: a number, since a library may know more of them than we do.
pub(super) type Status = c_int;

/// A parser or a decoder.
pub(super) type Opaque = *mut c_void;

/// `CUvideotimestamp`.
pub(super) type Timestamp = i64;

/// `CUVIDDECODECAPS`.
#[repr(C)]
#[derive(Default)]
pub(super) struct Abilities {
    pub(super) codec: c_int,
    pub(super) chroma: c_int,
    pub(super) bits_above_8: c_uint,
    pub(super) reserved_before: [c_uint; 3],
    pub(super) supported: c_uchar,
    pub(super) engines: c_uchar,
    pub(super) output_formats: c_ushort,
    pub(super) max_width: c_uint,
    pub(super) max_height: c_uint,
    pub(super) max_macroblocks: c_uint,
    pub(super) min_width: c_ushort,
    pub(super) min_height: c_ushort,
    pub(super) histogram: [c_ushort; 2],
    pub(super) reserved_behind: [c_uint; 10],
}

/// A rectangle of the structures for decoders.
#[repr(C)]
#[derive(Default, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: c_short,
    pub(super) top: c_short,
    pub(super) right: c_short,
    pub(super) bottom: c_short,
}

/// `CUVIDDECODECREATEINFO`.
#[repr(C)]
pub(super) struct DecoderParameters {
    pub(super) width: c_ulong,
    pub(super) height: c_ulong,
    pub(super) decode_surfaces: c_ulong,
    pub(super) codec: c_int,
    pub(super) chroma: c_int,
    pub(super) flags: c_ulong,
    pub(super) bits_above_8: c_ulong,
    pub(super) intra_only: c_ulong,
    pub(super) max_width: c_ulong,
    pub(super) max_height: c_ulong,
    pub(super) reserved: c_ulong,
    pub(super) display_area: Area,
    pub(super) output_format: c_int,
    pub(super) deinterlace: c_int,
    pub(super) target_width: c_ulong,
    pub(super) target_height: c_ulong,
    pub(super) output_surfaces: c_ulong,
    pub(super) lock: *mut c_void,
    pub(super) target_area: Area,
    pub(super) histogram: c_ulong,
    pub(super) reserved_behind: [c_ulong; 4],
}

/// `CUVIDEOFORMAT`: what a sequence begins with.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct SequenceFormat {
    pub(super) codec: c_int,
    pub(super) frame_rate: [c_uint; 2],
    pub(super) progressive: c_uchar,
    pub(super) luma_bits_above_8: c_uchar,
    pub(super) chroma_bits_above_8: c_uchar,
    pub(super) min_decode_surfaces: c_uchar,
    pub(super) coded_width: c_uint,
    pub(super) coded_height: c_uint,
    /// Left, top, right, bottom.
    pub(super) display_area: [c_int; 4],
    pub(super) chroma: c_int,
    pub(super) bitrate: c_uint,
    pub(super) aspect: [c_int; 2],
    pub(super) signal: [c_uchar; 4],
    pub(super) header_length: c_uint,
}

/// `CUVIDSOURCEDATAPACKET`.
#[repr(C)]
pub(super) struct Packet {
    pub(super) flags: c_ulong,
    pub(super) size: c_ulong,
    pub(super) data: *const c_uchar,
    pub(super) timestamp: Timestamp,
}

/// The last packet of a stream.
pub(super) const END_OF_STREAM: c_ulong = 1;
/// The packet's timestamp counts.
pub(super) const HAS_TIMESTAMP: c_ulong = 2;

/// `CUVIDPARSERDISPINFO`: a picture that is next in the order of display.
#[repr(C)]
pub(super) struct Shown {
    pub(super) index: c_int,
    pub(super) progressive: c_int,
    pub(super) top_field_first: c_int,
    pub(super) repeat_first_field: c_int,
    pub(super) timestamp: Timestamp,
}

/// `CUVIDPROCPARAMS`.
#[repr(C)]
pub(super) struct MapParameters {
    pub(super) progressive: c_int,
    pub(super) second_field: c_int,
    pub(super) top_field_first: c_int,
    pub(super) unpaired_field: c_int,
    pub(super) reserved: [c_uint; 2],
    pub(super) raw_input: u64,
    pub(super) raw_input_pitch: c_uint,
    pub(super) raw_input_format: c_uint,
    pub(super) raw_output: u64,
    pub(super) raw_output_pitch: c_uint,
    pub(super) reserved_before: c_uint,
    pub(super) stream: CUstream,
    pub(super) reserved_behind: [c_uint; 46],
    pub(super) histogram: *mut u64,
    pub(super) reserved_end: *mut c_void,
}

/// `CUVIDGETDECODESTATUS`.
#[repr(C)]
pub(super) struct DecodeStatus {
    pub(super) status: c_int,
    pub(super) reserved: [c_uint; 31],
    pub(super) reserved_behind: [*mut c_void; 8],
}

/// `CUVIDPARSERPARAMS`. A callback gives 0 where it fails, the one for sequences the number of decode surfaces.
#[repr(C)]
pub(super) struct ParserParameters {
    pub(super) codec: c_int,
    pub(super) decode_surfaces: c_uint,
    pub(super) clock_rate: c_uint,
    pub(super) error_threshold: c_uint,
    pub(super) display_delay: c_uint,
    pub(super) annex_b: c_uint,
    pub(super) reserved: [c_uint; 4],
    pub(super) user: *mut c_void,
    pub(super) on_sequence: unsafe extern "C" fn(*mut c_void, *mut SequenceFormat) -> c_int,
    pub(super) on_decode: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
    pub(super) on_display: unsafe extern "C" fn(*mut c_void, *mut Shown) -> c_int,
    pub(super) on_operating_point: *mut c_void,
    pub(super) reserved_behind: [*mut c_void; 6],
    pub(super) extended: *mut c_void,
}

// The sizes that nvcuvid.h has where addresses and `long` have 64 bits, the only machines that this is for.
const _: () = assert!(size_of::<c_long>() != 8 || size_of::<Abilities>() == 88);
const _: () = assert!(size_of::<c_long>() != 8 || size_of::<DecoderParameters>() == 176);
const _: () = assert!(size_of::<SequenceFormat>() == 64);
const _: () = assert!(size_of::<c_long>() != 8 || size_of::<Packet>() == 32);
const _: () = assert!(size_of::<c_long>() != 8 || size_of::<MapParameters>() == 264);
const _: () = assert!(size_of::<c_long>() != 8 || size_of::<ParserParameters>() == 136);
const _: () = assert!(size_of::<c_long>() != 8 || size_of::<DecodeStatus>() == 192);

functions! {
    abilities = cuvidGetDecoderCaps(*mut Abilities);
    create_parser = cuvidCreateVideoParser(*mut Opaque, *mut ParserParameters);
    parse = cuvidParseVideoData(Opaque, *mut Packet);
    destroy_parser = cuvidDestroyVideoParser(Opaque);
    create_decoder = cuvidCreateDecoder(*mut Opaque, *mut DecoderParameters);
    destroy_decoder = cuvidDestroyDecoder(Opaque);
    decode = cuvidDecodePicture(Opaque, *mut c_void);
    decode_status = cuvidGetDecodeStatus(Opaque, c_int, *mut DecodeStatus);
    map = cuvidMapVideoFrame64(Opaque, c_int, *mut u64, *mut c_uint, *mut MapParameters);
    unmap = cuvidUnmapVideoFrame64(Opaque, u64);
}

/// The library, loaded.
#[derive(Debug)]
pub(crate) struct Nvcuvid {
    pub(super) functions: Functions,
    /// Kept loaded for the functions.
    _library: Library,
}

impl Nvcuvid {
    /// The library of the driver. Looks once.
    ///
    /// # Errors
    /// That it is not there, or is something else of that name.
    pub(crate) fn get() -> Result<&'static Self, String> {
        static FOUND: OnceLock<Result<Nvcuvid, String>> = OnceLock::new();
        FOUND.get_or_init(Self::find).as_ref().map_err(Clone::clone)
    }

    fn find() -> Result<Self, String> {
        let found = ["libnvcuvid.so.1", "libnvcuvid.so"].into_iter().find_map(|name| {
            // SAFETY: loads the driver's library from where the system looks for it; its initialisers have no
            // preconditions.
            unsafe { Library::new(name) }.ok()
        });
        let library = found.ok_or("the driver's library for video (libnvcuvid) is not installed")?;
        let functions = Functions::of(&library).map_err(|name| {
            format!("the driver's library for video (libnvcuvid) that was found has no function {name}")
        })?;
        Ok(Self { functions, _library: library })
    }
}
