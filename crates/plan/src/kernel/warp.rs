use mip_core::ImageDesc;

use super::{AxisMap, Border, Coordinates, CropFilter, Crops};

/// A change of geometry whose source column depends on the output's row, or the reverse: quarter turns, transposition,
/// affine and projective warps, boxes that lie anywhere. (Where each axis goes its own way it is a [`super::Gather`] or a [`super::Resample`].)
///
/// It reads a whole image in memory: no part of it may be computed by a stage of the same group. Format,
/// dtype and layout stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warp {
    /// Copies the pixel at column `x.map(output row)` and row `y.map(output column)`: exact, in integers. With
    /// `Offset { first: 0 }` for both it is the transposed image. No uniforms.
    Transposed {
        /// Source column of an output row.
        x: AxisMap,
        /// Source row of an output column.
        y: AxisMap,
    },
    /// Samples at computed coordinates.
    Sampled(Sampled),
    /// Boxes of the image, one below the other.
    Crops(Crops),
}

/// The source at coordinates (sx, sy) that [`Coordinates`] gives for each pixel of the result, of any size. Pixel
/// centres have whole coordinates, as in OpenCV: (0, 0) is the centre of the first pixel. Coordinates beyond ±2^31 count
/// as these.
///
/// The first input is the source; maps come after it.
///
/// Where there are no coordinates, every channel is the constant of [`Border::Constant`], and 0 with any other border.
///
/// Uniforms: those of the coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// From the result to the source.
    pub coordinates: Coordinates,
    /// Between source pixels.
    pub interpolation: Interpolation,
    /// What is read outside the source.
    pub border: Border,
}

/// What a sample between pixels is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// The pixel at the nearest whole coordinates, halves to even.
    Nearest,
    /// Weighted sums over the 2 x 2 pixels around: with `x0 = floor(sx)`, `fx = sx - x0`, weights `wx = [1 - fx, fx]`, and
    /// likewise for y, in binary32: for each of both rows j `h[j] = wx[0] * p[j][x0]`, then
    /// `h[j] = fma(wx[1], p[j][x0 + 1], h[j])`; then `v = wy[0] * h[0]`, then `v = fma(wy[1], h[1], v)`.
    ///
    /// A tap of weight 0 is no tap, as in [`super::Resample`], and alpha is as there: samples premultiplied before, divided
    /// after. A constant border is a pixel with that value in every channel, premultiplied like the others.
    Bilinear,
    /// Weighted sums over the 4 x 4 pixels around (Keys 1981 with a = -0.75, as OpenCV's `INTER_CUBIC`): with
    /// `x0 = floor(sx)`, `t = sx - x0` and `u = 1 - t`, the weights of the columns `x0 - 1 ..= x0 + 2` are
    ///
    /// ```text
    /// wx = [(-0.75 * t) * (u * u), fma(t * t, fma(1.25, t, -2.25), 1), fma(u * u, fma(1.25, u, -2.25), 1), (-0.75 * u) * (t * t)]
    /// ```
    ///
    /// and likewise for y, in binary32: for each of the four rows j `h[j] = wx[0] * p[j][x0 - 1]`, then
    /// `h[j] = fma(wx[i], p[j][x0 - 1 + i], h[j])` for i = 1, 2, 3; the rows likewise with wy. A tap of weight 0 is no tap.
    ///
    /// Of an image with alpha everything from t on, premultiplying and dividing included, is binary64, rounded to binary32
    /// once at the end: weights may be negative, so that a small sum of alphas is a difference of large ones, and colours are
    /// divided by it. Where it is not greater than 0, colours are 0.
    Bicubic,
}

impl Warp {
    /// Whether it can make `output` of `input`, apart from format, dtype and layout.
    pub(super) fn check(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let input = &inputs[0];
        let outside = |what| Err(format!("{what} outside the source"));
        match self {
            Self::Transposed { x, .. } if !x.stays_inside(input.width(), output.height()) => {
                outside("columns")
            }
            Self::Transposed { y, .. } if !y.stays_inside(input.height(), output.width()) => outside("rows"),
            Self::Transposed { .. } => Ok(()),
            Self::Sampled(_) => Coordinates::check(&inputs[1..], output),
            Self::Crops(crops) => crops.check(inputs, output),
        }
    }

