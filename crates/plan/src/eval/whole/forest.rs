//! Pixels that belong together, as a forest: see [`Regions`].

use std::ops::Range;

use mip_core::{ImageView, ImageViewMut};

use crate::{Connectivity, Regions, Whole};

const BACKGROUND: u32 = Regions::BACKGROUND;

/// A frame of a forest that is complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forest<'a> {
    numbers: &'a [u32],
    /// Pixels from a row to the next.
    pitch: usize,
    width: usize,
}

impl<'a> Forest<'a> {
    pub(super) fn new(view: &ImageView<'a>, frame: usize) -> Self {
        let layout = view.layout();
        let rows = layout.desc.height() as usize;
        let (start, end) = (layout.row_range(frame, 0, 0).start, layout.row_range(frame, 0, rows - 1).end);
        Self {
            numbers: bytemuck::cast_slice(&view.data()[start..end]),
            pitch: layout.row_stride / 4,
            width: layout.desc.width() as usize,
        }
    }

    pub(super) fn row(&self, y: u32) -> &'a [u32] {
        &self.numbers[y as usize * self.pitch..][..self.width]
    }

    /// What leads to a pixel of this row's start.
    pub(super) const fn first(&self, y: u32) -> u32 {
        (y as usize * self.pitch) as u32 + 1
    }

    /// Where a number of a region leads in the end.
    pub(super) fn root(&self, mut number: u32) -> u32 {
        while number != 0 {
            let next = self.numbers[number as usize - 1];
            if next == number {
                break;
            }
            number = next;
        }
        number
    }

    /// Column and row of a root that is no seed's.
    pub(super) const fn place(&self, root: u32) -> (usize, usize) {
        let at = root as usize - 1;
        (at % self.pitch, at / self.pitch)
    }
}

/// Some rows of a forest that grows: numbers lead nowhere else.
struct Growing<'a> {
    numbers: &'a mut [u32],
    /// What leads to the first of them.
    first: u32,
}

impl Growing<'_> {
    fn at(&mut self, number: u32) -> &mut u32 {
        &mut self.numbers[(number - self.first) as usize]
    }

    /// The root, on a path that becomes shorter.
    fn root(&mut self, mut number: u32) -> u32 {
        while number != 0 {
            let next = *self.at(number);
            if next == number || next == 0 {
                return next;
            }
            let behind = *self.at(next);
            *self.at(number) = behind;
            number = behind;
        }
        0
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            *self.at(a.max(b)) = a.min(b);
        }
    }

    /// Unites the runs of pixels of a row with those of the row above.
    fn unite_rows(&mut self, above: usize, below: usize, width: usize, connectivity: Connectivity) {
        let reach = usize::from(connectivity == Connectivity::Eight);
        let mut x = 0;
        while x < width {
            if self.numbers[below + x] == BACKGROUND {
                x += 1;
                continue;
            }
            let start = x;
            x += run(&self.numbers[below + x..below + width]);
            let (mut at, end) = (start.saturating_sub(reach), (x + reach).min(width));
            while at < end {
                let number = self.numbers[above + at];
                if number == BACKGROUND {
                    at += 1;
                    continue;
                }
                self.unite(number, self.numbers[below + start]);
                at += run(&self.numbers[above + at..above + end]);
            }
        }
    }
}

/// Pixels at the start of a row that belong to a region.
fn run(numbers: &[u32]) -> usize {
    numbers.iter().position(|&number| number == BACKGROUND).unwrap_or(numbers.len())
}

/// Makes a forest of an image, band by band in any order, by any thread; then the bands grow together.
#[derive(Debug)]
pub struct RowBands<'a> {
    image: &'a ImageView<'a>,
    frame: usize,
    connectivity: Connectivity,
    seeds: bool,
}

impl<'a> RowBands<'a> {
    /// Of a frame; `None` of a kernel that is no [`Regions::Connect`].
    pub fn new(kernel: &Whole, image: &'a ImageView<'a>, frame: usize) -> Option<Self> {
        match *kernel {
            Whole::Regions(Regions::Connect { connectivity, seeds }) => {
                Some(Self { image, frame, connectivity, seeds })
            }
            _ => None,
        }
    }

    /// Computes these rows of the result as if there were no others. `memory` begins with the first of them and has `stride`
    /// bytes from one to the next.
    pub fn band(&self, rows: Range<u32>, stride: usize, memory: &mut [u8]) {
        let width = self.image.layout().desc.width() as usize;
        let pitch = stride / 4;
        let first = (rows.start as usize * pitch) as u32 + 1;
        let mut forest = Growing { numbers: bytemuck::cast_slice_mut(memory), first };
        for (row, y) in rows.enumerate() {
            let (pixels, below) = (self.image.row(self.frame, 0, y as usize), row * pitch);
            self.runs(pixels, &mut forest.numbers[below..below + width], first + below as u32);
            if row > 0 {
                forest.unite_rows(below - pitch, below, width, self.connectivity);
            }
        }
    }

    /// The runs of a row by themselves: each leads to its first pixel, or is a seed's.
    fn runs(&self, pixels: &[u8], numbers: &mut [u32], first: u32) {
        let mut x = 0;
        while x < pixels.len() {
            let rest = &pixels[x..];
            let length = rest.iter().position(|&v| (v == 0) != (rest[0] == 0)).unwrap_or(rest.len());
            let seed = self.seeds && rest[..length].iter().any(|&v| v > 1);
            let number = match (rest[0], seed) {
                (0, _) => BACKGROUND,
                (_, true) => 0,
                (_, false) => first + x as u32,
            };
            numbers[x..x + length].fill(number);
            x += length;
        }
    }

    /// Joins all bands of the frame, which begin at these rows.
    pub fn join(&self, starts: impl Iterator<Item = u32>, output: &mut ImageViewMut<'_>) {
        let layout = *output.layout();
        let (width, height) = (layout.desc.width() as usize, layout.desc.height() as usize);
        let range = layout.row_range(self.frame, 0, 0).start..layout.row_range(self.frame, 0, height - 1).end;
        let numbers: &mut [u32] = bytemuck::cast_slice_mut(&mut output.data_mut()[range]);
        let (mut forest, pitch) = (Growing { numbers, first: 1 }, layout.row_stride / 4);
        for start in starts.filter(|&start| start > 0) {
            let below = start as usize * pitch;
            forest.unite_rows(below - pitch, below, width, self.connectivity);
        }
    }
}
