use std::thread;

use mip_core::ALIGNMENT;

use crate::device::{Device, Space};

pub(super) fn sizes_alignment_and_access(device: &dyn Device) {
    for space in [Space::Device, Space::Pinned] {
        for bytes in [1, 63, 64, 65, 4097, 1 << 20] {
            let memory = device.allocate(space, bytes).expect("a little memory");
            assert!(memory.len() >= bytes, "{bytes} bytes asked for, {} given", memory.len());
            assert_eq!(memory.space(), space, "memory of the space asked for");
            let readable = space == Space::Pinned || device.info().unified_memory;
            assert!(!readable || memory.host().is_some(), "the host reads {} memory", space.name());
            let Some(host) = memory.host() else { continue };
            let mut bytes = host.write(0..bytes).expect("nobody else uses fresh memory");
            assert!(bytes.as_ptr().addr().is_multiple_of(ALIGNMENT), "{} memory is aligned", space.name());
            bytes.fill(0x5A);
        }
    }
}

pub(super) fn freed_on_another_thread(device: &dyn Device) {
    let memory = [Space::Device, Space::Pinned].map(|space| device.allocate(space, 1000).expect("memory"));
    thread::spawn(move || drop(memory)).join().expect("memory may be dropped on any thread");
}
