use mip_core::video::{
    ChromaFilter, ChromaSampling, Matrix, Packing, Range, Siting, VideoColor, VideoFormat,
};
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{AxisMap, AxisTaps, Gather, Kernel, Point, Resample, YuvFactors};

use crate::choice::{PICTURES, stored_by_name};
use crate::expr::{Term, v};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::Formula;
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

stored_by_name!(Matrix, MATRICES);
stored_by_name!(Range, RANGES);
stored_by_name!(ChromaSampling, SAMPLINGS);
stored_by_name!(Packing, PACKINGS);
stored_by_name!(ChromaFilter, FILTERS);
stored_by_name!(Siting, SITINGS);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "yuv_to_rgb",
    summary: "Planes of YUV video to colours",
    inputs: &["y", "u", "v"],
    params: &[
        ParamSpec::new(
            "matrix",
            ParamKind::choice(MATRICES),
            "The weights of luma: ITU-R BT.601, 709 or 2020",
        )
        .required(),
        ParamSpec::new("range", ParamKind::choice(RANGES), "Whether black is 16 and white 235, or 0 and 255")
            .required(),
        ParamSpec::new("sampling", ParamKind::choice(SAMPLINGS), "Resolution of chroma").default_is("420"),
        ParamSpec::new(
            "packing",
            ParamKind::choice(PACKINGS),
            "Where chroma is: planes of their own, or taking turns; inputs that share a plane all read it",
        )
        .default_is("planar"),
        ParamSpec::new(
            "chroma",
            ParamKind::choice(FILTERS),
            "What pixels that share chroma get: the sample, or what lies between samples",
        )
        .default_is("nearest"),
        ParamSpec::new(
            "siting",
            ParamKind::choice(SITINGS),
            "Where shared samples lie, for chroma = bilinear",
        )
        .default_is("left"),
        ParamSpec::new("bits", ParamKind::int(8, 16), "Bits of a sample; 8 of u8 and 16 of u16 if not given"),
        ParamSpec::new("shift", ParamKind::int(0, 8), "Zero bits below them: 6 of P010").default_is("0"),
        ParamSpec::new("to", ParamKind::choice(PICTURES), "Format of the result; gray is luma alone")
            .default_is("rgb"),
    ],
    extra: Extra::NONE,
    examples: &[
        "matrix=709 range=limited to=gray",
        "matrix=709 range=limited sampling=444",
        "matrix=601 range=full sampling=444 to=bgra",
        "matrix=2020 range=limited sampling=444 bits=10 shift=6",
        "matrix=2020 range=full sampling=444 bits=12 to=bgr",
        "matrix=2020 range=full bits=8 shift=8 to=gray",
        "matrix=601 range=limited packing=yuyv",
        "matrix=709 range=full packing=uyvy to=rgba",
        "matrix=709 range=limited sampling=400",
        "matrix=709 range=limited packing=yuyv chroma=bilinear siting=center",
    ],
    create: create::<YuvToRgb>,
};

/// Full-range colours of YUV planes, as ITU-T H.273 defines them.
///
/// With luma `Y` from 0 (black) to 1 (white) and chroma `U`, `V` from -1/2 to 1/2:
/// `R = Y + 2 (1 - Kr) V`, `B = Y + 2 (1 - Kb) U`, `G = (Y - Kr R - Kb B) / (1 - Kr - Kb)`, with the `Kr`, `Kb` of the
/// [`Matrix`], on samples that are already gamma-corrected, as everywhere. The result has the inputs' dtype and its
/// full scale, saturated. No chroma gives R = G = B exactly.
///
/// The inputs are gray images of u8 or u16; of samples with fewer bits than their type, what is larger counts as the
/// largest. Chroma is replicated to the pixels that share a sample, or interpolated between samples (`chroma` = bilinear): in
/// each direction in which they are shared, weights 1 - f and f at the floor of the place and the next sample, clamped to
/// the edge, with sample c at pixel 2c, or at 2c + 1/2 where it lies between its pixels (`siting`). It is
/// not rounded before the colours are. `u` and `v` read the same image where both are in one plane, and all three do where there is only one
/// (`packing`). New alpha is opaque. `gray` is `Y` alone, for which `u` and `v` may be any images, as they may where
/// `sampling` says that there is no chroma (400).
///
/// OpenCV's `cvtColor(COLOR_YUV2RGB_NV12)` is matrix 601, range limited, in fixed point: up to 2 off.
#[derive(Debug, Clone, PartialEq)]
pub struct YuvToRgb {
    matrix: Option<Matrix>,
    range: Option<Range>,
    sampling: ChromaSampling,
    packing: Packing,
    chroma: ChromaFilter,
    siting: Siting,
    bits: Option<u32>,
    shift: u32,
    to: PixelFormat,
}

