//! Every operator from its definition, in f64, one file an operator.
//!
//! Each function takes the input's exact samples and returns the exact real result before the final rounding to
//! the output type, up to the error of f64 itself. Coordinates and weights are kept as integer numerators over
//! a common denominator where the definition allows it, so that ties are hit exactly.

mod apply;
mod blend;
mod border;
mod cast;
mod color_convert;
mod crop;
mod flip;
mod gaussian_blur;
mod layout;
mod normalize;
mod point;
mod resize;
mod rotate90;
mod sobel;
mod threshold;
mod transpose;
mod warp;
mod weighted;

pub use apply::{apply, describe};
pub use blend::blend;
pub use border::Border;
pub use cast::cast;
pub use color_convert::{color_convert, luma};
pub use crop::crop;
pub use flip::flip;
pub use gaussian_blur::{default_sigma, gaussian_blur};
pub use layout::layout;
pub use normalize::normalize;
pub use point::point;
pub use resize::{Filter, resize, resize_antialiased};
pub use rotate90::rotate90;
pub use sobel::sobel;
pub use threshold::threshold;
pub use transpose::transpose;
pub use warp::{inverse, rotation, warp_affine};
