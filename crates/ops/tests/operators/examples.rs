//! Parameters for every operator and inputs of every kind, for the tests that go over all of them.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_ops::{OperatorSpec, Value};

/// Parameters by name, as [`mip_ops::create`] takes them.
pub(crate) type Params = Vec<(String, Value)>;

/// Ways to use each operator; every parameter of every operator occurs.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("blend", &["", "alpha=0", "alpha=0.3"]),
    ("cast", &["to=u8", "to=u16", "to=f32", "to=u8 scale=false", "to=f32 scale=false"]),
    ("color_convert", &["to=gray", "to=rgb", "to=bgr", "to=rgba", "to=bgra"]),
    (
        "crop",
        &["width=1 height=1", "width=1 height=1 x=0 y=0", "width=1 height=1 center=true", "width=3 height=2"],
    ),
    ("flip", &["", "direction=horizontal", "direction=vertical", "direction=both"]),
    (
        "gaussian_blur",
        &[
            "",
            "kernel=1",
            "kernel=31 border=reflect",
            "sigma=0.001 border=wrap",
            "kernel=7 sigma=3 border=replicate",
            "border=constant border_value=1",
        ],
    ),
    ("layout", &["to=hwc", "to=chw"]),
    ("normalize", &["", "mean=0.5 std=0.25", "mean=[0.1,0.2,0.3] std=[1,2,3]", "scale=1 mean=[1,2,3,4]"]),
    (
        "resize",
        &[
            "width=7 height=5",
            "width=2",
            "height=9 filter=nearest",
            "shorter_side=3 filter=area",
            "width=1 height=1 antialias=true",
            "width=4 height=9 filter=area",
        ],
    ),
    ("sobel", &["", "border=replicate", "border=constant", "border=constant border_value=0"]),
    ("threshold", &["threshold=100", "threshold=0.5 max_value=1"]),
];

/// The examples of an operator.
///
/// # Panics
/// When there are none: a new operator needs some.
pub(crate) fn examples(spec: &OperatorSpec) -> Vec<Params> {
    let (_, lines) =
        EXAMPLES.iter().find(|(name, _)| *name == spec.name).expect("examples for every operator");
    lines.iter().map(|line| parse(line)).collect()
}

/// Parameters in the one-line form.
pub(crate) fn parse(line: &str) -> Params {
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').expect("name=value");
        (name.to_owned(), Value::parse(value))
    };
    line.split_whitespace().map(pair).collect()
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
