//! Bytes of interleaved pixels in another order.

use std::arch::x86_64::__m128i;

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
        Self { from, to, pixels, choose, set }
    }

    /// Shuffles pixels from the first on; how many are done: nearly all.
    pub(crate) fn run(&self, v3: V3, src: &[u8], out: &mut [u8]) -> usize {
        let Self { from, to, pixels, choose, set } = *self;
        v3.vectorize(
            #[inline(always)]
            move || {
                let out = out;
                let (choose, set): (__m128i, __m128i) = (bytemuck::cast(choose), bytemuck::cast(set));
                let mut done = 0;
                // What a store writes beyond its pixels the next one overwrites, or whoever does the rest.
                while let (Some(src), Some(out)) =
                    (src[done * from..].first_chunk::<N>(), out[done * to..].first_chunk_mut::<N>())
                {
                    let chosen = v3.ssse3._mm_shuffle_epi8(bytemuck::cast(*src), choose);
                    *out = bytemuck::cast(v3.sse2._mm_or_si128(chosen, set));
                    done += pixels;
                }
                done
            },
        )
    }
}

/// Bytes of three planes that take turns; how many pixels are done: all but fewer than sixteen at the end.
pub(crate) fn interleave_avx2(v3: V3, planes: [&[u8]; 3], out: &mut [u8]) -> usize {
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
    let count = planes.iter().map(|plane| plane.len() / N).min().unwrap_or(0).min(out.len() / (3 * N));
    v3.vectorize(
        #[inline(always)]
        move || {
            let (out, _) = out.as_chunks_mut::<{ 3 * N }>();
            let [a, b, c] = planes.map(|plane| plane.as_chunks::<N>().0);
            for (out, ((a, b), c)) in out.iter_mut().zip(a.iter().zip(b).zip(c)) {
                let (parts, _) = out.as_chunks_mut::<N>();
                for (k, part) in parts.iter_mut().enumerate() {
                    let mut bytes =
                        v3.ssse3._mm_shuffle_epi8(bytemuck::cast(*a), bytemuck::cast(CHOOSE[0][k]));
                    let second = v3.ssse3._mm_shuffle_epi8(bytemuck::cast(*b), bytemuck::cast(CHOOSE[1][k]));
                    let third = v3.ssse3._mm_shuffle_epi8(bytemuck::cast(*c), bytemuck::cast(CHOOSE[2][k]));
                    bytes = v3.sse2._mm_or_si128(v3.sse2._mm_or_si128(bytes, second), third);
                    *part = bytemuck::cast(bytes);
                }
            }
        },
    );
    count * N
}

/// One channel of pixels of three bytes; how many are done: all but fewer than sixteen at the end.
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
    v3.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            let (out, _) = out.as_chunks_mut::<N>();
            let (src, _) = src.as_chunks::<{ 3 * N }>();
            for (out, src) in out.iter_mut().zip(src) {
                let (parts, _) = src.as_chunks::<N>();
                let mut bytes = v3.sse2._mm_setzero_si128();
                for (part, choose) in parts.iter().zip(CHOOSE[channel]) {
                    let chosen = v3.ssse3._mm_shuffle_epi8(bytemuck::cast(*part), bytemuck::cast(choose));
                    bytes = v3.sse2._mm_or_si128(bytes, chosen);
                }
                *out = bytemuck::cast(bytes);
            }
            src.len().min(out.len()) * N
        },
    )
}

/// Pixels of three bytes from the last to the first; how many are done: nearly all.
pub(crate) fn mirror_avx2(v3: V3, src: &[u8], out: &mut [u8]) -> usize {
    /// Pixels of a vector.
    const PIXELS: usize = N / 3;
    // Of the last sixteen bytes the last fifteen.
    const CHOOSE: [u8; N] = {
        let mut choose = [0x80; N];
        let mut i = 0;
        while i < 3 * PIXELS {
            choose[i] = (N - 3 * (i / 3 + 1) + i % 3) as u8;
            i += 1;
        }
        choose
    };
    v3.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            let choose: __m128i = bytemuck::cast(CHOOSE);
            let mut done = 0;
            // What a store writes beyond its pixels the next one overwrites, or whoever does the rest.
            while let (Some(src), Some(out)) =
                (src[..src.len() - 3 * done].last_chunk::<N>(), out[3 * done..].first_chunk_mut::<N>())
            {
                *out = bytemuck::cast(v3.ssse3._mm_shuffle_epi8(bytemuck::cast(*src), choose));
                done += PIXELS;
            }
            done
        },
    )
}

/// Every byte twice; how many of them are done: all but fewer than sixteen at the end.
pub(crate) fn double_avx2(v3: V3, src: &[u8], out: &mut [u8]) -> usize {
    v3.vectorize(
        #[inline(always)]
        || {
            let out = out;
            let (src, _) = src.as_chunks::<N>();
            let (out, _) = out.as_chunks_mut::<{ 2 * N }>();
            for (out, src) in out.iter_mut().zip(src) {
                let src: __m128i = bytemuck::cast(*src);
                let halves = [v3.sse2._mm_unpacklo_epi8(src, src), v3.sse2._mm_unpackhi_epi8(src, src)];
                *out = bytemuck::cast(halves);
            }
            src.len().min(out.len()) * N
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_doubled() {
        let Some(v3) = V3::try_new() else { return };
        let src: Vec<u8> = (0..40).map(|i| i * 5).collect();
        // As many as both have room for.
        for (from, to, count) in [(40, 80, 32), (40, 79, 32), (40, 63, 16), (15, 80, 0)] {
            let mut out = vec![7; to];
            assert_eq!(double_avx2(v3, &src[..from], &mut out), count);
            assert!(out[..2 * count].iter().enumerate().all(|(i, &byte)| byte == src[i / 2]));
            assert!(out[2 * count..].iter().all(|&byte| byte == 7));
        }
    }

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
                    assert!(done <= count && done + 16 >= count.min(done + 16), "{done} of {count}");
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
        let src: Vec<u8> = (0..3 * 40).map(|i| (i * 7 % 251) as u8).collect();
        for channel in 0..3 {
            let mut out = vec![0; 40];
            assert_eq!(pick_avx2(v3, &src, channel, &mut out), 32);
            let expected: Vec<u8> = src.chunks(3).map(|pixel| pixel[channel]).collect();
            assert_eq!(out[..32], expected[..32]);
        }
    }

    #[test]
    fn pixels_are_mirrored() {
        let Some(v3) = V3::try_new() else { return };
        for count in [0, 1, 5, 6, 7, 40, 101] {
            let src: Vec<u8> = (0..3 * count).map(|i| i as u8).collect();
            let mut out = vec![0; 3 * count];
            let done = mirror_avx2(v3, &src, &mut out);
            assert!(done <= count && count - done <= 5, "{done} of {count}");
            for (out, pixel) in out.chunks_exact(3).zip(src.rchunks_exact(3)).take(done) {
                assert_eq!(out, pixel, "of {count}");
            }
        }
    }

    #[test]
    fn planes_are_interleaved() {
        let Some(v3) = V3::try_new() else { return };
        let plane = |first: u8| (0..40).map(|i| first.wrapping_add(i)).collect::<Vec<u8>>();
        let (a, b, c) = (plane(0), plane(100), plane(200));
        let mut out = vec![0; 120];
        assert_eq!(interleave_avx2(v3, [&a, &b, &c], &mut out), 32);
        for i in 0..32 {
            assert_eq!(out[3 * i..3 * i + 3], [a[i], b[i], c[i]]);
        }
    }
}
