//! Hue, saturation and lightness or value of bytes: what is whole is computed in 16 bits, each quotient as one division.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_plan::{Binary, Channel, Compare, Expr, ExprBuilder, Results, ValueId};

use crate::rows::merge::{interleave, split};
use crate::rows::row::RowMut;
use crate::rows::{Job, RowKernel};
use crate::simd::Level;

/// Pixels computed at once: their planes stay in the first-level cache.
const BLOCK: usize = 512;

/// A channel of a block.
type Plane<T> = [T; BLOCK];

/// A turn of the hue of bytes.
const TURN: f32 = 180.0;
const FULL: f32 = 255.0;

/// One of the four conversions of interleaved bytes between red, green and blue and these spaces.
#[derive(Debug)]
pub(super) struct Hues {
    /// Of hue, lightness and saturation; otherwise of hue, saturation and value.
    is_hls: bool,
    from_rgb: bool,
    /// Where red, green and blue are in memory.
    order: [usize; 3],
}

impl Hues {
    /// `None` when it is another expression, or other pixels.
    pub(super) fn new(expr: &Expr, inputs: &[ImageDesc], output: ImageDesc) -> Result<Option<Self>, String> {
        let fits =
            |desc: &ImageDesc| (desc.channels(), desc.dtype(), desc.layout()) == (3, DType::U8, Layout::Hwc);
        let &[input] = inputs else { return Ok(None) };
        if !fits(&input) || !fits(&output) {
            return Ok(None);
        }
        let (from_rgb, colors) = match (input.format().rgb_indices(), output.format().rgb_indices()) {
            (Some(order), None) => (true, order),
            (None, Some(order)) => (false, order),
            _ => return Ok(None),
        };
        let is_hls = match if from_rgb { output.format() } else { input.format() } {
            PixelFormat::Hsv => false,
            PixelFormat::Hls => true,
            _ => return Ok(None),
        };
        let defined = if from_rgb { to_hues(is_hls)? } else { to_colors(is_hls)? };
        Ok((defined == *expr).then_some(Self { is_hls, from_rgb, order: colors }))
    }
}

impl RowKernel for Hues {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let (mut parts, mut planes, mut made) = (Parts::NONE, [[0; BLOCK]; 3], [[0; BLOCK]; 3]);
        let rows = job.own(0).plane::<u8>(0).chunks(3 * BLOCK).zip(out.plane::<u8>(0).chunks_mut(3 * BLOCK));
        for (src, out) in rows {
            let count = src.len() / 3;
            split(job.level, src, planes.each_mut().map(|plane| &mut plane[..count]));
            let mut places = [0, 1, 2];
            if self.from_rgb {
                let colors = self.order.map(|place| &planes[place]);
                let [hue, second, third] = &mut made;
                let (whole, quotient) = if self.is_hls { (second, third) } else { (third, second) };
                parts.take_apart(job.level, self.is_hls, colors, whole);
                parts.divide(job.level, hue, quotient);
            } else {
                if self.is_hls {
                    colors_of_hls(job.level, &planes, &mut made);
                } else {
                    colors_of_hsv(job.level, &planes, &mut made);
                }
                for (color, place) in self.order.into_iter().enumerate() {
                    places[place] = color;
                }
            }
            interleave(job.level, places.map(|plane| &made[plane][..count]), out);
        }
    }
}

/// What hues and saturations are quotients of.
struct Parts {
    /// The distance of the largest colour from the smallest one.
    range: Plane<i16>,
    /// What the saturation is a share of; 1 where that is 0, and so is the range.
    most: Plane<i16>,
    /// The difference of the two colours that are not the largest, and the hue where it is 0.
    difference: Plane<i16>,
    third: Plane<i16>,
}

impl Parts {
    const NONE: Self =
        Self { range: [0; BLOCK], most: [0; BLOCK], difference: [0; BLOCK], third: [0; BLOCK] };

