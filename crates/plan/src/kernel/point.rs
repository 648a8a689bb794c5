//! Kernels that read their own pixel.

use std::sync::{Arc, LazyLock};

use mip_core::{DType, ImageDesc, PixelFormat};

use super::Axis;
use crate::{Binary, Bits, Channel, Compare, Expr, ExprBuilder, Op, Results, ValueId};

/// An expression of the samples of one pixel, on one to four inputs of equal size, of any formats that have the channels it
/// reads; dtypes may differ. One that is computed for each channel makes the first input's format. Input and output
/// have the same width and height; layout (HWC, CHW) may differ in every one of them, so changing the order costs
/// nothing beside another kernel.
///
/// Uniforms: the expression's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// What is computed.
    pub expr: Arc<Expr>,
}

/// What an expression of one pixel is known to be, so that a device may compute it in a faster way than operation by
/// operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Samples are moved to other channels of the same dtype, or turned to luma: [`Point::copy`],
    /// [`Point::convert`] and every permutation. Where each channel of the output comes from, in its order in memory.
    Channels(Vec<ChannelMap>),
    /// [`Point::affine`]: for each channel in memory the number of its pair of uniforms, factor and offset.
    Affine(Vec<usize>),
    /// [`Point::threshold`], the dtype kept.
    Threshold,
    /// [`Point::blend`] of images alike.
    Blend,
}

/// Where an output channel of [`Known::Channels`] comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelMap {
    /// The input channel with this index.
    Input(usize),
    /// The luma of three input channels, red, green and blue, with these indices.
    Luma([usize; 3]),
    /// Full scale: opaque alpha.
    Opaque,
}

/// The colours as expressions name them, and alpha.
const NAMED: [Channel; 4] = [Channel::Red, Channel::Green, Channel::Blue, Channel::Alpha];

impl Point {
    /// Samples unchanged, whatever the format: changes only the layout.
    pub fn copy() -> Self {
        static COPY: LazyLock<Point> = LazyLock::new(|| {
            build(|e| {
                let own = e.input(0, Channel::Own);
                Results::EachChannel(own)
            })
        });
        COPY.clone()
    }

    /// Another format; the dtype stays.
    ///
    /// To gray, integers: [`Op::Luma`], exactly. To gray, floats: `fma(0.114, b, fma(0.587, g, 0.299 * r))`. The
    /// weights are those of ITU-R BT.601. Alpha is dropped. From gray: the value in every colour channel. Colour to
    /// colour: channels permuted. A new alpha is opaque ([`DType::full_scale`]); an existing one is kept where the target
    /// has one.
    /// Between [`PixelFormat::PICTURES`].
    pub fn convert(from: PixelFormat, to: PixelFormat, dtype: DType) -> Self {
        if from == to {
            return Self::copy();
        }
        build(|e| {
            let gray_input = from == PixelFormat::Gray;
            if to == PixelFormat::Gray {
                return Results::Channels(vec![luma(e, dtype)]);
            }
            let color = |channel| if gray_input { Channel::Own } else { channel };
            let mut results: Vec<ValueId> =
                NAMED[..3].iter().map(|&channel| e.input(0, color(channel))).collect();
            if to.has_alpha() {
                results.push(if from.has_alpha() {
                    e.input(0, Channel::Alpha)
                } else {
                    e.constant(dtype.full_scale() as f32)
                });
            }
            Results::Channels(results)
        })
    }

    /// Every channel c, alpha included: `fma(v, scale[c], offset[c])`, to the output's dtype.
    ///
    /// Uniforms: `scale` and `offset` of red (or a colour space's first channel), then those of green, blue and alpha; of gray, two. Covers casts, scaling and
    /// normalisation.
    pub fn affine(format: PixelFormat) -> Self {
        build(|e| {
            named(format, |channel, name| {
                let (value, scale) = (e.input(0, channel), e.uniform(&format!("scale{name}")));
                let offset = e.uniform(&format!("offset{name}"));
                e.fma(value, scale, offset)
            })
        })
    }

    /// Colour channels: `v > threshold ? max_value : 0` (NaN gives 0); alpha is kept.
    ///
    /// Uniforms: `[threshold, max_value]` in sample units.
    pub fn threshold() -> Self {
        static THRESHOLD: LazyLock<Point> = LazyLock::new(|| {
            build(|e| {
                let (own, limit) = (e.input(0, Channel::Own), e.uniform("threshold"));
                let (above, below) = (e.uniform("max_value"), e.constant(0.0));
                Results::EachChannel(e.select(Compare::Gt, [own, limit], [above, below]))
            })
        });
        THRESHOLD.clone()
    }

