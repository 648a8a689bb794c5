//! The operators, one file each. To add one: its file, and its three lines here.

mod blend;
mod cast;
mod color_convert;
mod crop;
mod custom;
mod flip;
mod gaussian_blur;
mod layout;
mod normalize;
mod point;
mod resize;
mod rotate;
mod rotate90;
mod sobel;
mod threshold;
mod transpose;
mod warp_affine;

pub use blend::Blend;
pub use cast::Cast;
pub use color_convert::ColorConvert;
pub use crop::Crop;
pub use custom::Custom;
pub use flip::{Flip, FlipDirection};
pub use gaussian_blur::GaussianBlur;
pub use layout::ToLayout;
pub use normalize::Normalize;
pub use point::Point;
pub use resize::{Resize, ResizeFilter};
pub use rotate::Rotate;
pub use rotate90::{Rotate90, Turn};
pub use sobel::Sobel;
pub use threshold::Threshold;
pub use transpose::Transpose;
pub use warp_affine::{WarpAffine, WarpFilter};

/// Every operator that has a name in pipeline files, sorted by it.
pub(crate) static ALL: [&crate::OperatorSpec; 16] = [
    &blend::SPEC,
    &cast::SPEC,
    &color_convert::SPEC,
    &crop::SPEC,
    &flip::SPEC,
    &gaussian_blur::SPEC,
    &layout::SPEC,
    &normalize::SPEC,
    &point::SPECS[0],
    &resize::SPEC,
    &rotate::SPEC,
    &rotate90::SPEC,
    &sobel::SPEC,
    &threshold::SPEC,
    &transpose::SPEC,
    &warp_affine::SPEC,
];