    /// Number of input images: what is warped, and what holds coordinates or boxes.
    pub(super) const fn input_count(&self) -> usize {
        match self {
            Self::Transposed { .. } => 1,
            Self::Sampled(sampled) => 1 + sampled.coordinates.map_count(),
            Self::Crops(_) => 2,
        }
    }

    /// Number of uniforms.
    pub const fn uniform_count(&self) -> usize {
        match self {
            Self::Transposed { .. } | Self::Crops(_) => 0,
            Self::Sampled(sampled) => sampled.coordinates.uniform_count(),
        }
    }

    /// As [`super::Kernel::operations`].
    pub(super) fn operations(&self) -> f64 {
        match self {
            Self::Transposed { .. } => 1.0,
            Self::Crops(Crops { filter: CropFilter::Nearest, .. }) => 4.0,
            Self::Crops(Crops { filter: CropFilter::Bilinear, .. }) => 16.0,
            Self::Sampled(sampled) => {
                let filter = match sampled.interpolation {
                    Interpolation::Nearest => 2.0,
                    Interpolation::Bilinear => 12.0,
                    Interpolation::Bicubic => 40.0,
                };
                sampled.coordinates.operations() + filter
            }
        }
    }

    /// Whether both are the same but for where a crop begins.
    pub(super) fn same_program(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Transposed { x, y }, Self::Transposed { x: other_x, y: other_y }) => {
                x.same_program(*other_x) && y.same_program(*other_y)
            }
            (Self::Transposed { .. } | Self::Sampled(_) | Self::Crops(_), _) => self == other,
        }
    }
}

impl Sampled {
    /// Farthest that coordinates reach.
    const FARTHEST: f32 = 2_147_483_648.0;

    /// The pixel nearest to a coordinate.
    #[inline(always)]
    pub fn nearest(s: f32) -> i64 {
        s.clamp(-Self::FARTHEST, Self::FARTHEST).round_ties_even() as i64
    }

    /// The first of the two pixels around a coordinate, and the weights of both.
    #[inline(always)]
    pub fn linear(s: f32) -> (i64, [f32; 2]) {
        let s = s.clamp(-Self::FARTHEST, Self::FARTHEST);
        let first = s.floor();
        let fraction = s - first;
        (first as i64, [1.0 - fraction, fraction])
    }

    /// The first of the four pixels around a coordinate, and their weights in binary32.
    #[inline(always)]
    pub fn cubic(s: f32) -> (i64, [f32; 4]) {
        let s = s.clamp(-Self::FARTHEST, Self::FARTHEST);
        let t = s - s.floor();
        let u = 1.0 - t;
        let inner = |t: f32| (t * t).mul_add(1.25_f32.mul_add(t, -2.25), 1.0);
        let weights = [(-0.75 * t) * (u * u), inner(t), inner(u), (-0.75 * u) * (t * t)];
        (s.floor() as i64 - 1, weights)
    }

