//! Images for tests: random, padded, poisoned.

use mip_core::{AlignedBytes, BatchLayout, DType, ImageDesc, ImageView, ImageViewMut, Layout, Sample, f16};

/// A small random number generator (xorshift), the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Any i32, with the ends, 0, and numbers around 2^24 more often than by chance.
    fn wide(&mut self) -> i32 {
        let any = self.next() as i32;
        [any, any, i32::MIN, i32::MAX, 0, any % 300, (1 << 24) + any % 9][self.below(7) as usize]
    }

    pub(crate) fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }
}

/// A batch of images in memory of its own, padded and surrounded by bytes that must not matter.
#[derive(Debug, Clone)]
pub(crate) struct TestImage {
    pub(crate) layout: BatchLayout,
    memory: AlignedBytes,
    offset: usize,
}

const POISON: u8 = 0xA5;

fn put(dtype: DType, bytes: &mut [u8], value: f32) {
    match dtype {
        DType::U8 => bytes[0] = u8::from_f32(value),
        DType::U16 => bytes.copy_from_slice(&u16::from_f32(value).to_ne_bytes()),
        DType::I16 => bytes.copy_from_slice(&i16::from_f32(value).to_ne_bytes()),
        DType::I32 => bytes.copy_from_slice(&i32::from_f32(value).to_ne_bytes()),
        DType::F16 => bytes.copy_from_slice(&f16::from_f32(value).to_ne_bytes()),
        DType::F32 => bytes.copy_from_slice(&value.to_ne_bytes()),
    }
}

impl TestImage {
    /// Poisoned memory; with padding it is a region inside a larger image.
    pub(crate) fn poisoned(desc: ImageDesc, batch: usize, padded: bool) -> Self {
        let size = desc.dtype().size();
        let pad = if padded { 5 * size } else { 0 };
        let row_stride = desc.row_bytes() + pad;
        let plane_stride = row_stride * desc.height() as usize + pad;
        let batch_stride = plane_stride * desc.planes() + pad;
        let layout = BatchLayout { desc, batch_size: batch, row_stride, plane_stride, batch_stride };
        layout.check().unwrap();
        let offset = 3 * pad;
        let mut memory = AlignedBytes::zeroed(offset + layout.span() + 3 * pad);
        memory.as_mut_slice().fill(POISON);
        Self { layout, memory, offset }
    }

    /// Random samples: all values of integers; of f32, some outside 0 to 1.
    pub(crate) fn random(desc: ImageDesc, batch: usize, padded: bool, seed: u64) -> Self {
        let mut image = Self::poisoned(desc, batch, padded);
        let mut random = Random::new(seed);
        if desc.dtype() == DType::I32 {
            image.each(|_, bytes| bytes.copy_from_slice(&random.wide().to_ne_bytes()));
            return image;
        }
        image.fill(|_, _, _, _| match desc.dtype() {
            // Extremes more often than by chance.
            DType::U8 => {
                [0.0, 255.0, random.below(256) as f32, random.below(256) as f32][random.below(4) as usize]
            }
            DType::U16 => [65535.0, random.below(65536) as f32][random.below(2) as usize],
            DType::I16 => [-32768.0, 32767.0, random.below(65536) as f32 - 32768.0][random.below(3) as usize],
            DType::I32 | DType::F16 | DType::F32 => random.unit() * 1.5 - 0.25,
        });
        image
    }

    /// With infinities and NaNs among its samples, if it holds any.
    pub(crate) fn not_finite(mut self, seed: u64) -> Self {
        if self.layout.desc.dtype().is_float() {
            let (mut random, before) = (Random::new(seed), self.clone());
            self.fill(|frame, x, y, c| match random.below(24) {
                0 => f32::INFINITY,
                1 => f32::NEG_INFINITY,
                2 => f32::NAN,
                3 => -0.0,
                _ => before.get(frame, x, y, c),
            });
        }
        self
    }

