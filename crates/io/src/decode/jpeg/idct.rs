//! The inverse DCT, in the integer arithmetic of libjpeg's accurate one (`jidctint.c`, after Loeffler,
//! Ligtenberg and Moschytz, ICASSP 1989), so that samples are equal to those of libjpeg.

/// Where the coefficients of zigzag order (T.81 figure 5) lie in a block.
#[rustfmt::skip]
pub(super) const NATURAL: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Bits behind the point in the factors, and in what the first pass leaves.
const FACTOR_BITS: u32 = 13;
const PASS_BITS: u32 = 2;

/// Transforms a dequantised block whose coefficients behind the `last` one in zigzag order are 0, and writes
/// its samples to the upper left of `out`, whose rows are `stride` apart.
#[inline(always)]
pub(super) fn idct(block: &[i16; 64], last: usize, out: &mut [u8], stride: usize) {
    if last == 0 {
        let level = i32::from(block[0]);
        let sample = (((level << PASS_BITS) + (1 << (PASS_BITS + 2))) >> (PASS_BITS + 3)) + 128;
        let row = [sample.clamp(0, 255) as u8; 8];
        for to in out.chunks_mut(stride).take(8) {
            to[..8].copy_from_slice(&row);
        }
        return;
    }
    let wide: [i32; 64] = std::array::from_fn(|i| i32::from(block[i]));
    let mut first = [0; 64];
    pass::<{ FACTOR_BITS - PASS_BITS }>(&wide, &mut first, 0);
    let turned = transpose(&first);
    let mut second = [0; 64];
    pass::<{ FACTOR_BITS + PASS_BITS + 3 }>(&turned, &mut second, 128);
    let samples = transpose(&second);
    for (to, from) in out.chunks_mut(stride).zip(samples.as_chunks::<8>().0) {
        let row: [u8; 8] = std::array::from_fn(|i| from[i].clamp(0, 255) as u8);
        to[..8].copy_from_slice(&row);
    }
}

#[inline(always)]
fn transpose(from: &[i32; 64]) -> [i32; 64] {
    let mut to = [0; 64];
    for y in 0..8 {
        for x in 0..8 {
            to[8 * x + y] = from[8 * y + x];
        }
    }
    to
}

/// One dimension, down each of eight columns.
#[inline(always)]
fn pass<const SHIFT: u32>(from: &[i32; 64], to: &mut [i32; 64], offset: i32) {
    for x in 0..8 {
        let column = std::array::from_fn(|y| from[8 * y + x]);
        let done = transform::<SHIFT>(column, offset);
        for y in 0..8 {
            to[8 * y + x] = done[y];
        }
    }
}

/// Sums wrap: only coefficients that no encoder writes come near.
#[inline(always)]
fn transform<const SHIFT: u32>(c: [i32; 8], offset: i32) -> [i32; 8] {
    let add = i32::wrapping_add;
    let sub = i32::wrapping_sub;
    let mul = i32::wrapping_mul;
    let rotated = mul(add(c[2], c[6]), 4433);
    let low = sub(rotated, mul(c[6], 15137));
    let high = add(rotated, mul(c[2], 6270));
    let (sum, difference) = (mul(add(c[0], c[4]), 1 << FACTOR_BITS), mul(sub(c[0], c[4]), 1 << FACTOR_BITS));
    let even = [add(sum, high), add(difference, low), sub(difference, low), sub(sum, high)];

    let both = mul(add(add(c[7], c[3]), add(c[5], c[1])), 9633);
    let a = sub(both, mul(add(c[5], c[1]), 3196));
    let b = sub(both, mul(add(c[7], c[3]), 16069));
    let d = mul(add(c[7], c[1]), -7373);
    let e = mul(add(c[5], c[3]), -20995);
    let odd = [
        add(add(mul(c[1], 12299), d), a),
        add(add(mul(c[3], 25172), e), b),
        add(add(mul(c[5], 16819), e), a),
        add(add(mul(c[7], 2446), d), b),
    ];
    let scale = |sum: i32| (add(sum, 1 << (SHIFT - 1)) >> SHIFT) + offset;
    [
        scale(add(even[0], odd[0])),
        scale(add(even[1], odd[1])),
        scale(add(even[2], odd[2])),
        scale(add(even[3], odd[3])),
        scale(sub(even[3], odd[3])),
        scale(sub(even[2], odd[2])),
        scale(sub(even[1], odd[1])),
        scale(sub(even[0], odd[0])),
    ]
}