impl Default for YuvToRgb {
    fn default() -> Self {
        Self {
            matrix: None,
            range: None,
            sampling: ChromaSampling::C420,
            packing: Packing::Planar,
            chroma: ChromaFilter::Nearest,
            siting: Siting::Left,
            bits: None,
            shift: 0,
            to: PixelFormat::Rgb,
        }
    }
}

impl YuvToRgb {
    /// From planes of 4:2:0 whose samples have as many bits as their dtype.
    pub fn new(matrix: Matrix, range: Range) -> Self {
        Self { matrix: Some(matrix), range: Some(range), ..Self::default() }
    }

    /// From frames of that format and meaning.
    pub fn of(format: VideoFormat, color: VideoColor) -> Self {
        let VideoColor { matrix, range, chroma, siting } = color;
        Self { chroma, siting, ..Self::new(matrix, range).format(format) }
    }

    /// From frames of that format.
    #[must_use]
    pub const fn format(self, format: VideoFormat) -> Self {
        let VideoFormat { packing, sampling, bits, shift, .. } = format;
        Self { packing, sampling, bits: Some(bits), shift, ..self }
    }

    /// To another format than rgb.
    #[must_use]
    pub const fn to(self, to: PixelFormat) -> Self {
        Self { to, ..self }
    }

    /// Whether `u` and `v` do not matter.
    fn reads_luma_alone(&self) -> bool {
        self.to == PixelFormat::Gray || self.sampling == ChromaSampling::C400
    }

    /// Bits of a sample, which `y` has been checked for.
    fn sample_bits(&self, y: &ImageDesc) -> u32 {
        self.bits.unwrap_or(8 * y.dtype().size() as u32)
    }

    /// What makes a pixel of its samples.
    fn kernel(&self, y: &ImageDesc) -> Result<Kernel, OpError> {
        let (matrix, range) = (self.matrix.unwrap_or(Matrix::Bt601), self.range.unwrap_or(Range::Limited));
        let (kr, kb) = matrix.weights();
        let kg = 1.0 - kr - kb;
        let Levels { black, luma, chroma, middle } = Levels::new(range, self.sample_bits(y), self.shift);
        let white = y.dtype().full_scale();
        let (scale, spread) = (white / luma, white / chroma);
        let luma = [scale as f32, (-black * scale) as f32];
        let alpha = self.to.has_alpha().then_some(white as f32);
        if self.reads_luma_alone() {
            let gray = || v().mul_add(luma[0], luma[1]);
            let colors = || {
                let alpha = alpha.map(Term::from);
                Formula::channels([gray(), gray(), gray()].into_iter().chain(alpha).collect::<Vec<_>>())
            };
            let is_gray = self.to == PixelFormat::Gray;
            return if is_gray { Formula::each(gray()) } else { colors() }.kernel(&SPEC);
        }
        let (by_v, by_u) = (2.0 * (1.0 - kr) * spread, 2.0 * (1.0 - kb) * spread);
        let factors = YuvFactors {
            luma,
            middle: middle as f32,
            red_v: by_v as f32,
            green: [-by_u * kb / kg, -by_v * kr / kg].map(|factor| factor as f32),
            blue_u: by_u as f32,
        };
        Ok(Kernel::Point(Point::yuv_to_rgb(factors, alpha)))
    }

