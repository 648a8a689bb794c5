use mip_core::{ImageView, Sample};

use crate::{Above, Automatic, Rule, Whole};

const VALUES: usize = Whole::VALUES as usize;

/// Counts of every value.
pub(super) type Counts = [u64; VALUES];

/// The rows of counts that a row of the table is made of, added.
pub(super) fn sums(counts: &ImageView<'_>, frame: usize, row: u32, parts: u32) -> Counts {
    let mut sums = [0; VALUES];
    for part in row * parts..(row + 1) * parts {
        for (sum, v) in sums.iter_mut().zip(counts.row(frame, 0, part as usize).as_chunks::<4>().0) {
            *sum += f32::from_ne_bytes(*v) as u64;
        }
    }
    sums
}

/// A row of the table, into its bytes.
pub(super) fn fill(rule: Rule, h: &Counts, uniforms: &[f32], row: &mut [u8]) {
    let map = |row: &mut [u8], entry: &mut dyn FnMut(usize) -> u8| {
        row.iter_mut().enumerate().for_each(|(v, to)| *to = entry(v));
    };
    let floats = |row: &mut [u8], numbers: &mut dyn Iterator<Item = f32>| {
        row.as_chunks_mut::<4>().0.iter_mut().zip(numbers).for_each(|(to, v)| *to = v.to_ne_bytes());
    };
    match rule {
        Rule::Counts => floats(row, &mut h.iter().map(|&count| count as f32)),
        Rule::Statistics => floats(row, &mut statistics(h).into_iter()),
        Rule::Differences => floats(row, &mut differences(h).into_iter()),
        Rule::Equalize => equalize(h, row),
        Rule::EqualizePillow => equalize_pillow(h, row),
        Rule::Stretch => {
            let ends = ends(h, f64::from(uniforms[0]));
            map(row, &mut |v| ends.map_or(v as u8, |(low, high)| stretched(v, low, high)));
        }
        Rule::Threshold(automatic, above) => {
            let t = match automatic {
                Automatic::Otsu => otsu(h),
                Automatic::Triangle => triangle(h),
            };
            let max = u8::from_f32(uniforms[0]);
            map(row, &mut |v| above.of(v as u8, t, max));
        }
        Rule::Clahe { pixels } => clahe(*h, pixels, uniforms[0], row),
    }
}

fn statistics(h: &Counts) -> [f32; 5] {
    let n: u64 = h.iter().sum();
    let sum: u64 = h.iter().zip(0..).map(|(&count, v)| count * v).sum();
    let mean = sum as f64 / n as f64;
    let mut squares = 0.0;
    for (v, &count) in h.iter().enumerate() {
        let away = v as f64 - mean;
        squares += count as f64 * (away * away);
    }
    let first = h.iter().position(|&count| count > 0).unwrap_or(0);
    let last = h.iter().rposition(|&count| count > 0).unwrap_or(0);
    [mean as f32, (squares / n as f64).sqrt() as f32, first as f32, last as f32, sum as f32]
}

fn differences(h: &Counts) -> [f32; 3] {
    let n: u64 = h.iter().sum();
    let sum: u64 = h.iter().zip(0..).map(|(&count, v)| count * v).sum();
    let squares: u64 = h.iter().zip(0..).map(|(&count, v)| count * (v * v)).sum();
    let last = h.iter().rposition(|&count| count > 0).unwrap_or(0);
    [last as f32, (sum as f64 / n as f64) as f32, (squares as f64 / n as f64) as f32]
}

fn equalize(h: &Counts, row: &mut [u8]) {
    let n: u64 = h.iter().sum();
    let first = h.iter().position(|&count| count > 0).unwrap_or(0);
    if h[first] == n {
        row.fill(first as u8);
        return;
    }
    let scale = 255.0 / (n - h[first]) as f32;
    let mut sum = 0;
    for (v, to) in row.iter_mut().enumerate() {
        sum += if v > first { h[v] } else { 0 };
        *to = u8::from_f32(sum as f32 * scale);
    }
}

fn equalize_pillow(h: &Counts, row: &mut [u8]) {
    let n: u64 = h.iter().sum();
    let last = h.iter().rposition(|&count| count > 0).unwrap_or(0);
    let step = (n - h[last]) / 255;
    let mut before = step / 2;
    for (v, to) in row.iter_mut().enumerate() {
        *to = before.checked_div(step).map_or(v as u8, |entry| entry.min(255) as u8);
        before += h[v];
    }
}

