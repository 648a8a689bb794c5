use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype};

use super::{DeviceMemory, DriverError, RawStream};

/// Rows of equal length: `count` of `bytes` bytes, `stride` apart, the first `offset` bytes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    pub offset: usize,
    pub stride: usize,
    pub bytes: usize,
    pub count: usize,
}

/// A copy of nothing from nowhere, to fill in.
const EMPTY: CUDA_MEMCPY2D = CUDA_MEMCPY2D {
    srcXInBytes: 0,
    srcY: 0,
    srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
    srcHost: std::ptr::null(),
    srcDevice: 0,
    srcArray: std::ptr::null_mut(),
    srcPitch: 0,
    dstXInBytes: 0,
    dstY: 0,
    dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
    dstHost: std::ptr::null_mut(),
    dstDevice: 0,
    dstArray: std::ptr::null_mut(),
    dstPitch: 0,
    WidthInBytes: 0,
    Height: 0,
};

impl Rows {
    /// Bytes from the start of the memory to one past the last row.
    const fn end(&self) -> usize {
        if self.count == 0 { self.offset } else { self.offset + (self.count - 1) * self.stride + self.bytes }
    }

    /// As the driver wants it: pitches are limited, so rows that lie back to back are one long row.
    fn both(from: &Self, to: &Self) -> CUDA_MEMCPY2D {
        let tight = from.stride == from.bytes && to.stride == to.bytes || from.count == 1;
        let (width, height) = if tight { (from.bytes * from.count, 1) } else { (from.bytes, from.count) };
        CUDA_MEMCPY2D {
            srcPitch: if tight { width } else { from.stride },
            dstPitch: if tight { width } else { to.stride },
            WidthInBytes: width,
            Height: height,
            ..EMPTY
        }
    }
}

impl RawStream {
    /// Queues a copy of rows of pinned memory to the device.
    ///
    /// The caller keeps `from` unchanged, and both allocated, until the stream is past the copy: streams do
    /// that through their ledgers.
    pub(crate) fn upload_rows(
        &self,
        from: &[u8],
        from_rows: Rows,
        to: &DeviceMemory,
        to_rows: Rows,
    ) -> Result<(), DriverError> {
        assert!(from_rows.end() <= from.len() && to_rows.end() <= to.len(), "rows outside their memory");
        assert!(
            from_rows.count == to_rows.count && from_rows.bytes == to_rows.bytes,
            "rows of different shape"
        );
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: from[from_rows.offset..].as_ptr().cast(),
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: to.address() + to_rows.offset as u64,
            ..Rows::both(&from_rows, &to_rows)
        };
        self.copy_2d(&copy)
    }

    /// Queues a copy of rows on the device to pinned memory.
    ///
    /// The caller keeps `to` borrowed, and both allocated, until the stream is past the copy: streams do that
    /// through their ledgers.
    pub(crate) fn download_rows(
        &self,
        from: &DeviceMemory,
        from_rows: Rows,
        to: &mut [u8],
        to_rows: Rows,
    ) -> Result<(), DriverError> {
        assert!(from_rows.end() <= from.len() && to_rows.end() <= to.len(), "rows outside their memory");
        assert!(
            from_rows.count == to_rows.count && from_rows.bytes == to_rows.bytes,
            "rows of different shape"
        );
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from.address() + from_rows.offset as u64,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: to[to_rows.offset..].as_mut_ptr().cast(),
            ..Rows::both(&from_rows, &to_rows)
        };
        self.copy_2d(&copy)
    }

    /// Queues a copy between device memories of the whole length of `to`.
    pub(crate) fn copy_device(&self, from: &DeviceMemory, to: &DeviceMemory) -> Result<(), DriverError> {
        self.context.bind()?;
        let bytes = from.len().min(to.len());
        // SAFETY: both are at least `bytes` long; the driver's free waits for the copy.
        unsafe { call!(cuMemcpyDtoDAsync_v2(to.address(), from.address(), bytes, self.raw)) }
    }

    fn copy_2d(&self, copy: &CUDA_MEMCPY2D) -> Result<(), DriverError> {
        self.context.bind()?;
        // SAFETY: both ranges lie inside their memory (asserted by the callers above), which the device's
        // ledgers keep until the stream is past the copy.
        unsafe { call!(cuMemcpy2DAsync_v2(copy, self.raw)) }
    }
}
