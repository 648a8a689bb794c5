//! Alpha that colours were multiplied with, divided out.

use mip_core::{DType, ImageBuffer, f16};

/// Divides rgb by the alpha that they were multiplied with; where it is 0, nothing is known, and they become 0.
pub(super) fn divide_alpha(rgba: &mut ImageBuffer) {
    let dtype = rgba.desc().dtype();
    let mut view = rgba.view_mut();
    let data = view.data_mut();
    match dtype {
        DType::U8 => {
            for [colors @ .., alpha] in data.as_chunks_mut::<4>().0 {
                for color in colors {
                    *color = divided(u32::from(*color), u32::from(*alpha), 255) as u8;
                }
            }
        }
        DType::U16 => {
            for pixel in data.as_chunks_mut::<8>().0 {
                let at = |i: usize| u32::from(u16::from_ne_bytes([pixel[2 * i], pixel[2 * i + 1]]));
                let [r, g, b] = [0, 1, 2].map(|i| (divided(at(i), at(3), 65535) as u16).to_ne_bytes());
                pixel[..6].copy_from_slice(&[r, g, b].concat());
            }
        }
        // Integers are read unsigned.
        DType::I16 | DType::I32 => {}
        DType::F16 => {
            for pixel in data.as_chunks_mut::<8>().0 {
                let at = |i: usize| f16::from_ne_bytes([pixel[2 * i], pixel[2 * i + 1]]).to_f32();
                let alpha = at(3);
                let divided = |color: f32| if alpha == 0.0 { 0.0 } else { color / alpha };
                let [r, g, b] = [0, 1, 2].map(|i| f16::from_f32(divided(at(i))).to_ne_bytes());
                pixel[..6].copy_from_slice(&[r, g, b].concat());
            }
        }
        DType::F32 => {
            for pixel in data.as_chunks_mut::<16>().0 {
                let at = |i: usize| f32::from_ne_bytes([0, 1, 2, 3].map(|byte| pixel[4 * i + byte]));
                let alpha = at(3);
                let divided = |color: f32| if alpha == 0.0 { 0.0 } else { color / alpha };
                let [r, g, b] = [0, 1, 2].map(|i| divided(at(i)).to_ne_bytes());
                pixel[..12].copy_from_slice(&[r, g, b].concat());
            }
        }
    }
}

fn divided(color: u32, alpha: u32, full: u32) -> u32 {
    (color * full + alpha / 2).checked_div(alpha).map_or(0, |color| color.min(full))
}
