use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use mip_core::ImageDesc;
use mip_plan::AxisMap;

use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::simd::mirror_avx2;

/// [`mip_plan::Gather`]: the row has been chosen by the taps; this picks the columns.
#[derive(Debug)]
pub(crate) struct Gather<T> {
    columns: Columns,
    planes: usize,
    step: usize,
    sample: PhantomData<T>,
}

#[derive(Debug)]
enum Columns {
    From(usize),
    Mirrored {
        last: usize,
    },
    Table(Box<[u32]>),
    /// The whole row in the middle, and what lies beside it by tables.
    Extended {
        left: Box<[u32]>,
        right: Box<[u32]>,
    },
    /// Every pixel twice, the first from here on, so many pixels further each time.
    Doubled {
        first: usize,
        step: usize,
    },
    /// Every second pixel from the first on, none behind the last.
    Halved {
        first: usize,
        last: usize,
    },
}

impl<T: Pod> Gather<T> {
    pub(crate) fn new(output: &ImageDesc, x: AxisMap) -> Self {
        let columns = match x {
            AxisMap::Offset { first } => Columns::From(first as usize),
            AxisMap::Flip { last } => Columns::Mirrored { last: last as usize },
            AxisMap::Step { first, step, shift: 1, last }
                if u64::from(first) + u64::from(output.width().saturating_sub(1) / 2) * u64::from(step)
                    <= u64::from(last) =>
            {
                Columns::Doubled { first: first as usize, step: step as usize }
            }
            AxisMap::Step { first, step: 2, shift: 0, last } if first <= last => {
                Columns::Halved { first: first as usize, last: last as usize }
            }
            AxisMap::Extend { before, input, .. } => {
                let table = |columns: Range<u32>| columns.map(|i| x.map(i)).collect();
                Columns::Extended { left: table(0..before), right: table(before + input..output.width()) }
            }
            AxisMap::Nearest { .. } | AxisMap::Step { .. } => {
                Columns::Table((0..output.width()).map(|i| x.map(i)).collect())
            }
        };
        Self { columns, planes: output.planes(), step: output.pixel_step(), sample: PhantomData }
    }
}

impl<T: Pod + Send + Sync + std::fmt::Debug> RowKernel for Gather<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let row = job.own(0);
        for p in 0..self.planes {
            let (src, out) = (row.plane::<T>(p), out.plane::<T>(p));
            #[cfg(target_arch = "x86_64")]
            if let (Level::Avx2(v3), Columns::Mirrored { last }, 3, 1) =
                (job.level, &self.columns, self.step, size_of::<T>())
            {
                mirror(v3, &src[3 * (last + 1) - out.len()..3 * (last + 1)], out);
                continue;
            }
            if let (Columns::Doubled { first, step: step @ (1 | 2) }, 1, 1) =
                (&self.columns, self.step, size_of::<T>())
            {
                let (src, out) = (bytemuck::cast_slice(src), bytemuck::cast_slice_mut(out));
                double_bytes(job.level, &src[*first..], *step, out);
                continue;
            }
            job.level.vectorize(
                #[inline(always)]
                || match self.step {
                    1 => pick::<T, 1>(&self.columns, src, out),
                    3 => pick::<T, 3>(&self.columns, src, out),
                    _ => pick::<T, 4>(&self.columns, src, out),
                },
            );
        }
    }
}

/// Mirrors pixels of three bytes.
#[cfg(target_arch = "x86_64")]
fn mirror<T: Pod>(v3: pulp::x86::V3, src: &[T], out: &mut [T]) {
    let (src, out): (&[u8], &mut [u8]) = (bytemuck::cast_slice(src), bytemuck::cast_slice_mut(out));
    let done = 3 * mirror_avx2(v3, src, out);
    let rest = src[..src.len() - done].rchunks_exact(3);
    out[done..].chunks_exact_mut(3).zip(rest).for_each(|(out, pixel)| out.copy_from_slice(pixel));
}

