use mip_core::ImageView;

use crate::Canny;

/// Derivatives and strengths of some rows, which the next ones need again.
#[derive(Debug, Default)]
pub(super) struct Gradients {
    rows: [Gradient; 3],
    /// Sums and differences of three rows, one more on each side than there are columns.
    sums: [Vec<i16>; 2],
    /// Strengths outside the image.
    nothing: Vec<i32>,
}

/// Of a row, or of nothing as of one outside the image.
#[derive(Debug, Default)]
struct Gradient {
    row: Option<u32>,
    dx: Vec<i16>,
    dy: Vec<i16>,
    /// One more on each side than there are columns: 0.
    strength: Vec<i32>,
}

/// Pixels that are looked at together, of which mostly none counts.
const BLOCK: usize = 16;

impl Gradients {
    /// Makes sure that a row is there; it takes the place of the one three rows away.
    fn need(&mut self, squared: bool, image: &ImageView<'_>, frame: usize, y: u32) {
        let own = &mut self.rows[y as usize % 3];
        if own.row == Some(y) {
            return;
        }
        let (width, last) = (image.layout().desc.width() as usize, image.layout().desc.height() - 1);
        let row = |y: u32| image.row(frame, 0, y as usize);
        let [above, middle, below] = [row(y.saturating_sub(1)), row(y), row((y + 1).min(last))];
        let [smooth, across] = &mut self.sums;
        for sums in [&mut *smooth, &mut *across] {
            sums.resize(width + 2, 0);
        }
        let inner = smooth[1..=width].iter_mut().zip(&mut across[1..=width]);
        for ((smooth, across), ((&a, &b), &c)) in inner.zip(above.iter().zip(middle).zip(below)) {
            let [a, b, c] = [a, b, c].map(i16::from);
            (*smooth, *across) = (a + 2 * b + c, c - a);
        }
        for sums in [&mut *smooth, &mut *across] {
            (sums[0], sums[width + 1]) = (sums[1], sums[width]);
        }
        own.row = Some(y);
        own.dx.resize(width, 0);
        own.dy.resize(width, 0);
        own.strength.resize(width + 2, 0);
        let (smooth, across) = (&smooth[..width + 2], &across[..width + 2]);
        let results = own.dx.iter_mut().zip(&mut own.dy);
        for ((dx, dy), (s, d)) in results.zip(smooth.windows(3).zip(across.windows(3))) {
            (*dx, *dy) = (s[2] - s[0], d[0] + 2 * d[1] + d[2]);
        }
        let strength = own.strength[1..=width].iter_mut().zip(own.dx.iter().zip(&own.dy));
        if squared {
            strength.for_each(|(to, (&dx, &dy))| {
                let (dx, dy) = (i32::from(dx), i32::from(dy));
                *to = dx * dx + dy * dy;
            });
        } else {
            strength.for_each(|(to, (&dx, &dy))| *to = i32::from(dx.abs() + dy.abs()));
        }
    }
}

