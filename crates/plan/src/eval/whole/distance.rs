use mip_core::{ImageView, ImageViewMut};

use crate::Metric;

/// The distance to the nearest 0 in each column, for a whole frame.
pub(super) fn columns(image: &ImageView<'_>, frame: usize, output: &mut ImageViewMut<'_>) {
    let (layout, height) = (*output.layout(), image.layout().desc.height() as usize);
    let mut before = vec![f32::INFINITY; layout.desc.width() as usize];
    for y in 0..height {
        let row = output.row_as_mut::<f32>(frame, 0, y);
        for ((to, &v), before) in row.iter_mut().zip(image.row(frame, 0, y)).zip(&mut before) {
            *before = if v == 0 { 0.0 } else { *before + 1.0 };
            *to = *before;
        }
    }
    for y in (0..height).rev() {
        let row = output.row_as_mut::<f32>(frame, 0, y);
        for (to, before) in row.iter_mut().zip(&mut before) {
            *before = if *to < *before + 1.0 { *to } else { *before + 1.0 };
            *to = *before;
        }
    }
}

/// A row of distances, of the distances in the columns.
pub(super) fn row(metric: Metric, columns: &[f32], to: &mut [f32]) {
    match metric {
        Metric::L2 => euclidean(columns, to),
        Metric::L1 => {
            let mut before = f32::INFINITY;
            for (to, &d) in to.iter_mut().zip(columns) {
                before = d.min(before + 1.0);
                *to = before;
            }
            before = f32::INFINITY;
            for to in to.iter_mut().rev() {
                before = to.min(before + 1.0);
                *to = before;
            }
        }
        Metric::Linf => chessboard(columns, to),
    }
}

/// The lower envelope of the parabolas `(x - at)^2 + d^2` (Meijster, Roerdink and Hesselink 2000), in whole numbers.
fn euclidean(columns: &[f32], to: &mut [f32]) {
    let squared = |at: usize| (columns[at] as i64).pow(2);
    let value = |at: usize, x: usize| (x as i64 - at as i64).pow(2) + squared(at);
    envelope(columns, to, value, |at, next| {
        let (a, b) = (at as i64, next as i64);
        // The last column where the earlier one is not above the later one.
        (b * b - a * a + squared(next) - squared(at)).div_euclid(2 * (b - a))
    });
    to.iter_mut().zip(0..).for_each(|(to, x)| {
        if to.is_finite() {
            *to = (value(*to as usize, x) as f64).sqrt() as f32;
        }
    });
}

/// The lower envelope of `max(|x - at|, d)`.
fn chessboard(columns: &[f32], to: &mut [f32]) {
    let height = |at: usize| columns[at] as i64;
    let value = |at: usize, x: usize| (x as i64 - at as i64).abs().max(height(at));
    envelope(columns, to, value, |at, next| {
        let (a, b) = (at as i64, next as i64);
        if height(at) <= height(next) {
            (a + height(next)).max((a + b).div_euclid(2))
        } else {
            (b - height(at)).min((a + b).div_euclid(2))
        }
    });
    to.iter_mut().zip(0..).for_each(|(to, x)| {
        if to.is_finite() {
            *to = value(*to as usize, x) as f32;
        }
    });
}

/// For each column the one whose curve is lowest there, as a number; infinite where there is none. `last(a, b)` is the last
/// column at which the curve of a is not above that of b, which lies to the right.
fn envelope(
    columns: &[f32],
    to: &mut [f32],
    value: impl Fn(usize, usize) -> i64,
    last: impl Fn(usize, usize) -> i64,
) {
    // Curves that are lowest somewhere, each from its column on.
    let mut lowest: Vec<(usize, usize)> = Vec::with_capacity(columns.len());
    for at in (0..columns.len()).filter(|&at| columns[at].is_finite()) {
        while lowest.last().is_some_and(|&(other, from)| value(other, from) > value(at, from)) {
            lowest.pop();
        }
        let from = match lowest.last() {
            None => Some(0),
            Some(&(other, _)) => usize::try_from(last(other, at) + 1).ok(),
        };
        lowest.extend(from.filter(|&from| from < columns.len()).map(|from| (at, from)));
    }
    to.fill(f32::INFINITY);
    let ends = lowest.iter().skip(1).map(|&(_, from)| from).chain([columns.len()]);
    for (&(at, from), end) in lowest.iter().zip(ends) {
        to[from..end].fill(at as f32);
    }
}
