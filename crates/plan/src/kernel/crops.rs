use mip_core::ImageDesc;

use super::Boxes;

/// Boxes of an image, each resized to a cell of the result. Cells are as wide as the result and lie one below the other, the
/// first box's on top.
///
/// The first input is the image, the second one a list of boxes (see [`Boxes`]) with at least as many rows as there are
/// cells. A box contains the pixels of the image that it has there; the cell of a box that contains none is 0 in every channel.
///
/// A cell is what a [`super::Gather`] or a [`super::Resample`] with two taps makes of the box's pixels alone, so that nothing
/// beside a box is read. No uniforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crops {
    /// Rows of a cell.
    pub rows: u32,
    /// Between pixels.
    pub filter: CropFilter,
}

/// How the pixels of a cell are made of those of its box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CropFilter {
    /// The nearest one: [`Crops::nearest`].
    Nearest,
    /// Weighted sums of 2 x 2, horizontally first, with the weights of [`Crops::linear`]: as in [`super::Resample`], in
    /// binary32, where a tap of weight 0 is no tap, and with alpha as there.
    Bilinear,
}

/// Pixels along an axis: the first one, and how many.
pub type Span = (u32, u32);

impl Crops {
    /// The columns and rows that a box of `x, y, width, height` contains of an image; `None` when it contains no pixel.
    #[inline(always)]
    pub fn pixels([x, y, width, height]: [f32; 4], image: (u32, u32)) -> Option<[Span; 2]> {
        Some([along(x, width, image.0)?, along(y, height, image.1)?])
    }

    /// Which of so many pixels is nearest to number `i` of so many `cells`: `floor((2 i + 1) pixels / (2 cells))`.
    #[inline(always)]
    pub const fn nearest(i: u32, pixels: u32, cells: u32) -> u32 {
        ((2 * i as u64 + 1) * pixels as u64 / (2 * cells as u64)) as u32
    }

    /// The first of two pixels, and the weights of both: with the exact quotient `t = ((2 i + 1) pixels - cells) / (2 cells)`
    /// and its fraction f, pixel `floor(t)` with `1 - f`, and the next with f. Both weights are quotients in binary64,
    /// rounded to binary32. Below the first pixel and beyond the last it is that pixel alone.
    #[inline(always)]
    pub const fn linear(i: u32, pixels: u32, cells: u32) -> (u32, [f32; 2]) {
        let (place, parts) = ((2 * i as u64 + 1) * pixels as u64, 2 * cells as u64);
        if place <= cells as u64 {
            return (0, [1.0, 0.0]);
        }
        let place = place - cells as u64;
        let (first, rest) = (place / parts, place % parts);
        if first + 1 >= pixels as u64 {
            return (pixels - 1, [1.0, 0.0]);
        }
        let (rest, parts) = (rest as f64, parts as f64);
        (first as u32, [((parts - rest) / parts) as f32, (rest / parts) as f32])
    }

    pub(super) fn check(self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let boxes = &inputs[1];
        if !Boxes::is_list(boxes) {
            return Err(format!("{boxes} is no list of boxes"));
        }
        let cells = output.height() / self.rows.max(1);
        if cells.checked_mul(self.rows) != Some(output.height()) || cells > boxes.height() {
            let (height, rows, list) = (output.height(), self.rows, boxes.height());
            return Err(format!("{height} rows are no cells of {rows} rows for at most {list} boxes"));
        }
        Ok(())
    }
}

/// The pixels of a side that lie between the edges of a box, which are rounded as [`Boxes`] says.
#[inline(always)]
fn along(first: f32, size: f32, side: u32) -> Option<Span> {
    // What is negative becomes 0, what is infinite the largest; an edge that is no number is not below another.
    let (from, to) = ((first + 0.5).floor(), (first + size + 0.5).floor());
    let pixels = (from as u32).min(side)..(to as u32).min(side);
    (from < to && !pixels.is_empty()).then(|| (pixels.start, pixels.end - pixels.start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::AxisMap;

    #[test]
    fn boxes_contain_the_pixels_between_their_rounded_edges() {
        let of = |numbers| Crops::pixels(numbers, (10, 8));
        assert_eq!(of([1.0, 2.0, 3.0, 4.0]), Some([(1, 3), (2, 4)]));
        assert_eq!(of([0.5, -3.0, 1.2, 5.4]), Some([(1, 1), (0, 2)]));
        assert_eq!(of([-1e30, -5.0, f32::INFINITY, 1e9]), Some([(0, 10), (0, 8)]));
        assert_eq!(of([f32::NEG_INFINITY, 0.0, f32::INFINITY, 9.0]), None, "their sum is no number");
        assert_eq!(of([0.0, 0.0, f32::INFINITY, 1e9]), Some([(0, 10), (0, 8)]));
        for empty in [[3.0, 3.0, 0.0, 5.0], [10.0, 0.0, 4.0, 4.0], [f32::NAN, 0.0, 4.0, 4.0], [0.0; 4]] {
            assert_eq!(of(empty), None);
        }
    }

    proptest! {
        #[test]
        fn places_are_those_of_a_resize(i: u32, pixels in 1_u32..5000, cells in 1_u32..5000) {
            let i = i % cells;
            prop_assert_eq!(Crops::nearest(i, pixels, cells), AxisMap::Nearest { input: pixels, output: cells }.map(i));
            let (first, weights) = Crops::linear(i, pixels, cells);
            let exact = (f64::from(i) + 0.5) * f64::from(pixels) / f64::from(cells) - 0.5;
            let inside = exact.clamp(0.0, f64::from(pixels - 1));
            let place = f64::from(first) + f64::from(weights[1]);
            prop_assert!((place - inside).abs() < 1e-6 && (f64::from(weights[0]) + f64::from(weights[1]) - 1.0).abs() < 1e-7);
            prop_assert!(weights[1] == 0.0 || first + 1 < pixels);
        }
    }
}
