use mip_core::video::{ChromaSampling, Matrix, Range};
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{AxisMap, Gather, Kernel, Point, YuvSample};

use super::yuv_to_rgb::{Levels, MATRICES, RANGES, SAMPLINGS};
use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::check_picture;
use crate::{
    Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, StepInput,
};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "rgb_to_yuv",
    summary: "Colours to one plane of YUV video",
    inputs: &["in"],
    params: &[
        ParamSpec::new("plane", ParamKind::choice(PLANES), "The plane: luma, or one of both of chroma")
            .required(),
        ParamSpec::new(
            "matrix",
            ParamKind::choice(MATRICES),
            "The weights of luma: ITU-R BT.601, 709 or 2020",
        )
        .required(),
        ParamSpec::new("range", ParamKind::choice(RANGES), "Whether black is 16 and white 235, or 0 and 255")
            .required(),
        ParamSpec::new("sampling", ParamKind::choice(SAMPLINGS), "Resolution of chroma").default_is("420"),
        ParamSpec::new("bits", ParamKind::int(8, 16), "Bits of a sample").default_is("8"),
    ],
    extra: Extra::NONE,
    examples: &[
        "plane=y matrix=709 range=limited",
        "plane=u matrix=709 range=limited",
        "plane=v matrix=601 range=full",
        "plane=v matrix=2020 range=limited sampling=422 bits=10",
        "plane=u matrix=601 range=full sampling=444 bits=12",
        "plane=y matrix=2020 range=full bits=16",
    ],
    create: create::<RgbToYuv>,
};

choice! {
    /// A plane of YUV video.
    pub enum YuvPlane as PLANES {
        /// Luma.
        #[default]
        Y = "y",
        /// Chroma, blue against luma.
        U = "u",
        /// Chroma, red against luma.
        V = "v",
    }
}

/// One plane of YUV video: a gray image of u8, or of u16 with more than 8 bits.
///
/// On red, green and blue from 0 to 1 (the full scale of the input's dtype), with the `Kr` and `Kb` of the [`Matrix`]
/// (ITU-T H.273): `Y = Kr R + Kg G + Kb B`, `U = (B - Y) / (2 - 2 Kb)`, `V = (R - Y) / (2 - 2 Kr)`, put at the levels of the
/// [`Range`] (limited, 8 bits: Y at 16 to 235, U and V at 16 to 240 around 128), rounded once, to the nearest, and saturated to
/// what the bits hold. Chroma is the mean over the pixels that share a sample; where a side is odd, its last pixel counts
/// twice. R = G = B gives exactly the middle. Siting does not enter; alpha is left out. A gray image has
/// its value in all three colours.
///
/// OpenCV's `cvtColor(COLOR_RGB2YUV_I420)` is matrix 601, range limited, in fixed point, and takes the upper left pixel's
/// chroma instead of the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct RgbToYuv {
    plane: Option<YuvPlane>,
    matrix: Option<Matrix>,
    range: Option<Range>,
    sampling: ChromaSampling,
    bits: u32,
}

impl Default for RgbToYuv {
    fn default() -> Self {
        Self { plane: None, matrix: None, range: None, sampling: ChromaSampling::C420, bits: 8 }
    }
}

impl RgbToYuv {
    /// A plane of 4:2:0 in 8 bits.
    pub fn new(plane: YuvPlane, matrix: Matrix, range: Range) -> Self {
        Self { plane: Some(plane), matrix: Some(matrix), range: Some(range), ..Self::default() }
    }

    /// With chroma of that resolution and samples of so many bits.
    #[must_use]
    pub const fn samples(self, sampling: ChromaSampling, bits: u32) -> Self {
        Self { sampling, bits, ..self }
    }

    fn plane(&self) -> YuvPlane {
        self.plane.unwrap_or_default()
    }

    /// Pixels that share a sample of the plane, across and down, as powers of two.
    fn shifts(&self) -> (u32, u32) {
        if self.plane() == YuvPlane::Y { (0, 0) } else { self.sampling.shifts() }
    }

