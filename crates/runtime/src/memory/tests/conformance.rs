//! What every resource has to do, run for each of them.

use std::thread;

use mip_core::ALIGNMENT;

use super::*;
use crate::device::DeviceError;
use crate::device::null::Site;

fn conformance(make: impl Fn(&Arc<NullDevice>) -> Arc<dyn Resource>) {
    sizes_and_alignment(&*make(&null(None)));
    blocks_do_not_overlap(&*make(&null(None)));
    counters_balance(&*make(&null(None)));
    blocks_may_be_dropped_anywhere(&*make(&null(None)));
    out_of_memory_is_an_error(&*make(&null(Some(1000))));
    let device = null(None);
    blocks_outlive_the_resource(make(&device), &device);
    huge_requests_are_refused(&*make(&null(Some(1000))));
}

fn sizes_and_alignment(resource: &dyn Resource) {
    for bytes in [0, 1, 63, 64, 65, 1000, 4096] {
        let block = resource.allocate(bytes).unwrap();
        assert_eq!((block.len(), block.is_empty()), (bytes, bytes == 0));
        assert!(block.memory().len() >= bytes);
        assert_eq!(block.memory().space(), resource.space());
        assert!(address(&block).is_multiple_of(ALIGNMENT));
    }
}

fn blocks_do_not_overlap(resource: &dyn Resource) {
    let mut blocks: Vec<Block> = Vec::new();
    for (tag, bytes) in [100, 200, 100, 50, 100].into_iter().enumerate() {
        if tag == 3 {
            blocks.remove(0);
        }
        let block = resource.allocate(bytes).unwrap();
        block.memory().host().unwrap().write(0..bytes).unwrap().fill(tag as u8);
        blocks.push(block);
    }
    for (block, tag) in blocks.iter().zip([1, 2, 3, 4]) {
        let bytes = block.memory().host().unwrap().read(0..block.len()).unwrap();
        assert!(bytes.iter().all(|&b| b == tag));
    }
}

fn counters_balance(resource: &dyn Resource) {
    let blocks: Vec<Block> = (1..5).map(|i| resource.allocate(i * 64).unwrap()).collect();
    let stats = resource.stats();
    assert_eq!((stats.in_use, stats.reserved, stats.driver_allocations), (640, 640, 4));
    assert_eq!(stats.hits + stats.misses, 4);
    drop(blocks);
    assert_eq!(resource.stats().in_use, 0);
    resource.trim();
    let stats = resource.stats();
    assert_eq!((stats.reserved, stats.driver_frees), (0, 4));
    assert_eq!((stats.peak, stats.peak_in_use), (640, 640));
}

fn blocks_may_be_dropped_anywhere(resource: &dyn Resource) {
    thread::scope(|scope| {
        for _ in 0..4 {
            let block = resource.allocate(500).unwrap();
            scope.spawn(move || {
                block.memory().host().unwrap().write(0..500).unwrap().fill(1);
                drop(block);
                for bytes in [500, 64, 900] {
                    drop(resource.allocate(bytes).unwrap());
                }
            });
        }
    });
    resource.trim();
    assert_eq!((resource.stats().in_use, resource.stats().reserved), (0, 0));
}

fn out_of_memory_is_an_error(resource: &dyn Resource) {
    let block = resource.allocate(640).unwrap();
    let error = resource.allocate(640).unwrap_err();
    let expected = DeviceError::OutOfMemory {
        space: "device",
        requested: 640,
        in_use: 640,
        reserved: 640,
        limit: Some(1000),
    };
    assert_eq!(error, expected);
    drop(block);
    assert!(resource.allocate(960).is_ok(), "nothing stays claimed after a refusal");
}

fn blocks_outlive_the_resource(resource: Arc<dyn Resource>, device: &NullDevice) {
    let (kept, cached) = (resource.allocate(128).unwrap(), resource.allocate(64).unwrap());
    drop(cached);
    drop(resource);
    kept.memory().host().unwrap().write(0..128).unwrap().fill(7);
    assert_eq!(device.allocated(), 128, "what was cached is freed with the resource");
    thread::spawn(move || drop(kept)).join().unwrap();
    assert_eq!(device.allocated(), 0);
}

fn huge_requests_are_refused(resource: &dyn Resource) {
    for bytes in [usize::MAX, usize::MAX - 10, isize::MAX as usize] {
        assert!(matches!(resource.allocate(bytes), Err(DeviceError::OutOfMemory { .. })));
    }
    assert_eq!(resource.stats().in_use, 0);
}

const BOUND: CacheBound = CacheBound::Bytes(1 << 20);

#[test]
fn driver_resource() {
    conformance(driver);
}

#[test]
fn limit_resource() {
    conformance(|device| Arc::new(LimitResource::new(driver(device), 10_000)));
    let unlimited_device = |_: &Arc<NullDevice>| -> Arc<dyn Resource> {
        Arc::new(LimitResource::new(driver(&null(None)), 1000))
    };
    out_of_memory_is_an_error(&*unlimited_device(&null(None)));
}

#[test]
fn a_limit_forgets_what_the_driver_refused() {
    let device = null(None);
    let limited = LimitResource::new(driver(&device), 1000);
    device.inject(Site::Allocation(1), DeviceError::Injected("boom".to_owned()));
    assert!(limited.allocate(1000).is_err());
    assert!(limited.allocate(1000).is_ok());
}

#[test]
fn pool_resource() {
    conformance(|device| Arc::new(PoolResource::new(driver(device), BOUND)));
    conformance(|device| {
        Arc::new(PoolResource::new(Arc::new(LimitResource::new(driver(device), 10_000)), BOUND))
    });
    conformance(|device| Arc::new(PoolResource::new(driver(device), CacheBound::PeakInUse { floor: 64 })));
}
