use mip_core::ImageDesc;
use mip_plan::{AxisMap, AxisTaps, Gather, Kernel, Resample};

use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::tables::{self, area, triangle, windowed};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

/// Longest side of a result: weights for each of its columns and rows are kept in memory.
const MAX_SIDE: u32 = 1 << 21;
/// Longest side of an input to `area` and `antialias`, whose tables have an entry for every source pixel.
const MAX_SOURCE: u32 = 1 << 22;

const SIDE: ParamKind = ParamKind::pixels(1, MAX_SIDE);

pub(super) const FILTER: ParamSpec =
    ParamSpec::new("filter", ParamKind::choice(FILTERS), "Interpolation").default_is("bilinear");

pub(super) const ANTIALIAS: ParamSpec =
    ParamSpec::new("antialias", ParamKind::Bool, "Widen the filter when shrinking").default_is("false");

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "resize",
    summary: "Changes the size",
    inputs: &["in"],
    params: &[
        ParamSpec::new("width", SIDE, "Width in pixels; follows from height if only that is given")
            .of_image(),
        ParamSpec::new("height", SIDE, "Height in pixels; follows from width if only that is given")
            .of_image(),
        ParamSpec::new(
            "shorter_side",
            SIDE,
            "Length of the shorter side in pixels, instead of width and height",
        )
        .of_image(),
        ParamSpec::new(
            "longer_side",
            SIDE,
            "Length of the longer side in pixels, instead of width and height",
        )
        .of_image(),
        FILTER,
        ANTIALIAS,
        ParamSpec::new(
            "a",
            ParamKind::number(-2.0, 0.0),
            "Of filter = bicubic: -0.75 if not given, as in OpenCV; Pillow has -0.5",
        )
        .of_image(),
    ],
    extra: Extra::NONE,
    examples: &[
        "width=7 height=5",
        "width=2",
        "height=9 filter=nearest",
        "shorter_side=3 filter=area",
        "width=1 height=1 antialias=true",
        "width=4 height=9 filter=area",
        "width=9 height=4 filter=bicubic",
        "width=5 filter=bicubic antialias=true a=-0.5",
        "longer_side=6 filter=lanczos3 antialias=true",
        "width=3 height=14 filter=lanczos3",
        "width=5 height=3 filter=box antialias=true",
        "width=6 height=2 filter=hamming antialias=true",
    ],
    create: create::<Resize>,
};

choice! {
    /// Interpolation of [`Resize`].
    pub enum ResizeFilter as FILTERS {
        /// Two by two pixels, weighted by distance.
        #[default]
        Bilinear = "bilinear",
        /// The pixel under the centre: `floor((2 dst + 1) * in / (2 out))`.
        Nearest = "nearest",
        /// The mean over exactly the covered part of the source.
        Area = "area",
        /// Four by four pixels, weighted by a cubic.
        Bicubic = "bicubic",
        /// Six by six pixels, weighted by a windowed sinc.
        Lanczos3 = "lanczos3",
        /// The mean of the pixels whose centres are near; Pillow's `BOX` with `antialias`.
        Box = "box",
        /// Two by two pixels, weighted by a windowed sinc; Pillow's `HAMMING` with `antialias`.
        Hamming = "hamming",
    }
}

