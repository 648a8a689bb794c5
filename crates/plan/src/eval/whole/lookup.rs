use mip_core::{ImageView, Layout, Sample};

use crate::TileGrid;
use crate::kernel::colors;

/// The samples of a row that belong to a channel, wherever it lies: plane, first sample and distance.
fn place(image: &ImageView<'_>, channel: usize) -> (usize, usize, usize) {
    let desc = image.layout().desc;
    match desc.layout() {
        Layout::Hwc => (0, channel, desc.channels()),
        Layout::Chw => (channel, 0, 1),
    }
}

/// Alpha, which is kept.
fn keep_alpha(image: &ImageView<'_>, frame: usize, y: u32, planes: &mut [&mut [u8]]) {
    let desc = image.layout().desc;
    for channel in colors(&desc) as usize..desc.channels() {
        let (plane, first, step) = place(image, channel);
        let from = &image.row(frame, plane, y as usize)[first..];
        let to = &mut planes[plane][first..];
        to.iter_mut().step_by(step).zip(from.iter().step_by(step)).for_each(|(to, &v)| *to = v);
    }
}

/// A row looked up in the table's row of each channel.
pub(super) fn rows(
    image: &ImageView<'_>,
    table: &ImageView<'_>,
    frame: usize,
    y: u32,
    planes: &mut [&mut [u8]],
) {
    let entries = |channel: usize| <&[u8; 256]>::try_from(table.row(frame, 0, channel)).expect("256 columns");
    let desc = image.layout().desc;
    if desc.layout() == Layout::Hwc && desc.channels() == 3 {
        let (from, to) = (image.row(frame, 0, y as usize), &mut *planes[0]);
        let tables = [0, 1, 2].map(entries);
        for (to, from) in to.as_chunks_mut::<3>().0.iter_mut().zip(from.as_chunks::<3>().0) {
            *to = [0, 1, 2].map(|c| tables[c][usize::from(from[c])]);
        }
        return;
    }
    for channel in 0..colors(&desc) as usize {
        let (plane, first, step) = place(image, channel);
        let (from, entries) = (&image.row(frame, plane, y as usize)[first..], entries(channel));
        let to = &mut planes[plane][first..];
        if step == 1 {
            to.iter_mut().zip(from).for_each(|(to, &v)| *to = entries[usize::from(v)]);
        } else {
            let pairs = to.iter_mut().step_by(step).zip(from.iter().step_by(step));
            pairs.for_each(|(to, &v)| *to = entries[usize::from(v)]);
        }
    }
    keep_alpha(image, frame, y, planes);
}

/// For each column the tiles to the left and to the right, and the weight of the right one.
#[derive(Debug)]
pub(super) struct Mixture {
    columns: Vec<([u32; 2], f32)>,
}

impl Mixture {
    pub(super) fn new(width: u32, tiles: u32, tile: u32) -> Self {
        Self { columns: (0..width).map(|x| around(x, tiles, tile)).collect() }
    }
}

/// The tiles whose centres lie before and behind a pixel, and the weight of the one behind.
fn around(x: u32, tiles: u32, tile: u32) -> ([u32; 2], f32) {
    let inverse = 1.0 / tile as f32;
    let at = x as f32 * inverse - 0.5;
    let first = at.floor();
    let before = if first < 0.0 { 0 } else { first as u32 };
    ([before.min(tiles - 1), ((first + 1.0) as u32).min(tiles - 1)], at - first)
}

/// A row between the tables of tiles.
pub(super) fn between(
    grid: &TileGrid,
    mixture: &Mixture,
    [image, table]: [&ImageView<'_>; 2],
    frame: usize,
    y: u32,
    planes: &mut [&mut [u8]],
) {
    let ([above, below], fy) = around(y, grid.rows, grid.height);
    let tiles = grid.tiles() as usize;
    for channel in 0..colors(&image.layout().desc) as usize {
        let entries = |row: u32, column: u32| {
            table.row(frame, 0, channel * tiles + (row * grid.columns + column) as usize)
        };
        let (plane, first, step) = place(image, channel);
        let from = image.row(frame, plane, y as usize)[first..].iter().step_by(step);
        let to = planes[plane][first..].iter_mut().step_by(step);
        let mut known = [u32::MAX; 2];
        let mut four: [&[u8]; 4] = [&[]; 4];
        for ((to, &v), &(pair, fx)) in to.zip(from).zip(&mixture.columns) {
            if pair != known {
                known = pair;
                let [left, right] = pair;
                four = [
                    entries(above, left),
                    entries(above, right),
                    entries(below, left),
                    entries(below, right),
                ];
            }
            let [a, b, c, d] = four.map(|entries| f32::from(entries[usize::from(v)]));
            let mixed = (a * (1.0 - fx) + b * fx) * (1.0 - fy) + (c * (1.0 - fx) + d * fx) * fy;
            *to = u8::from_f32(mixed);
        }
    }
    keep_alpha(image, frame, y, planes);
}
