use super::apply::Reference;
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference =
    Reference::new("tile", &["count", "columns", "gap", "fill"], |call| {
        let images: Vec<Real> = (0..call.inputs.len()).map(|slot| call.image(slot)).collect();
        let fill = call.params.list("fill").unwrap_or_else(|| vec![0.0]);
        let (columns, gap) = shape(call.params);
        tile(&images, columns, gap, &fill)
    });

/// Columns and gap.
fn shape(params: &Params) -> (usize, usize) {
    let number = |name, default| params.number(name).map_or(default, |v| v as usize);
    let count = number("count", 2);
    (number("columns", count).min(count), number("gap", 0))
}

/// Images beside and below each other on a colour.
pub fn tile(images: &[Real], columns: usize, gap: usize, fill: &[f64]) -> Real {
    let cell = &images[0];
    let rows = images.len().div_ceil(columns);
    let (step_x, step_y) = (cell.width + gap, cell.height + gap);
    Real::from_fn(columns * step_x - gap, rows * step_y - gap, cell.channels, |x, y, c| {
        let image = images.get(y / step_y * columns + x / step_x);
        let covered = x % step_x < cell.width && y % step_y < cell.height;
        let color = f64::from(fill[c.min(fill.len() - 1)] as f32);
        image.filter(|_| covered).map_or(color, |image| image.at(x % step_x, y % step_y, c))
    })
}
