//! Sums over all that lies above and to the left: each row is the one above and what its own samples add from the left.

use mip_core::ImageView;

use crate::Integral;

/// The row above the next one, of one kernel and frame.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// The row that comes next.
    next: Option<u32>,
    /// Sums of all rows before it, of each plane.
    planes: Vec<Vec<u32>>,
}

/// What strip `strip` adds, into its row of each plane.
pub(super) fn strip(
    squared: bool,
    (image, frame): (&ImageView<'_>, usize),
    strip: u32,
    planes: &mut [&mut [u8]],
) {
    let desc = image.layout().desc;
    let rows = Integral::strip(desc.height());
    let (top, bottom) = (strip * rows, ((strip + 1) * rows).min(desc.height()));
    for (plane, to) in planes.iter_mut().enumerate() {
        let to: &mut [u32] = bytemuck::cast_slice_mut(to);
        to.fill(0);
        add_rows(squared, (image, frame, plane), top..bottom, to);
    }
}

/// Row `y` of the sums, in each plane: of the image and its strips.
pub(super) fn row(
    squared: bool,
    [image, strips]: [&ImageView<'_>; 2],
    frame: usize,
    y: u32,
    above: &mut Above,
    planes: &mut [&mut [u8]],
) {
    if above.next != Some(y) {
        above.start(squared, [image, strips], frame, y);
    }
    let height = image.layout().desc.height();
    for (plane, (to, above)) in planes.iter_mut().zip(&mut above.planes).enumerate() {
        bytemuck::cast_slice_mut::<u8, u32>(to).copy_from_slice(above);
        if y < height {
            add_row(squared, image.row(frame, plane, y as usize), step(image), above);
        }
    }
    above.next = Some(y + 1);
}

impl Above {
    /// Sums of all rows before `y`: of whole strips, and of the rows of the last one.
    fn start(&mut self, squared: bool, [image, strips]: [&ImageView<'_>; 2], frame: usize, y: u32) {
        let desc = strips.layout().desc;
        let rows = Integral::strip(image.layout().desc.height());
        self.planes.resize_with(desc.planes(), Vec::new);
        for (plane, sums) in self.planes.iter_mut().enumerate() {
            sums.clear();
            sums.resize(desc.row_samples(), 0);
            for strip in 0..y / rows {
                let more = strips.row_as::<i32>(frame, plane, strip as usize);
                sums.iter_mut()
                    .zip(more)
                    .for_each(|(sum, &more)| *sum = sum.wrapping_add(more.cast_unsigned()));
            }
            add_rows(squared, (image, frame, plane), y / rows * rows..y, sums);
        }
    }
}

/// Samples from a pixel to the next one of its row.
fn step(image: &ImageView<'_>) -> usize {
    let desc = image.layout().desc;
    if desc.planes() > 1 { 1 } else { desc.channels() }
}

/// Adds to each sum the samples of these rows that lie left of its column. Columns are added up first: only one row of sums waits
/// for the sum beside it.
fn add_rows(
    squared: bool,
    (image, frame, plane): (&ImageView<'_>, usize, usize),
    rows: std::ops::Range<u32>,
    sums: &mut [u32],
) {
    if rows.is_empty() {
        return;
    }
    let step = step(image);
    let mut columns = vec![0_u32; sums.len() - step];
    for y in rows {
        let samples = columns.iter_mut().zip(image.row(frame, plane, y as usize));
        if squared {
            samples.for_each(|(column, &v)| *column = column.wrapping_add(u32::from(v) * u32::from(v)));
        } else {
            samples.for_each(|(column, &v)| *column = column.wrapping_add(u32::from(v)));
        }
    }
    add_left(&columns, step, sums, |column| column);
}

/// The same of one row.
fn add_row(squared: bool, samples: &[u8], step: usize, sums: &mut [u32]) {
    if squared {
        add_left(samples, step, sums, |v| u32::from(v) * u32::from(v));
    } else {
        add_left(samples, step, sums, u32::from);
    }
}

fn add_left<T: Copy>(samples: &[T], step: usize, sums: &mut [u32], number: impl Fn(T) -> u32) {
    match step {
        1 => add_left_of::<T, 1>(samples, sums, number),
        3 => add_left_of::<T, 3>(samples, sums, number),
        _ => add_left_of::<T, 4>(samples, sums, number),
    }
}

#[inline(always)]
fn add_left_of<T: Copy, const C: usize>(samples: &[T], sums: &mut [u32], number: impl Fn(T) -> u32) {
    let mut left = [0_u32; C];
    // Nothing lies left of the first column.
    for (sums, samples) in sums[C..].as_chunks_mut::<C>().0.iter_mut().zip(samples.as_chunks::<C>().0) {
        for c in 0..C {
            left[c] = left[c].wrapping_add(number(samples[c]));
            sums[c] = sums[c].wrapping_add(left[c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{BatchLayout, DType, ImageDesc, ImageViewMut, Layout, PixelFormat};
    use proptest::prelude::*;

    use super::*;
    use crate::eval::whole_frame;
    use crate::{RowScratch, Whole, WholeRows};

    struct Case {
        image: Vec<u8>,
        layouts: [BatchLayout; 3],
        squared: bool,
    }

    impl Case {
        fn new(size: (u32, u32), format: PixelFormat, layout: Layout, squared: bool, seed: u64) -> Self {
            let desc = ImageDesc::new(size.0, size.1, format, DType::U8).unwrap().with_layout(layout);
            let sums = desc.with_dtype(DType::I32).unwrap();
            let strips = size.1.div_ceil(Integral::strip(size.1));
            let layouts = [
                desc,
                sums.with_size(size.0 + 1, strips).unwrap(),
                sums.with_size(size.0 + 1, size.1 + 1).unwrap(),
            ];
            let layouts = layouts.map(|desc| BatchLayout::tight(desc, 1).unwrap());
            let mut state = seed | 1;
            let mut noise = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Mostly white, so that squares pass 2^32 soon.
                ((state >> 33) as u8) | ((state >> 41) as u8)
            };
            Self { image: (0..layouts[0].span()).map(|_| noise()).collect(), layouts, squared }
        }

        fn strips(&self) -> Vec<u8> {
            let mut strips = vec![0_u32; self.layouts[1].span() / 4];
            let image = [ImageView::new(self.layouts[0], &self.image).unwrap()];
            let mut output =
                ImageViewMut::new(self.layouts[1], bytemuck::cast_slice_mut(&mut strips)).unwrap();
            let kernel = Whole::Integral(Integral::Strips { squared: self.squared });
            whole_frame(&kernel, &[], &image, 0, &mut output);
            bytemuck::cast_slice(&strips).to_vec()
        }

        /// Sums over all pixels before, one by one, for a sample of the result.
        fn expected(&self, x: u32, y: u32, c: usize) -> i64 {
            let view = ImageView::new(self.layouts[0], &self.image).unwrap();
            let places = (0..y as usize).flat_map(|y| (0..x as usize).map(move |x| (x, y)));
            let sample = |(x, y)| view.sample(0, x, y, c) as i64;
            places.map(|at| if self.squared { sample(at).pow(2) } else { sample(at) }).sum()
        }
    }

    proptest! {
        #[test]
        fn they_are_the_sums_of_all_pixels_before_in_any_order_of_rows(
            size in (1_u32..20, 1_u32..40),
            format in prop::sample::select(vec![PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Rgba]),
            layout in prop::sample::select(Layout::ALL.to_vec()),
            squared: bool,
            seed: u64,
            first in 0_u32..40,
        ) {
            let case = Case::new(size, format, layout, squared, seed);
            let mut strips = vec![0_u32; case.layouts[1].span() / 4];
            bytemuck::cast_slice_mut(&mut strips).copy_from_slice(&case.strips());
            let inputs = [
                ImageView::new(case.layouts[0], &case.image).unwrap(),
                ImageView::new(case.layouts[1], bytemuck::cast_slice(&strips)).unwrap(),
            ];
            let kernel = Whole::Integral(Integral::Sums { squared });
            let rows = WholeRows::new(&kernel, &[], &inputs, 0);
            let desc = case.layouts[2].desc;
            let mut scratch = RowScratch::default();
            for y in (first.min(size.1)..=size.1).chain(0..first.min(size.1)) {
                let mut memory = vec![0xA5A5_A5A5_u32; desc.row_samples() * desc.planes()];
                let mut planes: Vec<&mut [u8]> = memory
                    .chunks_exact_mut(desc.row_samples())
                    .map(bytemuck::cast_slice_mut)
                    .collect();
                rows.row(y, &mut scratch, &mut planes);
                for (x, c) in (0..=size.0).flat_map(|x| (0..desc.channels()).map(move |c| (x, c))) {
                    let at = if desc.planes() > 1 {
                        c * desc.row_samples() + x as usize
                    } else {
                        x as usize * desc.channels() + c
                    };
                    prop_assert_eq!(memory[at], case.expected(x, y, c) as u32, "x {} y {} c {}", x, y, c);
                }
            }
        }
    }

    #[test]
    fn boxes_are_exact_where_sums_of_squares_have_passed_32_bits() {
        // Squares of 300x300 white pixels: 5852250000, more than 2^32.
        let mut case = Case::new((300, 300), PixelFormat::Gray, Layout::Hwc, true, 1);
        case.image.fill(255);
        let strips: Vec<u32> = bytemuck::pod_collect_to_vec(&case.strips());
        let inputs = [
            ImageView::new(case.layouts[0], &case.image).unwrap(),
            ImageView::new(case.layouts[1], bytemuck::cast_slice(&strips)).unwrap(),
        ];
        let mut sums = vec![0_i32; case.layouts[2].span() / 4];
        let mut output = ImageViewMut::new(case.layouts[2], bytemuck::cast_slice_mut(&mut sums)).unwrap();
        let kernel = Whole::Integral(Integral::Sums { squared: true });
        whole_frame(&kernel, &[], &inputs, 0, &mut output);
        let at = |x: usize, y: usize| sums[y * 301 + x];
        assert_eq!(at(300, 300), (300_i64 * 300 * 65025) as i32);
        // Of 181 x 182 = 32942 pixels, by four corners.
        let [x0, y0, x1, y1] = [119, 118, 300, 300];
        let sum = at(x1, y1).wrapping_sub(at(x0, y1)).wrapping_sub(at(x1, y0)).wrapping_add(at(x0, y0));
        assert_eq!(sum, 181 * 182 * 65025);
    }

    #[test]
    fn strips_are_few_and_of_whole_groups_of_rows() {
        for height in [1, 15, 16, 17, 1080, 2048, 2049, 2160, 65536] {
            let rows = Integral::strip(height);
            assert!(rows.is_multiple_of(Integral::ROWS) && height.div_ceil(rows) <= 128, "{height}: {rows}");
        }
    }
}
