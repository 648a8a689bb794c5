//! Colours of YUV samples as an expression, and the recogniser beside it.

use mip_core::{DType, ImageDesc};

use super::point::{Point, build};
use crate::{Binary, Channel, Op, Results, ValueId};

/// The numbers of [`Point::yuv_to_rgb`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YuvFactors {
    /// Factor and offset of luma.
    pub luma: [f32; 2],
    /// Chroma that is none.
    pub middle: f32,
    /// V in red.
    pub red_v: f32,
    /// U and V in green.
    pub green: [f32; 2],
    /// U in blue.
    pub blue_u: f32,
}

/// A sample of YUV video of red, green and blue: see [`Point::rgb_to_yuv`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum YuvSample {
    /// `fma(red, factors[0], fma(green, factors[1], fma(blue, factors[2], offset)))`.
    Luma {
        /// Of red, green and blue.
        factors: [f32; 3],
        /// Black.
        offset: f32,
    },
    /// `fma(x - y, by[0], fma(x - z, by[1], middle))`. Equal colours give the middle exactly.
    Chroma {
        /// Whether x is blue and y, z are red and green (U); otherwise x is red, and y, z are green and blue (V).
        is_u: bool,
        /// Of both differences.
        by: [f32; 2],
        /// No chroma.
        middle: f32,
    },
}

impl Point {
    /// A sample of YUV video of the colours of `pixels` images (1, 2 or 4) added up, in the order of these; factors are those of
    /// the sum. At most `most`, where that is not what the dtype holds. Of gray images the value is that of each colour.
    pub fn rgb_to_yuv(sample: YuvSample, pixels: u8, is_gray: bool, most: Option<f32>) -> Self {
        build(|e| {
            let channels = [Channel::Red, Channel::Green, Channel::Blue];
            let [red, green, blue] = channels.map(|channel| {
                let channel = if is_gray { Channel::Own } else { channel };
                let first = e.input(0, channel);
                (1..pixels).fold(first, |sum, slot| {
                    let next = e.input(slot, channel);
                    e.binary(Binary::Add, sum, next)
                })
            });
            let value = match sample {
                YuvSample::Luma { factors: [of_red, of_green, of_blue], offset } => {
                    let offset = e.constant(offset);
                    let mut add = |color, factor, rest| {
                        let factor = e.constant(factor);
                        e.fma(color, factor, rest)
                    };
                    let blue = add(blue, of_blue, offset);
                    let green = add(green, of_green, blue);
                    add(red, of_red, green)
                }
                YuvSample::Chroma { is_u, by, middle } => {
                    let [x, y, z] = if is_u { [blue, red, green] } else { [red, green, blue] };
                    let middle = e.constant(middle);
                    let mut add = |other, factor, rest| {
                        let (difference, factor) = (e.binary(Binary::Sub, x, other), e.constant(factor));
                        e.fma(difference, factor, rest)
                    };
                    let rest = add(z, by[1], middle);
                    add(y, by[0], rest)
                }
            };
            let held = match most {
                Some(most) => {
                    let most = e.constant(most);
                    e.binary(Binary::Min, most, value)
                }
                None => value,
            };
            if is_gray { Results::EachChannel(held) } else { Results::Channels(vec![held]) }
        })
    }

