use super::*;

#[test]
fn the_steady_state_allocates_nothing_from_the_driver() {
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    for options in [NullOptions::default(), separate()] {
        let session = session(&interpreting_device(options), &plan);
        let run = || session.execute(RunRequest::new(vec![ramp(1, 0)])).unwrap();
        drop(run());
        let warm = session.manager().stats();
        for _ in 0..20 {
            assert_eq!(run().error, None);
        }
        let stats = session.manager().stats();
        assert_eq!(stats.device.driver_allocations, warm.device.driver_allocations);
        assert_eq!(stats.pinned.driver_allocations, warm.pinned.driver_allocations);
        assert_eq!((stats.device.reserved, stats.device.driver_frees), (warm.device.reserved, 0));
    }
}

#[test]
fn outputs_the_caller_holds_are_never_overwritten() {
    for options in [NullOptions::default(), separate()] {
        let session = session(&interpreting_device(options), &chain());
        let outputs: Vec<ImageBuffer> = (0..10)
            .map(|first| {
                let report = session.execute(RunRequest::new(vec![ramp(1, first * 20)])).unwrap();
                report.outputs[0].clone().unwrap()
            })
            .collect();
        for (output, first) in outputs.iter().zip(0..) {
            let from = first * 20 + 7;
            assert_eq!(output.to_bytes(), (from..from + 15).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn outputs_outlive_session_and_manager() {
    let device = interpreting_device(NullOptions::default());
    let session = session(&device, &chain());
    let report = session.execute(RunRequest::new(vec![ramp(1, 0)])).unwrap();
    session.manager().shutdown();
    let refused = session.execute(RunRequest::new(vec![ramp(1, 0)])).unwrap_err().to_string();
    assert!(refused.starts_with("no memory for output 'c': the memory manager"), "{refused}");
    drop(session);
    let output = report.outputs[0].as_ref().unwrap();
    assert_eq!(output.to_bytes()[0], 7);
    let frame = output.frame(0);
    drop(report);
    assert!(device.allocated() > 0, "a frame keeps the batch alive");
    std::thread::spawn(move || drop(frame)).join().unwrap();
    assert_eq!(device.allocated(), 0);
}

#[test]
fn no_memory_for_an_output_refuses_the_run_and_leaves_the_session_usable() {
    for (options, nth) in [(NullOptions::default(), 1), (separate(), 2), (separate(), 3)] {
        let device = interpreting_device(options);
        let session = session(&device, &chain());
        device.take_records();
        device.inject(Site::Allocation(nth), boom());
        let run = || session.execute(RunRequest::new(vec![ramp(1, 0)]));
        assert_eq!(run().unwrap_err().to_string(), "no memory for output 'c': injected failure: boom");
        assert!(device.take_records().iter().all(|r| !r.to_string().contains("stream")), "nothing launched");
        assert_eq!(run().unwrap().error, None);
    }
}

#[test]
fn the_cache_is_given_up_before_a_run_is_refused() {
    let plan = chain();
    let device = interpreting_device(NullOptions::default());
    let needed = plan.arena_bytes + 192;
    let options = ManagerOptions { memory_limit: Some(needed), ..ManagerOptions::default() };
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, options);
    drop(manager.allocate_device(128).unwrap());
    let session = try_session(&device, &manager, &plan).unwrap();
    let report = session.execute(RunRequest::new(vec![ramp(1, 0)])).unwrap();
    assert_eq!((report.error, manager.stats().device.reserved), (None, needed));
    let held = report.outputs;
    let refused = session.execute(RunRequest::new(vec![ramp(1, 0)])).unwrap_err().to_string();
    assert!(refused.contains("out of device memory: 192 bytes requested"), "{refused}");
    drop(held);
    assert!(session.execute(RunRequest::new(vec![ramp(1, 0)])).is_ok());
}

#[test]
fn a_plan_over_the_memory_limit_is_refused_before_anything_runs() {
    let device = interpreting_device(NullOptions::default());
    let options = ManagerOptions { memory_limit: Some(100), ..ManagerOptions::default() };
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, options);
    let error = try_session(&device, &manager, &chain()).unwrap_err().to_string();
    assert!(error.contains("the arena") && error.contains("limit 100"), "{error}");
}

#[test]
fn images_behind_each_other_are_a_batch_without_a_copy() {
    let session =
        session(&interpreting_device(separate()), &PlanBuilder::adding_chain(3, gray(5, 3)).build());
    let manager = session.manager();
    let batch = session.upload(&ramp(4, 0)).unwrap();
    let frames: Vec<DeviceImage> = (0..4).map(|index| batch.frame(index)).collect();
    let joined = DeviceImage::joined(&frames[1..]).unwrap();
    assert_eq!((joined.layout().batch_size, joined.offset()), (3, frames[1].offset()));
    let report =
        session.execute(RunRequest { inputs: vec![joined.into()], ..RunRequest::default() }).unwrap();
    let alone = |frame: usize| session.download(&batch.frame(frame)).unwrap().to_bytes();
    for frame in 0..3 {
        let expected: Vec<u8> = alone(frame + 1).iter().map(|v| v + 7).collect();
        assert_eq!(report.outputs[0].as_ref().unwrap().frame(frame).to_bytes(), expected);
    }
    // At even distances; not in another order, twice, of other shapes or in other memory, and not batches of batches.
    assert_eq!(DeviceImage::joined(&[frames[0].clone(), frames[2].clone()]).unwrap().layout().batch_size, 2);
    assert_eq!(DeviceImage::joined(&frames[3..]).unwrap().layout().batch_size, 1);
    let other = DeviceImage::allocate(manager, BatchLayout::tight(gray(5, 3), 2).unwrap()).unwrap();
    let wider = DeviceImage::allocate(manager, BatchLayout::tight(gray(6, 3), 1).unwrap()).unwrap();
    let [a, b, c] = [&frames[0], &frames[1], &frames[2]];
    for apart in [
        vec![b, a],
        vec![a, a],
        vec![a, b, a],
        vec![a, &other.frame(0)],
        vec![a, &wider],
        vec![a, b, &batch],
        vec![&other, b],
    ] {
        let apart: Vec<DeviceImage> = apart.into_iter().cloned().collect();
        assert!(DeviceImage::joined(&apart).is_none(), "{apart:?}");
    }
    assert!(DeviceImage::joined(&[]).is_none());
    assert!(DeviceImage::joined(&[c.clone(), frames[3].clone(), other.frame(0)]).is_none());
}
