//! Whether a format can hold an image, and what to do where it cannot.

use mip_core::{DType, ImageDesc, PixelFormat};

use crate::format::{in_files, listed};
use crate::{Facts, FileFormat, IoError};

/// Whether a format can hold such images; asked before a run, so that it does not fail at its end.
///
/// # Errors
/// [`IoError::Refused`] with the remedy: what to add to the pipeline, and the formats that hold the image as it is.
pub fn check_encodable(image: &ImageDesc, format: FileFormat) -> Result<(), IoError> {
    let facts = format.facts();
    if facts.holds(image) {
        return Ok(());
    }
    let (reason, change) = obstacle(image, facts);
    let others: Vec<&str> = FileFormat::ALL
        .iter()
        .map(|other| other.facts())
        .filter(|other| other.holds(image))
        .map(|other| other.name)
        .collect();
    let remedy = match (change, others.is_empty()) {
        (Some(change), false) => format!("{change}, or write {}", listed(&others, "or")),
        (Some(change), true) => change,
        (None, false) => format!("write {}", listed(&others, "or")),
        (None, true) => "make the picture smaller".to_owned(),
    };
    Err(IoError::Refused { image: *image, format, reason, remedy })
}

/// Why a format does not hold an image, and which operator changes that.
fn obstacle(image: &ImageDesc, facts: &Facts) -> (String, Option<String>) {
    let name = facts.name;
    if image.format().is_color_space() && !facts.writes.is_empty() {
        let change = "add `color_convert to=rgb` at the end".to_owned();
        return (format!("{name} holds no {}", image.format()), Some(change));
    }
    let Some(held) = facts.writes.iter().find(|held| held.dtype == image.dtype()) else {
        let reason = match image.dtype() {
            _ if facts.writes.is_empty() => return (format!("{name} is only read"), None),
            // No picture is made of sums by scaling them.
            DType::I32 => return (format!("i32 samples do not fit {name}"), None),
            DType::I16 | DType::F16 | DType::F32 => {
                format!("{} samples do not fit {name}", image.dtype())
            }
            DType::U8 => format!("{name} has no 8-bit samples"),
            DType::U16 if facts.writes.iter().all(|held| held.dtype == DType::U8) => {
                format!("{name} has 8 bits")
            }
            DType::U16 => format!("{name} has no 16-bit samples"),
        };
        let alike = facts.writes.iter().find(|held| held.dtype.is_float() == image.dtype().is_float());
        let to = alike.unwrap_or(&facts.writes[0]).dtype;
        return (reason, Some(format!("add `cast to={to}` at the end")));
    };
    let convert = |to: PixelFormat| Some(format!("add `color_convert to={to}` at the end"));
    let has = |format: PixelFormat| held.formats.contains(&format);
    let best =
        [PixelFormat::Rgb, PixelFormat::Gray, PixelFormat::Rgba].into_iter().find(|&format| has(format));
    let wanted = in_files(image.format());
    if !has(wanted) {
        let what = match wanted {
            PixelFormat::Gray => "no gray",
            PixelFormat::Rgba | PixelFormat::Bgra if has(PixelFormat::Rgb) => "no alpha",
            _ => "no colours",
        };
        return (format!("{name} has {what}"), best.and_then(convert));
    }
    (format!("{name} ends at {} pixels a side", facts.longest_side), None)
}