    /// Two images of a format, every channel: `fma(v2, weight2, v * weight)`. Both are read, also with a weight of 0: an
    /// infinity or a NaN then gives NaN.
    ///
    /// Uniforms: `[weight2, weight]`.
    pub fn blend(format: PixelFormat) -> Self {
        build(|e| {
            let mut of = |channel| {
                let (first, second) = (e.input(0, channel), e.input(1, channel));
                let (weight, weight2) = (e.uniform("weight"), e.uniform("weight2"));
                let scaled = e.binary(Binary::Mul, first, weight);
                e.fma(second, weight2, scaled)
            };
            if format.has_alpha() {
                Results::Channels(NAMED.into_iter().map(of).collect())
            } else {
                Results::EachChannel(of(Channel::Own))
            }
        })
    }

    /// The first input inside a rectangle, numbers outside: every channel c of the pixel in column x and row y is
    /// `left <= x < right && top <= y < bottom ? v : fill[c]`, alpha included.
    ///
    /// Uniforms, by name: `left`, `top`, `right`, `bottom`, and `fill_r`, `fill_g`, `fill_b`, `fill_a` or `fill` of gray.
    pub fn inside(format: PixelFormat) -> Self {
        build(|e| {
            named(format, |channel, name| {
                let (own, fill) = (e.input(0, channel), e.uniform(&format!("fill{name}")));
                let mut value = own;
                for (axis, first, end) in [(Axis::X, "left", "right"), (Axis::Y, "top", "bottom")] {
                    let place = e.position(axis);
                    let (first, end) = (e.uniform(first), e.uniform(end));
                    value = e.select(Compare::Lt, [place, end], [value, fill]);
                    value = e.select(Compare::Ge, [place, first], [value, fill]);
                }
                value
            })
        })
    }

    /// Whether it is [`Point::inside`] of an image alike.
    pub fn is_inside(&self, inputs: &[ImageDesc], output: &ImageDesc) -> bool {
        let alike = |input: &ImageDesc| (input.format(), input.dtype()) == (output.format(), output.dtype());
        self.expr.reads_position() && inputs.iter().all(alike) && self.is(&Self::inside(output.format()))
    }

    /// What it is known to be for such images, if anything. Of i32, which has more bits than what is computed with, only a copy
    /// is: that moves samples, where anything else rounds them.
    pub fn known(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Option<Known> {
        let first = inputs.first()?;
        if inputs.iter().chain([output]).any(|desc| desc.dtype() == DType::I32) {
            let channels = || (0..output.channels()).map(ChannelMap::Input).collect();
            return self.is_copy(inputs, output).then(|| Known::Channels(channels()));
        }
        let one = inputs.len() == 1;
        let same_type = inputs.iter().all(|input| input.dtype() == output.dtype());
        let alike = same_type && inputs.iter().all(|input| input.format() == output.format());
        if one
            && same_type
            && let Some(channels) = self.channels(inputs, output)
        {
            return Some(Known::Channels(channels));
        }
        if one && self.is(&Self::affine(output.format())) {
            // In memory the colours may lie in another order than their results have.
            let named = Channel::of_colors(output.format());
            let place =
                |c: usize| named.iter().position(|n| n.index(output.format()) == Some(c)).unwrap_or(0);
            return (first.format() == output.format())
                .then(|| Known::Affine((0..output.channels()).map(place).collect()));
        }
        if alike && one && self.is(&Self::threshold()) {
            return Some(Known::Threshold);
        }
        (alike && inputs.len() == 2 && self.is(&Self::blend(output.format()))).then_some(Known::Blend)
    }

    /// Whether the result is the one input, sample by sample and of its dtype, whatever the layouts.
    pub fn is_copy(&self, inputs: &[ImageDesc], output: &ImageDesc) -> bool {
        let [input] = inputs else { return false };
        (input.format(), input.dtype()) == (output.format(), output.dtype()) && self.is(&Self::copy())
    }

    /// The luma that it makes of its one input, if that is all it does: indices of red, green and blue.
    pub fn luma(&self, input: &ImageDesc, output: &ImageDesc) -> Option<[usize; 3]> {
        match self.known(&[*input], output) {
            Some(Known::Channels(channels)) => match channels[..] {
                [ChannelMap::Luma(rgb)] => Some(rgb),
                _ => None,
            },
            Some(Known::Affine(_) | Known::Threshold | Known::Blend) | None => None,
        }
    }

    /// The same operations, whatever the uniforms are called.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.expr.ops() == other.expr.ops() && self.expr.results() == other.expr.results()
    }

