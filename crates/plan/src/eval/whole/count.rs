use mip_core::{ImageView, Layout};

use crate::kernel::colors;
use crate::{Border, Histogram, Whole};

/// Counts of the row's channel and rectangle.
pub(super) fn tile(
    histogram: &Histogram,
    image: &ImageView<'_>,
    frame: usize,
    row: u32,
) -> [u32; Whole::VALUES as usize] {
    let (desc, grid) = (image.layout().desc, histogram.grid);
    let tiles = grid.tiles() as u32;
    let (channel, tile) = ((row / tiles) as usize, row % tiles);
    debug_assert!(channel < colors(&desc) as usize);
    let [left, top] = [(tile % grid.columns) * grid.width, (tile / grid.columns) * grid.height];
    let (plane, first, step) = match desc.layout() {
        Layout::Hwc => (0, channel, desc.channels()),
        Layout::Chw => (channel, 0, 1),
    };
    // Neighbours are often equal; their counts are kept apart, so that one need not wait for the other.
    let mut counts = [[0_u32; Whole::VALUES as usize]; 4];
    let inside = left.min(desc.width())..left.saturating_add(grid.width).min(desc.width());
    let outside = if histogram.reflected { inside.end.max(left)..left + grid.width } else { 0..0 };
    for y in top..top.saturating_add(grid.height) {
        let y = if y < desc.height() {
            y
        } else if histogram.reflected {
            Border::Reflect101.index(i64::from(y), desc.height()).unwrap_or(0)
        } else {
            break;
        };
        let samples = image.row(frame, plane, y as usize);
        if !inside.is_empty() {
            let last = (inside.end as usize - 1) * step + first;
            let samples = &samples[inside.start as usize * step + first..=last];
            match step {
                1 => count_all::<1, 4>(samples, &mut counts),
                3 => count_all::<3, 12>(samples, &mut counts),
                _ => count_all::<4, 16>(samples, &mut counts),
            }
        }
        for x in outside.clone() {
            let x = Border::Reflect101.index(i64::from(x), desc.width()).unwrap_or(0);
            counts[0][usize::from(samples[x as usize * step + first])] += 1;
        }
    }
    std::array::from_fn(|v| counts.iter().map(|part| part[v]).sum())
}

/// Every `STEP`th sample from the first on; `FOUR` is four steps.
fn count_all<const STEP: usize, const FOUR: usize>(
    samples: &[u8],
    counts: &mut [[u32; Whole::VALUES as usize]; 4],
) {
    const { assert!(FOUR == 4 * STEP) }
    let (fours, rest) = samples.as_chunks::<FOUR>();
    for four in fours {
        for (part, &v) in counts.iter_mut().zip(four.iter().step_by(STEP)) {
            part[usize::from(v)] += 1;
        }
    }
    for &v in rest.iter().step_by(STEP) {
        counts[0][usize::from(v)] += 1;
    }
}
