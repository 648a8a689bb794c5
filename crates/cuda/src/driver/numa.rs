//! Memory near a GPU, on machines whose memory lies in several nodes (NUMA).

use std::ffi::{c_int, c_ulong};
use std::io;
use std::ptr::NonNull;

/// Nodes that a mask has room for: as many as Linux knows.
const NODES: usize = 1024;
const BITS: usize = c_ulong::BITS as usize;

/// Has pages that nobody has touched come from a node where it has room, and from the others where not. Pages in use stay where
/// they are.
///
/// # Errors
/// When the kernel refuses, as it does in some containers: then pages come from the node of whoever touches them first.
pub(super) fn prefer(start: NonNull<u8>, bytes: usize, node: u32) -> io::Result<()> {
    const MPOL_PREFERRED: c_int = 1;
    let mut mask = [0 as c_ulong; NODES / BITS];
    let node = node as usize;
    let word = mask.get_mut(node / BITS).ok_or(io::ErrorKind::InvalidInput)?;
    *word = 1 << (node % BITS);
    // SAFETY: reads the mask, and notes for whole pages where those that are missing come from: no byte changes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            start.as_ptr(),
            bytes,
            MPOL_PREFERRED,
            mask.as_ptr(),
            NODES as c_ulong,
            0,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::alloc::{Layout, alloc, dealloc};

    use super::*;

    #[test]
    fn pages_are_preferred_from_the_node_that_is_named() {
        const MPOL_F_ADDR: c_ulong = 2;
        let layout = Layout::from_size_align(1 << 20, 4096).unwrap();
        // SAFETY: not empty.
        let start = NonNull::new(unsafe { alloc(layout) }).unwrap();
        let preferred = prefer(start, layout.size(), 0);
        if let Err(error) = &preferred {
            // Some containers forbid the call; nothing else may be wrong with it.
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        } else {
            let (mut policy, mut mask): (c_int, _) = (0, [0 as c_ulong; NODES / BITS]);
            let (to, nodes) = (&raw mut policy, mask.as_mut_ptr());
            // SAFETY: writes one integer and a mask of as many bits as is said.
            let read = unsafe {
                libc::syscall(
                    libc::SYS_get_mempolicy,
                    to,
                    nodes,
                    NODES as c_ulong,
                    start.as_ptr(),
                    MPOL_F_ADDR,
                )
            };
            assert_eq!((read, policy, mask[0]), (0, 1, 1));
        }
        assert!(prefer(start, layout.size(), 5000).is_err());
        // SAFETY: allocated above with this layout.
        unsafe { dealloc(start.as_ptr(), layout) };
    }
}