/// The lowest and the highest value when `cutoff` percent are left out at each end; `None` where that leaves nothing to
/// stretch.
fn ends(h: &Counts, cutoff: f64) -> Option<(usize, usize)> {
    let n: u64 = h.iter().sum();
    let cut = (n as f64 * cutoff / 100.0).floor() as u64;
    let mut below = 0;
    let low = h.iter().position(|&count| {
        below += count;
        below > cut
    })?;
    let mut above = 0;
    let high = h.iter().rposition(|&count| {
        above += count;
        above > cut
    })?;
    (low < high).then_some((low, high))
}

/// `(v - low) * 255 / (high - low)` to the nearest, ties to even, saturated.
fn stretched(v: usize, low: usize, high: usize) -> u8 {
    let (part, whole) = ((v.clamp(low, high) - low) * 255, high - low);
    let (quotient, rest) = (part / whole, part % whole);
    (quotient + usize::from(2 * rest + (quotient & 1) > whole)) as u8
}

fn otsu(h: &Counts) -> i64 {
    let n: u64 = h.iter().sum();
    let total: u64 = h.iter().zip(0..).map(|(&count, v)| count * v).sum();
    let (mut w, mut s) = (0_u64, 0_u64);
    let (mut best, mut at) = (0.0, 0);
    for (v, &count) in h.iter().enumerate() {
        w += count;
        s += count * v as u64;
        if w == 0 || w == n {
            continue;
        }
        let (below, above) = (w as f64, (n - w) as f64);
        let apart = s as f64 / below - (total - s) as f64 / above;
        let variance = below * above * (apart * apart);
        if variance > best {
            (best, at) = (variance, v as i64);
        }
    }
    at
}

fn triangle(h: &Counts) -> i64 {
    let max = VALUES - 1;
    let first = h.iter().position(|&count| count > 0).unwrap_or(0);
    let last = h.iter().rposition(|&count| count > 0).unwrap_or(0);
    let (left, right) = (first.saturating_sub(1), (last + 1).min(max));
    let highest = h.iter().copied().max().unwrap_or(0);
    let peak = h.iter().position(|&count| count == highest).unwrap_or(0);
    let flipped = peak - left < right - peak;
    let count = |v: usize| h[if flipped { max - v } else { v }] as i64;
    let (left, peak) = if flipped { (max - right, max - peak) } else { (left, peak) };
    let (mut farthest, mut at) = (0, left);
    for v in left + 1..=peak {
        let distance = highest as i64 * v as i64 + (left as i64 - peak as i64) * count(v);
        if distance > farthest {
            (farthest, at) = (distance, v);
        }
    }
    let t = at as i64 - 1;
    if flipped { max as i64 - t } else { t }
}

impl Above {
    /// What becomes of a sample.
    fn of(self, v: u8, threshold: i64, max: u8) -> u8 {
        let above = i64::from(v) > threshold;
        match (self, above) {
            (Self::Binary, true) | (Self::BinaryInv, false) => max,
            (Self::Binary | Self::ToZero, false) | (Self::BinaryInv | Self::ToZeroInv, true) => 0,
            (Self::Trunc, true) => threshold.clamp(0, 255) as u8,
            (Self::Trunc | Self::ToZeroInv, false) | (Self::ToZero, true) => v,
        }
    }
}

fn clahe(mut h: Counts, pixels: u32, clip_limit: f32, row: &mut [u8]) {
    if clip_limit > 0.0 {
        let limit = ((f64::from(clip_limit) * f64::from(pixels) / 256.0) as u64).max(1);
        let excess: u64 = h.iter().map(|&count| count.saturating_sub(limit)).sum();
        let (each, rest) = (excess / 256, excess % 256);
        let step = 256_u64.checked_div(rest).unwrap_or(1).max(1);
        for (count, v) in h.iter_mut().zip(0_u64..) {
            let more = rest > 0 && v % step == 0 && v / step < rest;
            *count = (*count).min(limit) + each + u64::from(more);
        }
    }
    let scale = 255.0 / pixels as f32;
    let mut sum = 0_u64;
    for (to, count) in row.iter_mut().zip(h) {
        sum += count;
        *to = u8::from_f32(sum as f32 * scale);
    }
}
