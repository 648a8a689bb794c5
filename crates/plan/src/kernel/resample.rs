use std::ops::Range;
use std::sync::Arc;

/// Separable resampling (bilinear, area, and every other interpolation that is a weighted sum).
///
/// With `sx = x.start(dst_x)`, `wx = x.weights(dst_x)` and likewise for y, horizontally for each source row j:
/// `h[j] = wx[0] * p[j][sx]`, then `h[j] = fma(wx[k], p[j][sx + k], h[j])` for k = 1, 2, ...;
/// vertically `v = wy[0] * h[sy]`, then `v = fma(wy[k], h[sy + k], v)`.
///
/// Without alpha `v` is the result. With alpha ([`mip_core::PixelFormat::has_alpha`]) the samples p are
/// premultiplied, `p[c] * p[alpha]` for colour (one binary32 product) and `p[alpha]` itself for alpha; the
/// colour result is `v[alpha] > 0 ? v[c] / v[alpha] : 0`, the alpha result is `v[alpha]`.
///
/// Format, sample type and memory order stay. No uniforms.
#[derive(Debug, Clone, PartialEq)]
pub struct Resample {
    /// Taps along x; its outputs are the output's columns.
    pub x: AxisTaps,
    /// Taps along y; its outputs are the output's rows.
    pub y: AxisTaps,
}

/// For each output coordinate the first source coordinate and a fixed number of weights.
///
/// All source coordinates are inside the image: edge clamping has been folded into the weights when the table
/// was made (in f64, rounded to binary32 once).
#[derive(Debug, Clone, PartialEq)]
pub struct AxisTaps {
    taps: usize,
    starts: Arc<[u32]>,
    weights: Arc<[f32]>,
}

impl AxisTaps {
    /// Builds the table from `(source coordinate, weight)` lists, one an output, in any order; coordinates
    /// outside `0..input` are clamped to the edge, equal coordinates are added up.
    ///
    /// # Panics
    /// When `input` is 0 or an output has no taps: tables are made by operators, which never do that.
    pub fn from_contributions(input: u32, outputs: &[Vec<(i64, f64)>]) -> Self {
        assert!(input > 0, "a source without pixels");
        let last = i64::from(input) - 1;
        let ranges: Vec<(i64, i64)> = outputs
            .iter()
            .map(|taps| {
                let coordinates = || taps.iter().map(|&(i, _)| i.clamp(0, last));
                let first = coordinates().min().expect("an output without taps");
                (first, coordinates().max().expect("an output without taps"))
            })
            .collect();
        let taps = ranges.iter().map(|(first, end)| end - first + 1).max().unwrap_or(1);
        let mut starts = Vec::with_capacity(outputs.len());
        let mut weights = vec![0.0_f64; outputs.len() * taps as usize];
        for (o, (contributions, &(first, _))) in outputs.iter().zip(&ranges).enumerate() {
            let start = first.min(last + 1 - taps);
            starts.push(start as u32);
            for &(i, w) in contributions {
                weights[o * taps as usize + (i.clamp(0, last) - start) as usize] += w;
            }
        }
        let weights = weights.into_iter().map(|w| w as f32).collect();
        Self { taps: taps as usize, starts: starts.into(), weights }
    }

    /// The table of some of the outputs; `None` when there are none or not so many.
    #[must_use]
    pub fn range(&self, outputs: Range<usize>) -> Option<Self> {
        let starts = self.starts.get(outputs.clone()).filter(|starts| !starts.is_empty())?;
        let weights = &self.weights[outputs.start * self.taps..outputs.end * self.taps];
        Some(Self { taps: self.taps, starts: starts.into(), weights: weights.into() })
    }

    /// The table over a source that has `first` coordinates more in front.
    #[must_use]
    pub fn behind(&self, first: u32) -> Self {
        Self { starts: self.starts.iter().map(|start| start + first).collect(), ..self.clone() }
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
