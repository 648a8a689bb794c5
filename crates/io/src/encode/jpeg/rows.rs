//! Samples of one row of units: what a file's blocks are cut from.

use super::ChromaSampling;
use super::colors;
use crate::vector::Level;

/// Pixels to be written: gray or rgb, interleaved.
#[derive(Clone, Copy)]
pub(super) struct Pixels<'a> {
    pub(super) samples: &'a [u8],
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
}

impl<'a> Pixels<'a> {
    fn row(&self, y: usize) -> &'a [u8] {
        &self.samples[y * self.width * self.channels..][..self.width * self.channels]
    }
}

/// The samples that one component has of a row of units, and the size that it has of the picture.
pub(super) struct Plane {
    pub(super) samples: Vec<u8>,
    /// Samples from one row to the next: whole blocks.
    pub(super) stride: usize,
    /// Blocks that have pixels, across and down the picture.
    pub(super) blocks: [usize; 2],
    /// Blocks of a unit, across and down.
    pub(super) unit: [usize; 2],
}

impl Plane {
    /// A component that has a sample for `fewer` pixels across and down, of a picture in units of `unit` blocks of it.
    fn new(pixels: &Pixels<'_>, unit: [usize; 2], fewer: [usize; 2]) -> Self {
        let blocks = [pixels.width.div_ceil(8 * fewer[0]), pixels.height.div_ceil(8 * fewer[1])];
        let stride = 8 * blocks[0];
        Self { samples: vec![0; stride * 8 * unit[1]], stride, blocks, unit }
    }

    fn row(&mut self, y: usize) -> &mut [u8] {
        &mut self.samples[y * self.stride..][..self.stride]
    }

    /// A row is that before it.
    fn repeat(&mut self, y: usize) {
        self.samples.copy_within((y - 1) * self.stride..y * self.stride, y * self.stride);
    }
}

/// Makes rows of units, one after the other.
pub(super) struct Rows<'a> {
    pixels: Pixels<'a>,
    /// Pixels across and down for a sample of chroma.
    fewer: [usize; 2],
    /// Luma, and both of chroma where there are colors.
    pub(super) planes: Vec<Plane>,
    /// Chroma of all pixels of which one row of its samples is made, where the file has fewer of these.
    whole: [Vec<u8>; 2],
}

impl<'a> Rows<'a> {
    pub(super) fn new(pixels: Pixels<'a>, sampling: ChromaSampling) -> Self {
        if pixels.channels == 1 {
            let planes = vec![Plane::new(&pixels, [1, 1], [1, 1])];
            return Self { pixels, fewer: [1, 1], planes, whole: Default::default() };
        }
        let fewer = sampling.pixels();
        let planes = [[fewer, [1, 1]], [[1, 1], fewer], [[1, 1], fewer]];
        let planes: Vec<_> = planes.map(|[unit, fewer]| Plane::new(&pixels, unit, fewer)).into();
        let bytes = if fewer == [1, 1] { 0 } else { planes[1].stride * fewer[0] * fewer[1] };
        Self { pixels, fewer, planes, whole: [(); 2].map(|()| vec![0; bytes]) }
    }

    /// Units across and down.
    pub(super) fn units(&self) -> [usize; 2] {
        let Pixels { width, height, .. } = self.pixels;
        [width.div_ceil(8 * self.fewer[0]), height.div_ceil(8 * self.fewer[1])]
    }

    /// Fills the planes for row `unit` of units. Right of the picture its last column is repeated, below it the last
    /// row of samples.
    #[inline(always)]
    pub(super) fn fill(&mut self, unit: usize, level: impl Level) {
        for group in 0..8 {
            let first = (unit * 8 + group) * self.fewer[1];
            if first < self.pixels.height {
                self.convert(group, first, level);
                self.reduce(group);
                continue;
            }
            for plane in &mut self.planes {
                let rows = plane.unit[1];
                (group * rows..(group + 1) * rows).for_each(|y| plane.repeat(y));
            }
        }
    }

    /// Luma, and chroma of all pixels, of the rows that one row of chroma is made of.
    #[inline(always)]
    fn convert(&mut self, group: usize, first: usize, level: impl Level) {
        let ([across, down], width) = (self.fewer, self.pixels.width);
        let (luma, chroma) = self.planes.split_at_mut(1);
        for part in 0..down {
            let row = self.pixels.row((first + part).min(self.pixels.height - 1));
            let y = luma[0].row(group * down + part);
            if let [cb, cr] = chroma {
                let [whole_cb, whole_cr] = &mut self.whole;
                let (cb, cr) = if whole_cb.is_empty() {
                    (cb.row(group), cr.row(group))
                } else {
                    let (start, stride) = (part * across * cb.stride, across * cb.stride);
                    (&mut whole_cb[start..][..stride], &mut whole_cr[start..][..stride])
                };
                level.ycc(row, [&mut y[..width], &mut cb[..width], &mut cr[..width]]);
                pad(cb, width);
                pad(cr, width);
            } else {
                y[..width].copy_from_slice(row);
            }
            pad(y, width);
        }
    }

    /// One row of chroma from that of all pixels.
    #[inline(always)]
    fn reduce(&mut self, group: usize) {
        let [across, down] = self.fewer;
        for (plane, whole) in
            self.planes[1..].iter_mut().zip(&self.whole).filter(|(_, whole)| !whole.is_empty())
        {
            let mut rows = [&[][..]; 2];
            for (row, whole) in rows.iter_mut().zip(whole.chunks_exact(across * plane.stride)) {
                *row = whole;
            }
            colors::fewer(&rows[..down], across, plane.row(group));
        }
    }
}

/// Repeats the last sample to the end.
fn pad(row: &mut [u8], width: usize) {
    let last = row[width - 1];
    row[width..].fill(last);
}
