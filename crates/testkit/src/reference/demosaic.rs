use super::Border;
use super::apply::Reference;
use super::around::around;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("demosaic", &["pattern", "method"], |call| {
    let pattern = call.params.word("pattern").unwrap_or("rggb");
    demosaic(&call.image(0), pattern, call.params.word("method") == Some("malvar"))
})
.output(|_, desc| desc.with_format(mip_core::PixelFormat::Rgb).unwrap());

/// Each pixel's colour by the letter of the pattern that it lies under, and the two others from the pixels around it that have
/// them: their mean, or the filters of Malvar, He and Cutler (2004, figure 2).
pub fn demosaic(image: &Real, pattern: &str, malvar: bool) -> Real {
    let letters = pattern.as_bytes();
    let letter = |x: i64, y: i64| letters[(y.rem_euclid(2) * 2 + x.rem_euclid(2)) as usize];
    Real::from_fn(image.width, image.height, 3, |x, y, c| {
        let (x, y) = (x as i64, y as i64);
        let wanted = b"rgb"[c];
        let at = |dx: i64, dy: i64| around(image, Border::Reflect101, (x + dx, y + dy), 0);
        if letter(x, y) == wanted {
            return at(0, 0);
        }
        let near: Vec<(i64, i64)> = (-1..=1)
            .flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)))
            .filter(|&(dx, dy)| letter(x + dx, y + dy) == wanted)
            .collect();
        let mean = near.iter().map(|&(dx, dy)| at(dx, dy)).sum::<f64>() / near.len() as f64;
        if !malvar {
            return mean;
        }
        let ends = at(-2, 0) + at(2, 0) + at(0, -2) + at(0, 2);
        let corners = at(-1, -1) + at(1, -1) + at(-1, 1) + at(1, 1);
        mean + match (wanted, letter(x, y)) {
            // Green at red and blue: alpha 1/2.
            (b'g', _) => (4.0 * at(0, 0) - ends) / 8.0,
            // Red or blue at green: beta 5/8.
            (_, b'g') => {
                let (in_row, in_column) = (at(-2, 0) + at(2, 0), at(0, -2) + at(0, 2));
                let (along, across) = if near[0].1 == 0 { (in_row, in_column) } else { (in_column, in_row) };
                (5.0 * at(0, 0) - along - corners + 0.5 * across) / 8.0
            }
            // Red at blue and blue at red: gamma 3/4.
            _ => (6.0 * at(0, 0) - 1.5 * ends) / 8.0,
        }
    })
}
