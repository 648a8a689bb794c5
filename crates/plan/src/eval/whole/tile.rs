use mip_core::ImageView;

use super::boxes::{color_bytes, pixel_bytes};
use crate::Tile;

/// A row of images beside each other.
pub(super) fn row(
    tile: Tile,
    images: &[ImageView<'_>],
    uniforms: &[f32],
    frame: usize,
    y: u32,
    planes: &mut [&mut [u8]],
) {
    let (desc, size) = (images[0].layout().desc, pixel_bytes(&images[0]));
    let color = color_bytes(uniforms, &desc);
    let (row, inner) = (y / (desc.height() + tile.gap), y % (desc.height() + tile.gap));
    for (plane, (to, pixel)) in planes.iter_mut().zip(color.chunks(size)).enumerate() {
        let first = (row * tile.columns) as usize;
        let in_row = images[first..].iter().take(tile.columns as usize);
        let mut begin = 0;
        for image in in_row.take_while(|_| inner < desc.height()) {
            let from = image.row(frame, plane, inner as usize);
            to[begin..begin + from.len()].copy_from_slice(from);
            let end = begin + from.len();
            begin = (end + tile.gap as usize * size).min(to.len());
            to[end..begin].chunks_exact_mut(size).for_each(|to| to.copy_from_slice(pixel));
        }
        to[begin..].chunks_exact_mut(size).for_each(|to| to.copy_from_slice(pixel));
    }
}
