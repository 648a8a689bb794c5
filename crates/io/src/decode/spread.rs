//! Gray with alpha, for which there is no pixel format, to rgba.

use mip_core::{ImageBuffer, Sample};

/// Pairs of gray and alpha to rgba of the same sample type.
pub(super) fn spread_pairs(pairs: &[u8], rgba: &mut ImageBuffer) {
    use mip_core::DType;
    match rgba.desc().dtype() {
        DType::U8 => spread::<u8>(pairs, rgba),
        DType::U16 | DType::I16 | DType::F16 => spread::<u16>(pairs, rgba),
        DType::I32 => spread::<i32>(pairs, rgba),
        DType::F32 => spread::<f32>(pairs, rgba),
    }
}

fn spread<T: Sample>(pairs: &[u8], rgba: &mut ImageBuffer) {
    let size = size_of::<T>();
    let mut view = rgba.view_mut();
    for (to, from) in view.data_mut().chunks_exact_mut(4 * size).zip(pairs.chunks_exact(2 * size)) {
        let (gray, alpha) = from.split_at(size);
        for channel in to[..3 * size].chunks_exact_mut(size) {
            channel.copy_from_slice(gray);
        }
        to[3 * size..].copy_from_slice(alpha);
    }
}
