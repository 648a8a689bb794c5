//! Tables for resampling rows of bytes sixteen source bytes at a time: which of them each output sample takes,
//! and with what weight.

use mip_plan::AxisTaps;

/// A shuffle's index that gives 0.
const ZERO: u8 = 0x80;
/// Source bytes that a shuffle chooses from.
pub(crate) const REACH: usize = 16;

/// Weighted pairs in 8-bit integers, for fixed-point weights: small fractions (2:1, 3:2, 5:4, 1:2, ...).
#[derive(Debug)]
pub(crate) struct PairTable {
    /// Output samples of each half of an entry, at most 8.
    pub(crate) lanes: usize,
    /// Entries, in order of output samples; none for a row too short for them.
    pub(crate) entries: Vec<PairEntry>,
    /// `weight = integer / 2^bits`.
    pub(crate) bits: u32,
}

/// Twice [`PairTable::lanes`] output samples, in two halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairEntry {
    /// For each output sample its near and its far source byte.
    pub(crate) choose: [[u8; REACH]; 2],
    /// Their weights.
    pub(crate) weights: [[i8; REACH]; 2],
    /// First source byte of each half.
    pub(crate) bases: [u32; 2],
}

/// The largest number of bits a weight is tried with: 64 still fits a signed byte.
const MAX_BITS: u32 = 6;

/// The smallest `bits` that makes every weight times `2^bits` a whole number; `None` when none does, or when the
/// weights of an output could make more than its brightest source.
pub(crate) fn fixed_point_bits(taps: &AxisTaps) -> Option<u32> {
    let whole = |bits: u32, w: f32| w >= 0.0 && (w * (1 << bits) as f32).fract() == 0.0;
    let weights = taps.all_weights();
    let bits = (0..=MAX_BITS).find(|&bits| weights.iter().all(|&w| whole(bits, w)))?;
    weights.chunks_exact(taps.taps()).all(|w| w.iter().sum::<f32>() <= 1.0).then_some(bits)
}

impl PairTable {
    /// For rows of `samples` bytes with `step` bytes a pixel. `None` when the weights are not fixed-point,
    /// there are more than two, or sources lie too far apart.
    pub(crate) fn new(taps: &AxisTaps, step: usize, samples: usize) -> Option<Self> {
        if taps.taps() > 2 {
            return None;
        }
        let bits = fixed_point_bits(taps)?;
        let near = |s: usize| taps.starts()[s / step] as usize * step + s % step;
        let far = |s: usize| near(s) + (taps.taps() - 1) * step;
        let outputs = taps.outputs() * step;
        let fits = |lanes: usize| {
            (0..outputs / lanes).all(|entry| {
                let (first, last) = (entry * lanes, (entry + 1) * lanes - 1);
                (first..=last).all(|s| far(s) < near(first) + REACH && near(s) >= near(first))
            })
        };
        let lanes = (3..=8).rev().find(|&lanes| fits(lanes))?;
        let count = if samples < REACH { 0 } else { outputs / (2 * lanes) };
        let entry = |index: usize| {
            let mut entry = PairEntry { choose: [[ZERO; REACH]; 2], weights: [[0; REACH]; 2], bases: [0; 2] };
            for half in 0..2 {
                let first = (2 * index + half) * lanes;
                let base = near(first).min(samples - REACH);
                entry.bases[half] = base as u32;
                for lane in 0..lanes {
                    let s = first + lane;
                    let weights = taps.weights(s / step);
                    for (k, source) in [near(s), far(s)].into_iter().enumerate() {
                        entry.choose[half][2 * lane + k] = (source - base) as u8;
                        let weight = weights.get(k).map_or(0.0, |w| w * (1 << bits) as f32);
                        entry.weights[half][2 * lane + k] = weight as i8;
                    }
                }
            }
            entry
        };
        Some(Self { lanes, entries: (0..count).map(entry).collect(), bits })
    }
}

/// The pairs of interleaved RGB rows shrunk by exactly 3:2, which repeat every 72 source bytes.
#[derive(Debug)]
pub(crate) struct ThreeToTwo {
    /// For each sixteen output samples, in two halves, their near and far source bytes.
    pub(crate) choose: [[[u8; REACH]; 2]; 3],
    /// Their weights times 4.
    pub(crate) weights: [[[i8; REACH]; 2]; 3],
}

impl ThreeToTwo {
    /// Source bytes of a period.
    pub(crate) const SOURCE: usize = 72;
    /// Output samples of a period.
    pub(crate) const OUTPUT: usize = 48;
    /// Where the sources of each eight output samples are loaded from; never beyond the period.
    pub(crate) const BASES: [[usize; 2]; 3] = [[0, 11], [22, 36], [47, Self::SOURCE - REACH]];
    /// Channels.
    const STEP: usize = 3;

