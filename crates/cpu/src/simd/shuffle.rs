//! Bytes of interleaved pixels in another order.

use pulp::x86::V3;

/// Bytes of a vector.
const N: usize = 16;

/// Where the channels of a pixel come from: of a pixel of `from` bytes the byte of that index, or 255.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shuffle {
    from: usize,
    to: usize,
    /// Pixels in a vector of either.
    pixels: usize,
    choose: [u8; N],
    set: [u8; N],
    /// Of three bytes that become three.
    triples: Option<Triples>,
}

impl Shuffle {
    /// `channels`: 1 to 4, each an index below `from`, which is 1 to 4.
    pub(crate) fn new(from: usize, channels: &[Option<usize>]) -> Self {
        let (to, pixels) = (channels.len(), N / from.max(channels.len()));
        let (mut choose, mut set) = ([0x80; N], [0; N]);
        for pixel in 0..pixels {
            for (c, channel) in channels.iter().enumerate() {
                match channel {
                    Some(index) => choose[pixel * to + c] = (pixel * from + index) as u8,
                    None => set[pixel * to + c] = 0xFF,
                }
            }
        }
        let triples = match *channels {
            [Some(a), Some(b), Some(c)] if from == 3 => Some(Triples::new([a, b, c], false)),
            _ => None,
        };
        Self { from, to, pixels, choose, set, triples }
    }

    /// Shuffles pixels from the first on; how many are done: nearly all.
    pub(crate) fn run(&self, v3: V3, src: &[u8], out: &mut [u8]) -> usize {
        let Self { from, to, pixels, choose, set, triples } = *self;
        if let Some(triples) = triples {
            return triples.run(v3, src, out);
        }
        v3.vectorize(
            #[inline(always)]
            move || {
                let out = out;
                let avx2 = v3.avx2;
                let (choose, set) = (bytemuck::cast([choose; 2]), bytemuck::cast([set; 2]));
                let (step_in, step_out, mut done) = (pixels * from, pixels * to, 0);
                // What a store writes beyond its pixels the next one overwrites, or whoever does the rest.
                while let (Some(src), Some(out)) =
                    (src[done * from..].get(..step_in + N), out[done * to..].get_mut(..step_out + N))
                {
                    let pair = [first(src), first(&src[step_in..])];
                    let chosen = avx2._mm256_shuffle_epi8(bytemuck::cast(pair), choose);
                    let [low, high]: [[u8; N]; 2] = bytemuck::cast(avx2._mm256_or_si256(chosen, set));
                    out[..N].copy_from_slice(&low);
                    out[step_out..][..N].copy_from_slice(&high);
                    done += 2 * pixels;
                }
                done
            },
        )
    }
}

/// The first bytes of a row.
#[inline(always)]
fn first(bytes: &[u8]) -> [u8; N] {
    let mut vector = [0; N];
    vector.copy_from_slice(&bytes[..N]);
    vector
}

/// Pixels of three bytes in another order, and their bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triples {
    /// For each sixteen bytes of sixteen pixels of the result, the indices in each sixteen bytes of the source.
    choose: [[[u8; N]; 3]; 3],
    mirrored: bool,
}

impl Triples {
    /// Each byte of a pixel is the one with that index; `mirrored`: from the last pixel to the first.
    pub(crate) const fn new(channels: [usize; 3], mirrored: bool) -> Self {
        let mut choose = [[[0x80; N]; 3]; 3];
        let mut i = 0;
        while i < 3 * N {
            let pixel = if mirrored { N - 1 - i / 3 } else { i / 3 };
            let from = 3 * pixel + channels[i % 3];
            choose[i / N][from / N][i % N] = (from % N) as u8;
            i += 1;
        }
        Self { choose, mirrored }
    }

