//! Image files in and out ([`FileFormat`]), and the lists of files that a run works on. Video: Y4M streams,
//! raw frames with timestamps (NUT), and the conversion of RGB to planes.
//!
//! Reading never guesses: the format comes from the content, a file that ends early or does not decode
//! cleanly is refused, EXIF orientation is applied, samples keep their 8 or 16 bits. Writing never loses
//! anything silently (alpha, bits; [`Metadata`] says what of a file can go on) and never leaves half a file behind.

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod error;
mod format;
mod inputs;
mod metadata;
mod natural;
pub mod nut;
mod pattern;
mod raw;
mod vector;
mod video_file;
mod write;
pub mod y4m;
pub mod yuv;

pub use decode::{
    IccUse, JpegScale, Loaded, Page, ReadOptions, ReadWarning, Reader, Spares, WarningKind, read_bytes,
    read_image,
};
pub use encode::{ChromaSampling, Compression, WriteOptions, check_encodable, encode, encoding_bytes};
pub use error::IoError;
pub use format::{Facts, FileFormat, Samples};
pub use inputs::{expand_inputs, input_name, is_stdin, open_input};
pub use metadata::{Carried, Metadata};
pub use raw::{RawReader, RawVideo};
pub use video_file::{has_video_extension, is_video_file};
pub use write::{
    NpyStack, TemporaryFolder, WholeFile, is_direct, is_stdout, output_name, remove_unfinished,
    try_remove_unfinished, write_image, write_image_as,
};

/// README's program, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
