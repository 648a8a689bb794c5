use super::*;

fn manager(device: &Arc<NullDevice>, options: ManagerOptions) -> Arc<MemoryManager> {
    MemoryManager::new(device.clone() as Arc<dyn Device>, options)
}

#[test]
fn spaces_are_pooled_and_counted_apart() {
    let manager = manager(&null(None), ManagerOptions::default());
    let (device, pinned) = (manager.allocate_device(100).unwrap(), manager.allocate_pinned(1000).unwrap());
    let workspace = manager.allocate_workspace(64).unwrap();
    assert_eq!((device.memory().space(), pinned.memory().space()), (Space::Device, Space::Pinned));
    let stats = manager.stats();
    assert_eq!((stats.device.in_use, stats.pinned.in_use), (128 + 64, 1024));
    drop((device, pinned, workspace));
    assert_eq!(manager.trim(), 128 + 64 + 1024);
}

#[test]
fn the_pinned_pool_size_caps_what_is_kept_not_what_is_used() {
    // Where kernels work in the host's memory nothing is pinned: all that was in use is kept.
    for (unified_memory, kept) in [(false, 2048), (true, 4096)] {
        let options = ManagerOptions { pinned_pool_size: 2048, ..ManagerOptions::default() };
        let device = NullDevice::new(NullOptions { unified_memory, ..NullOptions::default() });
        let manager = manager(&device, options);
        let blocks: Vec<Block> = (0..4).map(|_| manager.allocate_pinned(1024).unwrap()).collect();
        assert_eq!(manager.stats().pinned.in_use, 4096);
        drop(blocks);
        assert_eq!(manager.stats().pinned.reserved, kept);
    }
}

#[test]
fn modes_are_reported_with_the_reason() {
    use AllocatorMode::{Pooled, StreamOrdered};
    let device = |stream_ordered| NullDevice::new(NullOptions { stream_ordered, ..NullOptions::default() });
    let refusing = device(Err("the driver is from before 11.2".to_owned()));
    let plain = manager(&refusing, ManagerOptions::default());
    assert_eq!((plain.requested_mode(), plain.effective_mode()), (Pooled, (Pooled, None)));
    let options = ManagerOptions { allocator: StreamOrdered, ..ManagerOptions::default() };
    let asked = manager(&refusing, options.clone());
    assert_eq!(asked.requested_mode(), StreamOrdered);
    assert_eq!(asked.effective_mode(), (Pooled, Some("the driver is from before 11.2".to_owned())));
    assert_eq!(manager(&device(Ok(())), options).effective_mode(), (StreamOrdered, None));
    assert_eq!((Pooled.to_string(), StreamOrdered.to_string()), ("pooled".into(), "stream-ordered".into()));
}

#[test]
fn a_memory_limit_holds_for_device_memory() {
    let options = ManagerOptions { memory_limit: Some(1024), ..ManagerOptions::default() };
    let manager = manager(&null(None), options);
    let block = manager.allocate_device(1000).unwrap();
    let text = manager.allocate_device(1).unwrap_err().to_string();
    assert_eq!(text, "out of device memory: 64 bytes requested, 1024 in use, 1024 reserved, limit 1024");
    assert!(manager.allocate_pinned(5000).is_ok());
    drop(block);
    assert!(manager.allocate_device(1).is_ok(), "the cached kilobyte was given back for it");
}

#[test]
fn after_shutdown_blocks_stay_valid_and_requests_are_refused() {
    let device = null(None);
    let manager = manager(&device, ManagerOptions::default());
    let block = manager.allocate_device(64).unwrap();
    drop(manager.allocate_pinned(64).unwrap());
    manager.shutdown();
    for refused in [manager.allocate_device(1), manager.allocate_pinned(1), manager.allocate_workspace(1)] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("shut down") && text.contains("'null'"), "{text}");
    }
    block.memory().host().unwrap().write(0..64).unwrap().fill(1);
    drop(manager);
    assert_eq!(device.allocated(), 64);
    drop(block);
    assert_eq!(device.allocated(), 0);
}
