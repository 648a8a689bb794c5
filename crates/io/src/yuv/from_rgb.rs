//! Images to planes.

use mip_core::{ImageView, Layout};

use super::Planes;
use super::coefficients::{BITS, FromRgb};

/// Rows of red, green and blue, one sample longer than the picture where that is odd: its last pixel again, which
/// leaves averages over the edge as they are.
struct Rows {
    width: usize,
    /// Red, green, blue of each of the rows that share chroma.
    rows: Vec<[Vec<u8>; 3]>,
}

/// Converts a frame to planes with chroma. `image` is RGB or BGR of 8 bits, in any layout. Compiled for whatever
/// instructions the caller was compiled for.
#[inline(always)]
pub(super) fn convert(factors: &FromRgb, image: &ImageView<'_>, planes: &mut Planes) {
    let (across, down) = planes.sampling().subsampling().expect("called for planes with chroma");
    let (across, down) = (across as usize, down as usize);
    let ((width, height), (chroma_width, chroma_height)) = (planes.sizes().luma, planes.sizes().chroma);
    let [luma, u, v] = planes.split_mut();
    let mut rows = Rows::new(width, across, down);
    let mut sums = [const { Vec::new() }; 3].map(|_: Vec<i32>| vec![0; chroma_width]);
    for chroma_y in 0..chroma_height {
        for below in 0..down {
            let y = chroma_y * down + below;
            rows.load(below, image, y.min(height - 1));
            if y < height {
                luma_row(factors, &rows.rows[below], &mut luma[y * width..][..width]);
            }
        }
        for (channel, sums) in sums.iter_mut().enumerate() {
            rows.add_up(channel, across, sums);
        }
        let shift = BITS + (across * down).trailing_zeros();
        let out = chroma_y * chroma_width;
        chroma_row(&factors.u, shift, &sums, &mut u[out..][..chroma_width]);
        chroma_row(&factors.v, shift, &sums, &mut v[out..][..chroma_width]);
    }
}

impl Rows {
    fn new(width: usize, across: usize, down: usize) -> Self {
        let row = || vec![0; width.next_multiple_of(across)];
        Self { width, rows: (0..down).map(|_| [row(), row(), row()]).collect() }
    }

    #[inline(always)]
    fn load(&mut self, index: usize, image: &ImageView<'_>, y: usize) {
        let desc = image.layout().desc;
        let order = desc.format.rgb_indices().expect("checked to have colours");
        let planes = &mut self.rows[index];
        match desc.layout {
            Layout::Hwc => {
                let [red, green, blue] = planes;
                let pixels = image.row(0, 0, y).chunks_exact(3);
                let to = red.iter_mut().zip(green.iter_mut()).zip(blue.iter_mut());
                if order[0] == 0 {
                    for (pixel, ((r, g), b)) in pixels.zip(to) {
                        (*r, *g, *b) = (pixel[0], pixel[1], pixel[2]);
                    }
                } else {
                    for (pixel, ((r, g), b)) in pixels.zip(to) {
                        (*r, *g, *b) = (pixel[2], pixel[1], pixel[0]);
                    }
                }
            }
            Layout::Chw => {
                for (plane, channel) in planes.iter_mut().zip(order) {
                    plane[..self.width].copy_from_slice(image.row(0, channel, y));
                }
            }
        }
        for plane in planes {
            let last = plane[self.width - 1];
            plane[self.width..].fill(last);
        }
    }

    /// Sums of a channel over the luma samples that share a chroma sample.
    #[inline(always)]
    fn add_up(&self, channel: usize, across: usize, sums: &mut [i32]) {
        let row = |index: usize| &self.rows[index][channel];
        match (across, self.rows.len()) {
            (1, _) => sums.iter_mut().zip(row(0)).for_each(|(sum, &a)| *sum = i32::from(a)),
            (_, 1) => {
                for (sum, a) in sums.iter_mut().zip(row(0).chunks_exact(2)) {
                    *sum = i32::from(a[0]) + i32::from(a[1]);
                }
            }
            _ => {
                let pairs = row(0).chunks_exact(2).zip(row(1).chunks_exact(2));
                for (sum, (a, b)) in sums.iter_mut().zip(pairs) {
                    *sum = i32::from(a[0]) + i32::from(a[1]) + i32::from(b[0]) + i32::from(b[1]);
                }
            }
        }
    }
}

#[inline(always)]
fn luma_row(factors: &FromRgb, [red, green, blue]: &[Vec<u8>; 3], out: &mut [u8]) {
    let [by_red, by_green, by_blue] = factors.luma;
    for (((out, &r), &g), &b) in out.iter_mut().zip(red).zip(green).zip(blue) {
        let sum = i32::from(r) * by_red + i32::from(g) * by_green + i32::from(b) * by_blue;
        // At most 255: the factors add up to what white needs.
        *out = ((sum + factors.luma_offset) >> BITS) as u8;
    }
}

#[inline(always)]
fn chroma_row(factors: &[i32; 3], shift: u32, [red, green, blue]: &[Vec<i32>; 3], out: &mut [u8]) {
    let offset = (128 << shift) + (1 << (shift - 1));
    for (((out, &r), &g), &b) in out.iter_mut().zip(red).zip(green).zip(blue) {
        let sum = r * factors[0] + g * factors[1] + b * factors[2];
        *out = ((sum + offset) >> shift).clamp(0, 255) as u8;
    }
}
