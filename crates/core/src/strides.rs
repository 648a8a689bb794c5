use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{ImageDesc, ImageError};

/// Where the samples of a batch of same-shape images lie relative to the start of their memory.
///
/// All strides are in bytes. Sample `(frame, plane, y)` row starts at
/// `frame * batch_stride + plane * plane_stride + y * row_stride`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BatchLayout {
    /// Shape of each image.
    pub desc: ImageDesc,
    /// Number of images, at least 1.
    pub batch_size: usize,
    /// Bytes from a row to the next of the same plane.
    pub row_stride: usize,
    /// Bytes from a plane to the next; equals `batch_stride` when there is one plane.
    pub plane_stride: usize,
    /// Bytes from an image to the next.
    pub batch_stride: usize,
}

impl BatchLayout {
    /// No padding anywhere.
    ///
    /// # Errors
    /// [`ImageError::TooLarge`] when the batch overflows, [`ImageError::Empty`] for a batch of 0.
    pub fn tight(desc: ImageDesc, batch_size: usize) -> Result<Self, ImageError> {
        Self::with_row_stride(desc, batch_size, desc.row_bytes())
    }

    /// Rows padded to a multiple of `align` bytes (a power of two), planes and images packed behind each other.
    ///
    /// # Errors
    /// As for [`BatchLayout::tight`].
    pub fn pitched(desc: ImageDesc, batch_size: usize, align: usize) -> Result<Self, ImageError> {
        Self::with_row_stride(desc, batch_size, desc.row_bytes().next_multiple_of(align))
    }

    fn with_row_stride(desc: ImageDesc, batch_size: usize, row_stride: usize) -> Result<Self, ImageError> {
        let too_large = || ImageError::TooLarge {
            what: format!("a batch of {batch_size}"),
            width: desc.width(),
            height: desc.height(),
        };
        let plane_stride = row_stride.checked_mul(desc.height() as usize).ok_or_else(too_large)?;
        let batch_stride = plane_stride.checked_mul(desc.planes()).ok_or_else(too_large)?;
        let layout = Self { desc, batch_size, row_stride, plane_stride, batch_stride };
        layout.check()?;
        Ok(layout)
    }

    /// Checks that strides hold the rows, planes and images, are multiples of the sample size, do not
    /// overlap, and that the whole span fits in `isize::MAX` bytes.
    ///
    /// # Errors
    /// [`ImageError::Stride`], [`ImageError::TooLarge`] or [`ImageError::Empty`].
    pub fn check(&self) -> Result<(), ImageError> {
        let desc = self.desc;
        if self.batch_size == 0 {
            return Err(ImageError::Empty { width: 0, height: 0 });
        }
        let too_large = || ImageError::TooLarge {
            what: format!("a batch of {}", self.batch_size),
            width: desc.width(),
            height: desc.height(),
        };
        let size = desc.dtype().size();
        let stride = |stride, given: usize, least: usize| {
            if given >= least && given.is_multiple_of(size) {
                return Ok(());
            }
            let rule = format!("at least {least} and a multiple of {size}");
            Err(ImageError::Stride { stride, given, desc, rule })
        };
        stride("row", self.row_stride, desc.row_bytes())?;
        // The last row needs no padding, so a region view of a larger image is a valid layout.
        let span = |count: usize, stride: usize, last: usize| {
            (count - 1).checked_mul(stride).and_then(|b| b.checked_add(last)).ok_or_else(too_large)
        };
        let plane = span(desc.height() as usize, self.row_stride, desc.row_bytes())?;
        if desc.planes() > 1 {
            stride("plane", self.plane_stride, plane)?;
        }
        let image = span(desc.planes(), self.plane_stride, plane)?;
        if self.batch_size > 1 {
            stride("batch", self.batch_stride, image)?;
        }
        let all = span(self.batch_size, self.batch_stride, image)?;
        if all > isize::MAX as usize { Err(too_large()) } else { Ok(()) }
    }

    /// Bytes from the first sample to one past the last; what the memory must hold at least.
    pub const fn span(&self) -> usize {
        (self.batch_size - 1) * self.batch_stride
            + (self.desc.planes() - 1) * self.plane_stride
            + (self.desc.height() as usize - 1) * self.row_stride
            + self.desc.row_bytes()
    }

    /// Byte range of one row of one plane of one frame.
    ///
    /// # Panics
    /// In debug builds when an index is out of range.
    #[inline]
    pub fn row_range(&self, frame: usize, plane: usize, y: usize) -> Range<usize> {
        debug_assert!(
            frame < self.batch_size && plane < self.desc.planes() && y < self.desc.height() as usize
        );
        let start = frame * self.batch_stride + plane * self.plane_stride + y * self.row_stride;
        start..start + self.desc.row_bytes()
    }

    /// The layout of one frame alone (offset `frame * batch_stride`).
    #[must_use]
    pub const fn single(&self) -> Self {
        Self { batch_size: 1, ..*self }
    }

    /// Whether there is no padding at all.
    pub const fn is_tight(&self) -> bool {
        let row = self.desc.row_bytes();
        let plane = row * self.desc.height() as usize;
        self.row_stride == row
            && (self.desc.planes() == 1 || self.plane_stride == plane)
            && (self.batch_size == 1 || self.batch_stride == plane * self.desc.planes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Layout, PixelFormat};

    #[test]
    fn spans_count_padding_but_not_after_the_last_row() {
        let d = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let l = BatchLayout::pitched(d, 2, 64).unwrap();
        assert_eq!((l.row_stride, l.batch_stride, l.span()), (64, 192, 192 + 128 + 15));
        assert!(!l.is_tight() && BatchLayout::tight(d, 2).unwrap().is_tight());
        let c = BatchLayout::tight(d.with_layout(Layout::Chw), 1).unwrap();
        assert_eq!(c.row_range(0, 2, 1), 35..40);
    }

    #[test]
    fn overlapping_or_odd_strides_are_refused() {
        let d = ImageDesc::new(4, 4, PixelFormat::Gray, DType::F32).unwrap();
        let good = BatchLayout::tight(d, 2).unwrap();
        for bad in [
            BatchLayout { row_stride: 12, ..good },
            BatchLayout { row_stride: 17, ..good },
            BatchLayout { batch_stride: 32, ..good },
            BatchLayout { batch_stride: usize::MAX & !3, ..good },
            BatchLayout { batch_size: 0, ..good },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
