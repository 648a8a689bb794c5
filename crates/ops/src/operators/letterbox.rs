use mip_core::ImageDesc;
use mip_plan::{Border, Kernel, Resample};

use super::pad::{ALIGN, Align};
use super::resize::{ANTIALIAS, FILTER, Resize, ResizeFilter};
use crate::field::{Parameters, create, fields, plumbing};
use crate::margins::Margins;
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

const SIDE: ParamKind = ParamKind::pixels(1, 1 << 21);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "letterbox",
    summary: "Resizes to fit into a size, the ratio kept, and fills the rest",
    inputs: &["in"],
    params: &[
        ParamSpec::new("width", SIDE, "Width of the result in pixels").required().of_image(),
        ParamSpec::new("height", SIDE, "Height of the result in pixels").required().of_image(),
        ParamSpec::new(
            "fill",
            ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
            "Beside the image, in sample units: one number, or one a channel; 114 / 255 of full scale if not given",
        )
        .uniform(),
        ALIGN,
        ParamSpec::new("scale_up", ParamKind::Bool, "Whether smaller images are enlarged").default_is("true"),
        ParamSpec::new(
            "stride",
            ParamKind::int(1, 1 << 16),
            "Only so much room that the sides are multiples of it, instead of all of the size",
        )
        .of_image(),
        FILTER,
        ANTIALIAS,
    ],
    extra: Extra::NONE,
    examples: &[
        "width=64 height=48",
        "width=40 height=40 fill=0 align=top_left",
        "width=41 height=33 fill=[10,20.5,300] antialias=true",
        "width=90 height=90 scale_up=false filter=nearest",
        "width=64 height=96 stride=16 filter=area",
        "width=1 height=1 stride=1",
        "width=33 height=20 stride=65536",
        "width=33 height=80 filter=bicubic fill=7",
    ],
    create: create::<Letterbox>,
};

/// The image as large as fits into `width` x `height` with its ratio kept, and the rest filled: how detectors are fed.
///
/// As Ultralytics does it: `r = min(height / h, width / w)` (at most 1 unless `scale_up`), the image becomes
/// `round(w r)` x `round(h r)` pixels (halves to even, at least 1), and of the rest on each axis
/// `round(rest / 2 - 0.1)` pixels come before it, or none with `align = top_left`. With `stride` the rest is taken modulo
/// that number, so that the result is the smallest that is a multiple of it along with the given size.
///
/// The image is resized as [`Resize`] does, with `filter` and `antialias`. `fill` is one number for all colours, one for each
/// in the image's own order, or one for each channel; alpha is full scale where it is not given. To map coordinates in the
/// result back, subtract the margins and divide by r: `mip plan` and `mip run --json` print them, and a plan's tasks have them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Letterbox {
    width: Option<u32>,
    height: Option<u32>,
    fill: Option<Vec<f64>>,
    align: Align,
    keep_small: KeepSmall,
    stride: Option<u32>,
    filter: ResizeFilter,
    antialias: bool,
}

/// The parameter `scale_up`, which is true by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct KeepSmall(bool);

impl crate::field::Stored for KeepSmall {
    fn to_value(&self) -> crate::Value {
        crate::Value::Bool(!self.0)
    }

    fn from_value(value: &crate::Value) -> Option<Self> {
        bool::from_value(value).map(|scale_up| Self(!scale_up))
    }
}

impl Letterbox {
    /// Into this size.
    pub fn to(width: u32, height: u32) -> Self {
        Self { width: Some(width), height: Some(height), ..Self::default() }
    }

    /// With this beside the image: one number, or one a channel, in sample units.
    #[must_use]
    pub fn fill(self, fill: impl Into<Vec<f64>>) -> Self {
        Self { fill: Some(fill.into()), ..self }
    }

    /// With the image there; in the middle by default.
    #[must_use]
    pub fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    /// Whether smaller images are enlarged, which they are by default.
    #[must_use]
    pub fn scale_up(self, scale_up: bool) -> Self {
        Self { keep_small: KeepSmall(!scale_up), ..self }
    }