    /// And the channel that is no quotient.
    fn take_apart(&mut self, level: Level, is_hls: bool, [r, g, b]: [&Plane<u8>; 3], whole: &mut Plane<u8>) {
        let Self { range, most, difference, third } = self;
        level.vectorize(
            #[inline(always)]
            || {
                let (range, most, difference, third, whole) = (range, most, difference, third, whole);
                for i in 0..BLOCK {
                    let [r, g, b] = [i16::from(r[i]), i16::from(g[i]), i16::from(b[i])];
                    let (largest, smallest) = (r.max(g).max(b), r.min(g).min(b));
                    let sum = largest + smallest;
                    range[i] = largest - smallest;
                    most[i] = (if is_hls { sum.min(510 - sum) } else { largest }).max(1);
                    let (of_green, of_blue) = (if g == largest { b - r } else { r - g }, g == largest);
                    let other = if of_blue { 60 } else { 120 };
                    difference[i] = if r == largest { g - b } else { of_green };
                    third[i] = if r == largest { 0 } else { other };
                    // Half of the sum, to the nearest even number.
                    let half = sum >> 1;
                    whole[i] = (if is_hls { half + (half & sum & 1) } else { largest }) as u8;
                }
            },
        );
    }

    fn divide(&self, level: Level, hue: &mut Plane<u8>, saturation: &mut Plane<u8>) {
        let Self { range, most, difference, third } = self;
        level.vectorize(
            #[inline(always)]
            || {
                let (hue, saturation) = (hue, saturation);
                for i in 0..BLOCK {
                    let range = f32::from(range[i]);
                    // Where the range is 0 so is the difference.
                    let part = f32::from(difference[i]) * (TURN / 2.0)
                        / ((if range > 1.0 { range } else { 1.0 }) * 3.0);
                    let angle = part + f32::from(third[i]);
                    hue[i] = byte(if angle < -0.5 { angle + TURN } else { angle });
                    saturation[i] = byte(range * FULL / f32::from(most[i]));
                }
            },
        );
    }
}

/// The nearest integer, of ties the even one, of a number above -0.5 (or just that) and below 255.5.
#[inline(always)]
fn byte(number: f32) -> u8 {
    // One and a half times 2^23 leaves no bit for a fraction.
    (number + 12_582_912.0).to_bits() as u8
}

fn colors_of_hsv(level: Level, [hue, saturation, value]: &[Plane<u8>; 3], colors: &mut [Plane<u8>; 3]) {
    level.vectorize(
        #[inline(always)]
        || {
            let [red, green, blue] = colors;
            for i in 0..BLOCK {
                let (value, saturation) = (f32::from(value[i]), f32::from(saturation[i]));
                let made = colors_of(f32::from(hue[i]), value, value * saturation / FULL);
                [red[i], green[i], blue[i]] = made;
            }
        },
    );
}

fn colors_of_hls(level: Level, [hue, light, saturation]: &[Plane<u8>; 3], colors: &mut [Plane<u8>; 3]) {
    level.vectorize(
        #[inline(always)]
        || {
            let [red, green, blue] = colors;
            for i in 0..BLOCK {
                let (light, saturation) = (f32::from(light[i]), f32::from(saturation[i]));
                let room = if light <= FULL * 0.5 { light } else { FULL - light };
                let spread = saturation * (room / FULL);
                let made = colors_of(f32::from(hue[i]), light + spread, spread * 2.0);
                [red[i], green[i], blue[i]] = made;
            }
        },
    );
}

/// Red, green and blue of a hue, the largest of them and its distance from the smallest.
#[inline(always)]
fn colors_of(hue: f32, largest: f32, range: f32) -> [u8; 3] {
    let sixths = hue * (6.0 / TURN);
    [
        color(sixths + 5.0, largest, range),
        color(sixths + 3.0, largest, range),
        color(sixths + 1.0, largest, range),
    ]
}

#[inline(always)]
fn color(k: f32, largest: f32, range: f32) -> u8 {
    // At most 13.5, so that two whole turns may have to go.
    let k = k - (if k >= 6.0 { 6.0 } else { 0.0 });
    let k = k - (if k >= 6.0 { 6.0 } else { 0.0 });
    let other = 4.0 - k;
    let k = if k < other { k } else { other };
    let k = if k < 1.0 { k } else { 1.0 };
    let k = if k > 0.0 { k } else { 0.0 };
    byte(largest - range * k)
}

/// Definitions in the making.
#[derive(Default)]
struct Words(ExprBuilder);

impl Words {
    fn number(&mut self, number: f32) -> ValueId {
        self.0.constant(number)
    }

