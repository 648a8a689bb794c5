//! The operators, one file each. To add one: its file, and its two lines here.

mod absdiff;
mod blend;
mod cast;
mod color_convert;
mod crop;
mod custom;
mod dilate;
mod erode;
mod flip;
mod gaussian_blur;
mod in_range;
mod invert;
mod layout;
mod normalize;
mod point;
mod remap;
mod resize;
mod rgb_to_yuv;
mod rotate;
mod rotate90;
mod scharr;
mod sobel;
mod threshold;
mod transpose;
mod undistort;
mod warp_affine;
mod warp_perspective;
mod yuv_to_rgb;

pub use custom::Custom;

/// Makes the builders public and lists the specifications.
macro_rules! operators {
    ($($file:ident: $($public:ident),+;)*) => {
        $(pub use $file::{$($public),+};)*

        /// Every operator that has a name in pipeline files, sorted by it.
        pub(crate) static ALL: &[&crate::OperatorSpec] = &[$(&$file::SPEC),*];
    };
}

operators! {
    absdiff: AbsDiff;
    blend: Blend;
    cast: Cast;
    color_convert: ColorConvert;
    crop: Crop;
    dilate: Dilate;
    erode: Element, Erode;
    flip: Flip, FlipDirection;
    gaussian_blur: GaussianBlur;
    in_range: InRange;
    invert: Invert;
    layout: ToLayout;
    normalize: Normalize;
    point: Point;
    remap: MapCoordinates, Remap;
    resize: Resize, ResizeFilter;
    rgb_to_yuv: RgbToYuv, YuvPlane;
    rotate: Rotate;
    rotate90: Rotate90, Turn;
    scharr: Scharr;
    sobel: Sobel;
    threshold: Threshold;
    transpose: Transpose;
    undistort: LensModel, Undistort;
    warp_affine: WarpAffine;
    warp_perspective: WarpPerspective;
    yuv_to_rgb: YuvToRgb;
}
