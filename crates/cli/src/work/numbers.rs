use std::collections::BTreeMap;

use mip_core::{DType, ImageBuffer};
use serde::Serialize;

use super::Input;

/// A result that is a few numbers and no picture, as `--json` prints it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Numbers {
    input: String,
    task: String,
    /// From top to bottom, plane by plane; what is no finite number is null.
    rows: Vec<Vec<f32>>,
}

impl Numbers {
    /// More than these are an array, for which there are files.
    const MAX: usize = 4096;

    /// Of a result of f32 that is small enough to be read.
    pub(super) fn of(input: &Input, task: &str, image: &ImageBuffer) -> Option<Self> {
        let desc = image.desc();
        if desc.dtype() != DType::F32 || desc.bytes() / desc.dtype().size() > Self::MAX {
            return None;
        }
        let view = image.view();
        let places = (0..desc.planes()).flat_map(|plane| (0..desc.height()).map(move |y| (plane, y)));
        let rows = places.map(|(plane, y)| view.row_as::<f32>(0, plane, y as usize).to_vec()).collect();
        Some(Self { input: input.name(), task: task.to_owned(), rows })
    }
}

/// What an operator says of a result beside its pixels, as `--json` prints it: a letterbox's scale and place.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Derived {
    input: String,
    task: String,
    values: BTreeMap<&'static str, f64>,
}

impl Derived {
    pub(super) fn new(input: &Input, task: &str, values: &[(&'static str, f64)]) -> Self {
        Self { input: input.name(), task: task.to_owned(), values: values.iter().copied().collect() }
    }
}