    /// With only so much room that sides are multiples of this.
    #[must_use]
    pub fn stride(self, stride: u32) -> Self {
        Self { stride: Some(stride), ..self }
    }

    /// With this interpolation; bilinear by default.
    #[must_use]
    pub fn filter(self, filter: ResizeFilter) -> Self {
        Self { filter, ..self }
    }

    /// Whether the filter widens when shrinking; it does not by default.
    #[must_use]
    pub fn antialias(self, antialias: bool) -> Self {
        Self { antialias, ..self }
    }

    /// The scale, and where the image lies.
    fn place(&self, input: &ImageDesc) -> (f64, Margins) {
        let (width, height) = (self.width.unwrap_or(1), self.height.unwrap_or(1));
        let ratio = |to: u32, from: u32| f64::from(to) / f64::from(from);
        let fits = ratio(height, input.height()).min(ratio(width, input.width()));
        let scale = if self.keep_small.0 { fits.min(1.0) } else { fits };
        let side = |from: u32, most: u32| ((f64::from(from) * scale).round_ties_even() as u32).clamp(1, most);
        let inner = (side(input.width(), width), side(input.height(), height));
        let rest = |outer: u32, inner: u32| match self.stride {
            Some(stride) => (outer - inner) % stride,
            None => outer - inner,
        };
        let (x, y) = (rest(width, inner.0), rest(height, inner.1));
        // round(rest / 2 - 0.1): of an odd rest one pixel more is behind.
        let before = |rest: u32| if self.align == Align::Center { rest / 2 } else { 0 };
        (scale, Margins { left: before(x), top: before(y), inner, outer: (inner.0 + x, inner.1 + y) })
    }

    fn resize(&self, (width, height): (u32, u32)) -> Resize {
        Resize::to(width, height).filter(self.filter).antialias(self.antialias)
    }

    /// One number for each channel in memory.
    fn fills(&self, input: &ImageDesc) -> Result<Vec<f64>, ParamError> {
        let full = input.dtype().full_scale();
        let gray = [114.0 / 255.0 * full];
        let fill = self.fill.as_deref().unwrap_or(&gray);
        let all = input.channels();
        if !input.format().has_alpha() || fill.len() == all {
            return self.per_channel("fill", fill, all, input);
        }
        let mut fill = self.per_channel("fill", fill, all - 1, input)?;
        fill.push(full);
        Ok(fill)
    }
}

impl Parameters for Letterbox {
    fields! {
        "width" => width,
        "height" => height,
        "fill" => fill,
        "align" => align,
        "scale_up" => keep_small,
        "stride" => stride,
        "filter" => filter,
        "antialias" => antialias,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        if self.antialias && matches!(self.filter, ResizeFilter::Nearest | ResizeFilter::Area) {
            let with = format!("with filter = {}", self.filter);
            return Err(self.conflict("antialias", with, "take filter = bilinear or another that can widen"));
        }
        Ok(())
    }
}

impl Operator for Letterbox {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.fills(&input)?;
        let (_, margins) = self.place(&input);
        self.resize(margins.inner).infer(inputs)?;
        Ok(margins.output(&input)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let input = inputs[0];
        let (_, margins) = self.place(&input);
        let small = input.with_size(margins.inner.0, margins.inner.1)?;
        let resize = self.resize(margins.inner);
        let mut steps: Vec<KernelStep> = Vec::new();
        // Bilinear and the like leave nothing of the colours of clear pixels.
        let copies = !input.format().has_alpha() || self.filter == ResizeFilter::Nearest;
        if small == input && copies {
            steps.push(margins.extend(&input, Border::Replicate, StepInput::Slot(0))?);
        } else if self.filter == ResizeFilter::Nearest {
            steps = resize.lower(inputs)?.steps;
            if margins.has_room() {
                steps.push(margins.extend(&small, Border::Replicate, StepInput::Step(0))?);
            }
        } else {
            // Resized beyond its edges at once: what lies there is filled.
            let [x, y] = resize.tables(&input, &small);
            let extended = |table: mip_plan::AxisTaps, before: u32, outer: u32| {
                if table.outputs() == outer as usize {
                    table
                } else {
                    table.extended(before as usize, outer as usize)
                }
            };
            let x = extended(x, margins.left, output.width());
            let y = extended(y, margins.top, output.height());
            let kernel = Kernel::Resample(Resample { x, y });
            steps.push(KernelStep { kernel, uniforms: [].into(), inputs: vec![StepInput::Slot(0)], output });
        }
        if margins.has_room() {
            let last = StepInput::Step(steps.len() - 1);
            steps.push(margins.fill(output, &self.fills(&input)?, last));
        }
        Ok(Lowered { steps })
    }

