//! Small pieces of generated text, and the fixed pieces that generated kernels stand on.

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::Border;

/// A fixed piece of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Piece {
    Base,
    Map,
    Gather,
    Tile,
    Warp,
    Resample,
    Separable,
    Wide,
    Sobel,
    Stencil,
    Whole,
    Median,
    Canny,
    Regions,
    Distance,
    Integral,
    Boxes,
    TileImages,
    Crops,
    Custom,
    PixelVector,
    SharedTile,
    Window,
    IntegerReduction,
    Bilinear,
}

impl Piece {
    /// Its text.
    pub(crate) const fn source(self) -> &'static str {
        match self {
            Self::Base => include_str!("../kernels/base.cu"),
            Self::Map => include_str!("../kernels/map.cu"),
            Self::Gather => include_str!("../kernels/gather.cu"),
            Self::Warp => include_str!("../kernels/warp.cu"),
            Self::Tile => include_str!("../kernels/tile.cu"),
            Self::Resample => include_str!("../kernels/resample.cu"),
            Self::Separable => include_str!("../kernels/separable.cu"),
            Self::Wide => include_str!("../kernels/wide.cu"),
            Self::Sobel => include_str!("../kernels/sobel.cu"),
            Self::Stencil => include_str!("../kernels/stencil.cu"),
            Self::Whole => include_str!("../kernels/whole.cu"),
            Self::Median => include_str!("../kernels/median.cu"),
            Self::Canny => include_str!("../kernels/canny.cu"),
            Self::Regions => include_str!("../kernels/regions.cu"),
            Self::Distance => include_str!("../kernels/distance.cu"),
            Self::Integral => include_str!("../kernels/integral.cu"),
            Self::Boxes => include_str!("../kernels/boxes.cu"),
            Self::TileImages => include_str!("../kernels/tile_images.cu"),
            Self::Crops => include_str!("../kernels/crops.cu"),
            Self::Custom => include_str!("../kernels/custom.cu"),
            Self::PixelVector => include_str!("../kernels/fused/pixel_vector.cu"),
            Self::SharedTile => include_str!("../kernels/fused/shared_tile.cu"),
            Self::Window => include_str!("../kernels/fused/window.cu"),
            Self::IntegerReduction => include_str!("../kernels/fused/integer_reduction.cu"),
            Self::Bilinear => include_str!("../kernels/fused/bilinear.cu"),
        }
    }
}

/// The dtype in CUDA C++.
pub(crate) const fn sample(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "u8",
        DType::U16 => "u16",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::F16 => "f16",
        DType::F32 => "float",
    }
}

/// Whether the channels lie in planes of their own.
pub(crate) const fn planar(desc: &ImageDesc) -> bool {
    matches!(desc.layout(), Layout::Chw) && desc.format().channels() > 1
}

/// `Pixels<u8, 3, 4, false>`: `v` pixels of an image.
pub(crate) fn pixels(desc: &ImageDesc, channels: usize, v: u32, planar: bool) -> String {
    format!("Pixels<{}, {channels}, {v}, {planar}>", sample(desc.dtype()))
}

/// The border's name in generated code, and its constant.
pub(crate) const fn border(border: Border) -> (&'static str, f32) {
    match border {
        Border::Reflect101 => ("REFLECT101", 0.0),
        Border::Reflect => ("REFLECT", 0.0),
        Border::Replicate => ("REPLICATE", 0.0),
        Border::Wrap => ("WRAP", 0.0),
        Border::Constant(value) => ("CONSTANT", value),
    }
}

/// The text that decides what is compiled: everything but whole-line comments, so that names and shapes in
/// comments do not make a new program of the same code.
pub(crate) fn without_comments(source: &str) -> String {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.fold(String::with_capacity(source.len()), |mut text, line| {
        text.push_str(line);
        text.push('\n');
        text
    })
}

/// A name made of letters, digits and `_`.
pub(crate) fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
