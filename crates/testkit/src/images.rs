//! deterministic test images: the same pixels on every machine, from a generator of our own.

use mip_core::{BatchLayout, ImageBuffer, ImageDesc, Layout};

use crate::Real;
use crate::real::write_frame;

/// Sizes that have broken image code before: one pixel, single rows and columns, around vector widths and
/// tiles, odd, narrow and tall, and rows of several vectors with a rest.
pub const SIZES: &[(u32, u32)] = &[
    (1, 1),
    (1, 2),
    (2, 1),
    (1, 17),
    (33, 1),
    (2, 2),
    (3, 2),
    (3, 3),
    (5, 4),
    (15, 7),
    (16, 16),
    (17, 9),
    (31, 5),
    (33, 3),
    (64, 2),
    (5, 64),
    (47, 37),
    (193, 3),
];

/// A few of [`SIZES`] for tests that multiply many other choices.
pub const FEW_SIZES: &[(u32, u32)] = &[(1, 1), (1, 5), (7, 1), (3, 2), (17, 9), (33, 11), (131, 3)];

/// Splitmix64 (Steele, Lea, Flood 2014): 64 good bits from a counter.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A stream of numbers that depends on the seed alone.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `[0, 1)` with 53 random bits.
    pub fn next_unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number in `0..n`, `n` at least 1 (small `n`: the bias is below 2^-32).
    pub const fn below(&mut self, n: u32) -> u32 {
        (((self.next_u64() >> 32) * n as u64) >> 32) as u32
    }
}

/// What a test image shows: the usual test patterns. In f32 noise reaches from -1 to 2: values outside 0 to 1
/// are ordinary there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Independent samples over the whole range.
    Noise,
    /// A slope from black to white along both axes, another one in each channel.
    Gradient,
    /// Black and white by single pixels.
    Checkerboard,
    /// White in the middle of black.
    Impulse,
    /// One middling value.
    Constant,
    /// Every sample 0 or full scale at random.
    Extremes,
    /// All samples full scale: sums must saturate, weights must not exceed 1.
    White,
}

impl Pattern {
    /// Every pattern.
    pub const ALL: [Self; 7] = [
        Self::Noise,
        Self::Gradient,
        Self::Checkerboard,
        Self::Impulse,
        Self::Constant,
        Self::Extremes,
        Self::White,
    ];

    /// Draws it, tightly packed. Alpha is always clear, opaque or between, in patches of 2x2 pixels and never
    /// outside 0 to full scale; clear pixels keep colour, which must not show anywhere.
    pub fn draw(self, desc: ImageDesc, seed: u64) -> ImageBuffer {
        let mut image = ImageBuffer::new(desc).expect("a valid description");
        self.draw_into(&mut image, seed);
        image
    }

    /// A batch in which every frame is another one (seeds `seed`, `seed + 1`, ...).
    pub fn draw_batch(self, desc: ImageDesc, frames: usize, seed: u64) -> ImageBuffer {
        let layout = BatchLayout::tight(desc, frames).expect("a valid description");
        let mut image = ImageBuffer::with_layout(layout).expect("a valid layout");
        self.draw_into(&mut image, seed);
        image
    }

    fn draw_into(self, image: &mut ImageBuffer, seed: u64) {
        let desc = *image.desc();
        for frame in 0..image.batch_size() {
            let mut random = SplitMix64::new(seed.wrapping_add(frame as u64));
            let alpha = AlphaPatches::new(&desc, &mut random);
            write_frame(&mut image.view_mut(), frame, |x, y, c| match c {
                3 => alpha.at(x, y) * desc.dtype().full_scale(),
                _ => self.sample(&desc, &mut random, (x, y, c)),
            });
        }
    }

    fn sample(self, desc: &ImageDesc, random: &mut SplitMix64, (x, y, c): (usize, usize, usize)) -> f64 {
        let (full, w, h) = (desc.dtype().full_scale(), desc.width() as usize, desc.height() as usize);
        let on = |on: bool| if on { full } else { 0.0 };
        match self {
            Self::Noise => match desc.dtype().integers() {
                Some((min, max)) => match ((max - min) as u32).checked_add(1) {
                    Some(count) => min + f64::from(random.below(count)),
                    None => min + (random.next_u64() >> 32) as f64,
                },
                None => 3.0 * random.next_unit() - 1.0,
            },
            Self::Gradient => {
                let (across, down) = ((x + 1) as f64 / w as f64, (y + 1) as f64 / h as f64);
                full * [f64::midpoint(across, down), across, 1.0 - down][c]
            }
            Self::Checkerboard => on((x + y + c).is_multiple_of(2)),
            Self::Impulse => on((x, y) == (w / 2, h / 2)),
            Self::Constant => full * 0.37,
            Self::Extremes if random.below(2) == 1 => full,
            Self::Extremes => desc.dtype().integers().map_or(0.0, |(min, _)| min),
            Self::White => full,
        }
    }
}

/// Alpha in 2x2 patches: a third clear, a third opaque, a third between.
struct AlphaPatches {
    columns: usize,
    values: Vec<f64>,
}

impl AlphaPatches {
    fn new(desc: &ImageDesc, random: &mut SplitMix64) -> Self {
        let columns = desc.width().div_ceil(2) as usize;
        let count = columns * desc.height().div_ceil(2) as usize;
        let mut value = || match random.below(3) {
            0 => 0.0,
            1 => 1.0,
            _ => random.next_unit(),
        };
        Self { columns, values: (0..count).map(|_| value()).collect() }
    }

