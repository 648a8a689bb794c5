//! Square tiles of pixels of one or three bytes, rows made columns in registers.

use std::arch::x86_64::{__m128i, __m256i};

use pulp::x86::V3;

/// Pixels of a tile's side.
pub(crate) const SIDE: usize = 32;

/// Bytes of a row of a tile of triples that are read: vectors reach beyond the last pixel.
pub(crate) const TRIPLES: usize = 3 * SIDE + 4;

/// One byte a pixel, into the first bytes of each row.
pub(crate) fn transpose_bytes_avx2(v3: V3, rows: &[&[u8; SIDE]; SIDE], to: &mut [[u8; TRIPLES]; SIDE]) {
    v3.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for half in 0..2 {
                let mut lines: [__m256i; 16] = [v3.avx._mm256_setzero_si256(); 16];
                for (line, row) in lines.iter_mut().zip(&rows[16 * half..]) {
                    *line = bytemuck::cast(**row);
                }
                // Bytes of rows eight apart take turns: four times that, and a row's number has become the place in a row.
                for _ in 0..4 {
                    let from = lines;
                    for i in 0..8 {
                        lines[2 * i] = v3.avx2._mm256_unpacklo_epi8(from[i], from[i + 8]);
                        lines[2 * i + 1] = v3.avx2._mm256_unpackhi_epi8(from[i], from[i + 8]);
                    }
                }
                for (column, line) in lines.into_iter().enumerate() {
                    let [low, high]: [[u8; 16]; 2] = bytemuck::cast(line);
                    to[column].as_chunks_mut::<16>().0[half] = low;
                    to[column + 16].as_chunks_mut::<16>().0[half] = high;
                }
            }
        },
    );
}

/// Three bytes a pixel.
pub(crate) fn transpose_triples_avx2(v3: V3, rows: &[&[u8; TRIPLES]; SIDE], to: &mut [[u8; TRIPLES]; SIDE]) {
    /// Four pixels of three bytes as such of four, and back.
    const WIDEN: [u8; 16] = [0, 1, 2, 0x80, 3, 4, 5, 0x80, 6, 7, 8, 0x80, 9, 10, 11, 0x80];
    const NARROW: [u8; 16] = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0x80, 0x80, 0x80, 0x80];
    v3.vectorize(
        #[inline(always)]
        || {
            let to = to;
            let (widen, narrow): (__m256i, __m256i) =
                (bytemuck::cast([WIDEN; 2]), bytemuck::cast([NARROW; 2]));
            for (across, to) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                // What a store writes beyond its pixels the next one overwrites.
                for (down, rows) in rows.as_chunks::<8>().0.iter().enumerate() {
                    let mut lines: [__m256i; 4] = [widen; 4];
                    for i in 0..4 {
                        let pair = [four(rows[i], across), four(rows[i + 4], across)];
                        lines[i] = v3.avx2._mm256_shuffle_epi8(bytemuck::cast(pair), widen);
                    }
                    let [a, b, c, d] = lines;
                    let (ab, cd) = (v3.avx2._mm256_unpacklo_epi32(a, b), v3.avx2._mm256_unpacklo_epi32(c, d));
                    let (ef, gh) = (v3.avx2._mm256_unpackhi_epi32(a, b), v3.avx2._mm256_unpackhi_epi32(c, d));
                    let columns = [
                        v3.avx2._mm256_unpacklo_epi64(ab, cd),
                        v3.avx2._mm256_unpackhi_epi64(ab, cd),
                        v3.avx2._mm256_unpacklo_epi64(ef, gh),
                        v3.avx2._mm256_unpackhi_epi64(ef, gh),
                    ];
                    for (to, column) in to.iter_mut().zip(columns) {
                        let narrow = v3.avx2._mm256_shuffle_epi8(column, narrow);
                        let [upper, lower]: [[u8; 16]; 2] = bytemuck::cast(narrow);
                        to[24 * down..24 * down + 16].copy_from_slice(&upper);
                        to[24 * down + 12..24 * down + 28].copy_from_slice(&lower);
                    }
                }
            }
        },
    );
}

/// Sixteen bytes from four pixels on.
#[inline(always)]
fn four(row: &[u8; TRIPLES], across: usize) -> __m128i {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&row[12 * across..12 * across + 16]);
    bytemuck::cast(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let Some(v3) = V3::try_new() else { return };
        let byte = |row: usize, place: usize| (row * 113 + place * 7 + row * place) as u8;
        let bytes: [[u8; SIDE]; SIDE] =
            std::array::from_fn(|row| std::array::from_fn(|place| byte(row, place)));
        let mut to = [[0; TRIPLES]; SIDE];
        transpose_bytes_avx2(v3, &bytes.each_ref(), &mut to);
        let triples: [[u8; TRIPLES]; SIDE] =
            std::array::from_fn(|row| std::array::from_fn(|place| byte(row, place)));
        let mut of_three = [[0; TRIPLES]; SIDE];
        transpose_triples_avx2(v3, &triples.each_ref(), &mut of_three);
        for (row, column) in (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column))) {
            assert_eq!(to[column][row], bytes[row][column], "{row} {column}");
            assert_eq!(
                of_three[column][3 * row..3 * row + 3],
                triples[row][3 * column..3 * column + 3],
                "{row} {column}"
            );
        }
    }
}
