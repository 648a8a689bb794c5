//! Medians by counting, in time that hardly depends on the side of the square (Perreault and Hebert 2007): each column has
//! counts of the rows around, which change by two samples from row to row, and the square's are a sum of columns', which
//! changes by two columns from pixel to pixel.
//!
//! Counts add up over the values below, in two levels: sixteen sixteenths of the range, and the sixteen values of each. A rank is
//! then found by comparing all sixteen at once.

use mip_core::ImageView;

use crate::Median;
use crate::kernel::colors;

/// How many samples have at most a sixteenth, or at most a value of a sixteenth.
type Counts = [u16; 16];

/// Samples to count in whole steps: `STEPS[v]` is 1 from v on.
const STEPS: [Counts; 16] = {
    let mut steps = [[0; 16]; 16];
    let mut v = 0;
    while v < 16 {
        let mut i = v;
        while i < 16 {
            steps[v][i] = 1;
            i += 1;
        }
        v += 1;
    }
    steps
};

#[inline(always)]
fn add(to: &mut Counts, counts: &Counts) {
    to.iter_mut().zip(counts).for_each(|(to, count)| *to = to.wrapping_add(*count));
}

#[inline(always)]
fn subtract(from: &mut Counts, counts: &Counts) {
    from.iter_mut().zip(counts).for_each(|(from, count)| *from = from.wrapping_sub(*count));
}

/// The first place where more than so many samples have been counted.
#[inline(always)]
fn place(counts: &Counts, before: u16) -> usize {
    let below: u16 = counts.iter().map(|&count| u16::from(count <= before)).sum();
    usize::from(below).min(15)
}

/// What the columns of an image hold of the rows around one, which the next row needs again.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The row that the counts are around.
    row: Option<u32>,
    /// Of each channel.
    channels: Vec<Channel>,
    /// For each column of the squares, also outside the image, the one that is read; the last one is the constant.
    places: Vec<u32>,
}

#[derive(Debug, Default)]
struct Channel {
    /// Of each column and of a column outside the image.
    coarse: Vec<Counts>,
    /// Of each sixteenth, of each of those columns.
    fine: Vec<Counts>,
}

impl Channel {
    fn count(&mut self, column: usize, columns: usize, v: u8, change: impl Fn(&mut Counts, &Counts)) {
        let (sixteenth, value) = (usize::from(v >> 4), usize::from(v & 15));
        change(&mut self.coarse[column], &STEPS[sixteenth]);
        change(&mut self.fine[sixteenth * columns + column], &STEPS[value]);
    }
}

