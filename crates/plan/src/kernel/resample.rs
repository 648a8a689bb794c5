use std::ops::Range;
use std::sync::Arc;

use mip_core::{DType, ImageDesc};

use super::Axis;

/// Separable resampling (bilinear, area, and every other interpolation that is a weighted sum).
///
/// With `sx = x.start(dst_x)`, `wx = x.weights(dst_x)` and likewise for y, horizontally for each source row j:
/// `h[j] = wx[0] * p[j][sx]`, then `h[j] = fma(wx[k], p[j][sx + k], h[j])` for k = 1, 2, ...;
/// vertically `v = wy[0] * h[sy]`, then `v = fma(wy[k], h[sy + k], v)`. All of it in binary32, as long as the axis
/// has no more than [`Resample::longest_chain`] taps. Along an axis with more of them the same sums are made in
/// binary64, with [`AxisTaps::wide_weights`], and each is rounded to binary32 once, at its end.
///
/// A tap of weight 0 is no tap: rows of the table are filled up with them to one length, and what lies there (an
/// infinity, a NaN) is not read. The first tap whose weight is not 0 begins the sum as a product.
/// (Starting from -0 gives the same: `fma(w, p, -0) = w * p`, down to the sign of a zero.)
///
/// Without alpha `v` is the result. With alpha ([`mip_core::PixelFormat::has_alpha`]) the samples p are
/// premultiplied, `p[c] * p[alpha]` for colour (one binary32 product) and `p[alpha]` itself for alpha; the
/// colour result is `v[alpha] > 0 ? v[c] / v[alpha] : 0`, the alpha result is `v[alpha]`.
///
/// # How far `v` is from the exact sum
///
/// For weights that are not negative and add up to 1, and samples up to M, with u = 2^-24 the rounding of binary32:
/// no partial sum exceeds M (but for the errors below), so each rounding in an axis of n taps adds at most `M u`
/// (half that, where sums stay below a power of two that M just misses: 65535 and 255), and rounded weights add `M u`.
/// That is `(n + 1) M u` for a short axis and `M u` for a long one: binary64 adds some `n M 2^-53`, nothing for
/// fewer than 2^24 taps and less than 0.02 of a u16 step for 2^31 of them.
///
/// | samples | most taps in binary32 | bound, both axes | allowed |
/// | --- | --- | --- | --- |
/// | u8 | 64 | 2 * (64 * 2^-17 + 2^-16) = 0.0010 | 1/128 = 0.0078 |
/// | u8 with alpha | 64 | (2 * 2 * 65 + 1) * 255 u = 0.0040 | 0.0078 |
/// | u16 | 24 | 2 * (24 * 2^-9 + 2^-8) = 0.102 | 1/8 = 0.125 |
/// | u16 with alpha | 4 | (2 * 2 * 5 + 1 + 1) * 65535 u = 0.086 | 0.125 |
///
/// With alpha, bounds are relative, those of colour and of alpha add up, and the division (and in u16 the
/// product before) rounds too. In f32, `v` is within `(n_x + n_y + 2) u` of the sum of `|w p|` with up to 24
/// taps an axis, whatever the signs, and `2 u` when both axes are longer.
///
/// i16 has half the bounds of u16, whose numbers are twice as large; f16 is summed as f32 is, and then rounded.
///
/// Where weights are negative their magnitudes add up to A (1.44 for a cubic with a = -0.75): partial sums reach `A M`, and
/// what an axis has added the other multiplies by A. In u16 that is `(1 + A) (n + 1) 2^-8` for n taps, less than 0.125 for 12.
/// Of an image with alpha everything is binary64 then, premultiplying and dividing included, with
/// [`AxisTaps::wide_weights`], and rounded to binary32 once at the end: a small sum of alphas may be a difference of large
/// ones, and colours are divided by it. Colours are 0 where the sum of alphas is not above [`Resample::clear`].
///
/// Format, dtype and layout stay. No uniforms.
#[derive(Debug, Clone, PartialEq)]
pub struct Resample {
    /// Taps along x; its outputs are the output's columns.
    pub x: AxisTaps,
    /// Taps along y; its outputs are the output's rows.
    pub y: AxisTaps,
}

impl Resample {
    /// The fewest taps that [`Resample::longest_chain`] is for any image.
    const SHORT: usize = 4;

    /// Most taps that an axis may have to be summed in binary32, for images like this one: as many as keep the result
    /// within its bound (see [`Resample`]). `signed`: some of the weights are negative.
    pub const fn longest_chain(image: &ImageDesc, signed: bool) -> usize {
        match (image.dtype(), image.format().has_alpha()) {
            (DType::U8, _) => 64,
            (DType::U16 | DType::I16, false) if signed => 12,
            (DType::U16 | DType::I16, true) => Self::SHORT,
            (DType::U16 | DType::I16, false) | (DType::I32 | DType::F16 | DType::F32, _) => 24,
        }
    }

