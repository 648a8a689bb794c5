use mip_core::ImageView;

use crate::Canny;

/// A row of classes: 2, 1 or 0.
pub(super) fn row(
    kernel: Canny,
    uniforms: &[f32],
    image: &ImageView<'_>,
    frame: usize,
    y: u32,
    to: &mut [u8],
) {
    let [low, high] = kernel.thresholds([uniforms[0], uniforms[1]]);
    let desc = image.layout().desc;
    let (width, height) = (desc.width() as usize, i64::from(desc.height()));
    let around: [&[u8]; 5] = std::array::from_fn(|i| {
        let y = (i64::from(y) + i as i64 - 2).clamp(0, height - 1);
        image.row(frame, 0, y as usize)
    });
    // Of the row above, this one and the one below: derivatives and strength; 0 beside the image, above and below it.
    let mut strengths = [const { Vec::new() }; 3];
    let mut derivatives = Vec::new();
    for (i, strengths) in strengths.iter_mut().enumerate() {
        *strengths = vec![0; width + 2];
        if !(0..height).contains(&(i64::from(y) + i as i64 - 1)) {
            continue;
        }
        let own = gradients([around[i], around[i + 1], around[i + 2]]);
        for (to, &[dx, dy]) in strengths[1..].iter_mut().zip(&own) {
            *to = if kernel.squared { dx * dx + dy * dy } else { dx.abs() + dy.abs() };
        }
        if i == 1 {
            derivatives = own;
        }
    }
    for (x, (to, &[dx, dy])) in to.iter_mut().zip(&derivatives).enumerate() {
        let at = |row: usize, by: usize| strengths[row][x + by];
        let m = at(1, 1);
        *to = match m > low && is_maximum([dx, dy], m, at) {
            false => 0,
            true => 1 + u8::from(m > high),
        };
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

/// Sobel derivatives of a row, of it and the rows above and below.
fn gradients([above, own, below]: [&[u8]; 3]) -> Vec<[i32; 2]> {
    let width = own.len();
    let column = |x: usize| {
        let [a, b, c] = [above, own, below].map(|row| i32::from(row[x]));
        (a + 2 * b + c, c - a)
    };
    let mut columns = (column(0), column(0), column(1.min(width - 1)));
    let gradient = |x: usize| {
        let (left, middle, right) = columns;
        columns = (middle, right, column((x + 2).min(width - 1)));
        [right.0 - left.0, left.1 + 2 * middle.1 + right.1]
    };
    (0..width).map(gradient).collect()
}
