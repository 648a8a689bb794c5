use crate::Real;

/// What one output coordinate reads along one axis: source coordinates (`None`: the border constant) with
/// numerators, which count as `numerator / total`.
#[derive(Debug, Clone)]
pub(crate) struct Taps {
    pub(crate) taps: Vec<(Option<usize>, f64)>,
    pub(crate) total: f64,
}

impl Taps {
    /// Taps whose weights shall sum to 1.
    pub(crate) fn normalised(taps: Vec<(Option<usize>, f64)>) -> Self {
        let total = taps.iter().map(|t| t.1).sum();
        Self { taps, total }
    }

    /// Each source coordinate once where a window is longer than 31 pixels: borders are folded into its weights, so that a
    /// weight of 0 is none where another one has the same place.
    pub(crate) fn merged_above(self, side: usize) -> Self {
        if side <= 31 {
            return self;
        }
        let mut merged: Vec<(Option<usize>, f64)> = Vec::new();
        for (place, weight) in self.taps {
            match merged.iter_mut().find(|(known, _)| *known == place) {
                Some((_, sum)) => *sum += weight,
                None => merged.push((place, weight)),
            }
        }
        Self { taps: merged, total: self.total }
    }
}

/// Weighted sums over the product of column and row taps. Colour under alpha is weighted by it: the sums run
/// over `colour * alpha` and `alpha`, and colour is their quotient, 0 where the alpha sum is 0.
pub(crate) fn weighted(image: &Real, columns: &[Taps], rows: &[Taps], constant: f64) -> Real {
    weighted_above(image, columns, rows, constant, 0.0)
}

/// The same where a pixel is clear up to another mean of alpha than 0.
pub(crate) fn weighted_above(
    image: &Real,
    columns: &[Taps],
    rows: &[Taps],
    constant: f64,
    clear: f64,
) -> Real {
    let channels = image.channels;
    let sample = |x: Option<usize>, y: Option<usize>, c: usize| match (x, y) {
        (Some(x), Some(y)) => image.at(x, y, c),
        _ => constant,
    };
    // Sums over columns of every row of the image, and of one outside: weights of both axes are multiplied.
    let across = |y: Option<usize>| -> Vec<[f64; 4]> {
        let sums = |column: &Taps| {
            let mut sums = [0.0; 4];
            for &(x, w) in &column.taps {
                for (c, sum) in sums.iter_mut().enumerate().take(channels) {
                    let cover = if image.has_alpha() && c < 3 { sample(x, y, 3) } else { 1.0 };
                    *sum += w * sample(x, y, c) * cover;
                }
            }
            sums
        };
        columns.iter().map(sums).collect()
    };
    let inside: Vec<_> = (0..image.height).map(|y| across(Some(y))).collect();
    let outside = across(None);
    let mut data = Vec::with_capacity(columns.len() * rows.len() * channels);
    for row in rows {
        for (x, column) in columns.iter().enumerate() {
            let mut sums = [0.0; 4];
            for &(y, w) in &row.taps {
                let line = y.map_or(&outside, |y| &inside[y]);
                for (sum, v) in sums.iter_mut().zip(line[x]) {
                    *sum += w * v;
                }
            }
            for c in 0..channels {
                data.push(if !image.has_alpha() || c == 3 {
                    sums[c] / (column.total * row.total)
                } else if sums[3] > clear * column.total * row.total {
                    sums[c] / sums[3]
                } else {
                    0.0
                });
            }
        }
    }
    Real { width: columns.len(), height: rows.len(), channels, data }
}
