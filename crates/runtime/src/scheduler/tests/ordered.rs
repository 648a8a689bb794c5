//! Stream-ordered memory around a run, as the device sees it.

use super::*;

fn options(unified_memory: bool) -> NullOptions {
    NullOptions { unified_memory, stream_ordered: Ok(()), ..NullOptions::default() }
}

fn ordered(options: NullOptions, replay: bool) -> Bench {
    Bench::with(options, diamond(), replay, AllocatorMode::StreamOrdered)
}

#[test]
fn memory_is_there_before_any_stream_begins_and_goes_when_all_have_ended() {
    let bench = ordered(options(false), false);
    assert_eq!(bench.run().error, None);
    let commands = bench.commands();
    let index = |text: &str| {
        let found = commands.iter().position(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("no '{text}' in {commands:#?}"))
    };
    let last = |text: &str| commands.iter().rposition(|line| line.contains(text)).unwrap();
    // The arena, the input's copy and three outputs.
    assert_eq!(commands.iter().filter(|line| line.contains("allocate m")).count(), 5);
    assert!(last("allocate m") < index("record"), "{commands:#?}");
    assert!(index("stream 1: wait") < index("stream 1: launch"), "{commands:#?}");
    assert!(index("stream 2: wait") < index("stream 2: launch"), "{commands:#?}");
    assert_eq!(commands.iter().filter(|line| line.contains("free m")).count(), 5);
    assert!(last("download") < index("free m"), "{commands:#?}");
    assert!(commands.iter().all(|line| !line.contains("free m") || line.starts_with("stream 0")));
}

#[test]
fn outputs_that_the_host_reads_in_place_are_not_freed() {
    let bench = ordered(options(true), false);
    let report = bench.run();
    assert_eq!(head(&report, 0), Some([8, 10]));
    // The arena goes; the input is read in place, the outputs are the caller's.
    assert_eq!(bench.commands().iter().filter(|line| line.contains("free m")).count(), 1);
    drop(report);
    bench.session.trim();
    assert_eq!(bench.device.allocated(), 0);
}

#[test]
fn the_steady_state_makes_no_driver_allocation() {
    for replay in [false, true] {
        let bench = ordered(options(false), replay);
        (0..3).for_each(|_| drop(bench.run()));
        let stats = || bench.session.manager().stats();
        let (warm, hits) = (stats().device.driver_allocations, stats().device.hits);
        (0..50).for_each(|_| drop(bench.run()));
        assert_eq!(stats().device.driver_allocations, warm);
        assert!(stats().device.hits >= hits + 50 * 4);
        assert!(stats().device.reserved > 0);
        bench.session.trim();
        assert!(bench.session.manager().trim() > 0);
        assert_eq!((stats().device.reserved, stats().device.in_use), (0, 0));
    }
}

#[test]
fn a_replayed_run_keeps_its_arena_and_frees_the_rest() {
    let bench = ordered(options(false), true);
    bench.run();
    bench.device.take_records();
    bench.run();
    let commands = bench.commands();
    // The input's copy and three outputs; no events but those inside the graph.
    assert_eq!(commands.iter().filter(|line| line.contains("allocate m")).count(), 4);
    assert_eq!(commands.iter().filter(|line| line.contains("free m")).count(), 4);
    assert_eq!(bench.graphs().replays, 1);
}

#[test]
fn a_refused_free_only_delays_the_memory() {
    let bench = ordered(options(false), false);
    bench.device.inject(Site::Submit(crate::device::null::CommandKind::Free), boom());
    assert_eq!(bench.run().error, None);
    bench.device.clear_faults();
    assert_eq!(bench.run().error, None);
    bench.session.trim();
    bench.session.manager().trim();
    assert_eq!(bench.device.allocated(), 0);
}

#[test]
fn the_limit_holds_and_says_what_is_held() {
    let device = interpreting_device(options(false));
    let options = ManagerOptions {
        allocator: AllocatorMode::StreamOrdered,
        memory_limit: Some(1000),
        ..ManagerOptions::default()
    };
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, options);
    assert_eq!(manager.effective_mode(), (AllocatorMode::StreamOrdered, None));
    let stream = device.create_stream("test").unwrap();
    let block = manager.allocate_on(&*stream, 900).unwrap();
    let text = manager.allocate_on(&*stream, 100).unwrap_err().to_string();
    assert_eq!(text, "out of device memory: 128 bytes requested, 960 in use, 960 reserved, limit 1000");
    let text = manager.allocate_device(100).unwrap_err().to_string();
    assert!(text.contains("limit 1000"), "the pool has to leave it alone: {text}");
    drop(block);
    drop(manager.allocate_device(900).unwrap());
    assert!(manager.allocate_on(&*stream, 900).is_ok(), "what the pool keeps unused goes back for it");
    assert!(manager.allocate_on(&*stream, 100).is_ok());
    manager.shutdown();
    assert!(manager.allocate_on(&*stream, 1).unwrap_err().to_string().contains("shut down"));
}

#[test]
fn out_of_memory_is_tried_once_more_after_giving_back_what_is_unused() {
    let bench = ordered(options(false), false);
    bench.device.inject(
        Site::Allocation(1),
        DeviceError::OutOfMemory { space: "device", requested: 0, in_use: 0, reserved: 0, limit: None },
    );
    assert_eq!(bench.run().error, None);
}
