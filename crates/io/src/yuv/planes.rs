use mip_core::{ImageError, faults};

use super::Sampling;

/// Sizes of the planes of a frame. Odd sizes round chroma up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaneSizes {
    /// Width and height of luma.
    pub luma: (usize, usize),
    /// Width and height of each of both chroma planes; zero without chroma.
    pub chroma: (usize, usize),
}

impl PlaneSizes {
    /// Sizes for a picture.
    pub const fn new(width: u32, height: u32, sampling: Sampling) -> Self {
        let chroma = match sampling.subsampling() {
            Some((across, down)) => (width.div_ceil(across) as usize, height.div_ceil(down) as usize),
            None => (0, 0),
        };
        Self { luma: (width as usize, height as usize), chroma }
    }

    /// Bytes of all planes; no memory holds `usize::MAX`.
    pub const fn bytes(&self) -> usize {
        let (luma, chroma) =
            (self.luma.0.saturating_mul(self.luma.1), self.chroma.0.saturating_mul(self.chroma.1));
        luma.saturating_add(chroma.saturating_mul(2))
    }
}

/// The samples of one frame: luma, then both chroma planes, without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planes {
    sampling: Sampling,
    sizes: PlaneSizes,
    bytes: Vec<u8>,
}

impl Planes {
    /// Zeroes.
    ///
    /// # Errors
    /// [`ImageError::OutOfMemory`].
    pub fn new(width: u32, height: u32, sampling: Sampling) -> Result<Self, ImageError> {
        let sizes = PlaneSizes::new(width, height, sampling);
        let what = || format!("a frame of {width}x{height} C{}", sampling.name());
        let none = |_| ImageError::OutOfMemory { bytes: sizes.bytes(), what: what() };
        let mut bytes = Vec::new();
        faults::try_reserve_exact(&mut bytes, sizes.bytes()).map_err(none)?;
        // Conversion keeps a few rows of its own, at most 3 of 2 bytes and 3 of 4 bytes a column.
        faults::try_reserve_exact(&mut Vec::<u8>::new(), sizes.luma.0.saturating_mul(18)).map_err(none)?;
        bytes.resize(sizes.bytes(), 0);
        Ok(Self { sampling, sizes, bytes })
    }

    /// Chroma sampling.
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Sizes of the planes.
    pub const fn sizes(&self) -> &PlaneSizes {
        &self.sizes
    }

    /// All samples as they are in the stream.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All samples, writable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Luma and both chroma planes; the latter are empty without chroma.
    pub fn split(&self) -> [&[u8]; 3] {
        let (luma, chroma) = self.bytes.split_at(self.sizes.luma.0 * self.sizes.luma.1);
        let (u, v) = chroma.split_at(chroma.len() / 2);
        [luma, u, v]
    }

    /// As [`Planes::split`], writable.
    pub fn split_mut(&mut self) -> [&mut [u8]; 3] {
        let (luma, chroma) = self.bytes.split_at_mut(self.sizes.luma.0 * self.sizes.luma.1);
        let half = chroma.len() / 2;
        let (u, v) = chroma.split_at_mut(half);
        [luma, u, v]
    }
}
