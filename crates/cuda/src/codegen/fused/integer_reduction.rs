use mip_core::{DType, Layout};
use mip_plan::{AxisTaps, Kernel, Operand};

use super::setting::Setting;

/// A ratio at which a bilinear resize and the luma of its result are computed in integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ratio {
    /// Three pixels become two.
    ThreeToTwo,
    /// Two become one.
    TwoToOne,
}

/// A tile that holds the luma of a buffer's bytes, resized by such a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntegerReduction {
    pub ratio: Ratio,
    /// The buffer.
    pub buffer: usize,
    /// Channels of red, green and blue.
    pub rgb: [usize; 3],
}

impl Ratio {
    /// Columns and rows that are made at once.
    pub(super) const fn unit(self) -> (i64, i64) {
        match self {
            Self::ThreeToTwo => (8, 2),
            Self::TwoToOne => (4, 1),
        }
    }

    /// Source pixels, or rows, for so many outputs.
    pub(super) const fn source(self, outputs: i64) -> i64 {
        match self {
            Self::ThreeToTwo => outputs / 2 * 3,
            Self::TwoToOne => outputs * 2,
        }
    }

    pub(super) const fn function(self) -> &'static str {
        match self {
            Self::ThreeToTwo => "reduce_3_2",
            Self::TwoToOne => "reduce_2_1",
        }
    }

    /// Start and weights of an output.
    fn taps(self, output: u32) -> (u32, [f32; 2]) {
        match self {
            Self::ThreeToTwo if output.is_multiple_of(2) => (output / 2 * 3, [0.75, 0.25]),
            Self::ThreeToTwo => (output / 2 * 3 + 1, [0.25, 0.75]),
            Self::TwoToOne => (output * 2, [0.5, 0.5]),
        }
    }

    fn is(self, axis: &AxisTaps) -> bool {
        let right = |output: usize| {
            let (start, weights) = self.taps(output as u32);
            axis.starts()[output] == start && axis.weights(output) == weights
        };
        axis.taps() == 2 && (0..axis.outputs()).all(right)
    }
}

impl IntegerReduction {
    /// Whether a stage is the luma of such a resize that nobody else reads.
    pub(super) fn of(setting: &Setting<'_>, source: Operand) -> Option<Self> {
        let Operand::Stage(index) = source else { return None };
        let stage = setting.stage(index);
        let (Kernel::Point(luma), [Operand::Stage(resized)]) = (&stage.kernel, &stage.inputs[..]) else {
            return None;
        };
        let small = setting.stage(*resized);
        let (Kernel::Resample(kernel), [Operand::Buffer(buffer)]) = (&small.kernel, &small.inputs[..]) else {
            return None;
        };
        let desc = setting.layouts[*buffer].desc;
        let rgb = luma.luma(&small.output, &stage.output)?;
        let bytes = desc.dtype() == DType::U8 && desc.layout() == Layout::Hwc && desc.channels() == 3;
        let alone = setting.group.is_read_once(*resized);
        if !bytes || !alone || small.output.layout() != Layout::Hwc {
            return None;
        }
        let ratio =
            [Ratio::ThreeToTwo, Ratio::TwoToOne].into_iter().find(|r| r.is(&kernel.x) && r.is(&kernel.y))?;
        let (columns, rows) = ratio.unit();
        let whole =
            i64::from(stage.output.width()) % columns == 0 && i64::from(stage.output.height()) % rows == 0;
        whole.then_some(Self { ratio, buffer: *buffer, rgb })
    }
}
