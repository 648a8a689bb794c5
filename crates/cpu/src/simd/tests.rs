use std::ops::Range;

use mip_core::Sample;

use super::pixel::thousandth;
use super::{Block, Level, Pixel, Vector, chunks, chunks_mut};
use crate::SimdLevel;

fn levels() -> [Level; 2] {
    [Level::new(SimdLevel::Portable), Level::new(SimdLevel::Native)]
}

struct Cast<'a, O>(&'a [f32], &'a mut [O]);
impl<O: Pixel> Block for Cast<'_, O> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let src = chunks(self.0, range.clone());
        for (src, out) in src.iter().zip(chunks_mut(self.1, range)) {
            O::store(v, v.load_f32(src), out);
        }
    }
}

fn quantise<O: Pixel>(level: Level, values: &[f32]) -> Vec<O> {
    let mut out = vec![O::default(); values.len()];
    level.drive(Cast(values, &mut out), values.len());
    out
}

#[test]
fn quantisation_is_the_same_at_every_level() {
    let special = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e9, -3e9, 4.3e9, -0.0, 1e-40];
    let dense = (-2000..70_000).flat_map(|i| [i as f32 * 0.125, i as f32 * 0.5 + 0.000_1, i as f32]);
    let values: Vec<f32> = special.into_iter().chain(dense).collect();
    for level in levels() {
        let bytes: Vec<u8> = quantise(level, &values);
        let words: Vec<u16> = quantise(level, &values);
        for (i, &v) in values.iter().enumerate() {
            assert_eq!((bytes[i], words[i]), (u8::from_f32(v), u16::from_f32(v)), "{v} {}", level.name());
        }
    }
}

#[test]
fn rows_of_any_length_are_covered_exactly() {
    for level in levels() {
        for len in 0..70 {
            let values: Vec<f32> = (0..len).map(|i| i as f32).collect();
            let expected: Vec<u8> = (0..len).map(|i| i as u8).collect();
            assert_eq!(quantise::<u8>(level, &values), expected);
        }
    }
}

#[test]
fn a_thousandth_is_exact_for_every_luma_sum() {
    for n in 0..=255_000_u32 {
        let exact = f64::from(n) / 1000.0;
        assert_eq!(u8::from_f32(thousandth(n as f32)), exact.round_ties_even() as u8, "{n}");
    }
}

#[test]
fn luma_of_words_rounds_ties_to_even() {
    for (r, g, b) in [(0, 0, 0), (65535, 65535, 65535), (500, 0, 0), (0, 500, 0), (0, 0, 250), (1500, 0, 0)] {
        let n = 299 * u64::from(r) + 587 * u64::from(g) + 114 * u64::from(b);
        let expected = (n as f64 / 1000.0).round_ties_even() as u16;
        assert_eq!(u16::luma(r, g, b), expected);
    }
    for i in 0..200_000_u32 {
        let [r, g, b] = [7919, 104_729, 15_485_863].map(|k: u32| i.wrapping_mul(k)).map(|v| (v >> 3) as u16);
        let n = 299 * u64::from(r) + 587 * u64::from(g) + 114 * u64::from(b);
        assert_eq!(u16::luma(r, g, b), (n as f64 / 1000.0).round_ties_even() as u16);
    }
}