    fn of(&mut self, op: Binary, a: ValueId, b: ValueId) -> ValueId {
        self.0.binary(op, a, b)
    }

    /// With a number on the right.
    fn by(&mut self, op: Binary, a: ValueId, number: f32) -> ValueId {
        let number = self.0.constant(number);
        self.0.binary(op, a, number)
    }

    fn three(&mut self, op: Binary, [a, b, c]: [ValueId; 3]) -> ValueId {
        let first = self.0.binary(op, a, b);
        self.0.binary(op, first, c)
    }

    fn select(&mut self, a: ValueId, compare: Compare, number: f32, of: [ValueId; 2]) -> ValueId {
        let number = self.0.constant(number);
        self.0.select(compare, [a, number], of)
    }
}

/// Of red, green and blue.
fn to_hues(is_hls: bool) -> Result<Expr, String> {
    use Binary::{Add, Div, Max, Min, Mul, Sub};
    let mut e = Words::default();
    let rgb = [Channel::Red, Channel::Green, Channel::Blue].map(|channel| e.0.input(0, channel));
    let [r, g, b] = rgb;
    let (largest, smallest) = (e.three(Max, rgb), e.three(Min, rgb));
    let (range, zero) = (e.of(Sub, largest, smallest), e.number(0.0));
    let part = |e: &mut Words, from, to, third| {
        let difference = e.of(Sub, from, to);
        let (half, thrice) = (e.by(Mul, difference, TURN / 2.0), e.by(Mul, range, 3.0));
        let part = e.of(Div, half, thrice);
        if third == 0.0 { part } else { e.by(Add, part, third) }
    };
    let of_red = part(&mut e, g, b, 0.0);
    let of_green = part(&mut e, b, r, TURN / 3.0);
    let of_blue = part(&mut e, r, g, TURN * (2.0 / 3.0));
    let hue = e.0.select(Compare::Ge, [g, largest], [of_green, of_blue]);
    let hue = e.0.select(Compare::Ge, [r, largest], [of_red, hue]);
    let turned = e.by(Add, hue, TURN);
    let hue = e.select(hue, Compare::Lt, -0.5, [turned, hue]);
    let hue = e.select(range, Compare::Gt, 0.0, [hue, zero]);
    let share = e.by(Mul, range, FULL);
    let results = if is_hls {
        let (sum, full) = (e.of(Add, largest, smallest), e.number(FULL));
        let (above, below) = (e.of(Sub, full, largest), e.of(Sub, full, smallest));
        let rest = e.of(Add, above, below);
        let most = e.select(sum, Compare::Le, FULL, [sum, rest]);
        let share = e.of(Div, share, most);
        let saturation = e.select(range, Compare::Gt, 0.0, [share, zero]);
        [hue, e.by(Mul, sum, 0.5), saturation]
    } else {
        let share = e.of(Div, share, largest);
        [hue, e.select(largest, Compare::Gt, 0.0, [share, zero]), largest]
    };
    e.0.finish(&Results::Channels(results.to_vec()))
}

