//! Baseline JPEG (ITU-T T.81, JFIF), byte for byte what libjpeg writes of the same pixels at the same quality and
//! sampling: its accurate forward DCT, the example tables of annex K, no optimised codes.

mod bits;
mod colors;
mod quantise;
mod rows;
mod simd;
mod tables;

use self::bits::{Bits, Coder};
use self::quantise::Quantisers;
use self::rows::{Pixels, Rows};
pub(crate) use self::simd::Level;
use crate::decode::NATURAL;
use crate::vector::{self, Job};

/// Pixels that share a sample of chroma in a JPEG file, as notations of the field name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChromaSampling {
    /// 4:4:4, each pixel its own.
    Full,
    /// 4:2:2, two side by side.
    HalfWidth,
    /// 4:4:0, two below each other.
    HalfHeight,
    /// 4:2:0, a square of four.
    Quarter,
    /// 4:1:1, four side by side.
    QuarterWidth,
}

impl ChromaSampling {
    /// What encoders take for a quality: 4:4:4 from 90 on, else 4:2:0.
    pub(super) const fn of_quality(quality: u8) -> Self {
        if quality < 90 { Self::Quarter } else { Self::Full }
    }

    /// Pixels across and down.
    const fn pixels(self) -> [usize; 2] {
        match self {
            Self::Full => [1, 1],
            Self::HalfWidth => [2, 1],
            Self::HalfHeight => [1, 2],
            Self::Quarter => [2, 2],
            Self::QuarterWidth => [4, 1],
        }
    }
}

/// A file to be written; both sides of the picture fit 16 bits.
pub(super) struct File<'a> {
    /// Gray or rgb, interleaved.
    pub(super) samples: &'a [u8],
    pub(super) width: u16,
    pub(super) height: u16,
    /// 1 or 3.
    pub(super) channels: u8,
    /// 1 to 100.
    pub(super) quality: u8,
    pub(super) sampling: ChromaSampling,
    /// Units between restart markers; 0 for none.
    pub(super) restart_interval: u16,
    pub(super) icc: Option<&'a [u8]>,
    /// Across and down, with JFIF's unit: 0 an aspect ratio, 1 an inch, 2 a centimetre.
    pub(super) density: (u16, u16, u8),
}

/// What a segment holds at most beside its length.
const SEGMENT: usize = 65_533;
const ICC: &[u8; 12] = b"ICC_PROFILE\0";

impl File<'_> {
    /// # Errors
    /// When the profile is too large for a JPEG file.
    pub(super) fn encode(&self) -> Result<Vec<u8>, String> {
        let tables = if self.channels == 1 { 1 } else { 2 };
        // Of pictures of average detail at quality 90; more is taken where it is needed.
        let mut out = Vec::with_capacity(1024 + self.samples.len() / 6);
        out.extend([0xFF, 0xD8]);
        self.header(&mut out)?;
        let quantisers: Vec<[u8; 64]> = (0..tables).map(|of| tables::quantisers(of, self.quality)).collect();
        for (of, quantisers) in quantisers.iter().enumerate() {
            let zigzag = NATURAL.iter().map(|&place| quantisers[place]);
            segment(&mut out, 0xDB, [of as u8].into_iter().chain(zigzag));
        }
        self.frame(&mut out);
        for of in 0..tables {
            for (class, codes) in [(0, &tables::FIRST[of]), (1, &tables::OTHERS[of])] {
                let codes = codes.counts.iter().chain(codes.symbols).copied();
                segment(&mut out, 0xC4, [class << 4 | of as u8].into_iter().chain(codes));
            }
        }
        if self.restart_interval > 0 {
            segment(&mut out, 0xDD, self.restart_interval.to_be_bytes());
        }
        let components = (1..=self.channels).flat_map(|id| [id, if id == 1 { 0 } else { 0x11 }]);
        segment(&mut out, 0xDA, [self.channels].into_iter().chain(components).chain([0, 63, 0]));
        let pixels = Pixels {
            samples: self.samples,
            width: self.width.into(),
            height: self.height.into(),
            channels: self.channels.into(),
        };
        let scan = Scan {
            rows: Rows::new(pixels, self.sampling),
            quantisers: quantisers.iter().map(Quantisers::new).collect(),
            coders: (0..tables).map(Coder::new).collect(),
            interval: self.restart_interval.into(),
            bits: Bits::after(out),
        };
        let mut out = vector::run(scan);
        out.extend([0xFF, 0xD9]);
        Ok(out)
    }

    /// JFIF's segment, and those of the profile.
    fn header(&self, out: &mut Vec<u8>) -> Result<(), String> {
        let (across, down, unit) = self.density;
        let density = [unit].into_iter().chain(across.to_be_bytes()).chain(down.to_be_bytes());
        segment(out, 0xE0, b"JFIF\0\x01\x01".iter().copied().chain(density).chain([0, 0]));
        let parts: Vec<&[u8]> = self.icc.unwrap_or_default().chunks(SEGMENT - ICC.len() - 2).collect();
        let count = u8::try_from(parts.len()).map_err(|_| {
            format!("its ICC profile of {} bytes is too large for JPEG", self.icc.unwrap_or_default().len())
        })?;
        for (number, part) in (1..).zip(parts) {
            let head = ICC.iter().copied().chain([number, count]);
            segment(out, 0xE2, head.chain(part.iter().copied()));
        }
        Ok(())
    }

    /// Size and components.
    fn frame(&self, out: &mut Vec<u8>) {
        let [across, down] = if self.channels == 1 { [1, 1] } else { self.sampling.pixels() };
        let size = self.height.to_be_bytes().into_iter().chain(self.width.to_be_bytes());
        let luma = (across << 4 | down) as u8;
        let components =
            (1..=self.channels).flat_map(|id| if id == 1 { [1, luma, 0] } else { [id, 0x11, 1] });
        segment(out, 0xC0, [8].into_iter().chain(size).chain([self.channels]).chain(components));
    }
}

