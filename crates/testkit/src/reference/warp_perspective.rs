use super::Border;
use super::apply::Reference;
use super::warp::{Interpolation, sampling, size, warp};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new(
    "warp_perspective",
    &["matrix", "points", "inverse", "width", "height", "filter", "border", "border_value"],
    |call| {
        let matrix = match call.params.list("matrix") {
            Some(matrix) => matrix.try_into().expect("nine numbers"),
            None => through_points(&call.params.list("points").expect("matrix or points")),
        };
        let inverted = call.params.flag("inverse").unwrap_or(false);
        let matrix = if inverted { matrix } else { inverse(matrix) };
        let (interpolation, border) = sampling(call);
        warp_perspective(&call.image(0), matrix, size(call), interpolation, border)
    },
);

/// A result of `width` x `height` pixels: its pixel (x, y) is the image at the point (u / w, v / w) that the matrix gives, in
/// coordinates whose whole numbers are centres of pixels: `u = m[0] x + (m[1] y + m[2])`, each sum and its product rounded to
/// binary32 once, likewise v and w, and the quotients rounded, all of which is part of the definition. There is none unless w
/// is greater than 0.
pub fn warp_perspective(
    image: &Real,
    matrix: [f64; 9],
    size: (usize, usize),
    interpolation: Interpolation,
    border: Border,
) -> Real {
    let m = matrix.map(|v| v as f32);
    warp(image, size, (interpolation, border), |x, y| {
        let along = |k: usize| m[k].mul_add(x as f32, m[k + 1].mul_add(y as f32, m[k + 2]));
        let w = along(6);
        (w > 0.0).then(|| [along(0) / w, along(3) / w])
    })
}

/// The matrix that maps back, by Gauss and Jordan.
fn inverse(m: [f64; 9]) -> [f64; 9] {
    let columns: [Vec<f64>; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        .map(|unit| solve(m.chunks(3).zip(unit).map(|(row, v)| [row, &[v]].concat()).collect()));
    std::array::from_fn(|k| columns[k % 3][k / 3])
}

/// The matrix that maps the first four points to the other four, with a w of 1 at the first: for each point (x, y) and
/// what it goes to, (u, v): `a x + b y + c = u (g x + h y + i)`, `d x + e y + f = v (g x + h y + i)`, and nine unknowns.
fn through_points(points: &[f64]) -> [f64; 9] {
    let (from, to) = points.split_at(8);
    let mut rows = Vec::new();
    for (from, to) in from.chunks(2).zip(to.chunks(2)) {
        let (x, y) = (from[0], from[1]);
        for (k, u) in to.iter().enumerate() {
            let mut row = vec![0.0; 10];
            row[3 * k..3 * k + 3].copy_from_slice(&[x, y, 1.0]);
            row[6..9].copy_from_slice(&[-u * x, -u * y, -u]);
            rows.push(row);
        }
    }
    rows.push(vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, points[0], points[1], 1.0, 1.0]);
    solve(rows).try_into().expect("nine unknowns")
}

/// Solves as many equations as there are unknowns, the right side last in each row.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for k in 0..n {
        let largest = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()));
        rows.swap(k, largest.expect("a row"));
        let pivot = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = if i == k { 0.0 } else { row[k] / pivot[k] };
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= factor * p);
        }
    }
    rows.iter().enumerate().map(|(k, row)| row[n] / row[k]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_the_way_back() {
        let square = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
        let doubled = through_points(&[square, square.map(|v| 2.0 * v)].concat());
        assert_eq!(doubled, [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]);
        let back = inverse([2.0, 0.0, 6.0, 0.0, 4.0, -2.0, 0.0, 0.0, 1.0]);
        assert_eq!(back, [0.5, 0.0, -3.0, 0.0, 0.25, 0.5, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn behind_the_viewer_there_is_nothing() {
        let image = Real::from_fn(3, 1, 1, |x, _, _| 10.0 * (x + 1) as f64);
        let m = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.5];
        let of = |border| warp_perspective(&image, m, (3, 1), Interpolation::Nearest, border).data;
        assert_eq!(of(Border::Constant(7.0)), [10.0, 30.0, 7.0]);
        assert_eq!(of(Border::Replicate), [10.0, 30.0, 0.0]);
    }
}