/// Copies pixels of `N` samples.
#[inline(always)]
fn pick<T: Pod, const N: usize>(columns: &Columns, src: &[T], out: &mut [T]) {
    let (src, _) = src.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<N>();
    match columns {
        Columns::From(first) => out.copy_from_slice(&src[*first..*first + out.len()]),
        Columns::Mirrored { last } => {
            let src = &src[last + 1 - out.len()..=*last];
            for (out, pixel) in out.iter_mut().zip(src.iter().rev()) {
                *out = *pixel;
            }
        }
        Columns::Table(table) => by_table(table, src, out),
        Columns::Extended { left, right } => {
            let (before, rest) = out.split_at_mut(left.len());
            let (middle, after) = rest.split_at_mut(rest.len() - right.len());
            by_table(left, src, before);
            middle.copy_from_slice(src);
            by_table(right, src, after);
        }
        Columns::Halved { first, last } => {
            let (pairs, _) = src[*first..=*last].as_chunks::<2>();
            let whole = pairs.len().min(out.len());
            for (out, pair) in out.iter_mut().zip(pairs) {
                *out = pair[0];
            }
            for (i, out) in out.iter_mut().enumerate().skip(whole) {
                *out = src[(first + 2 * i).min(*last)];
            }
        }
        // Constant steps become shuffles.
        Columns::Doubled { first, step: 1 } => doubled::<T, N, 1>(&src[*first..], out),
        Columns::Doubled { first, step: 2 } => doubled::<T, N, 2>(&src[*first..], out),
        Columns::Doubled { first, step: 4 } => doubled::<T, N, 4>(&src[*first..], out),
        Columns::Doubled { first, step } => {
            for (pair, pixel) in out.chunks_mut(2).zip(src[*first..].iter().step_by(*step)) {
                pair.fill(*pixel);
            }
        }
    }
}

/// Bytes side by side, or every second one, twice each. Words of two equal bytes are computed, which the compiler makes vectors of.
fn double_bytes(level: Level, src: &[u8], step: usize, out: &mut [u8]) {
    let (pairs, single) = out.as_chunks_mut::<2>();
    let count = pairs.len();
    if let [last] = single {
        *last = src[count * step];
    }
    level.vectorize(
        #[inline(always)]
        move || {
            let double = |word: u16| (word | word << 8).to_le_bytes();
            if step == 1 {
                pairs.iter_mut().zip(src).for_each(|(to, &byte)| *to = double(byte.into()));
                return;
            }
            let (words, single) = src.as_chunks::<2>();
            if let ([byte], Some(to)) = (single, pairs.get_mut(words.len())) {
                *to = [*byte; 2];
            }
            let word = |bytes: [u8; 2]| u16::from_le_bytes(bytes) & 0xFF;
            pairs.iter_mut().zip(words).for_each(|(to, bytes)| *to = double(word(*bytes)));
        },
    );
}

#[inline(always)]
fn by_table<T: Copy>(table: &[u32], src: &[T], out: &mut [T]) {
    for (out, &x) in out.iter_mut().zip(table) {
        *out = src[x as usize];
    }
}

#[inline(always)]
fn doubled<T: Pod, const N: usize, const STEP: usize>(src: &[[T; N]], out: &mut [[T; N]]) {
    let (pairs, rest) = out.as_chunks_mut::<2>();
    let (whole, _) = src.as_chunks::<STEP>();
    for (pair, pixels) in pairs.iter_mut().zip(whole) {
        *pair = [pixels[0]; 2];
    }
    // Behind the last whole step there may be one pixel more, and an odd width has half a pair.
    for i in whole.len().min(pairs.len())..pairs.len() {
        pairs[i] = [src[i * STEP]; 2];
    }
    if let [last] = rest {
        *last = src[pairs.len() * STEP];
    }
}

#[test]
fn bytes_are_doubled() {
    let src: Vec<u8> = (0..=255).rev().collect();
    for level in [Level::Portable, Level::new(crate::SimdLevel::Native)] {
        for (step, width) in (1..=2).flat_map(|step| (0..80).map(move |width| (step, width))) {
            // As much as the last pixel needs, and as rows have behind it.
            for more in 0..step {
                let len = (width.max(1) - 1) / 2 * step + 1 + more;
                let mut out = vec![7; width];
                double_bytes(level, &src[..len], step, &mut out);
                let expected: Vec<u8> = (0..width).map(|x| src[x / 2 * step]).collect();
                assert_eq!(out, expected, "{width} pixels from {len} bytes, {step} apart");
            }
        }
    }
}