/// A marker with what it says, [`SEGMENT`] bytes at most.
fn segment(out: &mut Vec<u8>, marker: u8, body: impl IntoIterator<Item = u8>) {
    out.extend([0xFF, marker, 0, 0]);
    let start = out.len();
    out.extend(body);
    let bytes = (out.len() - start + 2) as u16;
    out[start - 2..start].copy_from_slice(&bytes.to_be_bytes());
}

impl Coder {
    /// Of luma (0) or chroma (1).
    fn new(of: usize) -> Self {
        Self { first: tables::FIRST[of].by_symbol(), others: tables::OTHERS[of].by_symbol() }
    }
}

/// All units, one after the other.
struct Scan<'a> {
    rows: Rows<'a>,
    /// Of luma, and of chroma where there is some; so are the coders.
    quantisers: Vec<Quantisers>,
    coders: Vec<Coder>,
    interval: usize,
    bits: Bits,
}

impl Job for Scan<'_> {
    type Output = Vec<u8>;

    #[inline(always)]
    fn run<L: vector::Level>(mut self, level: L) -> Vec<u8> {
        let [across, down] = self.rows.units();
        let mut before = [0; 3];
        for y in 0..down {
            self.rows.fill(y, level);
            for x in 0..across {
                let done = y * across + x;
                if self.interval > 0 && done > 0 && done.is_multiple_of(self.interval) {
                    self.bits.align();
                    self.bits.out().extend([0xFF, 0xD0 + ((done / self.interval - 1) % 8) as u8]);
                    before = [0; 3];
                }
                self.unit(x, y, &mut before, level);
            }
        }
        self.bits.align();
        self.bits.into_out()
    }
}

impl Scan<'_> {
    /// Each component's blocks of a unit.
    #[inline(always)]
    fn unit(&mut self, x: usize, y: usize, before: &mut [i16; 3], level: impl Level) {
        let Self { rows, quantisers, coders, bits, .. } = self;
        for (component, plane) in rows.planes.iter().enumerate() {
            let table = component.min(1);
            let [across, down] = plane.unit;
            for part in 0..across * down {
                let (column, row) = (x * across + part % across, part / across);
                if column >= plane.blocks[0] || y * down + row >= plane.blocks[1] {
                    bits.empty_block(&coders[table]);
                    continue;
                }
                let samples = &plane.samples[8 * (row * plane.stride + column)..];
                let mut block = [0; 64];
                let nonzero = level.coefficients(samples, plane.stride, &quantisers[table], &mut block);
                bits.block(&block, nonzero, before[component], &coders[table]);
                before[component] = block[0];
            }
        }
    }
}