    /// The same with weights in binary64, for images with alpha.
    #[inline(always)]
    pub fn wide_cubic(s: f32) -> (i64, [f64; 4]) {
        let s = s.clamp(-Self::FARTHEST, Self::FARTHEST);
        let t = f64::from(s - s.floor());
        let u = 1.0 - t;
        let inner = |t: f64| (t * t).mul_add(1.25_f64.mul_add(t, -2.25), 1.0);
        let weights = [(-0.75 * t) * (u * u), inner(t), inner(u), (-0.75 * u) * (t * t)];
        (s.floor() as i64 - 1, weights)
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{AlignedBytes, BatchLayout, DType, ImageDesc, ImageView, ImageViewMut, PixelFormat};

    use super::*;
    use crate::{Access, Axis, Kernel, MapUnit, evaluate};

    fn gray(width: u32, height: u32) -> ImageDesc {
        ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap()
    }

    fn transposed(x: AxisMap, y: AxisMap) -> Kernel {
        Kernel::Warp(Warp::Transposed { x, y })
    }

    #[test]
    fn a_transposed_image_has_columns_for_rows() {
        let rows = [1_u8, 2, 3, 4, 5, 6];
        let view = ImageView::new(BatchLayout::tight(gray(3, 2), 1).unwrap(), &rows).unwrap();
        let of = |kernel: Kernel| {
            let mut bytes = AlignedBytes::zeroed(6);
            let layout = BatchLayout::tight(gray(2, 3), 1).unwrap();
            kernel.check(0, &[gray(3, 2)], gray(2, 3)).unwrap();
            let mut output = ImageViewMut::new(layout, bytes.as_mut_slice()).unwrap();
            evaluate(&kernel, &[], &[view], &mut output).unwrap();
            bytes.as_slice().to_vec()
        };
        let same = AxisMap::Offset { first: 0 };
        assert_eq!(of(transposed(same, same)), [1, 4, 2, 5, 3, 6]);
        assert_eq!(of(transposed(same, AxisMap::Flip { last: 1 })), [4, 1, 5, 2, 6, 3], "clockwise");
        assert_eq!(of(transposed(AxisMap::Flip { last: 2 }, same)), [3, 6, 2, 5, 1, 4], "counter-clockwise");
    }

    #[test]
    fn it_reads_the_whole_image() {
        let same = AxisMap::Offset { first: 0 };
        let kernel = transposed(same, same);
        assert_eq!((kernel.access(), kernel.window()), (Access::Whole, None));
        assert_eq!(kernel.footprint(Axis::X, 5..6), 0..i64::from(u32::MAX));
        assert_eq!((kernel.uniform_count(), kernel.taps(Axis::Y)), (Some(0), 1));
        let refusal = |output| kernel.check(0, &[gray(3, 2)], output).unwrap_err();
        assert_eq!(refusal(gray(2, 4)), "warp from 3x2 gray u8 to 2x4 gray u8: columns outside the source");
        assert!(refusal(gray(3, 3)).ends_with("rows outside the source"));
        assert!(refusal(gray(2, 3).with_dtype(DType::F32).unwrap()).ends_with("the dtype must stay"));
    }

    #[test]
    fn turns_of_crops_of_any_place_are_the_same_program() {
        let turn = |first, last| transposed(AxisMap::Offset { first }, AxisMap::Flip { last });
        assert!(turn(1, 9).same_program(&turn(700, 9)));
        assert!(!turn(1, 9).same_program(&turn(1, 8)));
    }

    fn sampled(coordinates: Coordinates, interpolation: Interpolation, border: Border) -> Kernel {
        Kernel::Warp(Warp::Sampled(Sampled { coordinates, interpolation, border }))
    }

    /// The first row of a result of 4 x 1 pixels of the image 10 20 30 / 40 50 60.
    fn row(kernel: &Kernel, uniforms: &[f32]) -> Vec<u8> {
        let pixels = [10_u8, 20, 30, 40, 50, 60];
        let view = ImageView::new(BatchLayout::tight(gray(3, 2), 1).unwrap(), &pixels).unwrap();
        kernel.check(uniforms.len(), &[gray(3, 2)], gray(4, 1)).unwrap();
        let mut bytes = AlignedBytes::zeroed(4);
        let layout = BatchLayout::tight(gray(4, 1), 1).unwrap();
        let mut output = ImageViewMut::new(layout, bytes.as_mut_slice()).unwrap();
        evaluate(kernel, uniforms, &[view], &mut output).unwrap();
        bytes.as_slice().to_vec()
    }

    #[test]
    fn samples_between_pixels_and_outside() {
        use Coordinates::{Affine, Projective};
        use Interpolation::{Bilinear, Nearest};
        let seven = Border::Constant(7.0);
        let half = [1.0, 0.0, 0.5, 0.0, 1.0, 0.0];
        assert_eq!(row(&sampled(Affine, Bilinear, Border::Reflect101), &half), [15, 25, 25, 15]);
        assert_eq!(row(&sampled(Affine, Bilinear, Border::Constant(0.0)), &half), [15, 25, 15, 0]);
        assert_eq!(row(&sampled(Affine, Nearest, seven), &half), [10, 30, 30, 7], "halves to even");
        let between_rows = [1.0, 0.0, 0.0, 0.0, 1.0, 0.5];
        assert_eq!(row(&sampled(Affine, Bilinear, Border::Wrap), &between_rows), [25, 35, 45, 25]);
        // Behind the viewer from the second pixel on.
        let behind = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0];
        assert_eq!(row(&sampled(Projective, Bilinear, seven), &behind), [10, 7, 7, 7]);
        assert_eq!(row(&sampled(Projective, Nearest, Border::Wrap), &behind), [10, 0, 0, 0]);
        let nowhere = [f32::NAN, 0.0, 0.0, 0.0, 1.0, 0.0];
        assert_eq!(row(&sampled(Affine, Nearest, seven), &nowhere), [7; 4]);
        let far = [0.0, 0.0, f32::INFINITY, 0.0, 0.0, -1e30];
        assert_eq!(row(&sampled(Affine, Bilinear, Border::Replicate), &far), [30; 4]);
    }