    fn derived(&self, inputs: &[ImageDesc]) -> Vec<(&'static str, f64)> {
        let Some(input) = inputs.first() else { return Vec::new() };
        let (scale, Margins { left, top, .. }) = self.place(input);
        vec![("scale", scale), ("left", left.into()), ("top", top.into())]
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    /// Scale, left, top, inner and outer size.
    fn placed(op: &Letterbox, width: u32, height: u32) -> (f64, u32, u32, (u32, u32), (u32, u32)) {
        let (scale, m) = op.place(&ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap());
        (scale, m.left, m.top, m.inner, m.outer)
    }

    #[test]
    fn places_are_those_of_ultralytics() {
        // By `LetterBox` of ultralytics 8: new_unpad, left and top.
        let to = Letterbox::to(640, 640);
        assert_eq!(placed(&to, 1920, 1080), (1.0 / 3.0, 0, 140, (640, 360), (640, 640)));
        assert_eq!(placed(&to, 500, 375), (1.28, 0, 80, (640, 480), (640, 640)));
        assert_eq!(placed(&to, 427, 640).1, 106, "213 columns more: 106 and 107");
        assert_eq!(placed(&to.clone().scale_up(false), 100, 50), (1.0, 270, 295, (100, 50), (640, 640)));
        assert_eq!(placed(&to.clone().stride(32), 1280, 720), (0.5, 0, 12, (640, 360), (640, 384)));
        assert_eq!(placed(&to.align(Align::TopLeft), 1920, 1080).2, 0);
        assert_eq!(placed(&Letterbox::to(9, 9), 1000, 1), (0.009, 0, 4, (9, 1), (9, 9)), "at least a row");
    }

    #[test]
    fn alpha_is_opaque_where_it_is_not_given() {
        let image = ImageDesc::new(8, 4, PixelFormat::Rgba, DType::U8).unwrap();
        let fills = |op: Letterbox| op.fills(&image).unwrap();
        assert_eq!(fills(Letterbox::to(8, 8)), [114.0, 114.0, 114.0, 255.0]);
        assert_eq!(fills(Letterbox::to(8, 8).fill([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0, 255.0]);
        assert_eq!(fills(Letterbox::to(8, 8).fill([1.0, 2.0, 3.0, 4.0]))[3], 4.0);
        assert!(Letterbox::to(8, 8).fill([1.0, 2.0]).infer(&[image]).is_err());
    }

    #[test]
    fn it_is_one_resampling_and_a_fill() {
        let image = ImageDesc::new(8, 4, PixelFormat::Rgb, DType::U8).unwrap();
        let names = |op: Letterbox| -> Vec<String> {
            op.lower(&[image]).unwrap().steps.iter().map(|s| s.kernel.name().to_owned()).collect()
        };
        assert_eq!(names(Letterbox::to(16, 16)), ["resample", "point"]);
        assert_eq!(names(Letterbox::to(16, 8)), ["resample"]);
        assert_eq!(names(Letterbox::to(8, 8)), ["gather", "point"]);
        assert_eq!(names(Letterbox::to(16, 16).filter(ResizeFilter::Nearest)), ["gather", "gather", "point"]);
    }
}
