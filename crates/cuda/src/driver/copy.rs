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

    /// Whether two sets of rows are one run of bytes each.
    const fn back_to_back(&self, other: &Self) -> bool {
        self.count <= 1 || (self.stride == self.bytes && other.stride == other.bytes)
    }

    /// The bytes of all rows, where these and the `other` ones are one run each.
    pub(crate) fn run_beside(&self, other: &Self) -> Option<usize> {
        self.back_to_back(other).then_some(self.bytes * self.count)
    }

    /// One row.
    const fn row(&self, index: usize) -> Self {
        Self { offset: self.offset + index * self.stride, count: 1, ..*self }
    }
}

/// Longest pitch of a 2-D copy.
const LONGEST_PITCH: usize = i32::MAX as usize;

/// Rows of pinned memory and of device memory, and the way between them.
struct Copy {
    host: *mut u8,
    host_rows: Rows,
    device: u64,
    device_rows: Rows,
    upload: bool,
}

impl RawStream {
    /// Queues a copy of rows of pinned memory to the device.
    ///
    /// The caller keeps `from` unchanged, and both allocated, until the stream is past the copy: streams do
    /// that through their in-flight lists.
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
        let (host, device) = (from.as_ptr().cast_mut(), to.address());
        self.copy_rows(&Copy { host, host_rows: from_rows, device, device_rows: to_rows, upload: true })
    }

    /// Queues a copy of rows on the device to pinned memory.
    ///
    /// The caller keeps `to` borrowed, and both allocated, until the stream is past the copy: streams do that
    /// through their in-flight lists.
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
        let (host, device) = (to.as_mut_ptr(), from.address());
        self.copy_rows(&Copy { host, host_rows: to_rows, device, device_rows: from_rows, upload: false })
    }

    /// Queues a copy between device memories of the whole length of `to`.
    pub(crate) fn copy_device(&self, from: &DeviceMemory, to: &DeviceMemory) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        let bytes = from.len().min(to.len());
        // SAFETY: both are at least `bytes` long; the driver's free waits for the copy.
        unsafe { call!(cuMemcpyDtoDAsync_v2(to.address(), from.address(), bytes, self.raw)) }
    }

    fn copy_rows(&self, copy: &Copy) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        let Copy { host_rows, device_rows, .. } = copy;
        if let Some(bytes) = host_rows.run_beside(device_rows) {
            return self.copy_run(copy, bytes);
        }
        if host_rows.stride.max(device_rows.stride) <= LONGEST_PITCH {
            return self.copy_2d(copy);
        }
        (0..host_rows.count).try_for_each(|i| {
            let row = Copy { host_rows: host_rows.row(i), device_rows: device_rows.row(i), ..*copy };
            self.copy_run(&row, host_rows.bytes)
        })
    }

    /// One run of bytes.
    fn copy_run(&self, copy: &Copy, bytes: usize) -> Result<(), DriverError> {
        let host = copy.host.wrapping_add(copy.host_rows.offset).cast();
        let device = copy.device + copy.device_rows.offset as u64;
        // SAFETY: both ranges lie inside their memory (asserted by the callers of `copy_rows`), which the
        // device's in-flight lists keep until the stream is past the copy.
        unsafe {
            if copy.upload {
                call!(cuMemcpyHtoDAsync_v2(device, host, bytes, self.raw))
            } else {
                call!(cuMemcpyDtoHAsync_v2(host, device, bytes, self.raw))
            }
        }
    }

    /// Rows with gaps.
    fn copy_2d(&self, copy: &Copy) -> Result<(), DriverError> {
        let host = copy.host.wrapping_add(copy.host_rows.offset).cast();
        let device = copy.device + copy.device_rows.offset as u64;
        let rows = &copy.host_rows;
        let sized = CUDA_MEMCPY2D { WidthInBytes: rows.bytes, Height: rows.count, ..EMPTY };
        let described = if copy.upload {
            CUDA_MEMCPY2D {
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
                srcHost: host,
                srcPitch: copy.host_rows.stride,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
                dstDevice: device,
                dstPitch: copy.device_rows.stride,
                ..sized
            }
        } else {
            CUDA_MEMCPY2D {
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
                srcDevice: device,
                srcPitch: copy.device_rows.stride,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
                dstHost: host,
                dstPitch: copy.host_rows.stride,
                ..sized
            }
        };
        // SAFETY: as for `copy_run`; the description is read before the call returns.
        unsafe { call!(cuMemcpy2DAsync_v2(&raw const described, self.raw)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_behind_the_last_one_and_not_behind_its_padding() {
        let rows = Rows { offset: 3, stride: 10, bytes: 4, count: 3 };
        assert_eq!((rows.end(), rows.row(2).offset, rows.row(2).end()), (27, 23, 27));
        assert_eq!(Rows { count: 0, ..rows }.end(), 3);
    }

    #[test]
    fn only_rows_without_gaps_on_both_sides_are_one_run() {
        let gaps = Rows { offset: 0, stride: 10, bytes: 4, count: 3 };
        let tight = Rows { stride: 4, ..gaps };
        assert!(tight.back_to_back(&tight) && !tight.back_to_back(&gaps) && !gaps.back_to_back(&tight));
        assert!(gaps.row(0).back_to_back(&gaps.row(1)));
    }
}
