//! Small pieces of generated text, and the fixed pieces that generated kernels stand on.

use std::sync::OnceLock;

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::Border;

/// A file of `src/kernels` as `build.rs` packs it.
macro_rules! packed {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".z"))
    };
}

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
    Rank,
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
    /// Its text, unpacked when it is wanted for the first time.
    pub(crate) fn source(self) -> &'static str {
        static TEXTS: [OnceLock<String>; Piece::COUNT] = [const { OnceLock::new() }; Piece::COUNT];
        TEXTS[self as usize].get_or_init(|| {
            let text = miniz_oxide::inflate::decompress_to_vec(self.packed());
            text.ok().and_then(|text| String::from_utf8(text).ok()).expect("text that the build packed")
        })
    }

    const COUNT: usize = Self::Bilinear as usize + 1;

    const fn packed(self) -> &'static [u8] {
        match self {
            Self::Base => packed!("base"),
            Self::Map => packed!("map"),
            Self::Gather => packed!("gather"),
            Self::Warp => packed!("warp"),
            Self::Tile => packed!("tile"),
            Self::Resample => packed!("resample"),
            Self::Separable => packed!("separable"),
            Self::Wide => packed!("wide"),
            Self::Sobel => packed!("sobel"),
            Self::Stencil => packed!("stencil"),
            Self::Whole => packed!("whole"),
            Self::Median => packed!("median"),
            Self::Rank => packed!("rank"),
            Self::Canny => packed!("canny"),
            Self::Regions => packed!("regions"),
            Self::Distance => packed!("distance"),
            Self::Integral => packed!("integral"),
            Self::Boxes => packed!("boxes"),
            Self::TileImages => packed!("tile_images"),
            Self::Crops => packed!("crops"),
            Self::Custom => packed!("custom"),
            Self::PixelVector => packed!("pixel_vector"),
            Self::SharedTile => packed!("shared_tile"),
            Self::Window => packed!("window"),
            Self::IntegerReduction => packed!("integer_reduction"),
            Self::Bilinear => packed!("bilinear"),
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