/// A row of the result: `planes` are its bytes in each plane.
pub(super) fn row(
    kernel: Median,
    (image, frame): (&ImageView<'_>, usize),
    y: u32,
    known: &mut Columns,
    planes: &mut [&mut [u8]],
) {
    let desc = image.layout().desc;
    let colors = colors(&desc) as usize;
    known.move_to(kernel, (image, frame), colors, y);
    // Channels of a pixel that lie beside each other.
    let step = if planes.len() > 1 { 1 } else { desc.channels() };
    for c in 0..desc.channels() {
        let (plane, first) = if planes.len() > 1 { (c, 0) } else { (0, c) };
        if let Some(channel) = known.channels.get(c) {
            medians(kernel, channel, &known.places, planes[plane][first..].iter_mut().step_by(step));
        } else {
            let from = image.row(frame, plane, y as usize);
            let kept = from[first..].iter().step_by(step);
            planes[plane][first..].iter_mut().step_by(step).zip(kept).for_each(|(to, v)| *to = *v);
        }
    }
}

impl Columns {
    fn move_to(&mut self, kernel: Median, (image, frame): (&ImageView<'_>, usize), colors: usize, y: u32) {
        let desc = image.layout().desc;
        let (width, height, radius) = (desc.width() as usize, desc.height(), i64::from(kernel.side / 2));
        let planar = desc.planes() > 1;
        let change = |known: &mut Self, y: i64, added: bool| {
            let row = kernel.border.index(y, height).map(|y| y as usize);
            for (c, channel) in known.channels.iter_mut().enumerate() {
                let (plane, first) = if planar { (c, 0) } else { (0, c) };
                let samples = row.map(|y| &image.row(frame, plane, y)[first..]);
                let samples = samples.map(|row| row.iter().step_by(if planar { 1 } else { desc.channels() }));
                let mut count = |x: usize, v: u8| {
                    if added {
                        channel.count(x, width + 1, v, add);
                    } else {
                        channel.count(x, width + 1, v, subtract);
                    }
                };
                match samples {
                    Some(samples) => (0..).zip(samples).for_each(|(x, &v)| count(x, v)),
                    None => (0..width).for_each(|x| count(x, kernel.constant())),
                }
            }
        };
        match self.row {
            Some(row) if row == y => {}
            Some(row) if row + 1 == y => {
                change(self, i64::from(row) - radius, false);
                change(self, i64::from(y) + radius, true);
            }
            Some(_) | None => {
                self.start(kernel, width, colors);
                for near in i64::from(y) - radius..=i64::from(y) + radius {
                    change(self, near, true);
                }
            }
        }
        self.row = Some(y);
    }

    /// Nothing is counted but constants in the column outside the image.
    fn start(&mut self, kernel: Median, width: usize, colors: usize) {
        self.channels.resize_with(colors, Channel::default);
        for channel in &mut self.channels {
            channel.coarse.clear();
            channel.coarse.resize(width + 1, [0; 16]);
            channel.fine.clear();
            channel.fine.resize(16 * (width + 1), [0; 16]);
            for _ in 0..kernel.side {
                channel.count(width, width + 1, kernel.constant(), add);
            }
        }
        let radius = i64::from(kernel.side / 2);
        let place = |x: i64| kernel.border.index(x, width as u32).unwrap_or(width as u32);
        self.places = (-radius..width as i64 + radius).map(place).collect();
    }
}

/// The medians of a row, of the columns' counts.
fn medians<'a>(kernel: Median, channel: &Channel, places: &[u32], to: impl Iterator<Item = &'a mut u8>) {
    let side = kernel.side as usize;
    let before = kernel.before() as u16;
    let columns = channel.coarse.len();
    let coarse = |at: usize| &channel.coarse[places[at] as usize];
    let mut square: Counts = [0; 16];
    (0..side - 1).for_each(|at| add(&mut square, coarse(at)));
    // Of each sixteenth, the square whose last column was before this one.
    let mut values: [Counts; 16] = [[0; 16]; 16];
    let mut ends = [0_usize; 16];
    for (x, to) in to.enumerate() {
        let end = x + side;
        add(&mut square, coarse(end - 1));
        let sixteenth = place(&square, before);
        let below = if sixteenth == 0 { 0 } else { square[sixteenth - 1] };
        let fine = &channel.fine[sixteenth * columns..][..columns];
        let (counts, last) = (&mut values[sixteenth], &mut ends[sixteenth]);
        let fine = |at: usize| &fine[places[at] as usize];
        if 2 * (end - *last) < side {
            for at in *last..end {
                add(counts, fine(at));
                subtract(counts, fine(at - side));
            }
        } else {
            *counts = [0; 16];
            (x..end).for_each(|at| add(counts, fine(at)));
        }
        *last = end;
        *to = (16 * sixteenth + place(counts, before - below)) as u8;
        subtract(&mut square, coarse(x));
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{BatchLayout, ImageDesc, ImageViewMut, Layout, PixelFormat};
    use proptest::prelude::*;

    use super::*;
    use crate::eval::whole_frame;
    use crate::{Border, Whole};

    /// By sorting.
    fn expected(kernel: Median, image: &ImageView<'_>, c: usize, [x, y]: [i64; 2]) -> u8 {
        let desc = image.layout().desc;
        let radius = i64::from(kernel.side / 2);
        let (plane, first, step) = if desc.planes() > 1 { (c, 0, 1) } else { (0, c, desc.channels()) };
        let at = |x: i64, y: i64| {
            let x = kernel.border.index(x, desc.width())?;
            let y = kernel.border.index(y, desc.height())?;
            Some(image.row(0, plane, y as usize)[x as usize * step + first])
        };
        let rows = y - radius..=y + radius;
        let around = rows.flat_map(|y| (x - radius..=x + radius).map(move |x| (x, y)));
        let mut samples: Vec<u8> = around.map(|(x, y)| at(x, y).unwrap_or(kernel.constant())).collect();
        samples.sort_unstable();
        samples[kernel.before() as usize]
    }

    proptest! {
        #[test]
        fn they_are_those_of_sorted_samples(
            size in (1_u32..24, 1_u32..9),
            format in prop::sample::select(vec![PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Rgba]),
            planar: bool,
            radius in 1_u32..12,
            border in prop::sample::select(vec![
                Border::Reflect101, Border::Reflect, Border::Replicate, Border::Wrap, Border::Constant(77.0),
            ]),
            // Few values, or all.
            share in prop::sample::select(vec![3_u8, 60, 255]),
            seed: u64,
        ) {
            let mut desc = ImageDesc::new(size.0, size.1, format, mip_core::DType::U8).unwrap();
            if planar {
                desc = desc.with_layout(Layout::Chw);
            }
            let layout = BatchLayout::tight(desc, 1).unwrap();
            let mut state = seed | 1;
            let mut noise = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) as u8) % share
            };
            let pixels: Vec<u8> = (0..layout.span()).map(|_| noise()).collect();
            let mut result = vec![0; layout.span()];
            let image = ImageView::new(layout, &pixels).unwrap();
            let kernel = Median { side: 2 * radius + 1, border };
            let mut output = ImageViewMut::new(layout, &mut result).unwrap();
            whole_frame(&Whole::Median(kernel), &[], &[image], 0, &mut output);
            let output = output.as_view();
            for c in 0..desc.channels() {
                let (plane, first, step) = if desc.planes() > 1 { (c, 0, 1) } else { (0, c, desc.channels()) };
                for (x, y) in (0..desc.width()).flat_map(|x| (0..desc.height()).map(move |y| (x, y))) {
                    let got = output.row(0, plane, y as usize)[x as usize * step + first];
                    let wanted = if c < colors(&desc) as usize {
                        expected(kernel, &image, c, [x.into(), y.into()])
                    } else {
                        image.row(0, plane, y as usize)[x as usize * step + first]
                    };
                    prop_assert_eq!(got, wanted, "{:?} {} at {} {} of {}", kernel, desc, x, y, c);
                }
            }
        }
    }
}
