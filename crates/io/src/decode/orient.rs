use image::metadata::Orientation;
use mip_core::{ImageBuffer, ImageDesc, ImageError};

/// Shape of an image after its orientation has been applied.
pub(super) fn desc(stored: ImageDesc, orientation: Orientation) -> Result<ImageDesc, ImageError> {
    if swaps(orientation) { stored.with_size(stored.height(), stored.width()) } else { Ok(stored) }
}

/// Whether an orientation makes columns of rows.
pub(super) const fn swaps(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

/// Copies `stored` (interleaved, tight) upright into `upright`, which has the shape [`desc`] says.
pub(super) fn copy(stored: &ImageBuffer, upright: &mut ImageBuffer, orientation: Orientation) {
    let walk = Walk::new(stored.desc(), orientation);
    let pixel = stored.desc().channels() * stored.desc().dtype().size();
    match pixel {
        1 => copy_pixels::<1>(stored, upright, &walk),
        2 => copy_pixels::<2>(stored, upright, &walk),
        3 => copy_pixels::<3>(stored, upright, &walk),
        4 => copy_pixels::<4>(stored, upright, &walk),
        6 => copy_pixels::<6>(stored, upright, &walk),
        8 => copy_pixels::<8>(stored, upright, &walk),
        12 => copy_pixels::<12>(stored, upright, &walk),
        16 => copy_pixels::<16>(stored, upright, &walk),
        _ => unreachable!("files hold 1, 3 or 4 channels of 1, 2 or 4 bytes"),
    }
}

/// Where the upright pixel (x, y) is stored: `origin + x * right + y * down`, in pixels.
struct Walk {
    origin: isize,
    right: isize,
    down: isize,
}

impl Walk {
    fn new(stored: &ImageDesc, orientation: Orientation) -> Self {
        let (w, h) = (stored.width() as isize, stored.height() as isize);
        let (top_right, bottom_left, last) = (w - 1, (h - 1) * w, h * w - 1);
        let (origin, right, down) = match orientation {
            Orientation::NoTransforms => (0, 1, w),
            Orientation::FlipHorizontal => (top_right, -1, w),
            Orientation::Rotate180 => (last, -1, -w),
            Orientation::FlipVertical => (bottom_left, 1, -w),
            Orientation::Rotate90FlipH => (0, w, 1),
            Orientation::Rotate90 => (bottom_left, -w, 1),
            Orientation::Rotate270FlipH => (last, -w, -1),
            Orientation::Rotate270 => (top_right, w, -1),
        };
        Self { origin, right, down }
    }
}

/// In tiles: rotated reads touch a new cache line each, and a tile's lines are used again by its next row.
fn copy_pixels<const N: usize>(stored: &ImageBuffer, upright: &mut ImageBuffer, walk: &Walk) {
    const TILE: usize = 32;
    let (width, height) = (upright.desc().width() as usize, upright.desc().height() as usize);
    let source = stored.view();
    let (source, _) = source.data().as_chunks::<N>();
    let mut target = upright.view_mut();
    let (target, _) = target.data_mut().as_chunks_mut::<N>();
    for top in (0..height).step_by(TILE) {
        for left in (0..width).step_by(TILE) {
            for y in top..(top + TILE).min(height) {
                let row = walk.origin + y as isize * walk.down;
                for x in left..(left + TILE).min(width) {
                    target[y * width + x] = source[(row + x as isize * walk.right) as usize];
                }
            }
        }
    }
}
