//! Kernels over whole images: the definition, and what the CPU runs. Most are computed row by row of their results, see
//! [`crate::WholeOrder`].

mod boxes;
mod canny;
mod count;
mod distance;
mod forest;
mod integral;
mod lookup;
mod median;
mod regions;
mod table;
mod tile;

use mip_core::{ImageView, ImageViewMut};

use crate::{Boxes, Distance, Integral, Lookup, Regions, Whole, WholeOrder};
use forest::Forest;
pub use forest::RowBands;
use lookup::Mixture;

/// What rows that are computed one after the other by one thread keep for each other; of one kernel and frame.
#[derive(Debug, Default)]
pub struct RowScratch {
    gradients: canny::Gradients,
    columns: median::Columns,
    sums: integral::Above,
}

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
    /// Of inputs and uniforms that [`crate::Kernel::check`] accepts, and a kernel of [`WholeOrder::Rows`].
    pub fn new(kernel: &'a Whole, uniforms: &'a [f32], inputs: &'a [ImageView<'a>], frame: usize) -> Self {
        let mixture = match kernel {
            Whole::Lookup(Lookup::Between(grid)) => {
                Some(Mixture::new(inputs[0].layout().desc.width(), grid.columns, grid.width))
            }
            Whole::Lookup(Lookup::Rows)
            | Whole::Histogram(_)
            | Whole::Table(_)
            | Whole::Median(_)
            | Whole::Canny(_)
            | Whole::Regions(_)
            | Whole::Distance(_)
            | Whole::Integral(_)
            | Whole::Boxes(_)
            | Whole::Tile(_) => None,
        };
        Self { kernel, uniforms, inputs, frame, mixture }
    }

    /// Computes row `y` of the result: `planes` are the bytes of that row in each plane. `scratch` is of nothing, or of
    /// other rows.
    pub fn row(&self, y: u32, scratch: &mut RowScratch, planes: &mut [&mut [u8]]) {
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
            Whole::Median(kernel) => {
                median::row(*kernel, (&self.inputs[0], frame), y, &mut scratch.columns, planes);
            }
            Whole::Canny(kernel) => {
                let image = (&self.inputs[0], frame);
                canny::row(*kernel, self.uniforms, image, y, &mut scratch.gradients, planes[0]);
            }
            Whole::Distance(Distance::Rows(metric)) => {
                let columns = self.inputs[0].row_as(frame, 0, y as usize);
                distance::row(*metric, columns, bytemuck::cast_slice_mut(planes[0]));
            }
            Whole::Integral(Integral::Strips { squared }) => {
                integral::strip(*squared, (&self.inputs[0], frame), y, planes);
            }
            Whole::Integral(Integral::Sums { squared }) => {
                let images = [&self.inputs[0], &self.inputs[1]];
                integral::row(*squared, images, frame, y, &mut scratch.sums, planes);
            }
            Whole::Regions(step) => self.regions_row(*step, y, planes[0]),
            Whole::Boxes(Boxes::Outline) => {
                boxes::outline([&self.inputs[0], &self.inputs[1]], self.uniforms, frame, y, planes);
            }
            Whole::Boxes(Boxes::Label(labels)) => {
                boxes::label(*labels, [&self.inputs[0], &self.inputs[1]], self.uniforms, frame, y, planes);
            }
            Whole::Boxes(Boxes::Cover) => {
                boxes::cover([&self.inputs[0], &self.inputs[1], &self.inputs[2]], frame, y, planes);
            }
            Whole::Tile(kernel) => tile::row(*kernel, self.inputs, self.uniforms, frame, y, planes),
            Whole::Distance(Distance::Columns) | Whole::Boxes(Boxes::Suppress) => {
                unreachable!("frames, not rows")
            }
        }
    }

    fn regions_row(&self, step: Regions, y: u32, to: &mut [u8]) {
        let (inputs, frame) = (self.inputs, self.frame);
        let forest = || Forest::new(&inputs[0], frame);
        match step {
            Regions::Rank { by_area: false } => {
                regions::rank(&forest(), y, |_| true, bytemuck::cast_slice_mut(to));
            }
            Regions::Rank { by_area: true } => {
                let areas = regions::numbers(&inputs[1], frame, y);
                let enough = |x: usize| areas[x] as f32 >= self.uniforms[0];
                regions::rank(&forest(), y, enough, bytemuck::cast_slice_mut(to));
            }
            Regions::RowStarts => regions::row_starts(&inputs[0], frame, bytemuck::cast_slice_mut(to)),
            Regions::Number => {
                let others = [&inputs[1], &inputs[2]];
                regions::number(&forest(), others, frame, y, bytemuck::cast_slice_mut(to));
            }
            Regions::Seeded => regions::seeded(&forest(), y, to),
            Regions::Connect { .. } | Regions::Areas | Regions::Measure => {
                unreachable!("bands or frames, not rows")
            }
        }
    }
}

/// Computes a frame by one thread.
pub fn whole_frame(
    kernel: &Whole,
    uniforms: &[f32],
    inputs: &[ImageView<'_>],
    frame: usize,
    output: &mut ImageViewMut<'_>,
) {
    match kernel {
        Whole::Regions(Regions::Connect { .. }) => {
            let bands = RowBands::new(kernel, &inputs[0], frame).expect("it is of bands");
            let (layout, height) = (*output.layout(), output.layout().desc.height());
            let start = layout.row_range(frame, 0, 0).start;
            let end = layout.row_range(frame, 0, height as usize - 1).end;
            bands.band(0..height, layout.row_stride, &mut output.data_mut()[start..end]);
        }
        Whole::Regions(Regions::Areas) => {
            regions::areas(&Forest::new(&inputs[0], frame), frame, output);
        }
        Whole::Regions(Regions::Measure) => regions::measure(&inputs[0], frame, output),
        Whole::Distance(Distance::Columns) => distance::columns(&inputs[0], frame, output),
        Whole::Boxes(Boxes::Suppress) => boxes::suppress(&inputs[0], uniforms, frame, output),
        Whole::Histogram(_)
        | Whole::Table(_)
        | Whole::Lookup(_)
        | Whole::Median(_)
        | Whole::Canny(_)
        | Whole::Tile(_)
        | Whole::Distance(Distance::Rows(_))
        | Whole::Integral(_)
        | Whole::Boxes(Boxes::Outline | Boxes::Label(_) | Boxes::Cover)
        | Whole::Regions(Regions::Rank { .. } | Regions::RowStarts | Regions::Number | Regions::Seeded) => {
            rows(kernel, uniforms, inputs, frame, output);
        }
    }
}

/// Computes every row of a frame.
fn rows(
    kernel: &Whole,
    uniforms: &[f32],
    inputs: &[ImageView<'_>],
    frame: usize,
    output: &mut ImageViewMut<'_>,
) {
    debug_assert_eq!(kernel.order(), WholeOrder::Rows);
    let (desc, rows) = (output.layout().desc, WholeRows::new(kernel, uniforms, inputs, frame));
    let mut scratch = RowScratch::default();
    // Aligned for every dtype.
    let mut memory = vec![0_u64; (desc.row_bytes() * desc.planes()).div_ceil(8)];
    let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
    for y in 0..desc.height() {
        let mut planes: Vec<&mut [u8]> =
            memory.chunks_exact_mut(desc.row_bytes()).take(desc.planes()).collect();
        rows.row(y, &mut scratch, &mut planes);
        for (plane, row) in planes.iter().enumerate() {
            output.row_mut(frame, plane, y as usize).copy_from_slice(row);
        }
    }
}
