use std::io;
use std::path::PathBuf;

use mip_core::text::{quoted, quoted_path};
use mip_core::{ImageDesc, ImageError, OverBudget};

use crate::{FileFormat, format};

/// What can go wrong with image files. Every message names the file, the reason and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// A file that the operating system does not let us read.
    #[error("cannot read {}: {source}", crate::input_name(.path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Content of no format that is read.
    #[error("{name} is {found}, but only {} can be read; convert it first", readable())]
    NotAnImage {
        /// The file.
        name: String,
        /// What it looks like instead.
        found: String,
    },
    /// A file that stops before its image does.
    #[error("{name} is truncated: {detail}; copy or download the file again")]
    Truncated {
        /// The file.
        name: String,
        /// Where it stops.
        detail: String,
    },
    /// A file that does not decode cleanly.
    #[error("{name} is a damaged or unsupported {format} file: {}", quoted(.reason))]
    Corrupt {
        /// The file.
        name: String,
        /// Its format.
        format: FileFormat,
        /// What the decoder said.
        reason: String,
    },
    /// A file of a format that this program was built without.
    #[error("{name} is a {format} file, which needs the feature `{feature}`; this program was built without")]
    NotBuilt {
        /// The file.
        name: String,
        /// Its format.
        format: FileFormat,
        /// The feature of the crate `mip-io`.
        feature: &'static str,
    },
    /// A file that [`ReadOptions::strict`](crate::ReadOptions::strict) refuses, and that is read with a
    /// warning otherwise.
    #[error("strict reading refuses {name}, a {format} file: {text}; otherwise that is a warning")]
    Strict {
        /// The file.
        name: String,
        /// Its format.
        format: FileFormat,
        /// What is wrong with it.
        text: String,
    },
    /// A picture that a file does not hold.
    #[error("{name} holds {pages} picture(s), counted from 0, and not picture {page} (--pages)")]
    NoPage {
        /// The file.
        name: String,
        /// The picture asked for.
        page: u64,
        /// How many there are.
        pages: u64,
    },
    /// More pixels than allowed.
    #[error(
        "{name} has {width}x{height} pixels, more than the {limit} allowed; shrink or crop it first, or raise the limit (--max-pixels)"
    )]
    TooManyPixels {
        /// The file.
        name: String,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// The limit in pixels.
        limit: u64,
    },
    /// A file that takes more memory than allowed.
    #[error("{name}: {source}")]
    Memory {
        /// The file.
        name: String,
        /// What it takes and what is allowed.
        source: OverBudget,
    },
    /// A picture that cannot be made sRGB, as [`ReadOptions::icc`](crate::ReadOptions::icc) asks for.
    #[error("{name} cannot be converted to sRGB by its ICC profile: {}; leave the conversion out, or do it with another program first", quoted(.reason))]
    IccProfile {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A decoder that panicked.
    #[error(
        "{name}: the {format} decoder failed on it (internal error: {reason}); save it anew with another program"
    )]
    Internal {
        /// The file.
        name: String,
        /// Its format.
        format: FileFormat,
        /// The panic's message.
        reason: String,
    },
    /// A size that no image can have, or that there is no memory for.
    #[error("{name}: {source}")]
    Image {
        /// The file.
        name: String,
        /// What is wrong.
        source: ImageError,
    },
    /// A file name whose extension names no format that can be written.
    #[error("{} has {}; images are written as {}", quoted_path(.path), extension_text(.extension), written_as("."))]
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// Its extension, empty when there is none.
        extension: String,
    },
    /// A format name that is not known.
    #[error("unknown image format '{}'; allowed: {}", quoted(.given), written_as(""))]
    UnknownFormat {
        /// The name given.
        given: String,
    },
    /// An image that the file format cannot hold without loss of meaning.
    #[error("{image} cannot be written as {format}: {reason}; {remedy}")]
    Refused {
        /// The image.
        image: ImageDesc,
        /// The format asked for.
        format: FileFormat,
        /// Why not.
        reason: String,
        /// What to do instead.
        remedy: String,
    },
    /// A buffer of several frames where one image is wanted.
    #[error("a file holds one image, but the buffer has {frames} frames; write `buffer.frame(i)` for each")]
    Batch {
        /// Frames in the buffer.
        frames: usize,
    },
    /// A JPEG quality out of range.
    #[error("jpeg_quality is {given}, but must be 1 to 100")]
    Quality {
        /// The value given.
        given: u8,
    },
    /// The encoder failed.
    #[error("cannot encode {image} as {format}: {reason}")]
    Encode {
        /// The image.
        image: ImageDesc,
        /// The format asked for.
        format: FileFormat,
        /// What the encoder said.
        reason: String,
    },
    /// A file that could not be written; what stood there before is unchanged, unless `source` says otherwise.
    #[error("cannot write {}: {source}", crate::output_name(.path))]
    Write {
        /// The file.
        path: PathBuf,
        /// What failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An input that names nothing.
    #[error("input '{pattern}' {reason}")]
    NoInput {
        /// The input as given.
        pattern: String,
        /// Why it gives no file.
        reason: String,
    },
}

/// The formats that this program reads, in a sentence.
fn readable() -> String {
    let built = FileFormat::ALL.into_iter().filter(|format| format.missing_feature().is_none());
    format::listed(&built.map(|format| format.facts().name).collect::<Vec<_>>(), "and")
}

/// The extensions of formats that are written, each after `dot`.
fn written_as(dot: &str) -> String {
    let names: Vec<String> = format::extensions(true).map(|extension| format!("{dot}{extension}")).collect();
    if dot.is_empty() { names.join(", ") } else { format::listed(&names, "or") }
}

fn extension_text(extension: &str) -> String {
    if extension.is_empty() {
        return "no extension".into();
    }
    let named = FileFormat::from_extension(extension).map(|format| format!(", and {format} is only read"));
    format!("extension '.{}'{}", quoted(extension), named.unwrap_or_default())
}
