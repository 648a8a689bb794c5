use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{DType, ImageError, Layout, PixelFormat};

/// Shape and dtype of one image, without strides or memory.
///
/// Always an image that can be: sides of 1 to [`ImageDesc::MAX_SIDE`], and a tight size that one allocation may have.
/// Serialised as its five fields; reading it checks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ImageDesc {
    width: u32,
    height: u32,
    format: PixelFormat,
    dtype: DType,
    layout: Layout,
}

/// What is read, before it is checked.
#[derive(Deserialize)]
struct Fields {
    width: u32,
    height: u32,
    format: PixelFormat,
    dtype: DType,
    layout: Layout,
}

impl TryFrom<Fields> for ImageDesc {
    type Error = ImageError;

    fn try_from(fields: Fields) -> Result<Self, ImageError> {
        let Fields { width, height, format, dtype, layout } = fields;
        Self { width, height, format, dtype, layout }.checked()
    }
}

impl ImageDesc {
    /// Longest side in pixels: coordinates fit in `i32`, and their products in 64 bits.
    pub const MAX_SIDE: u32 = i32::MAX as u32;

    /// An interleaved (HWC) image.
    ///
    /// # Errors
    /// [`ImageError::Empty`] for a side of 0, [`ImageError::TooLarge`] when a side is longer than
    /// [`ImageDesc::MAX_SIDE`] or the bytes overflow.
    pub fn new(width: u32, height: u32, format: PixelFormat, dtype: DType) -> Result<Self, ImageError> {
        Self { width, height, format, dtype, layout: Layout::Hwc }.checked()
    }

    /// Width in pixels, at least 1.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels, at least 1.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Channels and their order.
    pub const fn format(&self) -> PixelFormat {
        self.format
    }

    /// Type of one sample.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Order of samples in memory.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The same image in another layout.
    #[must_use]
    pub const fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// The same image with another format.
    ///
    /// # Errors
    /// [`ImageError::TooLarge`].
    pub fn with_format(self, format: PixelFormat) -> Result<Self, ImageError> {
        Self { format, ..self }.checked()
    }

    /// The same image with another dtype.
    ///
    /// # Errors
    /// [`ImageError::TooLarge`].
    pub fn with_dtype(self, dtype: DType) -> Result<Self, ImageError> {
        Self { dtype, ..self }.checked()
    }

    /// The same image with another size.
    ///
    /// # Errors
    /// As for [`ImageDesc::new`].
    pub fn with_size(self, width: u32, height: u32) -> Result<Self, ImageError> {
        Self { width, height, ..self }.checked()
    }

    fn checked(self) -> Result<Self, ImageError> {
        if self.width == 0 || self.height == 0 {
            return Err(ImageError::Empty { width: self.width, height: self.height });
        }
        let too_large = || ImageError::TooLarge {
            what: format!("a {} {} image", self.format, self.dtype),
            width: self.width,
            height: self.height,
        };
        let pixel = (self.channels() * self.dtype.size()) as u64;
        let bytes =
            (u64::from(self.width) * u64::from(self.height)).checked_mul(pixel).ok_or_else(too_large)?;
        let fits = self.width.max(self.height) <= Self::MAX_SIDE && isize::try_from(bytes).is_ok();
        if fits { Ok(self) } else { Err(too_large()) }
    }

    /// Number of channels.
    pub const fn channels(&self) -> usize {
        self.format.channels()
    }

    /// Number of planes: 1 for HWC, one a channel for CHW.
    pub const fn planes(&self) -> usize {
        match self.layout {
            Layout::Hwc => 1,
            Layout::Chw => self.format.channels(),
        }
    }

    /// Samples between neighbouring pixels of one plane row: the channel count for HWC, 1 for CHW.
    pub const fn pixel_step(&self) -> usize {
        match self.layout {
            Layout::Hwc => self.format.channels(),
            Layout::Chw => 1,
        }
    }

    /// Samples in one row of one plane.
    pub const fn row_samples(&self) -> usize {
        self.width as usize * self.pixel_step()
    }

    /// Bytes of one row of one plane, without padding.
    pub const fn row_bytes(&self) -> usize {
        self.row_samples() * self.dtype.size()
    }

    /// Bytes of the whole image without padding.
    pub const fn bytes(&self) -> usize {
        self.row_bytes() * self.height as usize * self.planes()
    }
}

impl fmt::Display for ImageDesc {
    /// `1920x1080 rgb u8`, with ` chw` appended for planar images.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} {} {}", self.width, self.height, self.format, self.dtype)?;
        if self.layout == Layout::Chw { f.write_str(" chw") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_text() {
        let d = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U16).unwrap();
        assert_eq!((d.row_bytes(), d.bytes(), d.planes()), (30, 90, 1));
        let c = d.with_layout(Layout::Chw);
        assert_eq!((c.row_bytes(), c.bytes(), c.planes()), (10, 90, 3));
        assert_eq!(c.to_string(), "5x3 rgb u16 chw");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(matches!(ImageDesc::new(0, 4, PixelFormat::Gray, DType::U8), Err(ImageError::Empty { .. })));
        let huge = ImageDesc::new(u32::MAX, u32::MAX, PixelFormat::Rgba, DType::F32);
        assert!(matches!(huge, Err(ImageError::TooLarge { .. })));
        let wide =
            ImageDesc::new(ImageDesc::MAX_SIDE, ImageDesc::MAX_SIDE, PixelFormat::Gray, DType::U16).unwrap();
        assert!(matches!(wide.with_dtype(DType::F32), Err(ImageError::TooLarge { .. })));
        assert!(matches!(wide.with_size(1, 0), Err(ImageError::Empty { .. })));
    }
}
