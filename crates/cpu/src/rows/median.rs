//! Medians of squares of integer samples. Columns are sorted once for all pixels that see them; of the sorted columns side by side
//! only those samples are compared that can be the median. With registers of AVX2; other levels compute the expression.

use std::marker::PhantomData;
use std::sync::Arc;

use mip_core::ImageDesc;
use mip_plan::Border;

use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::{Integer, Level, Ordered, WithOrdered};

/// [`mip_plan::Stencil::median`] of `SIDE` rows whose samples all are alike; 3 or 5.
#[derive(Debug)]
pub(crate) struct Median<T, const SIDE: usize> {
    /// The expression.
    otherwise: Arc<dyn RowKernel>,
    border: Border,
    desc: ImageDesc,
    sample: PhantomData<T>,
}

impl<T: Integer, const SIDE: usize> Median<T, SIDE> {
    /// `None` when alpha is kept, when samples cannot be what the border says, and for rows shorter than a vector.
    pub(crate) fn new(border: Border, desc: ImageDesc, otherwise: &Arc<dyn RowKernel>) -> Option<Self> {
        let constant =
            if let Border::Constant(value) = border { T::DTYPE.rounded(value) == value } else { true };
        let fits = constant && !desc.format().has_alpha() && desc.row_samples() >= 32;
        fits.then(|| Self { otherwise: otherwise.clone(), border, desc, sample: PhantomData })
    }

    /// Samples beside a row that its windows see.
    fn reach(&self) -> usize {
        SIDE / 2 * self.desc.pixel_step()
    }

    /// Sorts the columns beside the row.
    fn beside(&self, rows: [&[T]; SIDE], sorted: &mut [&mut [T]; SIDE]) {
        let (step, width, reach) = (self.desc.pixel_step(), self.desc.width(), SIDE / 2);
        let outside =
            if let Border::Constant(value) = self.border { T::from_f32(value) } else { T::default() };
        let (left, right) = (0..reach, reach + width as usize..2 * reach + width as usize);
        for column in left.chain(right) {
            let source = self.border.index(column as i64 - reach as i64, width);
            for channel in 0..step {
                let mut samples = [outside; SIDE];
                if let Some(source) = source {
                    samples = rows.map(|row| row[source as usize * step + channel]);
                }
                samples.sort_unstable();
                for (sorted, sample) in sorted.iter_mut().zip(samples) {
                    sorted[column * step + channel] = sample;
                }
            }
        }
    }
}

impl<T: Integer, const SIDE: usize> RowKernel for Median<T, SIDE> {
    fn scratch_bytes(&self) -> usize {
        // Sorted columns, and a row of the constant.
        let row = self.desc.row_samples();
        self.otherwise.scratch_bytes().max((SIDE * (row + 2 * self.reach()) + row) * size_of::<T>())
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let Level::Avx2(v3) = job.level else {
            return self.otherwise.compute(job, scratch, out);
        };
        let (length, reach) = (self.desc.row_samples(), self.reach());
        let samples = SIDE * (length + 2 * reach) + length;
        let memory: &mut [T] = bytemuck::cast_slice_mut(&mut scratch[..samples * size_of::<T>()]);
        let (constant, memory) = memory.split_at_mut(length);
        if let Border::Constant(value) = self.border {
            constant.fill(T::from_f32(value));
        }
        for plane in 0..self.desc.planes() {
            let rows: [&[T]; SIDE] =
                std::array::from_fn(|k| job.tap(k).map_or(&*constant, |row| row.plane(plane)));
            let mut chunks = memory.chunks_exact_mut(length + 2 * reach);
            let mut sorted: [&mut [T]; SIDE] = std::array::from_fn(|_| chunks.next().unwrap_or_default());
            self.beside(rows, &mut sorted);
            let inside = sorted.each_mut().map(|sorted| &mut sorted[reach..reach + length]);
            T::with_avx2(v3, Columns { rows, sorted: inside });
            let sorted = sorted.map(|sorted| &*sorted);
            T::with_avx2(v3, Middle { sorted, step: self.desc.pixel_step(), out: out.plane(plane) });
        }
    }
}

/// The first samples of vectors that cover so many; the last may overlap its neighbour.
#[inline(always)]
fn starts(length: usize, vector: usize) -> impl Iterator<Item = usize> {
    (0..length.div_ceil(vector)).map(move |i| (i * vector).min(length - vector))
}

#[inline(always)]
fn load<T: Integer, const N: usize, O: Ordered<T, N>>(o: O, from: &[T], at: usize) -> O::V {
    o.load(&from[at..at + N].as_chunks::<N>().0[0])
}

#[inline(always)]
fn store<T: Integer, const N: usize, O: Ordered<T, N>>(o: O, value: O::V, to: &mut [T], at: usize) {
    o.store(value, &mut to[at..at + N].as_chunks_mut::<N>().0[0]);
}

/// Sorts columns.
struct Columns<'a, T, const SIDE: usize> {
    rows: [&'a [T]; SIDE],
    sorted: [&'a mut [T]; SIDE],
}

impl<T: Integer, const SIDE: usize> WithOrdered<T> for Columns<'_, T, SIDE> {
    #[inline(always)]
    fn run<const N: usize, O: Ordered<T, N>>(self, o: O) {
        let Self { rows, mut sorted } = self;
        for at in starts(rows[0].len(), N) {
            let mut column = [load(o, rows[0], at); SIDE];
            for (column, row) in column.iter_mut().zip(rows) {
                *column = load(o, row, at);
            }
            sort(o, &mut column);
            for (column, sorted) in column.into_iter().zip(&mut sorted) {
                store(o, column, sorted, at);
            }
        }
    }
}

