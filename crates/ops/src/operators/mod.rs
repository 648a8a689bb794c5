//! The operators, one file each. To add one: its file, and its two lines here.

mod absdiff;
mod adaptive_threshold;
mod arithmetic;
mod auto_threshold;
mod autocontrast;
mod bilateral;
mod blend;
mod box_blur;
mod brightness_contrast;
mod canny;
mod cast;
mod clahe;
mod color_convert;
mod color_matrix;
mod composite;
mod crop;
mod custom;
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
mod sharpen;
mod sobel;
mod stats;
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
    adaptive_threshold: AdaptiveMethod, AdaptiveMode, AdaptiveThreshold;
    arithmetic: Arithmetic, ArithmeticOp;
    auto_threshold: AutoMethod, AutoThreshold;
    autocontrast: AutoContrast;
    bilateral: Bilateral;
    blend: Blend;
    box_blur: BoxBlur;
    brightness_contrast: BrightnessContrast;
    canny: Canny;
    cast: Cast;
    clahe: Clahe;
    color_convert: ColorConvert;
    color_matrix: ColorMatrix;
    composite: Composite;
    crop: Crop;
    demosaic: BayerPattern, Demosaic, DemosaicMethod;
    dilate: Dilate;
    distance_transform: DistanceMetric, DistanceTransform;
    draw: Draw;
    equalize_hist: EqualizeHist, EqualizeMethod;
    erode: Element, Erode;
    filter2d: Filter2d;
    flatten: Flatten;
    flip: Flip, FlipDirection;
    gamma: Gamma;
    gaussian_blur: GaussianBlur;
    histogram: Histogram;
    hue: Hue;
    in_range: InRange;
    invert: Invert;
    label: Label, Neighbors;
    laplacian: Laplacian;
    layout: ToLayout;
    letterbox: Letterbox;
    lut: ColorMap, Lut, LutMethod;
    median: Median;
    merge: Merge, MergeTo;
    morphology: Morphology, MorphologyOp;
    nms: Nms;
    normalize: Normalize;
    pad: Align, Pad;
    point: Point;
    pyramid: Pyramid, PyramidDirection;
    redact: Redact, RedactMethod;
    regions: Regions;
    remap: MapCoordinates, Remap;
    resize: Resize, ResizeFilter;
    rgb_to_yuv: RgbToYuv, YuvPlane;
    rotate: Rotate;
    rotate90: Rotate90, Turn;
    saturation: Saturation;
    scharr: Scharr;
    select: Select;
    sharpen: Sharpen;
    sobel: Sobel;
    stats: Stats;
    threshold: Threshold, ThresholdMode;
    transpose: Transpose;
    undistort: LensModel, Undistort;
    warp_affine: WarpAffine;
    warp_perspective: WarpPerspective;
    yuv_to_rgb: YuvToRgb;
}
