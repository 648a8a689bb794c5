//! The inverse DCT, in the integer arithmetic of libjpeg's accurate one (`jidctint.c`, after Loeffler,
//! Ligtenberg and Moschytz, ICASSP 1989), so that samples are equal to those of libjpeg.

/// Where the coefficients of zigzag order (T.81 figure 5) lie in a block.
#[rustfmt::skip]
pub(crate) static NATURAL: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Bits behind the point in the factors, and in what the first pass leaves.
pub(super) const FACTOR_BITS: i32 = 13;
const PASS_BITS: i32 = 2;

/// What each pass shifts its sums by.
pub(super) const FIRST_SHIFT: i32 = FACTOR_BITS - PASS_BITS;
pub(super) const SECOND_SHIFT: i32 = FACTOR_BITS + PASS_BITS + 3;

/// All coefficients up to this one, in zigzag order, lie in the upper left quarter of a block.
pub(super) const LAST_OF_QUARTER: usize = 9;

/// Transforms a block whose coefficients behind the `last` one in zigzag order are 0, times their quantisers, and
/// writes its samples to the upper left of `out`, whose rows are `stride` apart.
#[inline(always)]
pub(super) fn idct(block: &[i16; 64], quantisers: &[u16; 64], last: usize, out: &mut [u8], stride: usize) {
    if last == 0 {
        return store(&[[flat(block, quantisers); 8]; 8], out, stride);
    }
    let wide: [i32; 64] = std::array::from_fn(|i| i32::from(block[i]) * i32::from(quantisers[i]));
    let mut first = [0; 64];
    pass::<FIRST_SHIFT>(&wide, &mut first, 0);
    let turned = transpose(&first);
    let mut second = [0; 64];
    pass::<SECOND_SHIFT>(&turned, &mut second, 128);
    let samples = transpose(&second).map(|sample| sample.clamp(0, 255) as u8);
    store(&bytemuck::cast(samples), out, stride);
}

/// The one sample of a block that has but its first coefficient.
#[inline(always)]
pub(super) fn flat(block: &[i16; 64], quantisers: &[u16; 64]) -> u8 {
    let level = i32::from(block[0]) * i32::from(quantisers[0]);
    let sample = (level.wrapping_add(1 << 2) >> 3) + 128;
    sample.clamp(0, 255) as u8
}

/// Writes rows that are `stride` apart.
#[inline(always)]
pub(super) fn store(samples: &[[u8; 8]; 8], out: &mut [u8], stride: usize) {
    let out = &mut out[..7 * stride + 8];
    for (y, row) in samples.iter().enumerate() {
        out[y * stride..][..8].copy_from_slice(row);
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
fn pass<const SHIFT: i32>(from: &[i32; 64], to: &mut [i32; 64], offset: i32) {
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
fn transform<const SHIFT: i32>(c: [i32; 8], offset: i32) -> [i32; 8] {
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
    let rounded = (1 << (SHIFT - 1)) + (offset << SHIFT);
    let scale = |sum: i32| add(sum, rounded) >> SHIFT;
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