    fn at(&self, x: usize, y: usize) -> f64 {
        self.values[y / 2 * self.columns + x / 2]
    }
}

/// The same images with rows padded to a multiple of `align` bytes (a power of two) plus one sample, the padding
/// filled with 0xA5: as region views and odd pitches are. Whoever reads padding as pixels gives himself away.
pub fn padded(image: &ImageBuffer, align: usize) -> ImageBuffer {
    let desc = *image.desc();
    let mut layout = BatchLayout::pitched(desc, image.batch_size(), align).expect("a valid description");
    layout.row_stride += desc.dtype().size();
    layout.plane_stride = layout.row_stride * desc.height() as usize;
    layout.batch_stride = layout.plane_stride * desc.planes() + 3 * desc.dtype().size();
    let mut copy = ImageBuffer::with_layout(layout).expect("a valid layout");
    copy.view_mut().data_mut().fill(0xA5);
    copy_frames(image, &mut copy);
    copy
}

/// The same images of floats, tightly packed, with some of their samples infinite or NaN: about one of 24.
///
/// # Panics
/// For images of integers, which cannot be.
pub fn not_finite(image: &ImageBuffer, seed: u64) -> ImageBuffer {
    assert!(image.desc().dtype().is_float(), "integers are finite");
    let mut random = SplitMix64::new(seed);
    let layout = BatchLayout::tight(*image.desc(), image.batch_size()).expect("a valid description");
    let mut copy = ImageBuffer::with_layout(layout).expect("a valid layout");
    for frame in 0..image.batch_size() {
        let real = Real::from_frame(image, frame);
        write_frame(&mut copy.view_mut(), frame, |x, y, c| match random.below(72) {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => f64::NAN,
            _ => real.at(x, y, c),
        });
    }
    copy
}

/// The same images in another layout, tightly packed.
pub fn in_layout(image: &ImageBuffer, layout: Layout) -> ImageBuffer {
    let layout = BatchLayout::tight(image.desc().with_layout(layout), image.batch_size())
        .expect("a valid description");
    let mut copy = ImageBuffer::with_layout(layout).expect("a valid layout");
    copy_frames(image, &mut copy);
    copy
}

fn copy_frames(from: &ImageBuffer, to: &mut ImageBuffer) {
    for frame in 0..from.batch_size() {
        let real = Real::from_frame(from, frame);
        write_frame(&mut to.view_mut(), frame, |x, y, c| real.at(x, y, c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{DType, PixelFormat};

    fn desc(format: PixelFormat, dtype: DType) -> ImageDesc {
        ImageDesc::new(33, 17, format, dtype).unwrap()
    }

    #[test]
    fn the_generator_gives_the_published_numbers() {
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn images_depend_on_the_seed_alone_and_reach_the_ends_of_the_range() {
        for dtype in DType::ALL {
            let desc = desc(PixelFormat::Rgb, dtype);
            let noise = Pattern::Noise.draw(desc, 1);
            assert_eq!(noise, Pattern::Noise.draw(desc, 1));
            assert_ne!(noise, Pattern::Noise.draw(desc, 2));
            let real = Real::from_buffer(&noise);
            let (low, high) = real.data.iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (a.min(v), b.max(v)));
            let full = dtype.full_scale();
            let (least, most) = dtype.integers().unwrap_or((-0.99, 1.99));
            assert!(low < least + 0.01 * full && high > most - 0.01 * full, "{dtype} {low} {high}");
        }
    }

    #[test]
    fn alpha_has_clear_opaque_and_middling_pixels_and_clear_ones_have_colour() {
        for dtype in DType::ALL {
            for pattern in Pattern::ALL {
                let real = Real::from_buffer(&pattern.draw(desc(PixelFormat::Bgra, dtype), 3));
                let pixels: Vec<&[f64]> = real.data.chunks(4).collect();
                let share = |f: &dyn Fn(f64) -> bool| pixels.iter().filter(|p| f(p[3])).count();
                let full = dtype.full_scale();
                assert!(share(&|a| a == 0.0) > 50 && share(&|a| a == full) > 50);
                assert!(share(&|a| 0.0 < a && a < full) > 50);
                let coloured = pixels.iter().any(|p| p[3] == 0.0 && p[..3].iter().any(|&v| v != 0.0));
                assert!(coloured || pattern == Pattern::Impulse, "{pattern:?}");
            }
        }
    }

    #[test]
    fn padding_and_order_change_no_pixel() {
        let image = Pattern::Noise.draw_batch(desc(PixelFormat::Rgb, DType::U16), 2, 5);
        assert_ne!(image.frame(0), image.frame(1));
        let wide = padded(&image, 64);
        assert_eq!(wide, image);
        assert!(wide.row_stride() > image.row_stride() && wide.batch_stride() > 17 * wide.row_stride());
        assert!(wide.view().data().windows(2).any(|w| w == [0xA5, 0xA5]));
        let planar = in_layout(&image, Layout::Chw);
        assert_eq!(planar.desc().layout(), Layout::Chw);
        assert_eq!(Real::from_frame(&planar, 1), Real::from_frame(&image, 1));
        assert_eq!(in_layout(&planar, Layout::Hwc), image);
    }
}
