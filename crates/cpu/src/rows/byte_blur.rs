//! [`mip_plan::Separable`] on bytes without alpha.

use mip_core::{ALIGNMENT, ImageDesc, Sample};
use mip_plan::Border;

use super::row::{Row, RowMut, RowShape};
use super::{Job, RowKernel, TOGETHER, Taps};
use crate::simd::Level;

/// Samples computed at a time; rows of sums are a multiple of them, in an order of their own that only the vertical
/// half reads.
pub(crate) const LANES: usize = 32;

/// What both halves know.
#[derive(Debug, Clone)]
pub(crate) struct ByteBlur {
    desc: ImageDesc,
    radius: [usize; 2],
    /// Where the samples left and right of a row come from: a sample of the row, or none for the constant.
    sides: [Box<[Option<usize>]>; 2],
    /// What stands for samples outside a constant border.
    constant: u8,
}

impl ByteBlur {
    /// `None` when alpha needs more than this, or the constant of the border is no byte.
    pub(crate) fn new(desc: ImageDesc, radius: [u32; 2], border: Border) -> Option<Self> {
        let constant = if let Border::Constant(value) = border { value } else { 0.0 };
        if desc.format().has_alpha() || u8::from_f32(constant).to_f32() != constant {
            return None;
        }
        let (step, width) = (desc.pixel_step(), i64::from(desc.width()));
        let side = |pixels: std::ops::Range<i64>| {
            let samples = pixels.flat_map(|x| {
                let column = border.index(x, desc.width());
                (0..step).map(move |c| column.map(|column| column as usize * step + c))
            });
            samples.collect::<Box<_>>()
        };
        let reach = i64::from(radius[0]);
        let sides = [side(-reach..0), side(width..width + reach)];
        Some(Self { desc, radius: radius.map(|r| r as usize), sides, constant: constant as u8 })
    }

    /// The shape of a row of sums.
    pub(crate) fn sums(&self) -> RowShape {
        let bytes = self.desc.row_samples().next_multiple_of(LANES) * size_of::<f32>();
        RowShape { planes: self.desc.planes(), bytes, stride: bytes.next_multiple_of(ALIGNMENT) }
    }

    /// Bytes of a row with what its windows see on both sides, as far as whole blocks reach.
    fn padded(&self) -> usize {
        self.desc.row_samples().next_multiple_of(LANES) + 2 * self.sides[0].len()
    }

    /// Sums along a row; `None` stands for a row of constants.
    fn filter(
        &self,
        level: Level,
        row: Option<&Row<'_>>,
        weights: &[f32],
        padded: &mut [u8],
        out: &mut RowMut<'_>,
    ) {
        let (reach, samples) = (self.sides[0].len(), self.desc.row_samples());
        let step = self.desc.pixel_step();
        for p in 0..self.desc.planes() {
            if let Some(row) = row {
                let src: &[u8] = row.plane(p);
                let sample = |source: &Option<usize>| source.map_or(self.constant, |source| src[source]);
                let (left, rest) = padded.split_at_mut(reach);
                left.iter_mut().zip(&self.sides[0]).for_each(|(to, source)| *to = sample(source));
                let (inside, right) = rest.split_at_mut(samples);
                inside.copy_from_slice(src);
                right.iter_mut().zip(&self.sides[1]).for_each(|(to, source)| *to = sample(source));
            } else {
                padded.fill(self.constant);
            }
            let out = out.plane(p);
            match level {
                Level::Portable => blur_row(padded, step, weights, out),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2(v3) => crate::simd::blur_row_avx2(v3, padded, step, weights, out),
            }
        }
    }
}

/// The horizontal half: a row of bytes to a row of sums.
#[derive(Debug)]
pub(crate) struct Horizontal(pub(crate) ByteBlur);

impl RowKernel for Horizontal {
    fn scratch_bytes(&self) -> usize {
        self.0.padded()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let weights = &job.uniforms[..=self.0.radius[0]];
        self.0.filter(job.level, Some(&job.own(0)), weights, &mut scratch[..self.0.padded()], out);
    }
}

/// The vertical half: rows of sums to a row of bytes.
#[derive(Debug)]
pub(crate) struct Vertical(pub(crate) ByteBlur);

impl RowKernel for Vertical {
    fn scratch_bytes(&self) -> usize {
        // A row of sums outside the image, and what it is made of.
        self.0.sums().slot() + self.0.padded()
    }