/// Changes the size. Pixel centres are at halves: `src = (dst + 0.5) * in / out - 0.5`.
///
/// * `nearest`: source pixel `floor((2 dst + 1) * in / (2 out))`, in integers.
/// * `bilinear`: weights `1 - f` and `f` at `floor(src)` and the next pixel, clamped to the edge.
/// * `bicubic`: with the distance x to a pixel, `(a + 2) |x|^3 - (a + 3) |x|^2 + 1` up to 1 and
///   `a (|x|^3 - 5 |x|^2 + 8 |x| - 4)` up to 2 (R. Keys, 1981), where `a` is -0.75 as in OpenCV; -0.5 is Pillow's and
///   torchvision's.
/// * `lanczos3`: `sinc(x) sinc(x / 3)` up to 3. `hamming`: `sinc(x) (0.54 + 0.46 cos(pi x))` up to 1. `box`: 1 up to 1/2 (of
///   two pixels just there the one on the left). Weights are normalised.
/// * All of these are point-sampled and clamped to the edge, unless `antialias`, which when shrinking widens the filter by
///   `in / out`, leaves out what lies outside the image, and normalises, as Pillow does.
/// * `area`: the mean over `[dst * in / out, (dst + 1) * in / out)`, each pixel weighing by its covered part.
///
/// Both axes are applied before the single rounding at the end (integers: to the nearest, ties to even).
/// Colours with alpha are interpolated premultiplied, so that clear pixels leave no fringe.
///
/// With one of `width` and `height`, or with `shorter_side` or `longer_side`, the other side keeps the ratio, rounded to the
/// nearest whole number (halves up), at least 1. Sides of the result are at most 2,097,152.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resize {
    width: Option<u32>,
    height: Option<u32>,
    shorter_side: Option<u32>,
    longer_side: Option<u32>,
    filter: ResizeFilter,
    antialias: bool,
    a: Option<f64>,
}

impl Resize {
    /// To exactly `width` x `height` pixels.
    pub fn to(width: u32, height: u32) -> Self {
        Self { width: Some(width), height: Some(height), ..Self::default() }
    }

    /// To this width; the height keeps the ratio.
    pub fn width(width: u32) -> Self {
        Self { width: Some(width), ..Self::default() }
    }

    /// To this height; the width keeps the ratio.
    pub fn height(height: u32) -> Self {
        Self { height: Some(height), ..Self::default() }
    }

    /// The shorter side to this length; the other keeps the ratio.
    pub fn shorter_side(length: u32) -> Self {
        Self { shorter_side: Some(length), ..Self::default() }
    }

    /// The longer side to this length; the other keeps the ratio.
    pub fn longer_side(length: u32) -> Self {
        Self { longer_side: Some(length), ..Self::default() }
    }

    /// With this `a` of [`ResizeFilter::Bicubic`], -2 to 0; -0.75 by default.
    #[must_use]
    pub const fn a(self, a: f64) -> Self {
        Self { a: Some(a), ..self }
    }

    /// With this interpolation; bilinear by default.
    #[must_use]
    pub const fn filter(self, filter: ResizeFilter) -> Self {
        Self { filter, ..self }
    }

    /// Whether the filter widens when shrinking; it does not by default.
    #[must_use]
    pub const fn antialias(self, antialias: bool) -> Self {
        Self { antialias, ..self }
    }

    /// The parameter that decides, and the size it leads to.
    fn size(&self, input: &ImageDesc) -> (&'static str, u64, u64) {
        let (w, h) = (u64::from(input.width()), u64::from(input.height()));
        let ratio = |side: u64, to: u64, from: u64| ((2 * side * to + from) / (2 * from)).max(1);
        match (self.shorter_side.map(u64::from), self.width.map(u64::from), self.height.map(u64::from)) {
            (Some(n), ..) if w <= h => ("shorter_side", n, ratio(h, n, w)),
            (Some(n), ..) => ("shorter_side", ratio(w, n, h), n),
            (None, None, None) if let Some(n) = self.longer_side.map(u64::from) => {
                if w >= h {
                    ("longer_side", n, ratio(h, n, w))
                } else {
                    ("longer_side", ratio(w, n, h), n)
                }
            }
            (None, width, Some(height)) => ("height", width.unwrap_or_else(|| ratio(w, height, h)), height),
            (None, Some(width), None) => ("width", width, ratio(h, width, w)),
            (None, None, None) => ("width", w, h),
        }
    }

