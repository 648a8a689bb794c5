use mip_core::{DType, Layout};
use mip_plan::{AxisTaps, Kernel, Operand};

use super::setting::Setting;

/// A ratio at which a bilinear resize, and the luma of its result, are computed in integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ratio {
    /// Three pixels become two.
    ThreeToTwo,
    /// Two become one.
    TwoToOne,
}

/// A tile that holds a buffer's gray bytes, or the luma of its colours, resized by such a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntegerReduction {
    pub ratio: Ratio,
    /// The buffer.
    pub buffer: usize,
    /// Channels of red, green and blue; `None` for gray.
    pub rgb: Option<[usize; 3]>,
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
    /// The function of the kernel, with what it is told beside the alignment.
    pub(super) fn function(&self, tile: usize) -> String {
        let (function, gray) = match self.ratio {
            Ratio::ThreeToTwo => ("reduce_3_2", "reduce_gray_3_2"),
            Ratio::TwoToOne => ("reduce_2_1", "reduce_gray_2_1"),
        };
        match self.rgb {
            Some([r, g, b]) => format!("{function}<Tile{tile}, {r}, {g}, {b}"),
            None => format!("{gray}<Tile{tile}"),
        }
    }

    /// Whether a stage that nothing stores is such a resize of gray, or the luma of one that nobody else reads.
    pub(super) fn of(setting: &Setting<'_>, source: Operand) -> Option<Self> {
        let Operand::Stage(index) = source else { return None };
        let stage = setting.stage(index);
        let (small, rgb) = match (&stage.kernel, &stage.inputs[..]) {
            (Kernel::Resample(_), _) => (stage, None),
            (Kernel::Point(luma), &[Operand::Stage(resized)]) if setting.group.is_read_once(resized) => {
                let small = setting.stage(resized);
                (small, Some(luma.luma(&small.output, &stage.output)?))
            }
            _ => return None,
        };
        let (Kernel::Resample(kernel), [Operand::Buffer(buffer)]) = (&small.kernel, &small.inputs[..]) else {
            return None;
        };
        let desc = setting.layouts[*buffer].desc;
        let channels = if rgb.is_some() { 3 } else { 1 };
        let interleaved = desc.layout() == Layout::Hwc && small.output.layout() == Layout::Hwc;
        if stage.store.is_some()
            || !interleaved
            || desc.dtype() != DType::U8
            || small.output.dtype() != DType::U8
            || desc.channels() != channels
        {
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