    /// Where the channels come from, if none is computed but as luma.
    fn channels(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Option<Vec<ChannelMap>> {
        let resolved = self.expr.resolve(inputs, output).ok()?;
        let Results::Channels(results) = resolved.results() else { return None };
        let op = |id: ValueId| resolved.ops()[usize::from(id)];
        let input = |id: ValueId| match op(id) {
            Op::Input { channel: Channel::Index(index), .. } => Some(usize::from(index)),
            _ => None,
        };
        let source = |&id: &ValueId| match op(id) {
            Op::Input { .. } => input(id).map(ChannelMap::Input),
            Op::Const(bits) => {
                (f64::from(bits.get()) == output.dtype().full_scale()).then_some(ChannelMap::Opaque)
            }
            Op::Luma(r, g, b) if !output.dtype().is_float() => {
                Some(ChannelMap::Luma([input(r)?, input(g)?, input(b)?]))
            }
            Op::Fma(b, weight, rest) if output.dtype() == DType::F32 => {
                let (Op::Fma(g, of_g, red), Op::Const(blue)) = (op(rest), op(weight)) else { return None };
                let (Op::Binary(Binary::Mul, r, of_r), Op::Const(green)) = (op(red), op(of_g)) else {
                    return None;
                };
                let Op::Const(red) = op(of_r) else { return None };
                let weights = [red, green, blue].map(Bits::get);
                (weights == LUMA_WEIGHTS).then_some(ChannelMap::Luma([input(r)?, input(g)?, input(b)?]))
            }
            Op::Luma(..)
            | Op::Lookup(..)
            | Op::Fma(..)
            | Op::Position(_)
            | Op::Uniform(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Select { .. } => None,
        };
        results.iter().map(source).collect()
    }
}

/// Of red, green and blue, ITU-R BT.601.
const LUMA_WEIGHTS: [f32; 3] = [0.299, 0.587, 0.114];

fn luma(e: &mut ExprBuilder, dtype: DType) -> ValueId {
    let [r, g, b] = [Channel::Red, Channel::Green, Channel::Blue].map(|channel| e.input(0, channel));
    match dtype {
        DType::U8 | DType::U16 | DType::I16 | DType::I32 => e.luma(r, g, b),
        DType::F16 | DType::F32 => {
            let [of_r, of_g, of_b] = LUMA_WEIGHTS.map(|weight| e.constant(weight));
            let red = e.binary(Binary::Mul, r, of_r);
            let sum = e.fma(g, of_g, red);
            e.fma(b, of_b, sum)
        }
    }
}

/// A result for each channel, made by `of(channel, end of the uniforms' names)`: of gray one, without an end.
fn named(format: PixelFormat, mut of: impl FnMut(Channel, &str) -> ValueId) -> Results {
    match format.channels() {
        1 => Results::EachChannel(of(Channel::Own, "")),
        channels => {
            let ends = ["_r", "_g", "_b", "_a"];
            let all = Channel::of_colors(format).into_iter().zip(ends).take(channels);
            Results::Channels(all.map(|(channel, end)| of(channel, end)).collect())
        }
    }
}

pub(super) fn build(results: impl FnOnce(&mut ExprBuilder) -> Results) -> Point {
    let mut builder = ExprBuilder::default();
    let results = results(&mut builder);
    Point { expr: Arc::new(builder.finish(&results).expect("a small expression")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChannelMap::{Input, Luma, Opaque};
    use PixelFormat::{Bgr, Bgra, Gray, Rgb, Rgba};

    fn image(format: PixelFormat, dtype: DType) -> ImageDesc {
        ImageDesc::new(4, 3, format, dtype).unwrap()
    }

    #[test]
    fn of_sums_only_a_copy_is_known_and_windows_do_not_take_them() {
        use crate::{AxisMap, Border, Gather, Kernel, Stencil};
        let sums = image(Rgb, DType::I32);
        let copy = Some(Known::Channels(vec![Input(0), Input(1), Input(2)]));
        assert_eq!(Point::copy().known(&[sums], &sums), copy);
        assert_eq!(Point::copy().known(&[sums], &image(Rgb, DType::U8)), None);
        assert_eq!(Point::convert(Rgb, Bgr, DType::I32).known(&[sums], &image(Bgr, DType::I32)), None);
        assert_eq!(Point::threshold().known(&[sums], &sums), None);
        let whole = AxisMap::Offset { first: 0 };
        let gather = Kernel::Gather(Gather { x: whole, y: whole });
        assert_eq!(gather.check(0, &[sums], sums), Ok(()));
        let gray = image(Gray, DType::I32);
        let refused = Kernel::Stencil(Stencil::sobel(Border::Replicate)).check(0, &[gray], gray).unwrap_err();
        assert!(refused.contains("i32 is only moved"), "{refused}");
    }

    #[test]
    fn conversions_are_known_by_where_channels_come_from() {
        let cases = [
            (Rgba, Bgra, vec![Input(2), Input(1), Input(0), Input(3)]),
            (Rgb, Bgra, vec![Input(2), Input(1), Input(0), Opaque]),
            (Gray, Rgba, vec![Input(0), Input(0), Input(0), Opaque]),
            (Bgra, Gray, vec![Luma([2, 1, 0])]),
            (Gray, Gray, vec![Input(0)]),
            (Bgra, Bgra, vec![Input(0), Input(1), Input(2), Input(3)]),
        ];
        for (from, to, expected) in cases {
            for dtype in [DType::U8, DType::U16, DType::I16, DType::F32] {
                let known = Point::convert(from, to, dtype).known(&[image(from, dtype)], &image(to, dtype));
                assert_eq!(known, Some(Known::Channels(expected.clone())), "{from} {to} {dtype}");
            }
        }
        // The rounded sum of f16 is no luma that a fast path has.
        let half = Point::convert(Rgb, Gray, DType::F16);
        assert_eq!(half.known(&[image(Rgb, DType::F16)], &image(Gray, DType::F16)), None);
    }

    #[test]
    fn the_others_are_known_for_images_that_they_are_defined_for() {
        let (bytes, floats) = (image(Bgr, DType::U8), image(Bgr, DType::F32));
        let affine = Point::affine(Bgr);
        assert_eq!(affine.known(&[bytes], &floats), Some(Known::Affine(vec![2, 1, 0])));
        assert_eq!(
            affine.expr.uniforms(),
            ["scale_r", "offset_r", "scale_g", "offset_g", "scale_b", "offset_b"]
        );
        assert_eq!(
            Point::affine(Gray).known(&[image(Gray, DType::U8)], &image(Gray, DType::U8)),
            Some(Known::Affine(vec![0]))
        );
        assert_eq!(Point::threshold().known(&[bytes], &bytes), Some(Known::Threshold));
        assert_eq!(Point::threshold().known(&[bytes], &floats), None);
        for format in [Bgr, Rgba] {
            let of = image(format, DType::U16);
            assert_eq!(Point::blend(format).known(&[of, of], &of), Some(Known::Blend));
            assert_eq!(Point::blend(format).expr.uniforms(), ["weight2", "weight"]);
        }
        assert_eq!(Point::copy().known(&[bytes], &floats), None);
    }

    #[test]
    fn they_print_as_what_a_user_would_write() {
        let text = |point: Point| point.expr.to_string();
        assert_eq!(text(Point::copy()), "v");
        assert_eq!(text(Point::convert(Rgb, Rgba, DType::U8)), "r, g, b, 255");
        assert_eq!(text(Point::convert(Gray, Rgb, DType::U8)), "v, v, v");
        assert_eq!(text(Point::convert(Bgr, Gray, DType::U8)), "luma(r, g, b)");
        assert_eq!(text(Point::convert(Bgr, Gray, DType::F16)), "fma(b, 0.114, fma(g, 0.587, r * 0.299))");
        assert_eq!(text(Point::affine(Gray)), "fma(v, scale, offset)");
        assert_eq!(text(Point::threshold()), "v > threshold ? max_value : 0");
        assert_eq!(text(Point::blend(Rgb)), "fma(v2, weight2, v * weight)");
    }
}
