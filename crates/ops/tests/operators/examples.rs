//! Parameters for every operator and inputs of every kind, for the tests that go over all of them.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_ops::{OperatorSpec, Value};

/// Parameters by name, as [`mip_ops::create`] takes them.
pub(crate) type Params = Vec<(String, Value)>;

/// The examples of an operator.
///
/// # Panics
/// When there are none: a new operator needs some.
pub(crate) fn examples(spec: &OperatorSpec) -> Vec<Params> {
    assert!(!spec.examples.is_empty(), "examples for every operator: '{}'", spec.name);
    spec.examples.iter().map(|line| parse(line)).collect()
}

/// Parameters in the one-line form.
pub(crate) fn parse(line: &str) -> Params {
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').expect("name=value");
        (name.to_owned(), Value::parse(value))
    };
    // Blanks inside quotes belong to the value.
    let mut quoted = false;
    let blank = |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    };
    line.split(blank).filter(|word| !word.is_empty()).map(pair).collect()
}

/// Inputs of every format, sample type, memory order and awkward size.
pub(crate) fn images() -> impl Iterator<Item = ImageDesc> {
    const SIZES: [(u32, u32); 8] = [(1, 1), (1, 9), (9, 1), (2, 3), (5, 3), (7, 11), (16, 16), (33, 2)];
    let every = PixelFormat::ALL.into_iter().flat_map(|format| {
        DType::ALL
            .into_iter()
            .flat_map(move |dtype| Layout::ALL.into_iter().map(move |layout| (format, dtype, layout)))
    });
    every.flat_map(|(format, dtype, layout)| {
        let image = move |(width, height)| ImageDesc { width, height, format, dtype, layout };
        SIZES.into_iter().map(image)
    })
}
