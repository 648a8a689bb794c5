//! Kernels over whole images, row by row of their results: the definition, and what the CPU runs.

mod count;
mod lookup;
mod table;

use mip_core::{ImageView, ImageViewMut};

use crate::{Lookup, Whole};
use lookup::Mixture;

/// A kernel at work on a frame: its rows may be computed in any order, by any thread.
#[derive(Debug)]
pub struct WholeRows<'a> {
    kernel: &'a Whole,
    uniforms: &'a [f32],
    inputs: &'a [ImageView<'a>],
    frame: usize,
    mixture: Option<Mixture>,
}

impl<'a> WholeRows<'a> {
    /// Of inputs and uniforms that [`crate::Kernel::check`] accepts.
    pub fn new(kernel: &'a Whole, uniforms: &'a [f32], inputs: &'a [ImageView<'a>], frame: usize) -> Self {
        let mixture = match kernel {
            Whole::Lookup(Lookup::Between(grid)) => {
                Some(Mixture::new(inputs[0].layout().desc.width(), grid.columns, grid.width))
            }
            Whole::Lookup(Lookup::Rows) | Whole::Histogram(_) | Whole::Table(_) => None,
        };
        Self { kernel, uniforms, inputs, frame, mixture }
    }

    /// Computes row `y` of the result: `planes` are the bytes of that row in each plane.
    pub fn row(&self, y: u32, planes: &mut [&mut [u8]]) {
        let frame = self.frame;
        match self.kernel {
            Whole::Histogram(histogram) => {
                let counts = count::tile(histogram, &self.inputs[0], frame, y);
                let row = planes[0].as_chunks_mut::<4>().0.iter_mut();
                row.zip(counts).for_each(|(to, count)| *to = (count as f32).to_ne_bytes());
            }
            Whole::Table(table) => {
                let counts = table::sums(&self.inputs[0], frame, y, table.parts);
                table::fill(table.rule, &counts, self.uniforms, planes[0]);
            }
            Whole::Lookup(Lookup::Rows) => lookup::rows(&self.inputs[0], &self.inputs[1], frame, y, planes),
            Whole::Lookup(Lookup::Between(grid)) => {
                let mixture = self.mixture.as_ref().expect("made in `new`");
                lookup::between(grid, mixture, [&self.inputs[0], &self.inputs[1]], frame, y, planes);
            }
        }
    }
}

/// Computes every row of a frame.
pub(super) fn frame(
    kernel: &Whole,
    uniforms: &[f32],
    inputs: &[ImageView<'_>],
    frame: usize,
    output: &mut ImageViewMut<'_>,
) {
    let (desc, rows) = (output.layout().desc, WholeRows::new(kernel, uniforms, inputs, frame));
    let mut memory = vec![0; desc.row_bytes() * desc.planes()];
    for y in 0..desc.height() {
        let mut planes: Vec<&mut [u8]> = memory.chunks_exact_mut(desc.row_bytes()).collect();
        rows.row(y, &mut planes);
        for (plane, row) in planes.iter().enumerate() {
            output.row_mut(frame, plane, y as usize).copy_from_slice(row);
        }
    }
}
