//! Samples as the library gives them to samples as pictures have them.

use jxl_oxide::image::BitDepth;
use jxl_oxide::{FrameBufferSample, ImageStream, Render};
use mip_core::{DType, ImageBuffer, Sample, f16};

/// Copies the picture, whose colours have that depth.
pub(super) fn copy(render: &Render, depth: BitDepth, image: &mut ImageBuffer) {
    let stream = render.stream();
    match (image.desc().dtype(), depth) {
        (DType::U8, _) => copy_rows::<u8, u8>(stream, image, |_, value| value),
        (DType::U16, BitDepth::IntegerSample { bits_per_sample: bits @ ..16 }) => {
            copy_rows::<f32, u16>(stream, image, |_, value| scaled(value, bits));
        }
        (DType::U16, _) => copy_rows::<u16, u16>(stream, image, |_, value| value),
        (dtype, _) => {
            let exponents = small_exponents(render, depth);
            let value = |channel: usize, value: f32| {
                exponents.get(channel).copied().flatten().map_or(value, |bits| mended(value, bits))
            };
            match dtype {
                DType::F16 => copy_rows::<f32, f16>(stream, image, |c, v| f16::from_f32(value(c, v))),
                _ => copy_rows::<f32, f32>(stream, image, value),
            }
        }
    }
}

/// Samples row by row, each with the number of its channel; gray with alpha is spread to rgba.
fn copy_rows<S: FrameBufferSample + Copy + Default, T: Sample>(
    mut stream: ImageStream<'_>,
    image: &mut ImageBuffer,
    convert: impl Fn(usize, S) -> T,
) {
    let (width, height) = (stream.width() as usize, stream.height() as usize);
    let stored = stream.channels() as usize;
    let mut row = vec![S::default(); width * stored];
    let mut view = image.view_mut();
    for y in 0..height {
        stream.write_to_buffer(&mut row);
        let to = view.row_as_mut::<T>(0, 0, y);
        if stored == 2 {
            for (to, &[gray, alpha]) in to.as_chunks_mut::<4>().0.iter_mut().zip(row.as_chunks::<2>().0) {
                let gray = convert(0, gray);
                *to = [gray, gray, gray, convert(1, alpha)];
            }
        } else {
            for (to, from) in to.chunks_exact_mut(stored).zip(row.chunks_exact(stored)) {
                for (channel, (to, from)) in to.iter_mut().zip(from).enumerate() {
                    *to = convert(channel, *from);
                }
            }
        }
    }
}

/// An integer of fewer than 16 bits, which the library gives as a part of the largest one, scaled to 16 and rounded. What a lossy stream
/// has between integers stays between them.
fn scaled(value: f32, bits: u32) -> u16 {
    let largest = f64::from((1_u32 << bits) - 1);
    let stored = f64::from(value) * largest;
    // Binary32 has 24 bits.
    let stored = if (stored - stored.round()).abs() < 0.01 { stored.round() } else { stored };
    (stored * 65535.0 / largest).round() as u16
}

/// Of each channel that is read, the bits of the exponent, where its samples are stored as floats with fewer than those of binary32.
fn small_exponents(render: &Render, depth: BitDepth) -> Vec<Option<u32>> {
    let small = |depth: BitDepth| match depth {
        BitDepth::FloatSample { exp_bits: bits @ ..8, .. } => Some(bits),
        _ => None,
    };
    // What is no grid of floats holds their bits, as they are stored.
    let colours =
        render.color_channels().iter().map(|grid| small(depth).filter(|_| grid.as_float().is_none()));
    let (extra, grids) = render.extra_channels();
    // An alpha has the depth of the colours wherever they are floats: nothing else is written.
    let alpha = extra.iter().zip(grids).find(|(channel, _)| channel.is_alpha());
    let alpha = alpha.and_then(|(_, grid)| small(depth).filter(|_| grid.as_float().is_none()));
    colours.chain([alpha]).collect()
}

/// The value of a float whose exponent has so many bits. The library knows no numbers below the smallest normal one (it reads 0 as
/// 2^-15 in binary16), nor infinities.
fn mended(value: f32, exponent_bits: u32) -> f32 {
    let bias = (1 << (exponent_bits - 1)) - 1;
    let bits = value.to_bits();
    let fraction = (bits & 0x007F_FFFF) as f32 / (1 << 23) as f32;
    let sign = 1_f32.copysign(value);
    // The exponent as it is stored.
    match (bits >> 23 & 0xFF) as i32 + bias - 127 {
        0 => sign * fraction * 2_f32.powi(1 - bias),
        all if all == (1 << exponent_bits) - 1 => {
            if fraction == 0.0 {
                sign * f32::INFINITY
            } else {
                f32::NAN
            }
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_is_what_its_bits_say() {
        let depth = BitDepth::FloatSample { bits_per_sample: 16, exp_bits: 5 };
        for bits in 0..=u16::MAX {
            let wanted = f16::from_bits(bits);
            let given = f16::from_f32(mended(depth.parse_integer_sample(i32::from(bits)), 5));
            assert!(given.to_bits() == bits || given.is_nan() && wanted.is_nan(), "{bits:04x}: {given}");
        }
    }

    #[test]
    fn integers_are_scaled_as_those_of_other_formats() {
        for bits in 9..16 {
            let (largest, depth) = ((1_u32 << bits) - 1, BitDepth::IntegerSample { bits_per_sample: bits });
            for value in 0..=largest {
                let wanted = (value * 65535 + largest / 2) / largest;
                assert_eq!(u32::from(scaled(depth.parse_integer_sample(value as i32), bits)), wanted);
            }
        }
    }
}