    /// Whether both hold the same samples, bit by bit, where a NaN is a NaN: which of them is the machine's choice.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let (a, b) = (self.bytes(), other.bytes());
        let dtype = self.layout.desc.dtype();
        let nan = |s: &[u8]| match (dtype, s) {
            (DType::F16, &[a, b]) => f16::from_ne_bytes([a, b]).is_nan(),
            (DType::F32, &[a, b, c, d]) => f32::from_ne_bytes([a, b, c, d]).is_nan(),
            _ => false,
        };
        let same = |(a, b): (&[u8], &[u8])| a == b || (nan(a) && nan(b));
        a.len() == b.len() && a.chunks(dtype.size()).zip(b.chunks(dtype.size())).all(same)
    }

    /// Sets each sample from `(frame, x, y, channel)`.
    pub(crate) fn fill(&mut self, mut value: impl FnMut(usize, usize, usize, usize) -> f32) {
        let dtype = self.layout.desc.dtype();
        self.each(|[frame, x, y, c], bytes| put(dtype, bytes, value(frame, x, y, c)));
    }

    /// Hands out the place and the bytes of each sample.
    fn each(&mut self, mut f: impl FnMut([usize; 4], &mut [u8])) {
        let (desc, batch) = (self.layout.desc, self.layout.batch_size);
        for frame in 0..batch {
            for y in 0..desc.height() as usize {
                for x in 0..desc.width() as usize {
                    for c in 0..desc.channels() {
                        let at = self.at(frame, x, y, c);
                        f([frame, x, y, c], &mut self.memory.as_mut_slice()[at..at + desc.dtype().size()]);
                    }
                }
            }
        }
    }

    /// Byte position of a sample.
    fn at(&self, frame: usize, x: usize, y: usize, c: usize) -> usize {
        let desc = self.layout.desc;
        let (plane, i) = if desc.layout() == Layout::Hwc { (0, x * desc.channels() + c) } else { (c, x) };
        self.offset + self.layout.row_range(frame, plane, y).start + i * desc.dtype().size()
    }

    pub(crate) fn get(&self, frame: usize, x: usize, y: usize, c: usize) -> f32 {
        let bytes = &self.memory.as_slice()[self.at(frame, x, y, c)..];
        match self.layout.desc.dtype() {
            DType::U8 => f32::from(bytes[0]),
            DType::U16 => f32::from(u16::from_ne_bytes([bytes[0], bytes[1]])),
            DType::I16 => f32::from(i16::from_ne_bytes([bytes[0], bytes[1]])),
            DType::I32 => i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as f32,
            DType::F16 => f16::from_ne_bytes([bytes[0], bytes[1]]).to_f32(),
            DType::F32 => f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        }
    }

    pub(crate) fn view(&self) -> ImageView<'_> {
        ImageView::new(self.layout, &self.memory.as_slice()[self.offset..]).unwrap()
    }

    pub(crate) fn view_mut(&mut self) -> ImageViewMut<'_> {
        ImageViewMut::new(self.layout, &mut self.memory.as_mut_slice()[self.offset..]).unwrap()
    }

    /// The pixels of each frame without padding.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (view, desc) = (self.view(), self.layout.desc);
        let mut bytes = Vec::new();
        for frame in 0..self.layout.batch_size {
            for plane in 0..desc.planes() {
                for y in 0..desc.height() as usize {
                    bytes.extend_from_slice(view.row(frame, plane, y));
                }
            }
        }
        bytes
    }

    /// One frame as an image of its own, without padding.
    pub(crate) fn frame(&self, frame: usize) -> Self {
        let mut single = Self::poisoned(self.layout.desc, 1, false);
        let (size, memory) = (self.layout.desc.dtype().size(), self.memory.as_slice());
        single.each(|[_, x, y, c], bytes| bytes.copy_from_slice(&memory[self.at(frame, x, y, c)..][..size]));
        single
    }

    /// Whether nothing was written outside the pixels.
    pub(crate) fn padding_intact(&self) -> bool {
        let mut inside = vec![false; self.memory.as_slice().len()];
        for frame in 0..self.layout.batch_size {
            for plane in 0..self.layout.desc.planes() {
                for y in 0..self.layout.desc.height() as usize {
                    let range = self.layout.row_range(frame, plane, y);
                    inside[self.offset + range.start..self.offset + range.end].fill(true);
                }
            }
        }
        self.memory.as_slice().iter().zip(inside).all(|(&byte, inside)| inside || byte == POISON)
    }
}