    /// Whether all is computed in binary64 for images like this one: those with alpha, where a weight is negative.
    pub const fn is_wide(&self, image: &ImageDesc) -> bool {
        image.format().has_alpha() && (self.x.signed || self.y.signed)
    }

    /// The sum of alphas up to which a pixel is clear, where weights may be negative: 2^-17 of full scale, which no sum
    /// comes near whose terms do not cancel.
    pub const fn clear(dtype: DType) -> f64 {
        dtype.full_scale() / 131_072.0
    }

    /// The taps along an axis.
    pub const fn along(&self, axis: Axis) -> &AxisTaps {
        match axis {
            Axis::X => &self.x,
            Axis::Y => &self.y,
        }
    }
}

/// For each output coordinate the first source coordinate and a fixed number of weights.
///
/// All source coordinates are inside the image: edge clamping has been folded into the weights when the table
/// was made (in f64, rounded to binary32 once). Outputs with fewer taps than others have weights of 0, which stand for
/// no tap at all.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisTaps {
    taps: usize,
    starts: Arc<[u32]>,
    weights: Arc<[f32]>,
    /// The weights before they were rounded; none where no sum is ever long.
    wide: Arc<[f64]>,
    /// Whether a weight is negative.
    signed: bool,
}

impl AxisTaps {
    /// Builds the table from `(source coordinate, weight)` lists, one an output, in any order; coordinates
    /// outside `0..input` are clamped to the edge, equal coordinates are added up. The lists are gone through twice and
    /// never held all at once: for millions of outputs they would take several times what the table does.
    ///
    /// # Panics
    /// When `input` is 0 or an output has no taps: tables are made by operators, which never do that.
    pub fn from_contributions<I>(input: u32, outputs: I) -> Self
    where
        I: IntoIterator<Item: AsRef<[(i64, f64)]>, IntoIter: Clone>,
    {
        assert!(input > 0, "a source without pixels");
        let outputs = outputs.into_iter();
        let last = i64::from(input) - 1;
        let mut taps = 1;
        let first_of = |contributions: I::Item| {
            let coordinates = || contributions.as_ref().iter().map(|&(i, _)| i.clamp(0, last));
            let first = coordinates().min().expect("an output without taps");
            taps = (coordinates().max().expect("an output without taps") - first + 1).max(taps);
            first as u32
        };
        let mut starts: Vec<u32> = outputs.clone().map(first_of).collect();
        let mut weights = vec![0.0_f64; starts.len() * taps as usize];
        for (o, (contributions, start)) in outputs.zip(&mut starts).enumerate() {
            *start = (*start).min((last + 1 - taps) as u32);
            for &(i, w) in contributions.as_ref() {
                weights[o * taps as usize + (i.clamp(0, last) - i64::from(*start)) as usize] += w;
            }
        }
        let taps = taps as usize;
        let rounded: Arc<[f32]> = weights.iter().map(|&w| w as f32).collect();
        let signed = weights.iter().any(|&w| w < 0.0);
        let wide = if taps > Resample::SHORT || signed { weights.into() } else { Arc::default() };
        Self { taps, starts: starts.into(), weights: rounded, wide, signed }
    }

    /// The table of some of the outputs; `None` when there are none or not so many.
    #[must_use]
    pub fn range(&self, outputs: Range<usize>) -> Option<Self> {
        let starts = self.starts.get(outputs.clone()).filter(|starts| !starts.is_empty())?;
        let of_these = outputs.start * self.taps..outputs.end * self.taps;
        let weights = self.weights[of_these.clone()].into();
        // A table of few taps has none.
        let wide = self.wide.get(of_these).unwrap_or_default().into();
        Some(Self { taps: self.taps, starts: starts.into(), weights, wide, signed: self.signed })
    }

    /// The table over a source that has `first` coordinates more in front.
    #[must_use]
    pub fn behind(&self, first: u32) -> Self {
        Self { starts: self.starts.iter().map(|start| start + first).collect(), ..self.clone() }
    }