    /// The sample of the pixels of so many images: of pixel i of each input i.
    fn point(&self, input: &ImageDesc, pixels: u8) -> Point {
        let (matrix, range) = (self.matrix.unwrap_or(Matrix::Bt601), self.range.unwrap_or(Range::Limited));
        let ((kr, kb), levels) = (matrix.weights(), Levels::new(range, self.bits, 0));
        let kg = 1.0 - kr - kb;
        let full = input.dtype().full_scale() * f64::from(pixels);
        let chroma = |is_u, weights: [f64; 2], by: f64| {
            let by = weights.map(|weight| (weight * levels.chroma / (by * full)) as f32);
            YuvSample::Chroma { is_u, by, middle: levels.middle as f32 }
        };
        let sample = match self.plane() {
            YuvPlane::Y => YuvSample::Luma {
                factors: [kr, kg, kb].map(|weight| (weight * levels.luma / full) as f32),
                offset: levels.black as f32,
            },
            YuvPlane::U => chroma(true, [kr, kg], 2.0 - 2.0 * kb),
            YuvPlane::V => chroma(false, [kg, kb], 2.0 - 2.0 * kr),
        };
        // What the bits hold, where it is not what the type holds.
        let most = (!matches!(self.bits, 8 | 16)).then(|| ((1_u32 << self.bits) - 1) as f32);
        Point::rgb_to_yuv(sample, pixels, input.format() == PixelFormat::Gray, most)
    }
}

impl Parameters for RgbToYuv {
    fields! {
        "plane" => plane, "matrix" => matrix, "range" => range, "sampling" => sampling, "bits" => bits,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        if self.sampling == ChromaSampling::C400 && self.plane() != YuvPlane::Y {
            let with = format!("with plane={}", self.plane());
            return Err(self.conflict("sampling", with, "400 has no chroma"));
        }
        Ok(())
    }
}

impl Operator for RgbToYuv {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_picture(self, &input)?;
        let (across, down) = self.shifts();
        let dtype = if self.bits > 8 { DType::U16 } else { DType::U8 };
        let size = (input.width().div_ceil(1 << across), input.height().div_ceil(1 << down));
        let output = ImageDesc::new(size.0, size.1, PixelFormat::Gray, dtype);
        Ok(output?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let input = inputs[0];
        let (across, down) = self.shifts();
        let pixel = input.with_size(output.width(), output.height())?;
        let mut steps = Vec::new();
        for (x, y) in (0..1 << down).flat_map(|y| (0..1 << across).map(move |x| (x, y))) {
            if (across, down) != (0, 0) {
                let axis = |first: u32, shift: u32, side: u32| {
                    let last = side - 1;
                    AxisMap::Step { first: first.min(last), step: 1 << shift, shift: 0, last }
                };
                let kernel = Gather { x: axis(x, across, input.width()), y: axis(y, down, input.height()) };
                let (kernel, inputs) = (Kernel::Gather(kernel), vec![StepInput::Slot(0)]);
                steps.push(KernelStep { kernel, uniforms: [].into(), inputs, output: pixel });
            }
        }
        let samples = match steps.len() {
            0 => vec![StepInput::Slot(0)],
            n => (0..n).map(StepInput::Step).collect(),
        };
        let kernel = Kernel::Point(self.point(&input, samples.len() as u8));
        steps.push(KernelStep { kernel, uniforms: [].into(), inputs: samples, output });
        Ok(Lowered { steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_have_their_sizes_and_types() {
        let image = ImageDesc::new(7, 5, PixelFormat::Bgra, DType::F32).unwrap();
        let of = |plane, sampling, bits| {
            let op = RgbToYuv::new(plane, Matrix::Bt709, Range::Limited).samples(sampling, bits);
            op.infer(&[image]).unwrap().to_string()
        };
        assert_eq!(of(YuvPlane::Y, ChromaSampling::C420, 8), "7x5 gray u8");
        assert_eq!(of(YuvPlane::U, ChromaSampling::C420, 8), "4x3 gray u8");
        assert_eq!(of(YuvPlane::V, ChromaSampling::C420, 10), "4x3 gray u16");
        assert_eq!(of(YuvPlane::V, ChromaSampling::C422, 8), "4x5 gray u8");
        assert_eq!(of(YuvPlane::U, ChromaSampling::C444, 12), "7x5 gray u16");
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let no_chroma = RgbToYuv::new(YuvPlane::U, Matrix::Bt709, Range::Full);
        let image = ImageDesc::new(7, 5, PixelFormat::Rgb, DType::U8).unwrap();
        let error = no_chroma.samples(ChromaSampling::C400, 8).infer(&[image]).unwrap_err().to_string();
        assert!(error.contains("plane=u") && error.contains("400"), "{error}");
    }
}