    fn axis(&self, input: u32, output: u32) -> AxisTaps {
        let by = |kernel| windowed(input, output, kernel, self.antialias);
        match self.filter {
            ResizeFilter::Area => area(input, output),
            ResizeFilter::Bicubic => by(tables::Kernel::Cubic { a: self.a.unwrap_or(-0.75) }),
            ResizeFilter::Lanczos3 => by(tables::Kernel::Lanczos3),
            ResizeFilter::Box => by(tables::Kernel::Box),
            ResizeFilter::Hamming => by(tables::Kernel::Hamming),
            ResizeFilter::Bilinear | ResizeFilter::Nearest if self.antialias => {
                triangle(input, output, input.max(output))
            }
            ResizeFilter::Bilinear | ResizeFilter::Nearest => triangle(input, output, output),
        }
    }

    /// The tables of both axes.
    pub(super) fn tables(&self, input: &ImageDesc, output: &ImageDesc) -> [AxisTaps; 2] {
        [self.axis(input.width(), output.width()), self.axis(input.height(), output.height())]
    }
}

impl Parameters for Resize {
    fields! {
        "width" => width,
        "height" => height,
        "shorter_side" => shorter_side,
        "longer_side" => longer_side,
        "filter" => filter,
        "antialias" => antialias,
        "a" => a,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        let sides = [("width", self.width), ("height", self.height)];
        let given = sides.iter().find(|(_, side)| side.is_some());
        let one = [("shorter_side", self.shorter_side), ("longer_side", self.longer_side)];
        let mut one = one.into_iter().filter(|(_, side)| side.is_some()).map(|(name, _)| name);
        match (one.next(), one.next().or(given.map(|(name, _)| *name))) {
            (Some(one), Some(side)) => {
                let with = format!("together with '{side}'");
                return Err(self.conflict(one, with, "leave one of them out"));
            }
            (None, None) => {
                return Err(ParamError::Missing {
                    operator: SPEC.name,
                    parameter: "width".to_owned(),
                    allowed: "width and height, one of the two, shorter_side or longer_side, in pixels"
                        .to_owned(),
                });
            }
            _ => {}
        }
        if self.antialias && matches!(self.filter, ResizeFilter::Nearest | ResizeFilter::Area) {
            let with = format!("with filter = {}", self.filter);
            return Err(self.conflict("antialias", with, "take filter = bilinear or another that can widen"));
        }
        if self.a.is_some() && self.filter != ResizeFilter::Bicubic {
            let with = format!("with filter = {}", self.filter);
            return Err(self.conflict("a", with, "it belongs to filter = bicubic"));
        }
        Ok(())
    }
}