/// Picks the medians of sorted columns, `step` samples apart.
struct Middle<'a, T, const SIDE: usize> {
    sorted: [&'a [T]; SIDE],
    step: usize,
    out: &'a mut [T],
}

impl<T: Integer, const SIDE: usize> WithOrdered<T> for Middle<'_, T, SIDE> {
    #[inline(always)]
    fn run<const N: usize, O: Ordered<T, N>>(self, o: O) {
        let Self { sorted, step, out } = self;
        for at in starts(out.len(), N) {
            // By rank, then from left to right.
            let mut ranks = [[load(o, sorted[0], at); SIDE]; SIDE];
            for (rank, sorted) in ranks.iter_mut().zip(sorted) {
                for (i, sample) in rank.iter_mut().enumerate() {
                    *sample = load(o, sorted, at + i * step);
                }
            }
            store(o, middle(o, ranks), out, at);
        }
    }
}

/// The median of sorted columns side by side.
#[inline(always)]
fn middle<T, const N: usize, O: Ordered<T, N>, const SIDE: usize>(
    o: O,
    mut ranks: [[O::V; SIDE]; SIDE],
) -> O::V {
    // Columns stay sorted when rows are sorted; a sample with more than half of all samples above (or below) it is out.
    for rank in &mut ranks {
        sort(o, rank);
    }
    if SIDE == 3 {
        let mut last = [ranks[0][2], ranks[1][1], ranks[2][0]];
        sort(o, &mut last);
        return last[1];
    }
    let [a, b, c, d, e] = [ranks[0], ranks[1], ranks[2], ranks[3], ranks[4]];
    // Of thirteen. Whenever the least and the greatest of more than half of those that are left are out, the next one comes in.
    let mut some = [a[3], a[4], b[2], b[3], b[4], c[1], c[2], c[3]];
    // Rows and columns are sorted: these are the only ones that can be the least or the greatest.
    for (i, j) in [(0, 2), (0, 5), (4, 7)] {
        order(o, &mut some, i, j);
    }
    some[0] = d[0];
    ends::<7, _, N, O>(o, &mut some);
    some[0] = d[1];
    ends::<6, _, N, O>(o, &mut some);
    some[0] = d[2];
    ends::<5, _, N, O>(o, &mut some);
    some[0] = e[0];
    ends::<4, _, N, O>(o, &mut some);
    some[0] = e[1];
    ends::<3, _, N, O>(o, &mut some);
    some[1]
}

/// Brings the lower of two to place `i`, the other to place `j`.
#[inline(always)]
fn order<T, const N: usize, O: Ordered<T, N>>(o: O, of: &mut [O::V], i: usize, j: usize) {
    (of[i], of[j]) = (o.min(of[i], of[j]), o.max(of[i], of[j]));
}

/// Brings the least of the first `COUNT` to the front of them, the greatest to their end.
#[inline(always)]
fn ends<const COUNT: usize, T, const N: usize, O: Ordered<T, N>>(o: O, of: &mut [O::V; 8]) {
    let last = COUNT - 1;
    for i in 0..last.div_ceil(2) {
        order(o, of, i, last - i);
    }
    for i in 1..=last / 2 {
        order(o, of, 0, i);
    }
    for i in last.div_ceil(2)..last {
        order(o, of, i, last);
    }
}

/// Sorts three or five.
#[inline(always)]
fn sort<T, const N: usize, O: Ordered<T, N>>(o: O, of: &mut [O::V]) {
    const THREE: [(usize, usize); 3] = [(0, 2), (0, 1), (1, 2)];
    const FIVE: [(usize, usize); 9] =
        [(0, 3), (1, 4), (0, 2), (1, 3), (0, 1), (2, 4), (1, 2), (3, 4), (2, 3)];
    if of.len() == 3 {
        for (i, j) in THREE {
            order(o, of, i, j);
        }
    } else {
        for (i, j) in FIVE {
            order(o, of, i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros and ones, 64 networks at a time. What orders them orders everything.
    #[derive(Clone, Copy)]
    struct Bits;

    impl Ordered<u64, 1> for Bits {
        type V = u64;

        fn load(self, src: &[u64; 1]) -> u64 {
            src[0]
        }

        fn store(self, value: u64, dst: &mut [u64; 1]) {
            dst[0] = value;
        }

        fn min(self, a: u64, b: u64) -> u64 {
            a & b
        }

        fn max(self, a: u64, b: u64) -> u64 {
            a | b
        }
    }

    #[test]
    fn columns_are_sorted() {
        for ones in 0..32_u64 {
            let mut five: [u64; 5] = std::array::from_fn(|i| ones >> i & 1);
            sort::<u64, 1, Bits>(Bits, &mut five);
            assert!(five.is_sorted(), "{ones:b}");
            let mut three: [u64; 3] = std::array::from_fn(|i| ones >> i & 1);
            sort::<u64, 1, Bits>(Bits, &mut three);
            assert!(three.is_sorted(), "{ones:b}");
        }
    }

    /// Sorted columns of zeros and ones are known by the number of their ones.
    fn check<const SIDE: usize>() {
        for code in 0..(SIDE + 1).pow(SIDE as u32) {
            let ones: [usize; SIDE] = std::array::from_fn(|i| code / (SIDE + 1).pow(i as u32) % (SIDE + 1));
            let ranks: [[u64; SIDE]; SIDE] =
                std::array::from_fn(|rank| ones.map(|ones| u64::from(rank >= SIDE - ones)));
            let most = ones.iter().sum::<usize>() > SIDE * SIDE / 2;
            assert_eq!(middle::<u64, 1, Bits, SIDE>(Bits, ranks), u64::from(most), "{ones:?}");
        }
    }

    #[test]
    fn the_middle_one_is_found() {
        check::<3>();
        check::<5>();
    }
}
