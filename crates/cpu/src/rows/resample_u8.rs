//! Resampling of bytes where a shorter way gives the same bytes as the definition.

use mip_core::ImageDesc;
use mip_plan::{AxisTaps, Resample};

use super::byte_taps::{PairTable, ThreeToTwo, TwoToOne, fixed_point_bits};
use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::Level;

/// Both directions at once, in integers, for fixed-point weights: small fractions.
///
/// Every product and sum of the definition is then a multiple of `2^-bits` below 256, so binary32 holds it
/// exactly; the order does not matter and the only rounding is the last one.
#[derive(Debug)]
pub(crate) struct IntegerResample {
    x: AxisTaps,
    y: AxisTaps,
    table: PairTable,
    /// For RGB by 3:2 and 2:1, where [`PairTable`] has many equal entries.
    three_to_two: Option<ThreeToTwo>,
    two_to_one: Option<TwoToOne>,
    y_bits: u32,
    planes: usize,
    step: usize,
}

impl IntegerResample {
    /// `None` when the kernel or the images do not allow it.
    pub(crate) fn new(kernel: &Resample, input: &ImageDesc) -> Option<Self> {
        if input.format().has_alpha() || kernel.y.taps() > 2 {
            return None;
        }
        let step = input.pixel_step();
        let table = PairTable::new(&kernel.x, step, input.row_samples())?;
        // At least one bit, so that there is something to round.
        let y_bits = fixed_point_bits(&kernel.y)?.max(1);
        if table.bits + y_bits > 8 {
            return None;
        }
        // Products of both directions' weights, at most 3 and below 32, are signed bytes there; and sums have 15 bits.
        let three_to_two = ThreeToTwo::new(&kernel.x, step).filter(|_| y_bits <= 5);
        let two_to_one = TwoToOne::new(&kernel.x, step).filter(|_| y_bits <= 6);
        let (x, y) = (kernel.x.clone(), kernel.y.clone());
        Some(Self { x, y, table, three_to_two, two_to_one, y_bits, planes: input.planes(), step })
    }

    fn compute_plane<const ROWS: usize>(
        &self,
        level: Level,
        rows: [&[u8]; ROWS],
        weights: [u16; ROWS],
        out: &mut [u8],
    ) {
        let bits = self.table.bits + self.y_bits;
        let done = match level {
            Level::Portable => 0..0,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(v3) => {
                use crate::simd::{pairs_avx2, three_to_two_avx2, two_to_one_avx2};
                match (&rows[..], &weights[..], &self.three_to_two, &self.two_to_one) {
                    (&[a, b], &[wa, wb], Some(table), _) => {
                        0..three_to_two_avx2(v3, table, [a, b], [wa, wb], bits, out)
                    }
                    (&[a, b], &[wa, wb], _, Some(table)) => {
                        two_to_one_avx2(v3, table, [a, b], [wa, wb], bits, out)
                    }
                    _ => 0..pairs_avx2(v3, &self.table, rows, weights, bits, out),
                }
            }
        };
        let scale = (1 << self.table.bits) as f32;
        for s in (0..done.start).chain(done.end..out.len()) {
            let (x, c) = (s / self.step, s % self.step);
            let start = self.x.starts()[x] as usize;
            let mut sum = 0;
            for (row, wy) in rows.iter().zip(weights) {
                for (k, wx) in self.x.weights(x).iter().enumerate() {
                    let sample = row[(start + k) * self.step + c];
                    sum += u32::from(wy) * (wx * scale) as u32 * u32::from(sample);
                }
            }
            let odd = (sum >> bits) & 1;
            out[s] = ((sum + (1 << (bits - 1)) - 1 + odd) >> bits) as u8;
        }
    }
}

impl RowKernel for IntegerResample {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let scale = (1 << self.y_bits) as f32;
        let weights = self.y.weights(job.y as usize);
        let weight = |k: usize| (weights[k] * scale) as u16;
        let row = |k: usize| job.tap(k).expect("ranges lie inside the image");
        for p in 0..self.planes {
            let out = out.plane::<u8>(p);
            let mut only = |k: usize| self.compute_plane(job.level, [row(k).plane(p)], [weight(k)], out);
            match weights {
                [_] | [_, 0.0] => only(0),
                [0.0, _] => only(1),
                _ => {
                    let rows = [row(0).plane(p), row(1).plane(p)];
                    self.compute_plane(job.level, rows, [weight(0), weight(1)], out);
                }
            }
        }
    }
}
