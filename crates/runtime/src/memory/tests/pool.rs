use super::*;
use crate::device::DeviceError;
use crate::device::null::Site;

fn pool(device: &Arc<NullDevice>, bound: CacheBound) -> PoolResource {
    PoolResource::new(driver(device), bound)
}

#[test]
fn a_block_given_back_is_handed_out_again() {
    let pool = pool(&null(None), CacheBound::Bytes(1 << 20));
    let first = pool.allocate(1000).unwrap();
    let place = address(&first);
    drop(first);
    let again = pool.allocate(990).unwrap();
    assert_eq!((address(&again), again.len()), (place, 990));
    let stats = pool.stats();
    assert_eq!((stats.hits, stats.misses, stats.driver_allocations), (1, 1, 1));
}

#[test]
fn fits_are_close_and_the_smallest_is_taken() {
    let pool = pool(&null(None), CacheBound::Bytes(1 << 20));
    let sizes = [2048, 1152, 1280];
    let blocks: Vec<Block> = sizes.iter().map(|&bytes| pool.allocate(bytes).unwrap()).collect();
    let place = address(&blocks[1]);
    drop(blocks);
    assert_eq!(address(&pool.allocate(1024).unwrap()), place);
    drop(pool.allocate(512).unwrap());
    assert_eq!(pool.stats().driver_allocations, 4, "512 bytes do not take a block of 1152");
}

#[test]
fn memory_that_a_command_still_holds_is_not_handed_out() {
    let pool = pool(&null(None), CacheBound::Bytes(1 << 20));
    let block = pool.allocate(256).unwrap();
    let (place, held) = (address(&block), block.memory().clone());
    drop(block);
    let other = pool.allocate(256).unwrap();
    assert_ne!(address(&other), place);
    drop(held);
    assert_eq!(address(&pool.allocate(256).unwrap()), place);
}

#[test]
fn many_sizes_do_not_pile_up() {
    let pool = pool(&null(None), CacheBound::PeakInUse { floor: 1 << 12 });
    for bytes in (1..200).map(|i| i * 640) {
        drop(pool.allocate(bytes).unwrap());
        let stats = pool.stats();
        assert!(stats.reserved <= stats.peak_in_use.max(1 << 12), "{stats:?}");
    }
    assert!(pool.stats().driver_frees > 100);
    let reserved = pool.stats().reserved;
    assert_eq!(pool.trim(), reserved);
    assert_eq!(pool.stats().reserved, 0);
    drop(pool.allocate(64).unwrap());
    assert_eq!(pool.stats().reserved, 64);
}

#[test]
fn the_block_unused_for_longest_goes_first() {
    let pool = pool(&null(None), CacheBound::Bytes(3000));
    let (old, young) = (pool.allocate(1024).unwrap(), pool.allocate(1536).unwrap());
    let (old_place, young_place) = (address(&old), address(&young));
    drop(old);
    drop(young);
    drop(pool.allocate(640).unwrap());
    assert_eq!(pool.stats().reserved, 1536 + 640);
    assert_eq!(address(&pool.allocate(1536).unwrap()), young_place);
    let stats = pool.stats();
    drop(pool.allocate(1024).unwrap());
    assert_eq!(pool.stats().misses, stats.misses + 1, "{old_place:x} is gone");
}

#[test]
fn out_of_memory_trims_and_tries_once_more() {
    let device = null(Some(1000));
    let pool = pool(&device, CacheBound::Bytes(1 << 20));
    let kept = pool.allocate(320).unwrap();
    drop(pool.allocate(512).unwrap());
    // Plenty is free, but cached in the wrong size.
    let block = pool.allocate(640).unwrap();
    assert_eq!(pool.stats().reserved, 960);
    let error = pool.allocate(100).unwrap_err();
    let (requested, in_use, reserved) = (128, 960, 960);
    let limit = Some(1000);
    assert_eq!(error, DeviceError::OutOfMemory { space: "device", requested, in_use, reserved, limit });
    drop((kept, block));
    assert!(pool.allocate(100).is_ok());
}

#[test]
fn other_driver_failures_are_not_tried_again() {
    let device = null(None);
    let pool = pool(&device, CacheBound::Bytes(1 << 20));
    drop(pool.allocate(512).unwrap());
    device.inject(Site::Allocation(1), DeviceError::Injected("boom".to_owned()));
    assert_eq!(pool.allocate(64).unwrap_err(), DeviceError::Injected("boom".to_owned()));
    assert_eq!(pool.stats().reserved, 512, "nothing was trimmed");
    assert!(pool.allocate(64).is_ok());
}

#[test]
fn a_closed_pool_refuses_and_keeps_nothing() {
    let device = null(None);
    let pool = pool(&device, CacheBound::Bytes(1 << 20));
    let kept = pool.allocate(512).unwrap();
    drop(pool.allocate(64).unwrap());
    pool.close("closed for the night");
    assert_eq!(pool.allocate(64).unwrap_err().to_string(), "closed for the night");
    assert_eq!(device.allocated(), 512);
    drop(kept);
    assert_eq!(device.allocated(), 0);
}
