use super::Border;
use super::apply::Reference;
use super::warp::Interpolation;
use super::warp_affine::{of_call, warp_affine};
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("rotate", &["angle", "center", "scale", "filter", "border", "border_value"], |call| {
        let (params, desc) = (call.params, call.desc());
        let center = params.list("center").map(|c| (c[0], c[1]));
        let (angle, scale) = (params.number("angle").expect("angle"), params.number("scale").unwrap_or(1.0));
        let size = (desc.width() as usize, desc.height() as usize);
        of_call(call, rotation(angle, center.unwrap_or_else(|| middle(size)), scale), size)
    });

/// Turned by `angle` degrees counter-clockwise around the middle, without samples between pixels where there are none.
pub fn rotate(image: &Real, angle: f64, interpolation: Interpolation, border: Border) -> Real {
    let size = (image.width, image.height);
    warp_affine(image, rotation(angle, middle(size), 1.0), size, interpolation, border)
}

fn middle((width, height): (usize, usize)) -> (f64, f64) {
    ((width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0)
}

/// From the result to the image for a turn by `angle` degrees counter-clockwise (rows go down) around a point, and
/// magnification.
fn rotation(angle: f64, (cx, cy): (f64, f64), scale: f64) -> [f64; 6] {
    let (sin, cos) = match angle.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        angle => angle.to_radians().sin_cos(),
    };
    let (sin, cos) = (sin / scale, cos / scale);
    [cos, -sin, cx - cos * cx + sin * cy, sin, cos, cy - sin * cx - cos * cy]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::rotate90;

    #[test]
    fn quarter_turns() {
        let image = Real::from_fn(3, 3, 1, |x, y, _| (10 * y + x) as f64);
        for (angle, quarters) in [(-90.0, 1), (180.0, 2), (90.0, 3)] {
            let turned = rotate(&image, angle, Interpolation::Bilinear, Border::Constant(0.0));
            assert_eq!(turned, rotate90(&image, quarters), "{angle}");
        }
    }
}
