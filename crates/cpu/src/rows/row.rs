use bytemuck::Pod;
use mip_core::{ALIGNMENT, DType, ImageDesc};

/// One row of an image: a slice a plane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Row<'a> {
    planes: [&'a [u8]; 4],
}

/// One writable row of an image.
#[derive(Debug, Default)]
pub(crate) struct RowMut<'a> {
    planes: [&'a mut [u8]; 4],
}

/// How a row lies in a cache slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowShape {
    /// Planes, 1 to 4.
    pub(crate) planes: usize,
    /// Bytes of a plane's row.
    pub(crate) bytes: usize,
    /// Bytes from a plane to the next: aligned, so that every plane can be read as any sample type.
    pub(crate) stride: usize,
}

impl RowShape {
    /// Rows of an image, stored as `dtype`.
    pub(crate) fn new(desc: &ImageDesc, dtype: DType) -> Self {
        let bytes = desc.row_samples() * dtype.size();
        Self { planes: desc.planes(), bytes, stride: bytes.next_multiple_of(ALIGNMENT) }
    }

    /// Bytes of all planes.
    pub(crate) const fn slot(&self) -> usize {
        self.planes * self.stride
    }

    /// The row in a slot.
    pub(crate) fn row<'a>(&self, slot: &'a [u8]) -> Row<'a> {
        let mut row = Row::default();
        for (plane, chunk) in row.planes.iter_mut().zip(slot.chunks_exact(self.stride)).take(self.planes) {
            *plane = &chunk[..self.bytes];
        }
        row
    }

    /// The row in a slot, writable.
    pub(crate) fn row_mut<'a>(&self, slot: &'a mut [u8]) -> RowMut<'a> {
        let mut row = RowMut::default();
        for (plane, chunk) in row.planes.iter_mut().zip(slot.chunks_exact_mut(self.stride)).take(self.planes)
        {
            *plane = &mut chunk[..self.bytes];
        }
        row
    }
}

impl<'a> Row<'a> {
    /// A row of `planes` slices.
    pub(crate) fn from_fn(planes: usize, plane: impl Fn(usize) -> &'a [u8]) -> Self {
        let mut row = Self::default();
        for (p, slot) in row.planes.iter_mut().enumerate().take(planes) {
            *slot = plane(p);
        }
        row
    }

    /// The samples of a plane.
    #[inline]
    pub(crate) fn plane<T: Pod>(&self, plane: usize) -> &'a [T] {
        bytemuck::cast_slice(self.planes[plane])
    }
}

impl<'a> RowMut<'a> {
    /// Sets a plane's memory.
    pub(crate) fn set(&mut self, plane: usize, bytes: &'a mut [u8]) {
        self.planes[plane] = bytes;
    }

    /// The samples of a plane.
    #[inline]
    pub(crate) fn plane<T: Pod>(&mut self, plane: usize) -> &mut [T] {
        bytemuck::cast_slice_mut(self.planes[plane])
    }

    /// Copies a row of the same shape.
    pub(crate) fn copy_from(&mut self, from: &Row<'_>) {
        for (to, from) in self.planes.iter_mut().zip(from.planes) {
            to.copy_from_slice(from);
        }
    }
}
