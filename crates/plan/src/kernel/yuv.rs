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

impl Point {
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
        let alike = |dtype: DType| inputs.iter().all(|input| input.channels() == 1 && input.dtype == dtype);
        if inputs.len() != 3 || output.channels() != 3 || !alike(output.dtype) {
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
