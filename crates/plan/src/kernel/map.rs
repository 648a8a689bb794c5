use std::sync::Arc;

use mip_core::{ImageDesc, PixelFormat};

use crate::Expr;

/// Kernels that read their own pixel. Input and output have the same width and height; layout (HWC,
/// CHW) may differ in every one of them, so changing the order costs nothing beside another kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapKernel {
    /// Samples unchanged (same format and type): changes only the layout.
    Copy,
    /// Changes the format; the dtype stays.
    ///
    /// To gray, integers: `n = 299 R + 587 G + 114 B` in integers, then `n / 1000` to the nearest integer,
    /// ties to even, exactly (one IEEE binary32 division of `n` rounds right for u8; u16 needs integers).
    /// To gray, f32: `fma(0.114, B, fma(0.587, G, 0.299 * R))`. Alpha is dropped.
    /// From gray: the value in every colour channel. Colour to colour: channels permuted. A new alpha is
    /// opaque ([`mip_core::DType::full_scale`]); an existing one is kept where the target has one.
    ColorConvert,
    /// Per channel c: `fma(v, a[c], b[c])`, to the output's dtype (NaN becomes 0 in integers).
    ///
    /// Uniforms: `a[0..channels]`, then `b[0..channels]`. Covers casts, scaling and normalisation.
    Affine,
    /// Colour channels: `v > t ? m : 0`, compared in binary32 (NaN gives 0); alpha is kept.
    ///
    /// Uniforms: `[t, m]` in sample units.
    Threshold,
    /// Two inputs a, b of equal shape, every channel: `fma(b, wb, a * wa)`. Both are read, also with a weight of 0: an
    /// infinity or a NaN in f32 then gives NaN.
    ///
    /// Uniforms: `[wa, wb]`.
    Blend,
    /// An expression on one to four inputs of equal size, of any formats that have the channels it reads;
    /// dtypes may differ. One that is computed for each channel makes the first input's format.
    ///
    /// Uniforms: the expression's.
    Point(Arc<Expr>),
}

/// Where an output channel of [`MapKernel::ColorConvert`] comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelMap {
    /// The input channel with this index.
    Input(usize),
    /// The luma of the input's red, green and blue, whose channel indices these are.
    Luma([usize; 3]),
    /// Full scale: opaque alpha.
    Opaque,
}

impl MapKernel {
    /// A short name for plans and generated code.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::ColorConvert => "color_convert",
            Self::Affine => "affine",
            Self::Threshold => "threshold",
            Self::Blend => "blend",
            Self::Point(_) => "point",
        }
    }

    /// Number of input images.
    pub fn input_count(&self) -> usize {
        match self {
            Self::Copy | Self::ColorConvert | Self::Affine | Self::Threshold => 1,
            Self::Blend => 2,
            Self::Point(expr) => expr.input_count(),
        }
    }

    /// Number of uniforms for the given input.
    pub fn uniform_count(&self, input: &ImageDesc) -> usize {
        match self {
            Self::Copy | Self::ColorConvert => 0,
            Self::Affine => 2 * input.channels(),
            Self::Threshold | Self::Blend => 2,
            Self::Point(expr) => expr.uniforms().len(),
        }
    }
}

impl ChannelMap {
    /// The sources of all output channels of a conversion, in output order.
    pub fn of(from: PixelFormat, to: PixelFormat) -> Vec<Self> {
        let alpha_from = from.has_alpha().then_some(3);
        match (from.rgb_indices(), to.rgb_indices()) {
            (None, None) => vec![Self::Input(0)],
            (Some(rgb), None) => vec![Self::Luma(rgb)],
            (from_rgb, Some(to_rgb)) => (0..to.channels())
                .map(|c| match to_rgb.iter().position(|&t| t == c) {
                    Some(colour) => Self::Input(from_rgb.map_or(0, |rgb| rgb[colour])),
                    None => alpha_from.map_or(Self::Opaque, Self::Input),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PixelFormat::{Bgra, Gray, Rgb, Rgba};

    #[test]
    fn channel_sources() {
        use ChannelMap::{Input, Luma, Opaque};
        assert_eq!(ChannelMap::of(Rgba, Bgra), [Input(2), Input(1), Input(0), Input(3)]);
        assert_eq!(ChannelMap::of(Rgb, Bgra), [Input(2), Input(1), Input(0), Opaque]);
        assert_eq!(ChannelMap::of(Gray, Rgba), [Input(0), Input(0), Input(0), Opaque]);
        assert_eq!(ChannelMap::of(Bgra, Gray), [Luma([2, 1, 0])]);
        assert_eq!(ChannelMap::of(Gray, Gray), [Input(0)]);
    }
}