    /// `None` for any other ratio.
    pub(crate) fn new(taps: &AxisTaps, step: usize) -> Option<Self> {
        let start = |x: usize| x / 2 * 3 + x % 2;
        let weights = |x: usize| if x.is_multiple_of(2) { [0.75, 0.25] } else { [0.25, 0.75] };
        let matches = step == Self::STEP
            && taps.taps() == 2
            && taps.starts().iter().enumerate().all(|(x, &s)| s as usize == start(x))
            && taps.all_weights().chunks_exact(2).enumerate().all(|(x, w)| w == weights(x));
        if !matches {
            return None;
        }
        let mut table = Self { choose: [[[ZERO; REACH]; 2]; 3], weights: [[[0; REACH]; 2]; 3] };
        for s in 0..Self::OUTPUT {
            let (part, half, lane) = (s / 16, s / 8 % 2, s % 8);
            let near = start(s / Self::STEP) * Self::STEP + s % Self::STEP;
            for k in 0..2 {
                let source = near + k * Self::STEP - Self::BASES[part][half];
                table.choose[part][half][2 * lane + k] = source as u8;
                table.weights[part][half][2 * lane + k] = (weights(s / Self::STEP)[k] * 4.0) as i8;
            }
        }
        Some(table)
    }
}

/// The pairs of interleaved RGB rows shrunk by exactly 2:1, which repeat every 12 source bytes.
///
/// 32 bytes are loaded so that the first twelve end with the lower half of a register and the next twelve begin with
/// the upper half, so that nothing has to be inserted.
#[derive(Debug)]
pub(crate) struct TwoToOne {
    /// The near and far bytes of two output pixels in each half.
    pub(crate) choose: [[u8; REACH]; 2],
}

impl TwoToOne {
    /// Source bytes of a block.
    pub(crate) const SOURCE: usize = 48;
    /// Output samples of a block.
    pub(crate) const OUTPUT: usize = 24;
    /// Bytes that are loaded before the twelve of the lower half.
    pub(crate) const LEAD: usize = 4;

    /// `None` for any other ratio.
    pub(crate) fn new(taps: &AxisTaps, step: usize) -> Option<Self> {
        let matches = step == 3
            && taps.taps() == 2
            && taps.starts().iter().enumerate().all(|(x, &s)| s as usize == 2 * x)
            && taps.all_weights().iter().all(|&w| w == 0.5);
        if !matches {
            return None;
        }
        let mut choose = [[ZERO; REACH]; 2];
        for (lead, choose) in [Self::LEAD, 0].into_iter().zip(&mut choose) {
            for s in 0..6 {
                let near = lead + s / 3 * 6 + s % 3;
                choose[2 * s] = near as u8;
                choose[2 * s + 1] = (near + 3) as u8;
            }
        }
        Some(Self { choose })
    }
}

/// Weighted sums in binary32 for any weights.
#[derive(Debug)]
pub(crate) struct SumTable {
    /// Bytes from a tap to the next.
    pub(crate) step: usize,
    /// Taps of each output.
    pub(crate) taps: usize,
    /// Whether the sixteen bytes loaded for the first tap hold those of the second as well, `step` bytes later.
    pub(crate) pairs: bool,
    /// Entries of eight output samples each.
    pub(crate) entries: Vec<SumEntry>,
    /// For each entry and tap the weights of its output samples.
    pub(crate) weights: Vec<[f32; 8]>,
}

/// Eight output samples in two halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SumEntry {
    /// First source byte of each half, for the first tap.
    pub(crate) bases: [u32; 2],
    /// Bytes chosen, each into a 32-bit lane.
    pub(crate) choose: [[u8; REACH]; 2],
}

impl SumTable {
    /// For rows of `samples` bytes with `step` bytes a pixel. `None` when sources lie too far apart or the row
    /// is too short.
    pub(crate) fn new(taps: &AxisTaps, step: usize, samples: usize) -> Option<Self> {
        let near = |s: usize| taps.starts()[s / step] as usize * step + s % step;
        let last_base = samples.checked_sub(REACH + (taps.taps() - 1) * step)?;
        let count = taps.outputs() * step / 8;
        let mut pairs = taps.taps() == 2;
        let (mut entries, mut weights) = (Vec::with_capacity(count), Vec::with_capacity(count * taps.taps()));
        for index in 0..count {
            let mut entry = SumEntry { bases: [0; 2], choose: [[ZERO; REACH]; 2] };
            for half in 0..2 {
                let first = index * 8 + half * 4;
                let base = near(first).min(last_base);
                entry.bases[half] = base as u32;
                for lane in 0..4 {
                    let distance = near(first + lane).checked_sub(base).filter(|&d| d < REACH)?;
                    entry.choose[half][4 * lane] = distance as u8;
                    pairs &= distance + step < REACH;
                }
            }
            entries.push(entry);
            weights.extend((0..taps.taps()).map(|k| {
                std::array::from_fn::<f32, 8, _>(|lane| taps.weights((index * 8 + lane) / step)[k])
            }));
        }
        Some(Self { step, taps: taps.taps(), pairs, entries, weights })
    }
}