impl Operator for Resize {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        let (parameter, width, height) = self.size(&input);
        if width.max(height) > u64::from(MAX_SIDE) {
            let given = self.get(parameter).map_or_else(String::new, |v| v.to_string());
            let allowed = format!(
                "such that no side of the result is longer than {MAX_SIDE}; {input} would become {width}x{height}"
            );
            return Err(self.invalid(parameter, given, allowed).into());
        }
        if (self.antialias || self.filter == ResizeFilter::Area)
            && input.width().max(input.height()) > MAX_SOURCE
        {
            return Err(OpError::Input {
                operator: SPEC.name,
                slot: SPEC.inputs[0].to_owned(),
                given: input.to_string(),
                allowed: format!("at most {MAX_SOURCE} pixels a side for filter = area or antialias = true"),
            });
        }
        Ok(input.with_size(width as u32, height as u32)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let input = inputs[0];
        let kernel = if self.filter == ResizeFilter::Nearest {
            let axis = |input, output| AxisMap::Nearest { input, output };
            Kernel::Gather(Gather {
                x: axis(input.width(), output.width()),
                y: axis(input.height(), output.height()),
            })
        } else {
            let [x, y] = self.tables(&input, &output);
            Kernel::Resample(Resample { x, y })
        };
        Ok(Lowered::single(kernel, [], output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn size(op: &Resize, width: u32, height: u32) -> (u32, u32) {
        let output =
            op.infer(&[ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap()]).unwrap();
        (output.width(), output.height())
    }

    fn refusal(op: &Resize, width: u32, height: u32) -> String {
        let input = ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap();
        let refused = op.infer(&[input]).unwrap_err().to_string();
        assert_eq!(op.lower(&[input]).unwrap_err().to_string(), refused);
        refused
    }

    #[test]
    fn sizes() {
        assert_eq!(size(&Resize::to(7, 9), 500, 375), (7, 9));
        assert_eq!(size(&Resize::shorter_side(256), 500, 375), (341, 256));
        assert_eq!(size(&Resize::shorter_side(256), 375, 500), (256, 341));
        assert_eq!(size(&Resize::shorter_side(5), 20, 20), (5, 5));
        assert_eq!(size(&Resize::width(1280), 1920, 1080), (1280, 720));
        assert_eq!(size(&Resize::height(1), 4, 8), (1, 1), "0.5 goes up");
        assert_eq!(size(&Resize::width(1), 1000, 1), (1, 1), "at least 1");
        assert_eq!(size(&Resize::width(3), 2, 1), (3, 2), "1.5 goes up");
    }

    #[test]
    fn contradicting_and_missing_sizes() {
        let mut op = Resize::to(4, 4);
        assert_eq!(
            op.set("shorter_side", 3.into()).unwrap_err().to_string(),
            "parameter 'shorter_side' of 'resize' cannot be given together with 'width'; leave one of them out"
        );
        assert_eq!(
            refusal(&Resize::default(), 1, 1),
            "'resize' needs parameter 'width' (width and height, one of the two, shorter_side or longer_side, in pixels)"
        );
        let sharp = Resize::to(4, 4).filter(ResizeFilter::Area).antialias(true);
        assert!(refusal(&sharp, 1, 1).contains("'antialias' of 'resize' cannot be given with filter = area"));
    }

    #[test]
    fn results_and_tables_that_would_not_fit_are_refused() {
        assert!(
            refusal(&Resize::to(0, 4), 1, 1)
                .contains("'width' of 'resize' is 0, but must be a whole number from 1")
        );
        assert_eq!(
            refusal(&Resize::width(2000), 1, 2_000_000),
            "parameter 'width' of 'resize' is 2000, but must be such that no side of the result is longer than \
             2097152; 1x2000000 gray u8 would become 2000x4000000000"
        );
        let whole = ImageDesc::MAX_SIDE;
        assert!(
            refusal(&Resize::to(1, 1).filter(ResizeFilter::Area), 1, whole)
                .contains("at most 4194304 pixels")
        );
        assert!(refusal(&Resize::width(MAX_SIDE), 1, whole).contains("would become"));
        assert_eq!(size(&Resize::to(1, 1).filter(ResizeFilter::Nearest), 1, whole), (1, 1));
    }

    #[test]
    fn filters_lower_to_their_kernels() {
        let input = ImageDesc::new(6, 3, PixelFormat::Gray, DType::U8).unwrap();
        let kernel = |op: Resize| op.lower(&[input]).unwrap().steps[0].kernel.clone();
        let Kernel::Gather(nearest) = kernel(Resize::to(4, 3).filter(ResizeFilter::Nearest)) else {
            panic!()
        };
        assert_eq!((0..4).map(|i| nearest.x.map(i)).collect::<Vec<_>>(), [0, 2, 3, 5]);
        let Kernel::Resample(bilinear) = kernel(Resize::to(4, 3)) else { panic!() };
        assert_eq!((bilinear.x.weights(0), bilinear.y.taps()), (&[0.75, 0.25][..], 1));
        let Kernel::Resample(wide) = kernel(Resize::to(3, 1).antialias(true)) else { panic!() };
        assert_eq!((wide.x.taps(), wide.y.taps()), (4, 3));
        let Kernel::Resample(area) = kernel(Resize::to(3, 1).filter(ResizeFilter::Area)) else { panic!() };
        assert_eq!((area.x.weights(1), area.y.taps()), (&[0.5, 0.5][..], 3));
    }
}
