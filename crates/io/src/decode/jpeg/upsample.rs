//! Rows of subsampled components at full width, as libjpeg makes them (`jdsample.c`): a triangle filter for
//! halved components, repeated samples for other factors and for components of one or two columns.

use super::frame::{Component, Frame};

/// How a component becomes as large as the picture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Upsample {
    Full,
    /// Each sample counts for so many across and down.
    Repeat(usize, usize),
    HalfAcross,
    HalfDown,
    HalfBoth,
}

impl Upsample {
    pub(super) const fn of(component: &Component, frame: &Frame) -> Self {
        let smooth = frame.is_smooth() && component.size.0 > 2;
        match frame.ratio(component) {
            (1, 1) => Self::Full,
            (1, 2) if frame.is_smooth() => Self::HalfDown,
            (2, 1) if smooth => Self::HalfAcross,
            (2, 2) if smooth => Self::HalfBoth,
            (across, down) => Self::Repeat(across, down),
        }
    }
}

/// A component's samples.
pub(super) struct Plane<'a> {
    pub(super) samples: &'a [u8],
    pub(super) stride: usize,
    pub(super) size: (usize, usize),
    pub(super) upsample: Upsample,
}

impl<'a> Plane<'a> {
    fn samples_of(&self, y: usize) -> &'a [u8] {
        &self.samples[y * self.stride..][..self.size.0]
    }

    /// Row `y` of the picture. `sums` and `wide` have room for a row, rounded up to the sampling factors.
    #[inline(always)]
    pub(super) fn row<'b>(&self, y: usize, sums: &mut [u16], wide: &'b mut [u8]) -> &'b [u8]
    where
        'a: 'b,
    {
        match self.upsample {
            Upsample::Full => self.samples_of(y),
            Upsample::Repeat(across, down) => {
                repeat(self.samples_of(y / down), across, wide);
                wide
            }
            Upsample::HalfAcross => {
                across(self.samples_of(y), wide);
                wide
            }
            Upsample::HalfDown => {
                let bias = 1 + (y as u16 & 1);
                for (to, sum) in wide.iter_mut().zip(self.sums(y, sums)) {
                    *to = ((sum + bias) >> 2) as u8;
                }
                wide
            }
            Upsample::HalfBoth => {
                both(self.sums(y, sums), wide);
                wide
            }
        }
    }

    /// Three times the nearer row plus the farther one; the first and last row have none beyond them.
    #[inline(always)]
    fn sums<'s>(&self, y: usize, sums: &'s mut [u16]) -> &'s [u16] {
        let near = y / 2;
        let far = if y.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(self.size.1 - 1) };
        let (near, far) = (self.samples_of(near), self.samples_of(far));
        let sums = &mut sums[..near.len()];
        for ((sum, near), far) in sums.iter_mut().zip(near).zip(far) {
            *sum = 3 * u16::from(*near) + u16::from(*far);
        }
        sums
    }
}

#[inline(always)]
fn repeat(from: &[u8], times: usize, to: &mut [u8]) {
    for (to, value) in to.chunks_exact_mut(times).zip(from) {
        to.fill(*value);
    }
}

/// Each sample becomes two, a quarter of the way to its neighbours; the outer ones stay.
#[inline(always)]
fn across(from: &[u8], to: &mut [u8]) {
    let n = from.len();
    let to = &mut to[..2 * n];
    for (to, from) in to[2..2 * n - 2].chunks_exact_mut(2).zip(from.windows(3)) {
        let [before, here, after] = [from[0], from[1], from[2]].map(u16::from);
        to[0] = ((3 * here + before + 1) >> 2) as u8;
        to[1] = ((3 * here + after + 2) >> 2) as u8;
    }
    let at = |x: usize| u16::from(from[x]);
    (to[0], to[1]) = (from[0], ((3 * at(0) + at(1) + 2) >> 2) as u8);
    (to[2 * n - 2], to[2 * n - 1]) = (((3 * at(n - 1) + at(n - 2) + 1) >> 2) as u8, from[n - 1]);
}

/// The same of weighted sums of two rows.
#[inline(always)]
fn both(sums: &[u16], to: &mut [u8]) {
    let n = sums.len();
    let to = &mut to[..2 * n];
    for (to, sums) in to[2..2 * n - 2].chunks_exact_mut(2).zip(sums.windows(3)) {
        to[0] = ((3 * sums[1] + sums[0] + 8) >> 4) as u8;
        to[1] = ((3 * sums[1] + sums[2] + 7) >> 4) as u8;
    }
    (to[0], to[1]) = (((4 * sums[0] + 8) >> 4) as u8, ((3 * sums[0] + sums[1] + 7) >> 4) as u8);
    let (last, before) = (sums[n - 1], sums[n - 2]);
    (to[2 * n - 2], to[2 * n - 1]) = (((3 * last + before + 8) >> 4) as u8, ((4 * last + 7) >> 4) as u8);
}
