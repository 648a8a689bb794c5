use mip_core::ImageDesc;
use mip_plan::{AxisTaps, Border, Kernel, Resample};

use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

/// Longest side of a result: weights for each of its columns and rows are kept in memory.
const MAX_SIDE: u32 = 1 << 21;

choice! {
    /// Which way [`Pyramid`] goes.
    pub enum PyramidDirection as DIRECTIONS {
        /// To half the size.
        #[default]
        Down = "down",
        /// To twice the size.
        Up = "up",
    }
}

choice! {
    /// What [`Pyramid`] reads outside the image.
    enum PyramidBorder as BORDERS {
        /// Mirrored without the edge.
        #[default]
        Reflect101 = "reflect101",
        /// Mirrored with the edge.
        Reflect = "reflect",
        /// The edge.
        Replicate = "replicate",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "pyramid",
    summary: "One step of a Gaussian pyramid: half or twice the size",
    inputs: &["in"],
    params: &[
        ParamSpec::new("direction", ParamKind::choice(DIRECTIONS), "To half or to twice the size")
            .default_is("down"),
        ParamSpec::new("border", ParamKind::choice(BORDERS), "What is read outside the image")
            .default_is("reflect101"),
    ],
    extra: Extra::NONE,
    examples: &["", "direction=up", "border=replicate", "direction=up border=reflect"],
    create: create::<Pyramid>,
};

/// Smoothed with `1 4 6 4 1` / 16 along both axes and every second pixel taken, from the first on; or the other way round.
///
/// Down, a side of n becomes `(n + 1) / 2`, rounded down. Up, it becomes 2 n: pixel 2 i is `(p[i - 1] + 6 p[i] + p[i + 1]) / 8`,
/// pixel 2 i + 1 is `(p[i] + p[i + 1]) / 2`. Both axes before the single rounding at the end. OpenCV's `pyrDown` and `pyrUp`
/// round halves up: results are 1 apart on ties.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pyramid {
    direction: PyramidDirection,
    border: PyramidBorder,
}

impl Pyramid {
    /// To half the size.
    pub fn down() -> Self {
        Self::default()
    }

    /// To twice the size.
    pub fn up() -> Self {
        Self { direction: PyramidDirection::Up, ..Self::default() }
    }

    fn side(&self, n: u32) -> u64 {
        match self.direction {
            PyramidDirection::Down => u64::from(n).div_ceil(2),
            PyramidDirection::Up => 2 * u64::from(n),
        }
    }

    fn axis(&self, n: u32) -> AxisTaps {
        let border = match self.border {
            PyramidBorder::Reflect101 => Border::Reflect101,
            PyramidBorder::Reflect => Border::Reflect,
            PyramidBorder::Replicate => Border::Replicate,
        };
        let folded = |i: i64| border.index(i, n).map_or(0, i64::from);
        let taps = |o: i64| -> Vec<(i64, f64)> {
            let weights: &[(i64, f64)] = match self.direction {
                PyramidDirection::Down => &[(-2, 1.0), (-1, 4.0), (0, 6.0), (1, 4.0), (2, 1.0)],
                PyramidDirection::Up if o % 2 == 0 => &[(-1, 2.0), (0, 12.0), (1, 2.0)],
                PyramidDirection::Up => &[(0, 8.0), (1, 8.0)],
            };
            let center = if self.direction == PyramidDirection::Down { 2 * o } else { o / 2 };
            weights.iter().map(|&(away, weight)| (folded(center + away), weight / 16.0)).collect()
        };
        AxisTaps::from_contributions(n, (0..self.side(n) as i64).map(taps))
    }
}

impl Parameters for Pyramid {
    fields! { "direction" => direction, "border" => border }
}

impl Operator for Pyramid {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        let (width, height) = (self.side(input.width()), self.side(input.height()));
        if width.max(height) > u64::from(MAX_SIDE) {
            let error: ParamError = self.invalid(
                "direction",
                self.direction.to_string(),
                format!("such that no side of the result is longer than {MAX_SIDE}; {input} would become {width}x{height}"),
            );
            return Err(error.into());
        }
        Ok(input.with_size(width as u32, height as u32)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let kernel = Resample { x: self.axis(inputs[0].width()), y: self.axis(inputs[0].height()) };
        Ok(Lowered::single(Kernel::Resample(kernel), [], output))
    }
}
