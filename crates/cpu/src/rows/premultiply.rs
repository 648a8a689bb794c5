//! Alpha in filters: samples are multiplied by their alpha before and divided by the filtered alpha after.

use mip_core::Layout;

use super::row::{Row, RowMut};
use crate::simd::Pixel;

/// Writes `p[c] * p[alpha]` and `p[alpha]` of a four-channel row.
#[inline(always)]
pub(crate) fn premultiply<T: Pixel>(layout: Layout, from: &Row<'_>, to: &mut RowMut<'_>) {
    match layout {
        Layout::Hwc => {
            let pixels = from.plane::<T>(0).chunks_exact(4);
            for (out, p) in to.plane::<f32>(0).chunks_exact_mut(4).zip(pixels) {
                let alpha = p[3].to_f32();
                for c in 0..3 {
                    out[c] = p[c].to_f32() * alpha;
                }
                out[3] = alpha;
            }
        }
        Layout::Chw => {
            let alpha = from.plane::<T>(3);
            for c in 0..3 {
                for ((out, &p), &a) in to.plane::<f32>(c).iter_mut().zip(from.plane::<T>(c)).zip(alpha) {
                    *out = p.to_f32() * a.to_f32();
                }
            }
            for (out, a) in to.plane::<f32>(3).iter_mut().zip(alpha) {
                *out = a.to_f32();
            }
        }
    }
}

/// Writes `v[alpha] > 0 ? v[c] / v[alpha] : 0` and `v[alpha]`, quantised.
#[inline(always)]
pub(crate) fn unpremultiply<T: Pixel>(layout: Layout, from: &Row<'_>, to: &mut RowMut<'_>) {
    let divide = |v: f32, alpha: f32| T::from_f32(if alpha > 0.0 { v / alpha } else { 0.0 });
    match layout {
        Layout::Hwc => {
            let pixels = from.plane::<f32>(0).chunks_exact(4);
            for (out, v) in to.plane::<T>(0).chunks_exact_mut(4).zip(pixels) {
                for c in 0..3 {
                    out[c] = divide(v[c], v[3]);
                }
                out[3] = T::from_f32(v[3]);
            }
        }
        Layout::Chw => {
            let alpha = from.plane::<f32>(3);
            for c in 0..3 {
                for ((out, &v), &a) in to.plane::<T>(c).iter_mut().zip(from.plane::<f32>(c)).zip(alpha) {
                    *out = divide(v, a);
                }
            }
            for (out, &a) in to.plane::<T>(3).iter_mut().zip(alpha) {
                *out = T::from_f32(a);
            }
        }
    }
}

/// A constant border's value in each channel, premultiplied when there is alpha.
pub(crate) fn constant(value: f32, alpha: bool) -> [f32; 4] {
    if alpha {
        let colour = value * value;
        [colour, colour, colour, value]
    } else {
        [value; 4]
    }
}