    /// The table of more outputs: `before` of them in front and so many behind that there are `outputs` in all, each like the
    /// one at its end.
    ///
    /// # Panics
    /// When there would be fewer than there are.
    #[must_use]
    pub fn extended(&self, before: usize, outputs: usize) -> Self {
        let own = self.outputs();
        assert!(before + own <= outputs, "{outputs} outputs for {own} behind {before}");
        let source = |o: usize| o.saturating_sub(before).min(own - 1);
        let starts = (0..outputs).map(|o| self.starts[source(o)]).collect();
        let weights = (0..outputs).flat_map(|o| self.weights(source(o)).iter().copied()).collect();
        let of_wide = |o: usize| if self.wide.is_empty() { &[][..] } else { self.wide_weights(source(o)) };
        let wide = (0..outputs).flat_map(|o| of_wide(o).iter().copied()).collect();
        Self { taps: self.taps, starts, weights, wide, signed: self.signed }
    }

    /// The same table, which has [`AxisTaps::wide_weights`] however few its taps are: for [`Resample::is_wide`].
    #[must_use]
    pub fn keep_wide(self) -> Self {
        let wide = if self.wide.is_empty() {
            self.weights.iter().map(|&w| f64::from(w)).collect()
        } else {
            self.wide
        };
        Self { wide, ..self }
    }

    pub(super) fn has_wide(&self) -> bool {
        !self.wide.is_empty()
    }

    /// Whether a weight is negative.
    pub const fn is_signed(&self) -> bool {
        self.signed
    }

    /// Whether sums along the axis are made in binary64 for images like this one.
    pub const fn is_long(&self, image: &ImageDesc) -> bool {
        self.taps > Resample::longest_chain(image, self.signed)
    }

    /// Weights an output has.
    pub const fn taps(&self) -> usize {
        self.taps
    }

    /// Number of output coordinates.
    pub fn outputs(&self) -> usize {
        self.starts.len()
    }

    /// First source coordinate of each output.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// All weights: `taps` for output 0, `taps` for output 1, ...
    pub fn all_weights(&self) -> &[f32] {
        &self.weights
    }

    /// The weights of one output.
    pub fn weights(&self, output: usize) -> &[f32] {
        &self.weights[output * self.taps..][..self.taps]
    }

    /// The weights of one output before they were rounded to binary32, for sums in binary64.
    ///
    /// # Panics
    /// When the table has so few taps that sums in binary64 never need it ([`Resample::longest_chain`]), and was not made by
    /// [`AxisTaps::keep_wide`].
    pub fn wide_weights(&self, output: usize) -> &[f64] {
        &self.wide[output * self.taps..][..self.taps]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clamping_folds_weights_and_keeps_every_tap_inside() {
        let outputs = [vec![(-1, 0.25), (0, 0.75)], vec![(0, 0.5), (1, 0.5)], vec![(1, 0.75), (2, 0.25)]];
        let table = AxisTaps::from_contributions(2, &outputs);
        assert_eq!((table.taps(), table.starts()), (2, &[0, 0, 0][..]));
        assert_eq!(table.weights(0), [1.0, 0.0]);
        assert_eq!(table.weights(2), [0.0, 1.0]);
    }

    #[test]
    fn long_rows_keep_their_weights_as_they_were() {
        let third = |first: i64| (first..first + 6).map(|i| (i, 1.0 / 6.0)).collect::<Vec<_>>();
        let table = AxisTaps::from_contributions(9, &[third(0), third(3)]);
        assert_eq!((table.weights(1), table.wide_weights(1)), (&[1.0_f32 / 6.0; 6][..], &[1.0 / 6.0; 6][..]));
        let part = table.range(1..2).expect("an output");
        assert_eq!(part.wide_weights(0), table.wide_weights(1));
    }

    #[test]
    fn a_range_has_the_taps_of_its_outputs() {
        let outputs = [vec![(0, 0.25), (1, 0.75)], vec![(1, 0.5), (2, 0.5)], vec![(2, 0.75), (3, 0.25)]];
        let table = AxisTaps::from_contributions(4, &outputs);
        let part = table.range(1..3).expect("two outputs");
        assert_eq!((part.outputs(), part.starts()), (2, &[1, 2][..]));
        assert_eq!(part.weights(1), table.weights(2));
        assert_eq!((table.range(2..4), table.range(1..1)), (None, None));
    }

    #[test]
    fn a_source_may_begin_earlier() {
        let taps = AxisTaps::from_contributions(4, &[vec![(0, 0.5), (1, 0.5)], vec![(3, 1.0)]]);
        let later = taps.behind(10);
        assert_eq!((later.starts(), later.all_weights()), (&[10, 12][..], taps.all_weights()));
    }

    #[test]
    fn a_single_source_pixel_leaves_one_tap() {
        let table = AxisTaps::from_contributions(1, &[vec![(-3, 0.5), (4, 0.5)]]);
        assert_eq!((table.taps(), table.starts(), table.weights(0)), (1, &[0][..], &[1.0][..]));
    }
}
