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
    for (start, block) in to.chunks_mut(BLOCK).enumerate().map(|(n, block)| (n * BLOCK, block)) {
        let strong = strengths[1][start + 1..][..block.len()].iter().fold(0, |most, &m| most.max(m));
        if strong <= low {
            continue;
        }
        for (x, to) in (start..).zip(block) {
            let at = |row: usize, by: usize| strengths[row][x + by];
            let m = at(1, 1);
            if m > low && is_maximum([own.dx[x], own.dy[x]].map(i32::from), m, at) {
                *to = 1 + u8::from(m > high);
            }
        }
    }
}

/// Whether no neighbour across the edge is stronger. `at(row, column)` of the 3x3 around.
fn is_maximum([dx, dy]: [i32; 2], m: i32, at: impl Fn(usize, usize) -> i32) -> bool {
    // tan(22.5 degrees) in 1/32768.
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
