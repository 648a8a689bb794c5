//! Samples that cases are computed of, and how results are compared.

use mip_core::{DType, f16};

/// A stream of numbers that looks random and is the same everywhere.
#[derive(Debug)]
pub struct Noise(u64);

impl Noise {
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    /// Around 0 to 1.3, with 0, 1 and -0.25 among them.
    fn fraction(&mut self) -> f32 {
        let n = self.next();
        match n % 7 {
            0 => 0.0,
            1 => 1.0,
            2 => -0.25,
            _ => (n >> 8) as f32 / (1 << 24) as f32 * 1.3,
        }
    }
}

/// Fills memory with samples of a type: small numbers, large ones and equal neighbours among them.
pub fn fill(bytes: &mut [u8], dtype: DType, seed: u64) {
    let mut noise = Noise::new(seed);
    match dtype {
        DType::U8 | DType::U16 | DType::I16 | DType::I32 => {
            for byte in bytes {
                let n = noise.next();
                *byte =
                    if n.is_multiple_of(5) { [0, 255, 128][(n >> 8) as usize % 3] } else { (n >> 16) as u8 };
            }
        }
        DType::F16 => {
            for sample in bytes.as_chunks_mut().0 {
                *sample = f16::from_f32(noise.fraction()).to_ne_bytes();
            }
        }
        DType::F32 => bytes.as_chunks_mut().0.iter_mut().for_each(|s| *s = noise.fraction().to_ne_bytes()),
    }
}

/// Puts infinities and NaNs among the samples of an image of floats.
pub fn make_not_finite(bytes: &mut [u8], dtype: DType, seed: u64) {
    let mut noise = Noise::new(seed);
    for sample in bytes.chunks_exact_mut(dtype.size()) {
        let n = noise.next();
        if let Some(&v) = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0].get((n >> 8) as usize % 24) {
            match dtype {
                DType::F16 => sample.copy_from_slice(&f16::from_f32(v).to_ne_bytes()),
                DType::F32 => sample.copy_from_slice(&v.to_ne_bytes()),
                DType::U8 | DType::U16 | DType::I16 | DType::I32 => {}
            }
        }
    }
}

/// The first byte at which two images of a type differ, where a NaN is a NaN: which of them is the machine's choice.
pub fn first_difference(a: &[u8], b: &[u8], dtype: DType) -> Option<usize> {
    let nan = |s: &[u8]| match (dtype, s) {
        (DType::F16, &[a, b]) => f16::from_ne_bytes([a, b]).is_nan(),
        (DType::F32, &[a, b, c, d]) => f32::from_ne_bytes([a, b, c, d]).is_nan(),
        _ => false,
    };
    let size = dtype.size();
    let differ = |(a, b): (&[u8], &[u8])| a != b && !(nan(a) && nan(b));
    let sample = a.chunks(size).zip(b.chunks(size)).position(differ)?;
    (sample * size..a.len()).find(|&i| a[i] != b[i])
}
