//! Radiance HDR (RGBE), with runs.
//!
//! `image` writes it too, but not infinities.

use mip_core::ImageDesc;

/// A file of f32 rgb pixels. The largest channel keeps 8 bits, the others those that are left beside it; what is
/// negative or no number becomes 0, what is too large the largest there is, about 1.7e38.
pub(super) fn encode(pixels: &[u8], desc: &ImageDesc) -> Vec<u8> {
    let (width, height) = (desc.width(), desc.height());
    let mut file = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n").into_bytes();
    let width = width as usize;
    for row in pixels.chunks_exact(12 * width) {
        let stored = row.as_chunks::<12>().0.iter().map(|pixel| {
            let channel = |i: usize| f32::from_ne_bytes([0, 1, 2, 3].map(|byte| pixel[4 * i + byte]));
            shared([0, 1, 2].map(channel))
        });
        // The lengths that a row with runs can say.
        if (8..32768).contains(&width) {
            let line: Vec<[u8; 4]> = stored.collect();
            let [high, low] = (width as u16).to_be_bytes();
            file.extend([2, 2, high, low]);
            for channel in 0..4 {
                let bytes: Vec<u8> = line.iter().map(|pixel| pixel[channel]).collect();
                runs(&bytes, &mut file);
            }
        } else {
            file.extend(stored.flatten());
        }
    }
    file
}

/// Three mantissas and their exponent.
fn shared(rgb: [f32; 3]) -> [u8; 4] {
    // The largest that can be said.
    let most = 255.0 * 2.0_f64.powi(255 - 136);
    let rgb = rgb.map(|value| if value > 0.0 { f64::from(value).min(most) } else { 0.0 });
    let largest = rgb.iter().copied().fold(0.0, f64::max);
    // Of f64 every positive f32 is a normal number, whose exponent can be read off.
    let power = ((largest.to_bits() >> 52) as i32 - 1023) + 1;
    let stored = |power: i32| rgb.map(|value| (value * 2.0_f64.powi(8 - power)).round());
    // Rounded up to 256, it takes the next exponent.
    let rounds_up = stored(power).contains(&256.0);
    let power = if rounds_up { power + 1 } else { power };
    match u8::try_from(power + 128) {
        Ok(exponent @ 1..) if largest > 0.0 => {
            let [r, g, b] = stored(power).map(|mantissa| mantissa as u8);
            [r, g, b, exponent]
        }
        _ => [0; 4],
    }
}

/// Bytes as runs of equal ones (128 and the length, the byte) and others (the length, the bytes).
fn runs(bytes: &[u8], file: &mut Vec<u8>) {
    let mut others = 0;
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take(127).take_while(|&&byte| byte == bytes[at]).count();
        // Two equal ones are no shorter as a run.
        if run > 2 {
            literal(&bytes[others..at], file);
            file.extend([128 + run as u8, bytes[at]]);
            others = at + run;
        }
        at += run;
    }
    literal(&bytes[others..], file);
}

fn literal(bytes: &[u8], file: &mut Vec<u8>) {
    for part in bytes.chunks(128) {
        file.push(part.len() as u8);
        file.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mantissas_and_exponents() {
        assert_eq!(shared([1.0, 0.5, 0.0]), [128, 64, 0, 129]);
        assert_eq!(shared([-1.0, f32::NAN, 0.0]), [0; 4]);
        assert_eq!(shared([f32::INFINITY, 0.0, f32::MAX]), [255, 0, 255, 255]);
        assert_eq!(shared([0.999_999, 0.0, 0.0]), [128, 0, 0, 129], "rounded up to the next exponent");
        assert_eq!(shared([f32::from_bits(1), 0.0, 0.0]), [0; 4], "smaller than there are exponents for");
        assert_eq!(shared([2.0_f32.powi(-128), 0.0, 0.0]), [128, 0, 0, 1]);
    }

    #[test]
    fn runs_and_what_lies_between_them() {
        let mut file = Vec::new();
        runs(&[1, 1, 2, 3, 3, 3, 3, 4], &mut file);
        assert_eq!(file, [3, 1, 1, 2, 132, 3, 1, 4]);
    }
}