    /// The sample, if it is [`Point::rgb_to_yuv`] of such images with colours, without `most`.
    pub fn yuv_sample(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Option<YuvSample> {
        let pixels = u8::try_from(inputs.len()).ok().filter(|pixels| matches!(pixels, 1 | 2 | 4))?;
        if output.channels() != 1 || inputs.iter().any(|input| input.channels() != 3) {
            return None;
        }
        let op = |id: ValueId| self.expr.ops()[usize::from(id)];
        let number = |id: ValueId| match op(id) {
            Op::Const(bits) => Some(bits.get()),
            _ => None,
        };
        let fma = |id: ValueId| match op(id) {
            Op::Fma(_, factor, rest) => Some((number(factor)?, rest)),
            _ => None,
        };
        let Results::Channels(results) = self.expr.results() else { return None };
        let &[result] = &results[..] else { return None };
        let (first, rest) = fma(result)?;
        let (second, rest) = fma(rest)?;
        let mut found = Vec::new();
        if let Some((third, offset)) = fma(rest) {
            found.push(YuvSample::Luma { factors: [first, second, third], offset: number(offset)? });
        } else {
            let middle = number(rest)?;
            found.extend([true, false].map(|is_u| YuvSample::Chroma { is_u, by: [first, second], middle }));
        }
        found.into_iter().find(|&sample| self.is(&Self::rgb_to_yuv(sample, pixels, false, None)))
    }

    /// Colours of three images of one channel, Y, U and V of every pixel: with `y = fma(Y, factor, offset)`,
    /// `u = U - middle` and `v = V - middle`, red is `fma(v, red_v, y)`, green `fma(u, green_u, fma(v, green_v, y))` and
    /// blue `fma(u, blue_u, y)`. So no chroma leaves three equal channels. `alpha` is that of a result which has one.
    pub fn yuv_to_rgb(factors: YuvFactors, alpha: Option<f32>) -> Self {
        build(|e| {
            let [y, u, v] = [0, 1, 2].map(|slot| e.input(slot, Channel::Own));
            let [factor, offset] = factors.luma.map(|number| e.constant(number));
            let luma = e.fma(y, factor, offset);
            let middle = e.constant(factors.middle);
            let [u, v] = [u, v].map(|sample| e.binary(Binary::Sub, sample, middle));
            let red_v = e.constant(factors.red_v);
            let red = e.fma(v, red_v, luma);
            let [green_u, green_v] = factors.green.map(|number| e.constant(number));
            let of_v = e.fma(v, green_v, luma);
            let green = e.fma(u, green_u, of_v);
            let blue_u = e.constant(factors.blue_u);
            let blue = e.fma(u, blue_u, luma);
            let mut results = vec![red, green, blue];
            results.extend(alpha.map(|alpha| e.constant(alpha)));
            Results::Channels(results)
        })
    }

    /// The numbers, if it is [`Point::yuv_to_rgb`] without alpha of such images, all of one dtype.
    pub fn yuv_factors(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Option<YuvFactors> {
        let alike = |dtype: DType| inputs.iter().all(|input| input.channels() == 1 && input.dtype() == dtype);
        if inputs.len() != 3 || output.channels() != 3 || !alike(output.dtype()) {
            return None;
        }
        let op = |id: ValueId| self.expr.ops()[usize::from(id)];
        let number = |id: ValueId| match op(id) {
            Op::Const(bits) => Some(bits.get()),
            _ => None,
        };
        let fma = |id: ValueId| match op(id) {
            Op::Fma(a, factor, rest) => Some((a, number(factor)?, rest)),
            _ => None,
        };
        let Results::Channels(results) = self.expr.results() else { return None };
        let &[red, green, blue] = &results[..] else { return None };
        let (_, red_v, luma) = fma(red)?;
        let (u, green_u, rest) = fma(green)?;
        let ((_, green_v, _), (_, blue_u, _)) = (fma(rest)?, fma(blue)?);
        let (Op::Fma(_, factor, offset), Op::Binary(Binary::Sub, _, middle)) = (op(luma), op(u)) else {
            return None;
        };
        let factors = YuvFactors {
            luma: [number(factor)?, number(offset)?],
            middle: number(middle)?,
            red_v,
            green: [green_u, green_v],
            blue_u,
        };
        self.is(&Self::yuv_to_rgb(factors, None)).then_some(factors)
    }
}

#[cfg(test)]
mod tests {
    use mip_core::PixelFormat;

    use super::*;

    #[test]
    fn samples_are_known_by_their_numbers() {
        let image = |format| ImageDesc::new(4, 3, format, DType::U8).unwrap();
        let (rgb, gray) = (image(PixelFormat::Bgr), image(PixelFormat::Gray));
        let luma = YuvSample::Luma { factors: [0.3, 0.5, 0.2], offset: 16.0 };
        let chroma = |is_u| YuvSample::Chroma { is_u, by: [0.1, 0.2], middle: 128.0 };
        for (pixels, sample) in
            [1, 2, 4].into_iter().flat_map(|n| [luma, chroma(true), chroma(false)].map(|s| (n, s)))
        {
            let inputs = vec![rgb; usize::from(pixels)];
            let point = Point::rgb_to_yuv(sample, pixels, false, None);
            assert_eq!(point.yuv_sample(&inputs, &gray), Some(sample));
            assert_eq!(point.yuv_sample(&inputs, &rgb), None);
            assert_eq!(point.yuv_sample(&vec![gray; usize::from(pixels)], &gray), None);
            let held = Point::rgb_to_yuv(sample, pixels, false, Some(1023.0));
            assert_eq!(held.yuv_sample(&inputs, &gray), None);
        }
        let other = Point::convert(PixelFormat::Bgr, PixelFormat::Gray, DType::U8);
        assert_eq!(other.yuv_sample(&[rgb], &gray), None);
    }

    #[test]
    fn it_is_known_by_its_numbers() {
        let image = |format, dtype| ImageDesc::new(4, 3, format, dtype).unwrap();
        let factors = YuvFactors {
            luma: [1.16, -18.6],
            middle: 128.0,
            red_v: 1.79,
            green: [-0.21, -0.53],
            blue_u: 2.11,
        };
        let point = Point::yuv_to_rgb(factors, None);
        let plane = image(PixelFormat::Gray, DType::U8);
        let planes = [plane; 3];
        for format in [PixelFormat::Rgb, PixelFormat::Bgr] {
            assert_eq!(point.yuv_factors(&planes, &image(format, DType::U8)), Some(factors));
        }
        assert_eq!(point.yuv_factors(&planes, &image(PixelFormat::Rgb, DType::U16)), None);
        assert_eq!(point.yuv_factors(&planes[..2], &image(PixelFormat::Rgb, DType::U8)), None);
        let alpha = Point::yuv_to_rgb(factors, Some(255.0));
        assert_eq!(alpha.yuv_factors(&planes, &image(PixelFormat::Rgba, DType::U8)), None);
        for other in [Point::copy(), Point::convert(PixelFormat::Rgb, PixelFormat::Bgr, DType::U8)] {
            assert_eq!(other.yuv_factors(&planes, &image(PixelFormat::Rgb, DType::U8)), None);
        }
        // Numbers that are alike share one constant, and are told apart all the same.
        let same = YuvFactors { luma: [1.0, 0.0], middle: 1.0, red_v: 1.0, green: [1.0, 1.0], blue_u: 1.0 };
        let point = Point::yuv_to_rgb(same, None);
        assert_eq!(point.yuv_factors(&planes, &image(PixelFormat::Rgb, DType::U8)), Some(same));
    }
}