    #[test]
    fn cubic_weights_are_those_of_keys() {
        assert_eq!(Sampled::cubic(-3.0), (-4, [0.0, 1.0, 0.0, 0.0]));
        assert_eq!(Sampled::cubic(7.5), (6, [-0.093_75, 0.593_75, 0.593_75, -0.093_75]));
        let (first, weights) = Sampled::wide_cubic(0.25);
        // By distance d: a d^3 - 5 a d^2 + 8 a d - 4 a beyond 1, (a + 2) d^3 - (a + 3) d^2 + 1 up to there.
        let outer = |d: f64| -0.75 * (((d - 5.0) * d + 8.0) * d - 4.0);
        let inner = |d: f64| (1.25 * d - 2.25) * d * d + 1.0;
        assert_eq!((first, weights), (-1, [outer(1.25), inner(0.25), inner(0.75), outer(1.75)]));
        let half = [1.0, 0.0, 0.5, 0.0, 1.0, 0.0];
        let cubic = sampled(Coordinates::Affine, Interpolation::Bicubic, Border::Replicate);
        // (-3 * 10 + 19 * 10 + 19 * 20 - 3 * 30) / 32 and so on.
        assert_eq!(row(&cubic, &half), [14, 26, 31, 30]);
    }

    #[test]
    fn maps_are_images_of_the_outputs_size() {
        let kernel =
            sampled(Coordinates::Map(MapUnit::Absolute), Interpolation::Nearest, Border::Constant(7.0));
        assert_eq!((kernel.input_count(), kernel.uniform_count()), (3, Some(0)));
        let map = gray(4, 1).with_dtype(DType::F32).unwrap();
        let refusal = |map| kernel.check(0, &[gray(3, 2), map, map], gray(4, 1)).unwrap_err();
        assert!(refusal(gray(4, 1)).contains("a map is 4x1 gray u8; maps are gray f32"));
        assert!(refusal(map.with_size(3, 2).unwrap()).contains("have the output's size"));
        kernel.check(0, &[gray(3, 2), map, map], gray(4, 1)).unwrap();
        let pixels = [10_u8, 20, 30, 40, 50, 60];
        let view = ImageView::new(BatchLayout::tight(gray(3, 2), 1).unwrap(), &pixels).unwrap();
        let maps = [[0.5_f32, 1.5, f32::NAN, 2.0], [1.0, 0.0, 0.0, 2.0]].map(|map| {
            let mut bytes = AlignedBytes::zeroed(16);
            bytes.as_mut_slice().copy_from_slice(&map.map(f32::to_ne_bytes).concat());
            bytes
        });
        let layout = BatchLayout::tight(map, 1).unwrap();
        let [x, y] = maps.each_ref().map(|bytes| ImageView::new(layout, bytes.as_slice()).unwrap());
        let mut bytes = AlignedBytes::zeroed(4);
        let mut output =
            ImageViewMut::new(BatchLayout::tight(gray(4, 1), 1).unwrap(), bytes.as_mut_slice()).unwrap();
        evaluate(&kernel, &[], &[view, x, y], &mut output).unwrap();
        assert_eq!(bytes.as_slice(), [40, 30, 7, 7], "halves to even, nowhere, outside");
    }
}