/// Red, green and blue.
fn to_colors(is_hls: bool) -> Result<Expr, String> {
    use Binary::{Add, Div, Max, Min, Mul, Sub};
    let mut e = Words::default();
    let [hue, second, third] = [0, 1, 2].map(|index| e.0.input(0, Channel::Index(index)));
    let (largest, range) = if is_hls {
        let full = e.number(FULL);
        let rest = e.of(Sub, full, second);
        let room = e.select(second, Compare::Le, FULL * 0.5, [second, rest]);
        let room = e.by(Div, room, FULL);
        let spread = e.of(Mul, third, room);
        (e.of(Add, second, spread), e.by(Mul, spread, 2.0))
    } else {
        let product = e.of(Mul, third, second);
        (third, e.by(Div, product, FULL))
    };
    let sixths = e.by(Mul, hue, 6.0 / TURN);
    let results = [5.0, 3.0, 1.0].map(|n| {
        let k = e.by(Add, sixths, n);
        let turns = e.by(Div, k, 6.0);
        let turns = e.0.unary(mip_plan::Unary::Floor, turns);
        let whole = e.by(Mul, turns, 6.0);
        let k = e.of(Sub, k, whole);
        let four = e.number(4.0);
        let other = e.of(Sub, four, k);
        let k = e.of(Min, k, other);
        let k = e.by(Min, k, 1.0);
        let k = e.by(Max, k, 0.0);
        let part = e.of(Mul, range, k);
        e.of(Sub, largest, part)
    });
    e.0.finish(&Results::Channels(results.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimdLevel;
    use mip_core::Sample;
    use mip_ops::ColorConvert;
    use mip_ops::Operator;
    use mip_plan::{Kernel, Point};

    fn converted(from: PixelFormat, to: PixelFormat) -> (Point, ImageDesc, ImageDesc) {
        let input = ImageDesc::new(5, 2, from, DType::U8).unwrap();
        let steps = ColorConvert::to(to).lower(&[input]).unwrap().steps;
        let Kernel::Point(point) = steps[0].kernel.clone() else { panic!("{:?}", steps[0].kernel) };
        (point, input, steps[0].output)
    }

    #[test]
    fn the_operator_s_expressions_are_found() {
        use PixelFormat::{Bgr, Hls, Hsv, Rgb, Rgba, Ycbcr};
        for (from, to, found) in [
            (Rgb, Hsv, true),
            (Bgr, Hsv, true),
            (Rgb, Hls, true),
            (Hsv, Rgb, true),
            (Hls, Bgr, true),
            (Rgb, Ycbcr, false),
            (Rgba, Hsv, false),
            (Hls, Rgba, false),
        ] {
            let (point, input, output) = converted(from, to);
            assert_eq!(Hues::new(&point.expr, &[input], output).unwrap().is_some(), found, "{from:?} {to:?}");
        }
    }

    /// Every value of each channel beside few of the others.
    #[test]
    fn bytes_are_those_of_the_expression() {
        use PixelFormat::{Hls, Hsv, Rgb};
        let some = [0, 1, 2, 59, 60, 90, 127, 128, 129, 177, 180, 253, 254, 255_u8];
        let mut triples: Vec<[u8; 3]> = Vec::new();
        for byte in 0..=255 {
            for (i, j) in (0..256).step_by(3).flat_map(|i| some.map(|j| (i as u8, j))) {
                triples.extend([[byte, i, j], [j, byte, i], [i, j, byte]]);
            }
        }
        for (from, to) in [(Rgb, Hsv), (Rgb, Hls), (Hsv, Rgb), (Hls, Rgb)] {
            let (point, ..) = converted(from, to);
            let Results::Channels(results) = point.expr.results() else { panic!("a result a channel") };
            let (mut values, is_hls) = (Vec::new(), from == Hls || to == Hls);
            for triples in triples.chunks(BLOCK) {
                let (mut planes, mut parts) = ([[0; BLOCK]; 3], Parts::NONE);
                let mut made = [[[0; BLOCK]; 3]; 2];
                for (i, triple) in triples.iter().enumerate() {
                    (0..3).for_each(|c| planes[c][i] = triple[c]);
                }
                for (level, made) in [SimdLevel::Portable, SimdLevel::Native].into_iter().zip(&mut made) {
                    let level = Level::new(level);
                    if from == Rgb {
                        let [hue, second, third] = made;
                        let (whole, quotient) = if is_hls { (second, third) } else { (third, second) };
                        parts.take_apart(level, is_hls, planes.each_ref(), whole);
                        parts.divide(level, hue, quotient);
                    } else if is_hls {
                        colors_of_hls(level, &planes, made);
                    } else {
                        colors_of_hsv(level, &planes, made);
                    }
                }
                assert_eq!(made[0], made[1]);
                for (i, triple) in triples.iter().enumerate() {
                    let sample = |_, channel, _| match channel {
                        Channel::Red | Channel::Index(0) => triple[0].into(),
                        Channel::Green | Channel::Index(1) => triple[1].into(),
                        _ => triple[2].into(),
                    };
                    point.expr.evaluate((0, 0), sample, &[], &mut values);
                    for (c, &result) in results.iter().enumerate() {
                        let wanted = u8::from_f32(values[usize::from(result)]);
                        assert_eq!(made[0][c][i], wanted, "{triple:?} from {from:?} to {to:?}, {c}");
                    }
                }
            }
        }
    }
}
