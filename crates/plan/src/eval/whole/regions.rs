//! What is read off a forest, and off an image with numbered regions.

use mip_core::{ImageView, ImageViewMut};

use super::forest::Forest;
use crate::Regions;

const BACKGROUND: u32 = Regions::BACKGROUND;

/// A row of 32-bit whole numbers in an image of f32.
pub(super) fn numbers<'a>(view: &ImageView<'a>, frame: usize, y: u32) -> &'a [u32] {
    bytemuck::cast_slice(view.row(frame, 0, y as usize))
}

/// The number of roots up to each pixel of a row, `counts(x)` of those there are.
pub(super) fn rank(forest: &Forest<'_>, y: u32, counts: impl Fn(usize) -> bool, to: &mut [u32]) {
    let mut rank = 0;
    for ((x, to), (&number, own)) in
        to.iter_mut().enumerate().zip(forest.row(y).iter().zip(forest.first(y)..))
    {
        rank += u32::from(number == own && counts(x));
        *to = rank;
    }
}

/// The number of roots above each row, of the last rank in each.
pub(super) fn row_starts(ranks: &ImageView<'_>, frame: usize, to: &mut [u32]) {
    let mut sum = 0;
    for (to, y) in to.iter_mut().zip(0..) {
        *to = sum;
        sum += numbers(ranks, frame, y).last().expect("a row has pixels");
    }
}

/// A row of numbered regions.
pub(super) fn number(
    forest: &Forest<'_>,
    [ranks, starts]: [&ImageView<'_>; 2],
    frame: usize,
    y: u32,
    to: &mut [f32],
) {
    let starts = numbers(starts, frame, 0);
    let label = |number: u32| {
        let root = forest.root(number);
        if number == BACKGROUND || root == 0 {
            return 0.0;
        }
        let (x, y) = forest.place(root);
        let row = numbers(ranks, frame, y as u32);
        let before = if x == 0 { 0 } else { row[x - 1] };
        if row[x] == before { 0.0 } else { (starts[y] + row[x]) as f32 }
    };
    let mut known = (BACKGROUND, 0.0);
    for (to, &number) in to.iter_mut().zip(forest.row(y)) {
        if number != known.0 {
            known = (number, if number == BACKGROUND { 0.0 } else { label(number) });
        }
        *to = known.1;
    }
}

/// A row of 255 where there is a seed.
pub(super) fn seeded(forest: &Forest<'_>, y: u32, to: &mut [u8]) {
    let mut known = (BACKGROUND, 0);
    for (to, &number) in to.iter_mut().zip(forest.row(y)) {
        if number != known.0 {
            let seed = number != BACKGROUND && forest.root(number) == 0;
            known = (number, if seed { 255 } else { 0 });
        }
        *to = known.1;
    }
}

/// The pixels of each region at its root.
pub(super) fn areas(forest: &Forest<'_>, frame: usize, output: &mut ImageViewMut<'_>) {
    let height = output.layout().desc.height();
    for y in 0..height {
        output.row_mut(frame, 0, y as usize).fill(0);
    }
    let mut add = |number: u32, pixels: u32| {
        let root = if number == BACKGROUND { 0 } else { forest.root(number) };
        if root != 0 {
            let (x, y) = forest.place(root);
            let row: &mut [u32] = bytemuck::cast_slice_mut(output.row_mut(frame, 0, y));
            row[x] += pixels;
        }
    };
    for y in 0..height {
        for run in forest.row(y).chunk_by(|a, b| a == b) {
            add(run[0], run.len() as u32);
        }
    }
}

/// Bounding boxes and areas of numbered regions.
pub(super) fn measure(labels: &ImageView<'_>, frame: usize, output: &mut ImageViewMut<'_>) {
    #[derive(Clone, Copy)]
    struct Measures {
        left: u32,
        top: u32,
        right: u32,
        bottom: u32,
        area: u32,
    }
    let rows = output.layout().desc.height();
    let mut all = vec![Measures { left: u32::MAX, top: 0, right: 0, bottom: 0, area: 0 }; rows as usize];
    for y in 0..labels.layout().desc.height() {
        let mut x = 0;
        for run in labels.row_as::<f32>(frame, 0, y as usize).chunk_by(|a, b| a == b) {
            let end = x + run.len() as u32;
            if let Some(index) = index_of(run[0], rows) {
                let m = &mut all[index as usize];
                m.top = if m.area == 0 { y } else { m.top };
                m.left = m.left.min(x);
                m.right = m.right.max(end - 1);
                m.bottom = y;
                m.area += end - x;
            }
            x = end;
        }
    }
    for (m, y) in all.iter().zip(0..) {
        let row = output.row_as_mut::<f32>(frame, 0, y);
        row.fill(0.0);
        if m.area > 0 {
            let (width, height) = (m.right - m.left + 1, m.bottom - m.top + 1);
            let measures = [m.left, m.top, width, height, m.area];
            row.iter_mut().zip(measures).for_each(|(to, v)| *to = v as f32);
        }
    }
}

/// The row of a region's measures; `None` of what is no whole number from 1 to the number of rows.
fn index_of(label: f32, rows: u32) -> Option<u32> {
    (label >= 1.0 && label <= rows as f32 && label.fract() == 0.0).then(|| label as u32 - 1)
}
