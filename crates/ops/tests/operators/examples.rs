//! Parameters for every operator and inputs of every kind, for the tests that go over all of them.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_ops::OperatorSpec;

/// Parameters by name, as [`mip_ops::create`] takes them.
pub(crate) type Params = mip_ops::Call;

/// The examples of an operator.
///
/// # Panics
/// When there are none: a new operator needs some.
pub(crate) fn examples(spec: &OperatorSpec) -> Vec<Params> {
    assert!(!spec.examples.is_empty(), "examples for every operator: '{}'", spec.name);
    spec.example_calls()
}

/// Inputs of every format, dtype, layout and awkward size.
pub(crate) fn images() -> impl Iterator<Item = ImageDesc> {
    const SIZES: [(u32, u32); 8] = [(1, 1), (1, 9), (9, 1), (2, 3), (5, 3), (7, 11), (16, 16), (33, 2)];
    let every = PixelFormat::ALL.into_iter().flat_map(|format| {
        DType::ALL
            .into_iter()
            .flat_map(move |dtype| Layout::ALL.into_iter().map(move |layout| (format, dtype, layout)))
    });
    every.flat_map(|(format, dtype, layout)| {
        let image =
            move |(width, height)| ImageDesc::new(width, height, format, dtype).unwrap().with_layout(layout);
        SIZES.into_iter().map(image)
    })
}
