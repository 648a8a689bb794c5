//! From rgb to a file's components, with libjpeg's fixed-point factors (`jccolor.c`), and fewer samples of two of
//! them (`jcsample.c`).

/// Factors of red, green and blue for each component, in 2^-16.
const FACTORS: [[i32; 3]; 3] = [[19595, 38470, 7471], [-11059, -21709, 32768], [32768, -27439, -5329]];
/// What is added before the shift: half, and 128; of chroma a half less one, as libjpeg has it.
pub(super) const ADDED: [i32; 3] = [1 << 15, (128 << 16) + (1 << 15) - 1, (128 << 16) + (1 << 15) - 1];

/// A row of pixels to a row of each component.
#[inline(always)]
pub(super) fn ycc(rgb: &[u8], out: [&mut [u8]; 3]) {
    let [y, cb, cr] = out;
    for (((pixel, y), cb), cr) in rgb.as_chunks::<3>().0.iter().zip(y).zip(cb).zip(cr) {
        let [r, g, b] = pixel.map(i32::from);
        for ((to, [fr, fg, fb]), added) in [y, cb, cr].into_iter().zip(FACTORS).zip(ADDED) {
            *to = ((fr * r + fg * g + fb * b + added) >> 16) as u8;
        }
    }
}

/// Means of so many samples across of each of some rows. Halves are rounded up and down in turns where two samples
/// across are one, up otherwise, as libjpeg does it.
#[inline(always)]
pub(super) fn fewer(rows: &[&[u8]], across: usize, out: &mut [u8]) {
    match (rows, across) {
        ([row], 2) => {
            for (x, (out, s)) in out.iter_mut().zip(row.as_chunks::<2>().0).enumerate() {
                *out = ((u16::from(s[0]) + u16::from(s[1]) + (x & 1) as u16) >> 1) as u8;
            }
        }
        ([one, two], 2) => {
            let pairs = one.as_chunks::<2>().0.iter().zip(two.as_chunks::<2>().0);
            for (x, (out, (a, b))) in out.iter_mut().zip(pairs).enumerate() {
                let sum = u16::from(a[0]) + u16::from(a[1]) + u16::from(b[0]) + u16::from(b[1]);
                *out = ((sum + 1 + (x & 1) as u16) >> 2) as u8;
            }
        }
        _ => {
            let samples = (rows.len() * across) as u32;
            for (x, out) in out.iter_mut().enumerate() {
                let part =
                    |row: &&[u8]| row[x * across..][..across].iter().copied().map(u32::from).sum::<u32>();
                *out = ((rows.iter().map(part).sum::<u32>() + samples / 2) / samples) as u8;
            }
        }
    }
}
