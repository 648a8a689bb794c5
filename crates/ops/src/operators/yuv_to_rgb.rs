use mip_core::video::{ChromaSampling, Matrix, Packing, Range};
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{AxisMap, Gather, Kernel, Point, YuvFactors};

use crate::choice::{FORMATS, stored_by_name};
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
        ParamSpec::new("bits", ParamKind::int(8, 16), "Bits of a sample; 8 of u8 and 16 of u16 if not given"),
        ParamSpec::new("shift", ParamKind::int(0, 8), "Zero bits below them: 6 of P010").default_is("0"),
        ParamSpec::new("to", ParamKind::choice(FORMATS), "Format of the result; gray is luma alone")
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
/// largest. Chroma is replicated to the pixels that share a sample; siting does not
/// enter. `u` and `v` read the same image where both are in one plane, and all three do where there is only one
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

    /// From frames of that format.
    #[must_use]
    pub const fn format(self, format: mip_core::video::VideoFormat) -> Self {
        let mip_core::video::VideoFormat { packing, sampling, bits, shift, .. } = format;
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
        self.bits.unwrap_or(8 * y.dtype.size() as u32)
    }

    /// What makes a pixel of its samples.
    fn kernel(&self, y: &ImageDesc) -> Result<Kernel, OpError> {
        let (matrix, range) = (self.matrix.unwrap_or(Matrix::Bt601), self.range.unwrap_or(Range::Limited));
        let ((kr, kb), (black, luma, chroma)) = (matrix.weights(), range.levels());
        let kg = 1.0 - kr - kb;
        // Limited levels of more bits are those of 8 bits times a power of two; full ones are all that there are.
        let bits = self.sample_bits(y);
        let unit = f64::from(1_u32 << (bits - 8 + self.shift));
        let full = f64::from((1_u32 << bits) - 1) * f64::from(1_u32 << self.shift);
        let (black, luma, chroma) = match range {
            Range::Limited => (black * unit, luma * unit, chroma * unit),
            Range::Full => (0.0, full, full),
        };
        let white = y.dtype.full_scale();
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
            middle: (128.0 * unit) as f32,
            red_v: by_v as f32,
            green: [-by_u * kb / kg, -by_v * kr / kg].map(|factor| factor as f32),
            blue_u: by_u as f32,
        };
        Ok(Kernel::Point(Point::yuv_to_rgb(factors, alpha)))
    }

    /// Where the samples of a slot are in its image: the map of a pixel's column.
    fn columns(&self, slot: usize) -> AxisMap {
        let (shift, _) = self.sampling.shifts();
        let (first, step, shift) = match (self.packing, slot) {
            (Packing::Yuyv, 0) => (0, 2, 0),
            (Packing::Uyvy, 0) => (1, 2, 0),
            (Packing::Planar | Packing::Uv | Packing::Vu, 0) => (0, 1, 0),
            (Packing::Yuyv, 1) => (1, 4, 1),
            (Packing::Yuyv, _) => (3, 4, 1),
            (Packing::Uyvy, 1) => (0, 4, 1),
            (Packing::Uyvy, _) => (2, 4, 1),
            (Packing::Uv, 1) | (Packing::Vu, 2..) => (0, 2, shift),
            (Packing::Uv | Packing::Vu, _) => (1, 2, shift),
            (Packing::Planar, _) => (0, 1, shift),
        };
        AxisMap::Step { first, step, shift }
    }

    fn check(&self, inputs: &[ImageDesc; 3]) -> Result<(), OpError> {
        let [y, ..] = inputs;
        let refuse = |slot: usize, allowed: String| {
            let (slot, given) = (SPEC.inputs[slot].to_owned(), inputs[slot].to_string());
            Err(OpError::Input { operator: SPEC.name, slot, given, allowed })
        };
        let is_plane =
            |i: &ImageDesc| i.format == PixelFormat::Gray && matches!(i.dtype, DType::U8 | DType::U16);
        if !is_plane(y) {
            return refuse(0, "a plane of video: gray, u8 or u16".to_owned());
        }
        let (bits, size) = (self.sample_bits(y), 8 * y.dtype.size() as u32);
        if bits + self.shift > size || bits < 8 {
            let given = format!("{bits} bits and shift {}", self.shift);
            return Err(self
                .invalid("bits", given, format!("together no more than the {size} of {y}"))
                .into());
        }
        if self.packing.is_packed() && !y.width.is_multiple_of(2) {
            return refuse(0, format!("an even width: {} has two samples a pixel", self.packing));
        }
        if self.reads_luma_alone() {
            return Ok(());
        }
        let (across, down) = self.sampling.size(y.width, y.height);
        let (width, height) = match self.packing {
            Packing::Planar => (Some(across), down),
            Packing::Uv | Packing::Vu => (across.checked_mul(2), down),
            Packing::Yuyv | Packing::Uyvy if y.width.is_multiple_of(4) => (Some(y.width), y.height),
            Packing::Yuyv | Packing::Uyvy => {
                return refuse(
                    0,
                    format!("a width that 4 divides: {} has four samples for two pixels", self.packing),
                );
            }
        };
        let wanted = width.map(|width| y.with_size(width, height));
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
        "shift" => shift, "to" => to,
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
        let width = if self.packing.is_packed() { y.width / 2 } else { y.width };
        let output = y.with_size(width, y.height).with_format(self.to);
        output.check()?;
        Ok(output)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let plane = output.with_format(PixelFormat::Gray);
        let slots = if self.reads_luma_alone() { 1 } else { 3 };
        let mut steps = Vec::new();
        let mut samples = Vec::new();
        for (slot, input) in inputs.iter().enumerate().take(slots) {
            let down = if slot == 0 || self.packing.is_packed() { 0 } else { self.sampling.shifts().1 };
            let (x, y) = (self.columns(slot), AxisMap::Step { first: 0, step: 1, shift: down });
            let same = AxisMap::Step { first: 0, step: 1, shift: 0 };
            let mut sample = StepInput::Slot(slot);
            let mut step = |kernel, sample: &mut StepInput| {
                steps.push(KernelStep { kernel, uniforms: [].into(), inputs: vec![*sample], output: plane });
                *sample = StepInput::Step(steps.len() - 1);
            };
            if (x, y) != (same, same) || (input.width, input.height) != (plane.width, plane.height) {
                step(Kernel::Gather(Gather { x, y }), &mut sample);
            }
            // What is above the bits that there are would make sums that binary32 does not hold.
            let used = self.sample_bits(input) + self.shift;
            if (used as usize) < 8 * input.dtype.size() {
                let most = ((1_u32 << used) - 1) as f32;
                step(Formula::each(v().min(most)).kernel(&SPEC)?, &mut sample);
            }
            samples.push(sample);
        }
        let kernel = self.kernel(&inputs[0])?;
        steps.push(KernelStep { kernel, uniforms: [].into(), inputs: samples, output });
        Ok(Lowered { steps })
    }
}
