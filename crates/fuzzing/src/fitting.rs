//! Parameters that an operator accepts for an image.

use mip_core::{DType, ImageDesc};
use mip_ops::{Call, OperatorSpec, Value};
use mip_testkit::Params;
use mip_testkit::images::SplitMix64;

use crate::single;

/// Largest side that an operator of a graph may make: images stay small, graphs many.
const MAX_SIDE: u32 = 40;

/// Parameters for the image, one set for each `way`: one of the operator's examples, or of a size that suits the image.
/// `None` when the image takes none of the examples: some operators are for some images only.
pub(crate) fn fitting(spec: &OperatorSpec, way: u32, desc: &ImageDesc) -> Option<Params> {
    if desc.dtype() == DType::I32 && !spec.extra.sums {
        return None;
    }
    let mut random = SplitMix64::new(way.into());
    if let Some(line) = sized(spec.name, &mut random, desc) {
        return Some(Params::line(&line));
    }
    let moderate: Vec<Call> = spec.example_calls().into_iter().filter(moderate).collect();
    let mut fitting = single::calls_alike(spec, moderate, desc);
    if fitting.is_empty() {
        return None;
    }
    Some(fitting.swap_remove(random.below(fitting.len() as u32) as usize))
}

/// Operators whose result is as large as their parameters say.
fn sized(op: &str, random: &mut SplitMix64, desc: &ImageDesc) -> Option<String> {
    match op {
        "resize" => {
            let filters = ["'nearest'", "'bilinear'", "'area'", "'bilinear', antialias = true"];
            let filter = filters[random.below(4) as usize];
            let (w, h) = (random.below(MAX_SIDE) + 1, random.below(MAX_SIDE) + 1);
            Some(format!("width = {w}, height = {h}, filter = {filter}"))
        }
        "crop" => {
            let (w, h) = (random.below(desc.width()) + 1, random.below(desc.height()) + 1);
            Some(format!("width = {w}, height = {h}, center = true"))
        }
        _ => None,
    }
}

/// Without numbers that take samples out of the range of binary32 within a few operators: bytes are compared, and which NaN
/// arithmetic makes is the machine's choice.
fn moderate(call: &Call) -> bool {
    let fine = |v: f64| v == 0.0 || (1e-3..=65535.0).contains(&v.abs());
    call.iter().all(|(_, value)| match value {
        Value::List(list) => list.iter().all(|&v| fine(v)),
        other => other.as_number().is_none_or(fine),
    })
}
