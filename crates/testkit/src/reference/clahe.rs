use super::Border;
use super::apply::Reference;
use super::counts::{colors, counts};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("clahe", &["clip_limit", "tiles"], |call| {
    let tiles = call.params.list("tiles").unwrap_or_else(|| vec![8.0]);
    let tiles = [tiles[0] as usize, tiles[tiles.len() - 1] as usize];
    clahe(&call.image(0), call.params.number("clip_limit").unwrap_or(40.0), tiles)
});

/// OpenCV's CLAHE of each colour channel, step by step: a larger image, tiles, tables, mixtures.
pub fn clahe(image: &Real, clip_limit: f64, [across, down]: [usize; 2]) -> Real {
    let (w, h) = (image.width, image.height);
    let divides = w.is_multiple_of(across) && h.is_multiple_of(down);
    let (right, bottom) = if divides { (0, 0) } else { (across - w % across, down - h % down) };
    let at = |i: usize, n: usize| Border::Reflect101.resolve(i as i64, n).expect("a reflection is inside");
    let larger =
        Real::from_fn(w + right, h + bottom, image.channels, |x, y, c| image.at(at(x, w), at(y, h), c));
    let (tile_w, tile_h) = (larger.width / across, larger.height / down);
    let table = |channel: usize, column: usize, row: usize| -> Vec<f64> {
        let tile = Real::from_fn(tile_w, tile_h, 1, |x, y, _| {
            larger.at(column * tile_w + x, row * tile_h + y, channel)
        });
        entries(counts(&tile, 0), tile_w * tile_h, f64::from(clip_limit as f32))
    };
    let tables: Vec<Vec<Vec<f64>>> = (0..colors(image))
        .map(|c| (0..across * down).map(|tile| table(c, tile % across, tile / across)).collect())
        .collect();
    // Binary32, as the definition says.
    let around = |i: usize, size: usize, count: usize| {
        let place = i as f32 * (1.0 / size as f32) - 0.5;
        let first = place.floor();
        let inside = |tile: f32| (tile.max(0.0) as usize).min(count - 1);
        (inside(first), inside(first + 1.0), place - first)
    };
    Real::from_fn(w, h, image.channels, |x, y, c| {
        let v = image.at(x, y, c);
        let Some(tables) = tables.get(c) else { return v };
        let (left, right, fx) = around(x, tile_w, across);
        let (top, bottom, fy) = around(y, tile_h, down);
        let of = |column: usize, row: usize| tables[row * across + column][v as usize] as f32;
        let above = of(left, top) * (1.0 - fx) + of(right, top) * fx;
        let below = of(left, bottom) * (1.0 - fx) + of(right, bottom) * fx;
        f64::from(above * (1.0 - fy) + below * fy)
    })
}

/// The table of a tile.
fn entries(mut h: [u64; 256], pixels: usize, clip_limit: f64) -> Vec<f64> {
    if clip_limit > 0.0 {
        let limit = ((clip_limit * pixels as f64 / 256.0).floor() as u64).max(1);
        let mut excess = 0;
        for count in &mut h {
            excess += *count - (*count).min(limit);
            *count = (*count).min(limit);
        }
        for count in &mut h {
            *count += excess / 256;
        }
        let mut rest = (excess % 256) as usize;
        let (mut v, step) = (0, 256_usize.checked_div(rest).unwrap_or(1).max(1));
        while v < 256 && rest > 0 {
            h[v] += 1;
            v += step;
            rest -= 1;
        }
    }
    let scale = 255.0_f32 / pixels as f32;
    let mut sum = 0;
    h.iter()
        .map(|count| {
            sum += count;
            f64::from((sum as f32 * scale).round_ties_even()).min(255.0)
        })
        .collect()
}
