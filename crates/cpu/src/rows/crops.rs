//! [`mip_plan::Crops`]: boxes of an image, each resized to a cell of the result.

use std::fmt::Debug;
use std::marker::PhantomData;

use mip_core::{ImageDesc, Layout};
use mip_plan::{Border, CropFilter, Crops as Definition, Span};

use super::interpolation::{straight, sum};
use super::row::RowMut;
use super::sampled::{Source, quantise};
use super::{BLOCK, Job, RowKernel};
use crate::simd::{Pixel, Vector, WithVector};

/// Rows of one cell share the places of their columns, so several are made together.
#[derive(Debug)]
pub(crate) struct Crops<T> {
    definition: Definition,
    input: ImageDesc,
    /// Columns of the result.
    width: u32,
    sample: PhantomData<T>,
}

impl<T> Crops<T> {
    pub(crate) const fn new(definition: Definition, input: ImageDesc, width: u32) -> Self {
        Self { definition, input, width, sample: PhantomData }
    }
}

impl<T: Pixel + Debug> RowKernel for Crops<T> {
    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        self.compute_together(std::slice::from_ref(job), scratch, std::slice::from_mut(out));
    }

    fn together(&self) -> usize {
        BLOCK
    }

    fn compute_together(&self, jobs: &[Job<'_>], _: &mut [u8], out: &mut [RowMut<'_>]) {
        jobs[0].level.with(Rows { crops: self, jobs, out });
    }
}

struct Rows<'a, 'j, 'o, T> {
    crops: &'a Crops<T>,
    jobs: &'a [Job<'j>],
    out: &'a mut [RowMut<'o>],
}

impl<T: Pixel> WithVector for Rows<'_, '_, '_, T> {
    #[inline(always)]
    fn run<const L: usize, V: Vector<L>>(self, v: V) {
        let Self { crops, jobs, out } = self;
        match crops.input.channels() {
            1 => crops.rows::<1, L, V>(jobs, v, out),
            3 => crops.rows::<3, L, V>(jobs, v, out),
            _ => crops.rows::<4, L, V>(jobs, v, out),
        }
    }
}

/// Columns whose places are found before their values.
const COLUMNS: usize = 64;

/// What is read for some columns of a cell: source columns and their weights.
#[derive(Clone, Copy)]
struct Columns {
    first: [usize; COLUMNS],
    weights: [[f32; 2]; COLUMNS],
}

impl Columns {
    const NONE: Self = Self { first: [0; COLUMNS], weights: [[0.0; 2]; COLUMNS] };

    /// Those from column `start` on, for a box with these columns of the image.
    #[inline(always)]
    fn find(&mut self, filter: CropFilter, (from, pixels): Span, start: usize, width: u32) {
        let columns = (start as u32..width).zip(self.first.iter_mut().zip(&mut self.weights));
        for (column, (first, weights)) in columns {
            let place = match filter {
                CropFilter::Nearest => Definition::nearest(column, pixels, width),
                CropFilter::Bilinear => {
                    let (place, both) = Definition::linear(column, pixels, width);
                    *weights = both;
                    place
                }
            };
            *first = (from + place) as usize;
        }
    }
}

impl<T: Pixel> Crops<T> {
    #[inline(always)]
    fn rows<const N: usize, const L: usize, V: Vector<L>>(
        &self,
        jobs: &[Job<'_>],
        v: V,
        out: &mut [RowMut<'_>],
    ) {
        let bilinear = self.definition.filter == CropFilter::Bilinear;
        let alpha = bilinear && self.input.format().has_alpha();
        let source = Source::<T, N>::new(&jobs[0], &self.input, Border::Replicate, alpha);
        let interleaved = self.input.layout() == Layout::Hwc;
        let step = if interleaved { N } else { 1 };
        let size = (self.input.width(), self.input.height());
        let (mut columns, mut values) = (Columns::NONE, [[0.0; N]; COLUMNS]);
        for start in (0..self.width as usize).step_by(COLUMNS) {
            let values = &mut values[..COLUMNS.min(self.width as usize - start)];
            let (mut cell, mut spans) = (None, None);
            for (job, out) in jobs.iter().zip(&mut *out) {
                let (here, row) = (job.y / self.definition.rows, job.y % self.definition.rows);
                if cell != Some(here) {
                    let numbers: &[f32] = job.origins[1].row(here).plane::<f32>(0);
                    spans = Definition::pixels([numbers[0], numbers[1], numbers[2], numbers[3]], size);
                    cell = Some(here);
                    if let Some([across, _]) = spans {
                        columns.find(self.definition.filter, across, start, self.width);
                    }
                }
                match spans {
                    Some([_, down]) if bilinear => {
                        self.bilinear(&source, &columns, (row, down), alpha, values);
                    }
                    Some([_, down]) => {
                        let line = down.0 + Definition::nearest(row, down.1, self.definition.rows);
                        let pixels = values.iter_mut().zip(&columns.first);
                        pixels.for_each(|(value, &x)| *value = source.pixel_at(x, line as usize));
                    }
                    None => values.fill([0.0; N]),
                }
                let to = start * step..(start + values.len()) * step;
                if interleaved {
                    quantise(v, values.as_flattened(), &mut out.plane::<T>(0)[to]);
                    continue;
                }
                for c in 0..N {
                    let mut plane = [0.0; COLUMNS];
                    plane.iter_mut().zip(&*values).for_each(|(to, value)| *to = value[c]);
                    quantise(v, &plane, &mut out.plane::<T>(c)[to.clone()]);
                }
            }
        }
    }

    /// Pixels of a row of a cell whose box has these rows of the image.
    #[inline(always)]
    fn bilinear<const N: usize>(
        &self,
        source: &Source<'_, T, N>,
        columns: &Columns,
        (row, down): (u32, Span),
        alpha: bool,
        values: &mut [[f32; N]],
    ) {
        let (line, wy) = Definition::linear(row, down.1, self.definition.rows);
        let line = (down.0 + line) as usize;
        // A tap of weight 0 may lie outside; integers read something there, and floats do not look at it.
        let next = (line + 1).min(self.input.height() as usize - 1);
        let last = self.input.width() as usize - 1;
        let places = columns.first.iter().zip(&columns.weights);
        for (value, (&x, &wx)) in values.iter_mut().zip(places) {
            let beside = (x + 1).min(last);
            let [above, below] =
                [line, next].map(|y| sum::<T, N, 2>(wx, [source.pixel_at(x, y), source.pixel_at(beside, y)]));
            *value = sum::<T, N, 2>(wy, [above, below]);
            if alpha {
                *value = straight(*value);
            }
        }
    }
}
