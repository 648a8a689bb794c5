use std::sync::Arc;
use std::thread;

use super::rig::{Log, Observed, Rig};
use crate::device::{Command, Device, DeviceError, DeviceKind};
use crate::testing::{FnKernel, PlanBuilder, Work, gray};

fn chain(device: &Arc<dyn Device>) -> Rig {
    Rig::new(device, PlanBuilder::adding_chain(1, gray(17, 9)).build())
}

pub(super) fn run_in_order(device: &Arc<dyn Device>) {
    let (rig, log) = (chain(device), Log::new(None));
    let stream = device.create_stream("s").expect("a stream");
    rig.upload(&*stream, 0, 10);
    (0..3).for_each(|group| rig.submit_launch(&*stream, group, &log));
    assert_eq!(rig.value(&*stream, 3), 17, "a stream runs its commands in order");
    let mut observed = log.observed();
    let mut expected: Vec<Observed> =
        (0..3).flat_map(|g| [Observed::Begin(g), Observed::End(g, Ok(()))]).collect();
    if device.info().kind == DeviceKind::CUDA {
        // Asked when a launch is queued, notified when the driver says that it has ended: each in stream
        // order.
        observed.sort_by_key(|t| matches!(t, Observed::End(..)));
        expected.sort_by_key(|t| matches!(t, Observed::End(..)));
    }
    assert_eq!(observed, expected, "observers see begin and end, in stream order");
}

pub(super) fn take_new_uniforms(device: &Arc<dyn Device>) {
    let (rig, log) = (chain(device), Log::new(None));
    let stream = device.create_stream("s").expect("a stream");
    rig.upload(&*stream, 0, 10);
    for offset in [1.0, 50.0, 2.0] {
        let mut launch = rig.launch(0, &log);
        launch.uniforms = Arc::new([Arc::new([2.0, offset])]);
        stream.submit(Command::Launch(launch)).expect("a launch is queued");
        assert_eq!(rig.value(&*stream, 1), 20 + offset as u8, "a launch uses its own uniforms");
    }
}

pub(super) fn are_left_out_when_told(device: &Arc<dyn Device>) {
    let (rig, log) = (chain(device), Log::new(Some(1)));
    let stream = device.create_stream("s").expect("a stream");
    rig.upload(&*stream, 0, 10);
    rig.upload(&*stream, 2, 100);
    (0..3).for_each(|group| rig.submit_launch(&*stream, group, &log));
    assert_eq!(rig.value(&*stream, 2), 100, "a launch left out writes nothing");
    assert_eq!(rig.value(&*stream, 3), 104, "the stream goes on after a launch left out");
    let observed = log.observed();
    assert!(observed.contains(&Observed::Begin(1)), "asked before leaving out");
    assert!(!observed.iter().any(|t| matches!(t, Observed::End(1, _))), "no end without a beginning");
}

pub(super) fn report_failure_and_go_on(device: &Arc<dyn Device>) {
    if device.info().kind == DeviceKind::CUDA {
        return; // Host code cannot fail there; faults are injected by the crate's own tests.
    }
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(17, 9));
    builder.task("fails", 0, Work::custom(FnKernel::failing("unlucky", "no luck")), &[input]);
    let after = builder.task("after", 0, Work::affine(1.0, 5.0), &[input]);
    let (rig, log) = (Rig::new(device, builder.build()), Log::new(None));
    let stream = device.create_stream("s").expect("a stream");
    rig.upload(&*stream, 0, 10);
    (0..2).for_each(|group| rig.submit_launch(&*stream, group, &log));
    stream.synchronize().expect("a failure that its observer got is no failure of the stream");
    assert_eq!(rig.value(&*stream, after), 15, "the stream goes on after a failure");
    let observed = log.observed();
    let failure = observed.iter().find_map(|t| match t {
        Observed::End(0, Err(error)) => Some(error),
        _ => None,
    });
    let expected = DeviceError::Kernel { kernel: "unlucky".to_owned(), message: "no luck".to_owned() };
    assert_eq!(failure, Some(&expected), "the failure names the kernel and says why");
}

/// Pools hand memory out again when no handle is left: one held too long costs a driver allocation.
pub(super) fn let_go_of_memory(device: &Arc<dyn Device>) {
    let (mut rig, log) = (chain(device), Log::new(None));
    let stream = device.create_stream("s").expect("a stream");
    for _ in 0..20 {
        rig.upload(&*stream, 0, 10);
        (0..3).for_each(|group| rig.submit_launch(&*stream, group, &log));
        assert_eq!(rig.value(&*stream, 3), 17);
        for block in &mut rig.blocks {
            assert!(Arc::get_mut(block).is_some(), "a finished command holds no memory");
        }
    }
}

pub(super) fn may_come_from_any_thread(device: &Arc<dyn Device>) {
    let rig = Arc::new(chain(device));
    let stream = device.create_stream("s").expect("a stream");
    let log = Log::new(None);
    rig.upload(&*stream, 0, 10);
    for group in 0..3 {
        let (rig, stream, log) = (rig.clone(), stream.clone(), log.clone());
        thread::spawn(move || rig.submit_launch(&*stream, group, &log))
            .join()
            .expect("any thread may submit");
    }
    // Everything is dropped elsewhere while the commands may still be running.
    thread::spawn(move || drop((rig, stream))).join().expect("any thread may drop a busy stream");
}
