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
    let mut data = Vec::with_capacity(columns.len() * rows.len() * channels);
    for row in rows {
        for column in columns {
            let mut sums = [0.0; 4];
            for &(y, wy) in &row.taps {
                for &(x, wx) in &column.taps {
                    let v = |c| match (x, y) {
                        (Some(x), Some(y)) => image.at(x, y, c),
                        _ => constant,
                    };
                    for (c, sum) in sums.iter_mut().enumerate().take(channels) {
                        let cover = if image.has_alpha() && c < 3 { v(3) } else { 1.0 };
                        *sum += wx * wy * v(c) * cover;
                    }
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