    /// The columns of a slot's samples in its image, which is so wide; of samples that pixels share, those of the pixels
    /// or, where they are to be interpolated, their own.
    fn columns(&self, slot: usize, width: u32) -> AxisMap {
        let shift = if self.is_interpolated() { 0 } else { self.sampling.shifts().0 };
        let (first, step, shift) = match (self.packing, slot) {
            (Packing::Yuyv, 0) => (0, 2, 0),
            (Packing::Uyvy, 0) => (1, 2, 0),
            (Packing::Planar | Packing::Uv | Packing::Vu, 0) => (0, 1, 0),
            (Packing::Yuyv, 1) => (1, 4, shift),
            (Packing::Yuyv, _) => (3, 4, shift),
            (Packing::Uyvy, 1) => (0, 4, shift),
            (Packing::Uyvy, _) => (2, 4, shift),
            (Packing::Uv, 1) | (Packing::Vu, 2..) => (0, 2, shift),
            (Packing::Uv | Packing::Vu, _) => (1, 2, shift),
            (Packing::Planar, _) => (0, 1, shift),
        };
        AxisMap::Step { first, step, shift, last: width - 1 }
    }

    /// Whether pixels share chroma and get what lies between its samples.
    fn is_interpolated(&self) -> bool {
        self.chroma == ChromaFilter::Bilinear && self.sampling.shifts() != (0, 0)
    }

    /// What the samples of a slot are at each pixel of `plane`.
    fn samples(
        &self,
        slot: usize,
        input: &ImageDesc,
        plane: ImageDesc,
        steps: &mut Vec<KernelStep>,
    ) -> Result<StepInput, OpError> {
        let mut sample = StepInput::Slot(slot);
        let mut step = |kernel, output| {
            steps.push(KernelStep { kernel, uniforms: [].into(), inputs: vec![sample], output });
            sample = StepInput::Step(steps.len() - 1);
        };
        let (interpolated, is_packed) = (slot > 0 && self.is_interpolated(), self.packing.is_packed());
        let down = if slot == 0 || is_packed || interpolated { 0 } else { self.sampling.shifts().1 };
        let x = self.columns(slot, input.width());
        let y = AxisMap::Step { first: 0, step: 1, shift: down, last: input.height() - 1 };
        let own = if interpolated {
            let (width, height) = self.sampling.size(plane.width(), plane.height());
            plane.with_size(width, if is_packed { plane.height() } else { height })?
        } else {
            plane
        };
        let same = |map| matches!(map, AxisMap::Step { first: 0, step: 1, shift: 0, .. });
        if !same(x) || !same(y) || (input.width(), input.height()) != (own.width(), own.height()) {
            step(Kernel::Gather(Gather { x, y }), own);
        }
        // What is above the bits that there are would make sums that binary32 does not hold.
        let used = self.sample_bits(input) + self.shift;
        if (used as usize) < 8 * input.dtype().size() {
            let most = ((1_u32 << used) - 1) as f32;
            step(Formula::each(v().min(most)).kernel(&SPEC)?, own);
        }
        if interpolated {
            let (exact, whole) = (own.with_dtype(DType::F32)?, plane.with_dtype(DType::F32)?);
            step(Kernel::Point(Point::copy()), exact);
            let (across, between) = (self.sampling.shifts(), self.siting.is_between());
            let x = between_samples(own.width(), plane.width(), across.0 > 0, between.0);
            let y = between_samples(own.height(), plane.height(), own.height() < plane.height(), between.1);
            step(Kernel::Resample(Resample { x, y }), whole);
        }
        Ok(sample)
    }

    fn check(&self, inputs: &[ImageDesc; 3]) -> Result<(), OpError> {
        let [y, ..] = inputs;
        let refuse = |slot: usize, allowed: String| {
            let (slot, given) = (SPEC.inputs[slot].to_owned(), inputs[slot].to_string());
            Err(OpError::Input { operator: SPEC.name, slot, given, allowed })
        };
        let is_plane =
            |i: &ImageDesc| i.format() == PixelFormat::Gray && matches!(i.dtype(), DType::U8 | DType::U16);
        if !is_plane(y) {
            return refuse(0, "a plane of video: gray, u8 or u16".to_owned());
        }
        let (bits, size) = (self.sample_bits(y), 8 * y.dtype().size() as u32);
        if bits + self.shift > size || bits < 8 {
            let given = format!("{bits} bits and shift {}", self.shift);
            return Err(self
                .invalid("bits", given, format!("together no more than the {size} of {y}"))
                .into());
        }
        if self.packing.is_packed() && !y.width().is_multiple_of(2) {
            return refuse(0, format!("an even width: {} has two samples a pixel", self.packing));
        }
        if self.reads_luma_alone() {
            return Ok(());
        }
        let (across, down) = self.sampling.size(y.width(), y.height());
        let (width, height) = match self.packing {
            Packing::Planar => (Some(across), down),
            Packing::Uv | Packing::Vu => (across.checked_mul(2), down),
            Packing::Yuyv | Packing::Uyvy if y.width().is_multiple_of(4) => (Some(y.width()), y.height()),
            Packing::Yuyv | Packing::Uyvy => {
                return refuse(
                    0,
                    format!("a width that 4 divides: {} has four samples for two pixels", self.packing),
                );
            }
        };
        let wanted = width.map(|width| y.with_size(width, height)).transpose()?;
        match (1..3).find(|&slot| Some(inputs[slot]) != wanted) {
            None => Ok(()),
            Some(slot) => {
                let wanted = wanted.map_or_else(|| "smaller".to_owned(), |wanted| wanted.to_string());
                let (packing, sampling) = (self.packing, self.sampling);
                refuse(slot, format!("{wanted}, which goes with {y} (packing={packing} sampling={sampling})"))
            }
        }
    }
}