    /// How many pixels are done: all, unless there are fewer than 32. As many in source and result.
    pub(crate) fn run(&self, v3: V3, src: &[u8], out: &mut [u8]) -> usize {
        let Self { choose, mirrored } = *self;
        let count = src.len().min(out.len()) / 3;
        v3.vectorize(
            #[inline(always)]
            move || {
                let (out, mut next) = (out, block_after(None, count));
                while let Some(first) = next {
                    let from = if mirrored { count - BLOCK - first } else { first };
                    let (parts, _) = src[3 * from..][..3 * BLOCK].as_chunks::<N>();
                    let (low, high) = if mirrored { (3, 0) } else { (0, 3) };
                    let halves = [
                        [parts[low], parts[high]],
                        [parts[low + 1], parts[high + 1]],
                        [parts[low + 2], parts[high + 2]],
                    ];
                    let (parts, _) = out[3 * first..][..3 * BLOCK].as_chunks_mut::<N>();
                    for k in 0..3 {
                        [parts[k], parts[3 + k]] = chosen(v3, halves, choose[k]);
                    }
                    next = block_after(next, count);
                }
            },
        );
        if count < BLOCK { 0 } else { count }
    }
}

/// Pixels that are put together or taken apart at once: sixteen in each half of a vector.
const BLOCK: usize = 2 * N;

/// Bytes of three planes that take turns; how many pixels are done: all, unless there are fewer than 32.
pub(crate) fn interleave_avx2(v3: V3, [a, b, c]: [&[u8]; 3], out: &mut [u8]) -> usize {
    // Of each sixteen bytes of the result those of a plane, by its index.
    const CHOOSE: [[[u8; N]; 3]; 3] = {
        let mut choose = [[[0x80; N]; 3]; 3];
        let mut i = 0;
        while i < 3 * N {
            choose[i % 3][i / N][i % N] = (i / 3) as u8;
            i += 1;
        }
        choose
    };
    let count = a.len().min(b.len()).min(c.len()).min(out.len() / 3);
    v3.vectorize(
        #[inline(always)]
        move || {
            let (out, mut next) = (out, block_after(None, count));
            while let Some(first) = next {
                let planes = [load(&a[first..]), load(&b[first..]), load(&c[first..])];
                let (parts, _) = out[3 * first..][..3 * BLOCK].as_chunks_mut::<N>();
                for k in 0..3 {
                    [parts[k], parts[3 + k]] = chosen(v3, planes, [CHOOSE[0][k], CHOOSE[1][k], CHOOSE[2][k]]);
                }
                next = block_after(next, count);
            }
        },
    );
    if count < BLOCK { 0 } else { count }
}

/// One channel of pixels of three bytes; how many are done: all, unless there are fewer than 32.
pub(crate) fn pick_avx2(v3: V3, src: &[u8], channel: usize, out: &mut [u8]) -> usize {
    // Of each sixteen bytes of sixteen pixels those of a channel, in their places.
    const CHOOSE: [[[u8; N]; 3]; 3] = {
        let mut choose = [[[0x80; N]; 3]; 3];
        let mut i = 0;
        while i < 3 * N {
            choose[i % 3][i / N][i / 3] = (i % N) as u8;
            i += 1;
        }
        choose
    };
    let (choose, count) = (CHOOSE[channel], out.len().min(src.len() / 3));
    v3.vectorize(
        #[inline(always)]
        move || {
            let (out, mut next) = (out, block_after(None, count));
            while let Some(first) = next {
                let (parts, _) = src[3 * first..][..3 * BLOCK].as_chunks::<N>();
                let halves = [[parts[0], parts[3]], [parts[1], parts[4]], [parts[2], parts[5]]];
                let picked = chosen(v3, halves, choose);
                out[first..][..BLOCK].copy_from_slice(picked.as_flattened());
                next = block_after(next, count);
            }
        },
    );
    if count < BLOCK { 0 } else { count }
}

/// Where the next block begins; the last one ends with the last pixel, and some pixels are in two.
#[inline(always)]
fn block_after(before: Option<usize>, count: usize) -> Option<usize> {
    let last = count.checked_sub(BLOCK)?;
    match before {
        None => Some(0),
        Some(first) if first < last => Some((first + BLOCK).min(last)),
        Some(_) => None,
    }
}

#[inline(always)]
fn load(plane: &[u8]) -> [[u8; N]; 2] {
    let (halves, _) = plane[..BLOCK].as_chunks::<N>();
    [halves[0], halves[1]]
}

