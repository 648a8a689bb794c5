use std::ops::Range;

use mip_core::Sample;
use mip_plan::Border;

/// What windows see outside a row, tabulated for one radius.
#[derive(Debug, Clone)]
pub(crate) struct Borders {
    interior: Range<usize>,
    edges: [Edge; 2],
}

/// A run of columns whose window is not inside the row.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    /// The columns.
    pub(crate) columns: Range<usize>,
    /// The samples that their windows see, from left to right: an index into the row, or, beyond
    /// [`CONSTANT`], a channel of the constant.
    seen: Box<[usize]>,
}

/// Rows have fewer samples than this: they fit in memory.
const CONSTANT: usize = usize::MAX - 3;

impl Borders {
    /// Tabulates `border` for `radius` columns on each side of rows with `step` samples a pixel.
    pub(crate) fn new(border: Border, radius: u32, width: u32, step: usize) -> Self {
        let (r, w) = (radius as usize, width as usize);
        let interior = if 2 * r < w { r..w - r } else { 0..0 };
        let edge = |columns: Range<usize>| {
            let pixels = if columns.is_empty() {
                0..0
            } else {
                columns.start as i64 - r as i64..(columns.end + r) as i64
            };
            let samples = pixels.flat_map(|x| {
                let column = border.index(x, width);
                (0..step).map(move |c| match column {
                    Some(column) => column as usize * step + c,
                    None => CONSTANT + c,
                })
            });
            Edge { seen: samples.collect(), columns }
        };
        Self { edges: [edge(0..interior.start), edge(interior.end..w)], interior }
    }

    /// Columns whose window is inside the row; empty when the row is narrower than the window.
    pub(crate) fn interior(&self) -> Range<usize> {
        self.interior.clone()
    }

    /// The columns to the left and to the right of the interior.
    pub(crate) const fn edges(&self) -> &[Edge; 2] {
        &self.edges
    }
}

impl Edge {
    /// Longest [`Edge::unfold`], for radius 15 and four channels.
    pub(crate) const LONGEST: usize = 4 * 60;

    /// Writes what the windows see as binary32: a row whose interior are the edge's columns.
    #[inline(always)]
    pub(crate) fn unfold<T: Sample>(&self, src: &[T], outside: &[f32], out: &mut [f32]) {
        for (out, &index) in out.iter_mut().zip(&self.seen) {
            *out = match src.get(index) {
                Some(sample) => sample.to_f32(),
                None => outside[index - CONSTANT],
            };
        }
    }
}