impl Parameters for YuvToRgb {
    fields! {
        "matrix" => matrix, "range" => range, "sampling" => sampling, "packing" => packing, "bits" => bits,
        "chroma" => chroma, "siting" => siting, "shift" => shift, "to" => to,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        let full = matches!(self.sampling, ChromaSampling::C444 | ChromaSampling::C400);
        if self.packing.is_packed() && full {
            let with = format!("packing={}", self.packing);
            return Err(self.conflict("sampling", with, "leave it out: two pixels share their chroma"));
        }
        Ok(())
    }
}

impl Operator for YuvToRgb {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let inputs = self.accept(inputs)?;
        self.check(&inputs)?;
        let [y, ..] = inputs;
        let width = if self.packing.is_packed() { y.width() / 2 } else { y.width() };
        Ok(y.with_size(width, y.height())?.with_format(self.to)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let plane = output.with_format(PixelFormat::Gray)?;
        let slots = if self.reads_luma_alone() { 1 } else { 3 };
        let mut steps = Vec::new();
        let mut samples = Vec::new();
        for (slot, input) in inputs.iter().enumerate().take(slots) {
            samples.push(self.samples(slot, input, plane, &mut steps)?);
        }
        let kernel = self.kernel(&inputs[0])?;
        steps.push(KernelStep { kernel, uniforms: [].into(), inputs: samples, output });
        Ok(Lowered { steps })
    }
}

/// Samples that stand for black, white and no chroma.
pub(super) struct Levels {
    /// Of black.
    pub(super) black: f64,
    /// From black to white.
    pub(super) luma: f64,
    /// From the least to the most chroma.
    pub(super) chroma: f64,
    /// No chroma.
    pub(super) middle: f64,
}

impl Levels {
    /// Of samples with so many bits, and zero bits below them.
    pub(super) fn new(range: Range, bits: u32, shift: u32) -> Self {
        let (black, luma, chroma) = range.levels();
        // Limited levels of more bits are those of 8 bits times a power of two; full ones are all that there are.
        let unit = f64::from(1_u32 << (bits - 8 + shift));
        let full = f64::from((1_u32 << bits) - 1) * f64::from(1_u32 << shift);
        let (black, luma, chroma) = match range {
            Range::Limited => (black * unit, luma * unit, chroma * unit),
            Range::Full => (0.0, full, full),
        };
        Self { black, luma, chroma, middle: 128.0 * unit }
    }
}

/// Weights along an axis on which two outputs share a sample, if they do: sample c is at output 2c, or halfway to the next
/// where it lies between its pixels.
fn between_samples(samples: u32, outputs: u32, shared: bool, between: bool) -> AxisTaps {
    let at = |output: i64| {
        // In quarters of a sample.
        let place = if shared { 2 * output - i64::from(between) } else { 4 * output };
        let (sample, part) = (place.div_euclid(4), place.rem_euclid(4) as f64 / 4.0);
        let both = [(sample, 1.0 - part), (sample + 1, part)];
        both.into_iter().filter(|&(_, weight)| weight > 0.0).collect::<Vec<_>>()
    };
    AxisTaps::from_contributions(samples, (0..i64::from(outputs)).map(at))
}