    fn together(&self) -> usize {
        // Rows of sums are long; those that neighbouring results share come from the cache once.
        TOGETHER
    }

    fn compute_together(&self, jobs: &[Job<'_>], scratch: &mut [u8], out: &mut [RowMut<'_>]) {
        #[cfg(target_arch = "x86_64")]
        if let (Level::Avx2(v3), Ok(out)) =
            (jobs[0].level, <&mut [RowMut<'_>; TOGETHER]>::try_from(&mut *out))
            && self.all_at_once(v3, jobs, out)
        {
            return;
        }
        jobs.iter().zip(out).for_each(|(job, out)| self.compute(job, scratch, out));
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let (sums, blur) = (self.0.sums(), &self.0);
        let (across, down) = job.uniforms.split_at(blur.radius[0] + 1);
        let count = 2 * blur.radius[1] + 1;
        let (outside, padded) = scratch.split_at_mut(sums.slot());
        if (0..count).any(|k| job.tap(k).is_none()) {
            blur.filter(job.level, None, across, &mut padded[..blur.padded()], &mut sums.row_mut(outside));
        }
        let outside = sums.row(outside);
        let finite = finite_sums(across, down);
        let samples = blur.desc.row_samples();
        for p in 0..blur.desc.planes() {
            let mut rows = [&[] as &[f32]; Taps::MAX];
            for (k, row) in rows.iter_mut().enumerate().take(count) {
                *row = job.tap(k).unwrap_or(outside).plane(p);
            }
            let (rows, out) = (&rows[..count], &mut out.plane::<u8>(p)[..samples]);
            match job.level {
                Level::Portable => blur_columns(rows, down, out),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2(v3) => crate::simd::blur_columns_avx2(v3, rows, down, finite, out),
            }
        }
    }
}

/// No sum is NaN or needs more than 32 bits when the weights are as small as this.
fn finite_sums(across: &[f32], down: &[f32]) -> bool {
    let total = |weights: &[f32]| weights.iter().map(|w| w.abs()).sum::<f32>();
    total(across) * total(down) < (1 << 20) as f32
}

#[cfg(target_arch = "x86_64")]
impl Vertical {
    /// False, and nothing done, where there is no faster way than row by row.
    fn all_at_once(&self, v3: pulp::x86::V3, jobs: &[Job<'_>], out: &mut [RowMut<'_>; TOGETHER]) -> bool {
        let blur = &self.0;
        let (across, down) = jobs[0].uniforms.split_at(blur.radius[0] + 1);
        let count = 2 * blur.radius[1] + 1;
        if !crate::simd::BLURS_TOGETHER.contains(&blur.radius[1]) || !finite_sums(across, down) {
            return false;
        }
        let samples = blur.desc.row_samples();
        for p in 0..blur.desc.planes() {
            let mut rows = [&[] as &[f32]; crate::simd::MAX_TOGETHER];
            for (k, row) in rows.iter_mut().enumerate().take(count + TOGETHER - 1) {
                let job = k.saturating_sub(count - 1);
                let Some(tap) = jobs[job].tap(k - job) else { return false };
                *row = tap.plane(p);
            }
            let out = out.each_mut().map(|out| &mut out.plane::<u8>(p)[..samples]);
            crate::simd::blur_four_avx2(v3, &rows[..count + TOGETHER - 1], down, out);
        }
        true
    }
}

/// `w[0] * p`, then `fma(w[k], p[-k] + p[+k], sum)` along a row that has as many pixels more on each side.
fn blur_row(src: &[u8], step: usize, weights: &[f32], out: &mut [f32]) {
    let radius = weights.len() - 1;
    for (i, out) in out.iter_mut().enumerate() {
        let at = |pixel: usize| u16::from(src[i + pixel * step]);
        let mut sum = weights[0] * f32::from(at(radius));
        for (k, w) in weights.iter().enumerate().skip(1) {
            sum = w.mul_add(f32::from(at(radius - k) + at(radius + k)), sum);
        }
        *out = sum;
    }
}

/// The same over rows of sums, and quantises.
fn blur_columns(rows: &[&[f32]], weights: &[f32], out: &mut [u8]) {
    let radius = weights.len() - 1;
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = weights[0] * rows[radius][i];
        for (k, w) in weights.iter().enumerate().skip(1) {
            sum = w.mul_add(rows[radius - k][i] + rows[radius + k][i], sum);
        }
        *out = u8::from_f32(sum);
    }
}
