use mip_core::PixelFormat;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("color_matrix", &["matrix"], |call| {
    color_matrix(&call.image(0), call.desc().format(), &call.params.list("matrix").expect("matrix"))
})
.magnitude(|call| {
    let matrix = call.params.list("matrix").expect("matrix");
    let rows = matrix.chunks(columns(&matrix)).map(|row| row.iter().map(|factor| factor.abs()).sum());
    // What is added stands in the last column, where there is one for it.
    rows.fold(0.0, f64::max) * call.largest().max(1.0)
});

/// Of 3 x 3, 3 x 4 and 4 x 5.
const fn columns(matrix: &[f64]) -> usize {
    match matrix.len() {
        9 => 3,
        12 => 4,
        _ => 5,
    }
}

/// Each colour as a sum of all, by the rows of a matrix of binary32 numbers: 3 x 3, 3 x 4 with offsets, or 4 x 5 with alpha.
pub fn color_matrix(image: &Real, format: PixelFormat, matrix: &[f64]) -> Real {
    let columns = columns(matrix);
    let factors = matrix.len().div_ceil(columns).min(4);
    let [r, g, b] = format.rgb_indices().expect("colours");
    let places = [r, g, b, 3];
    let number = |row: usize, column: usize| f64::from(matrix[row * columns + column] as f32);
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let row = places.iter().position(|&place| place == c).expect("a channel");
        if row >= factors {
            return image.at(x, y, c);
        }
        let inputs = if columns == 5 { 4 } else { 3 };
        let sum: f64 = (0..inputs).map(|i| number(row, i) * image.at(x, y, places[i])).sum();
        sum + if columns > inputs { number(row, inputs) } else { 0.0 }
    })
}
