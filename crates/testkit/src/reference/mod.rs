//! Every operator from its definition, in f64, one file an operator. To add one: its file, and its two lines here.
//!
//! Each function takes the input's exact samples and returns the exact real result before the final rounding to
//! the output type, up to the error of f64 itself. Coordinates and weights are kept as integer numerators over
//! a common denominator where the definition allows it, so that ties are hit exactly.

mod absdiff;
mod adaptive_threshold;
mod apply;
mod arithmetic;
mod around;
mod auto_threshold;
mod autocontrast;
mod bilateral;
mod blend;
mod border;
mod box_blur;
mod brightness_contrast;
mod canny;
mod cast;
mod clahe;
mod color_convert;
mod color_matrix;
mod color_spaces;
mod compare;
mod composite;
mod counts;
mod crop;
mod crop_resize;
mod demosaic;
mod dilate;
mod distance_transform;
mod draw;
mod equalize_hist;
mod erode;
mod filter2d;
mod flatten;
mod flip;
mod gamma;
mod gaussian_blur;
mod histogram;
mod hue;
mod in_range;
mod integral;
mod invert;
mod label;
mod laplacian;
mod layout;
mod letterbox;
mod lut;
mod median;
mod merge;
mod morphology;
mod nms;
mod normalize;
mod pad;
mod point;
mod pyramid;
mod redact;
mod regions;
mod remap;
mod resize;
mod rgb_to_yuv;
mod rotate;
mod rotate90;
mod saturation;
mod scharr;
mod select;
mod sep_filter;
mod sharpen;
mod sobel;
mod stats;
mod threshold;
mod tile;
mod transpose;
mod undistort;
mod warp;
mod warp_affine;
mod warp_perspective;
mod weighted;
mod yuv_to_rgb;

pub use apply::{apply, describe, magnitude};
pub use border::Border;
pub use color_convert::luma;
pub use gaussian_blur::default_sigma;
pub use resize::{Filter, resize_antialiased};
pub use warp::Interpolation;
pub use yuv_to_rgb::yuv_planes;

/// Makes each file's function of its name public and lists how it is called by parameters.
macro_rules! references {
    ($($file:ident),* $(,)?) => {
        $(pub use $file::$file;)*

        static REFERENCES: &[apply::Reference] = &[$($file::REFERENCE),*];
    };
}

references! {
    absdiff,
    adaptive_threshold,
    arithmetic,
    auto_threshold,
    autocontrast,
    bilateral,
    blend,
    box_blur,
    brightness_contrast,
    canny,
    cast,
    clahe,
    color_convert,
    color_matrix,
    compare,
    composite,
    crop,
    crop_resize,
    demosaic,
    dilate,
    distance_transform,
    draw,
    equalize_hist,
    erode,
    filter2d,
    flatten,
    flip,
    gamma,
    gaussian_blur,
    histogram,
    hue,
    in_range,
    integral,
    invert,
    label,
    laplacian,
    layout,
    letterbox,
    lut,
    median,
    merge,
    morphology,
    nms,
    normalize,
    pad,
    point,
    pyramid,
    redact,
    regions,
    remap,
    resize,
    rgb_to_yuv,
    rotate,
    rotate90,
    saturation,
    scharr,
    select,
    sep_filter,
    sharpen,
    sobel,
    stats,
    threshold,
    tile,
    transpose,
    undistort,
    warp_affine,
    warp_perspective,
    yuv_to_rgb,
}