/// A row of classes: 2, 1 or 0.
pub(super) fn row(
    kernel: Canny,
    uniforms: &[f32],
    (image, frame): (&ImageView<'_>, usize),
    y: u32,
    known: &mut Gradients,
    to: &mut [u8],
) {
    let [low, high] = kernel.thresholds([uniforms[0], uniforms[1]]);
    let height = image.layout().desc.height();
    for near in y.saturating_sub(1)..(y + 2).min(height) {
        known.need(kernel.squared, image, frame, near);
    }
    known.nothing.resize(to.len() + 2, 0);
    let strength = |y: Option<u32>| match y.filter(|&y| y < height) {
        Some(y) => &known.rows[y as usize % 3].strength[..],
        None => &known.nothing[..],
    };
    let strengths = [strength(y.checked_sub(1)), strength(Some(y)), strength(Some(y + 1))];
    let own = &known.rows[y as usize % 3];
    to.fill(0);
    let limits = [low, high];
    let mut start = 0;
    while start < to.len() {
        // The last block ends with the row; some of its pixels are looked at twice.
        let first = start.min(to.len().saturating_sub(BLOCK));
        let near = strengths.map(|row| &row[first..]);
        let (dx, dy, to) = (&own.dx[first..], &own.dy[first..], &mut to[first..]);
        if let (Some(dx), Some(dy), Some(to)) = (dx.first_chunk(), dy.first_chunk(), to.first_chunk_mut()) {
            block(near, [dx, dy], limits, to);
        } else {
            for x in 0..to.len() {
                to[x] = class(near.map(|row| [row[x], row[x + 1], row[x + 2]]), [dx[x], dy[x]], limits);
            }
        }
        start += BLOCK;
    }
}

/// The classes of a block, without branches but for what all of it is.
fn block(near: [&[i32]; 3], [dx, dy]: [&[i16; BLOCK]; 2], limits: [i32; 2], to: &mut [u8; BLOCK]) {
    let [above, here, below] = near.map(|row| &row[..BLOCK + 2]);
    if here[1..=BLOCK].iter().fold(0, |most, &m| most.max(m)) <= limits[0] {
        return;
    }
    for x in 0..BLOCK {
        let around = [
            [above[x], above[x + 1], above[x + 2]],
            [here[x], here[x + 1], here[x + 2]],
            [below[x], below[x + 1], below[x + 2]],
        ];
        to[x] = class(around, [dx[x], dy[x]], limits);
    }
}

/// 0 of a pixel that is weak or has a stronger neighbour across the edge, 2 of a strong one, 1 of others.
#[inline(always)]
fn class([above, here, below]: [[i32; 3]; 3], derivatives: [i16; 2], [low, high]: [i32; 2]) -> u8 {
    let ([dx, dy], m) = (derivatives.map(i32::from), here[1]);
    // tan(22.5 degrees) in 1/32768.
    let (t, y) = (dx.abs() * 13573, dy.abs() << 15);
    // An equal one counts as weaker beside and below; others must be less.
    let [flat, steep, falling] = [y < t, y > t + (dx.abs() << 16), (dx ^ dy) < 0];
    let first = pick(flat, here[0], pick(steep, above[1], pick(falling, above[2], above[0])));
    let second = pick(flat, here[2] - 1, pick(steep, below[1] - 1, pick(falling, below[0], below[2])));
    let is_maximum = mask(m > low) & mask(m > first) & mask(m > second);
    ((is_maximum & 1) + (is_maximum & mask(m > high) & 1)) as u8
}

/// One of two numbers, both of which are read: places that are chosen between make no vectors.
#[inline(always)]
const fn pick(condition: bool, then: i32, other: i32) -> i32 {
    (then & mask(condition)) | (other & !mask(condition))
}

/// All bits or none.
#[inline(always)]
const fn mask(condition: bool) -> i32 {
    -(condition as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

    /// Whether no neighbour across the edge is stronger, as it is said.
    fn is_maximum([dx, dy]: [i32; 2], m: i32, at: impl Fn(usize, usize) -> i32) -> bool {
        let (t, y) = (dx.abs() * 13573, dy.abs() << 15);
        if y < t {
            m > at(1, 0) && m >= at(1, 2)
        } else if y > t + (dx.abs() << 16) {
            m > at(0, 1) && m >= at(2, 1)
        } else if (dx ^ dy) < 0 {
            m > at(0, 2) && m > at(2, 0)
        } else {
            m > at(0, 0) && m > at(2, 2)
        }
    }

    #[test]
    fn blocks_are_what_pixels_are() {
        let mut state = 7_u32;
        for (width, squared) in (1..=50).flat_map(|width| [(width, false), (width, true)]) {
            let mut image =
                ImageBuffer::new(ImageDesc::new(width, 5, PixelFormat::Gray, DType::U8).unwrap()).unwrap();
            for byte in image.view_mut().data_mut() {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Few values, so that neighbours are often equal.
                *byte = (state >> 30) as u8 * if width % 2 == 0 { 80 } else { 3 };
            }
            let kernel = Canny { squared };
            let uniforms = [5.0, 100.0];
            let [low, high] = kernel.thresholds(uniforms);
            let (view, mut known) = (image.view(), Gradients::default());
            for y in 0..5 {
                let mut classes = vec![9; width as usize];
                row(kernel, &uniforms, (&view, 0), y, &mut known, &mut classes);
                let strength = |row: usize, x: usize| match (y as usize + row).checked_sub(1) {
                    Some(y) if y < 5 => known.rows[y % 3].strength[x],
                    _ => 0,
                };
                let own = &known.rows[y as usize % 3];
                for (x, &class) in classes.iter().enumerate() {
                    let m = strength(1, x + 1);
                    let derivatives = [own.dx[x], own.dy[x]].map(i32::from);
                    let counts = m > low && is_maximum(derivatives, m, |row, by| strength(row, x + by));
                    let expected = if counts { 1 + u8::from(m > high) } else { 0 };
                    assert_eq!(class, expected, "{x} {y} of {width}, {squared}");
                }
            }
        }
    }
}