/// Bytes of three vectors, from each half by the same indices.
#[inline(always)]
fn chosen(v3: V3, [a, b, c]: [[[u8; N]; 2]; 3], choose: [[u8; N]; 3]) -> [[u8; N]; 2] {
    let avx2 = v3.avx2;
    let a = avx2._mm256_shuffle_epi8(bytemuck::cast(a), bytemuck::cast([choose[0]; 2]));
    let b = avx2._mm256_shuffle_epi8(bytemuck::cast(b), bytemuck::cast([choose[1]; 2]));
    let c = avx2._mm256_shuffle_epi8(bytemuck::cast(c), bytemuck::cast([choose[2]; 2]));
    bytemuck::cast(avx2._mm256_or_si256(avx2._mm256_or_si256(a, b), c))
}

/// Pixels of three bytes from the last to the first; how many are done: all, unless there are fewer than 32.
pub(crate) fn mirror_avx2(v3: V3, src: &[u8], out: &mut [u8]) -> usize {
    const MIRRORED: Triples = Triples::new([0, 1, 2], true);
    MIRRORED.run(v3, src, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_shuffled_as_one_by_one() {
        let Some(v3) = V3::try_new() else { return };
        let src: Vec<u8> = (0..4 * 101).map(|i| (i * 37 % 251) as u8).collect();
        for from in 1..=4 {
            for channels in [
                &[Some(0)][..],
                &[Some(from - 1), Some(0), Some(from / 2)],
                &[Some(0), Some(from - 1), None, Some(0)],
                &[None, Some(from - 1), Some(0), None],
            ] {
                for count in [0, 1, 4, 5, 6, 16, 33, 101] {
                    let src = &src[..from * count];
                    let mut out = vec![7; channels.len() * count];
                    let done = Shuffle::new(from, channels).run(v3, src, &mut out);
                    assert!(done <= count && done + 32 > count, "{done} of {count}");
                    for pixel in 0..done {
                        let of = |c: &Option<usize>| c.map_or(255, |index| src[pixel * from + index]);
                        let expected: Vec<u8> = channels.iter().map(of).collect();
                        assert_eq!(
                            out[pixel * channels.len()..][..channels.len()],
                            expected,
                            "{from} {pixel}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn channels_are_picked() {
        let Some(v3) = V3::try_new() else { return };
        let src: Vec<u8> = (0..3 * 77).map(|i| (i * 7 % 251) as u8).collect();
        for channel in 0..3 {
            for count in [0, 31, 32, 33, 40, 64, 77] {
                let (src, mut out) = (&src[..3 * count], vec![0; count]);
                let done = pick_avx2(v3, src, channel, &mut out);
                assert_eq!(done, if count < 32 { 0 } else { count });
                let expected: Vec<u8> = src.chunks(3).map(|pixel| pixel[channel]).collect();
                assert_eq!(out[..done], expected[..done]);
            }
        }
    }

    #[test]
    fn pixels_are_mirrored() {
        let Some(v3) = V3::try_new() else { return };
        for count in [0, 1, 5, 6, 7, 39, 40, 41, 81, 101, 250] {
            let src: Vec<u8> = (0..3 * count).map(|i| i as u8).collect();
            let mut out = vec![0; 3 * count];
            let done = mirror_avx2(v3, &src, &mut out);
            assert_eq!(done, if count < 32 { 0 } else { count });
            for (out, pixel) in out.chunks_exact(3).zip(src.rchunks_exact(3)).take(done) {
                assert_eq!(out, pixel, "of {count}");
            }
        }
    }

    #[test]
    fn planes_are_interleaved() {
        let Some(v3) = V3::try_new() else { return };
        for count in [0, 31, 32, 33, 40, 64, 77] {
            let plane = |first: u8| (0..count).map(|i| first.wrapping_add(i)).collect::<Vec<u8>>();
            let (a, b, c) = (plane(0), plane(100), plane(200));
            let mut out = vec![0; 3 * usize::from(count)];
            let done = interleave_avx2(v3, [&a, &b, &c], &mut out);
            assert_eq!(done, if count < 32 { 0 } else { count.into() });
            for i in 0..done {
                assert_eq!(out[3 * i..3 * i + 3], [a[i], b[i], c[i]], "{i} of {count}");
            }
        }
    }
}
