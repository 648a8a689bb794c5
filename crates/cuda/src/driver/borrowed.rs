use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Device memory that belongs to somebody else: a decoder's surface, another library's tensor.
#[derive(Clone)]
pub struct BorrowedMemory {
    address: u64,
    len: usize,
    _owner: Arc<dyn Any + Send + Sync>,
}

impl BorrowedMemory {
    /// `len` bytes from `address` (a `CUdeviceptr`) on. `owner` is dropped when the last image made of it is no longer in use;
    /// whatever its `Drop` does (giving the surface back) happens then.
    ///
    /// # Safety
    /// The bytes are memory of the GPU that this is given to, reachable from its primary context, until `owner` is dropped. What
    /// was written there is complete: the stream that did it has been waited for. Nobody writes there until then.
    pub unsafe fn new(address: u64, len: usize, owner: Arc<dyn Any + Send + Sync>) -> Self {
        Self { address, len, _owner: owner }
    }

    /// Where it begins.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl fmt::Debug for BorrowedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BorrowedMemory({} bytes at {:#x})", self.len, self.address)
    }
}
