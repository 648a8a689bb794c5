use bytemuck::Pod;
use mip_core::{ALIGNMENT, DType, ImageDesc};

/// One row of an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    data: &'a [u8],
    start: usize,
    /// Bytes from a plane to the next.
    stride: usize,
    /// Bytes of a plane's row.
    bytes: usize,
}

/// Rows of an image or a cache, at equal distances.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin<'a> {
    pub(crate) data: &'a [u8],
    /// Where row 0 starts.
    pub(crate) start: usize,
    /// Bytes from a row to the next.
    pub(crate) advance: usize,
    /// Bytes from a plane to the next.
    pub(crate) stride: usize,
    /// Bytes of a plane's row.
    pub(crate) bytes: usize,
}

impl<'a> Origin<'a> {
    /// The row at a position.
    #[inline]
    pub(crate) const fn row(&self, index: u32) -> Row<'a> {
        let start = self.start + index as usize * self.advance;
        Row { data: self.data, start, stride: self.stride, bytes: self.bytes }
    }
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
    /// Bytes from a plane to the next: aligned, so that every plane can be read as any dtype.
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
    pub(crate) const fn row<'a>(&self, slot: &'a [u8]) -> Row<'a> {
        Row { data: slot, start: 0, stride: self.stride, bytes: self.bytes }
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
    /// The samples of a plane.
    #[inline]
    pub(crate) fn plane<T: Pod>(&self, plane: usize) -> &'a [T] {
        let start = self.start + plane * self.stride;
        bytemuck::cast_slice(&self.data[start..start + self.bytes])
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

    /// The samples of the first `N` planes.
    pub(crate) fn planes<T: Pod, const N: usize>(&mut self) -> [&mut [T]; N] {
        let mut planes = self.planes.iter_mut();
        std::array::from_fn(|_| bytemuck::cast_slice_mut(planes.next().expect("at most four planes")))
    }

    /// The bytes of so many planes.
    pub(crate) fn bytes(&mut self, planes: usize) -> &mut [&'a mut [u8]] {
        &mut self.planes[..planes]
    }

    /// Copies a row of the same shape.
    pub(crate) fn copy_from(&mut self, from: &Row<'_>) {
        for (p, to) in self.planes.iter_mut().enumerate().filter(|(_, to)| !to.is_empty()) {
            to.copy_from_slice(from.plane(p));
        }
    }
}
