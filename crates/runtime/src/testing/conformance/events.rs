use std::sync::Arc;

use super::rig::{Log, Observed, Rig, uniform_value};
use crate::device::{Command, Device, DeviceKind};
use crate::testing::{PlanBuilder, Work, gray};

pub(super) fn never_recorded_is_complete(device: &dyn Device) {
    let (stream, event) =
        (device.create_stream("s").expect("a stream"), device.create_event().expect("an event"));
    assert!(event.is_complete(), "an event never recorded is complete");
    event.synchronize().expect("an event never recorded is no reason to wait");
    stream.submit(Command::Wait(event)).expect("a wait is queued");
    stream.synchronize().expect("waiting for an event never recorded passes");
}

pub(super) fn host_can_wait(device: &Arc<dyn Device>) {
    let rig = Rig::new(device, PlanBuilder::adding_chain(1, gray(64, 64)).build());
    let (stream, event) =
        (device.create_stream("s").expect("a stream"), device.create_event().expect("an event"));
    let log = Log::new(None);
    for round in 0..10 {
        rig.upload(&*stream, 0, round);
        (0..3).for_each(|group| rig.submit_launch(&*stream, group, &log));
        let pinned = rig.download(&*stream, 3);
        stream.submit(Command::Record(event.clone())).expect("an event is recorded again and again");
        event.synchronize().expect("the event is reached");
        assert!(event.is_complete(), "reached is complete");
        let value = uniform_value(&pinned, rig.plan.buffers[3].layout);
        assert_eq!(value, round + 7, "everything before the event has finished when it is reached");
    }
}

/// A long chain on one stream, its last result read on another one.
pub(super) fn order_streams(device: &Arc<dyn Device>) {
    const LENGTH: usize = 8;
    let mut builder = PlanBuilder::new(1);
    let mut last = builder.input("input", gray(256, 128));
    for i in 0..LENGTH {
        last = builder.task(&format!("t{i}"), 0, Work::affine(1.0, 1.0), &[last]);
    }
    let reader = builder.task("reader", 1, Work::affine(1.0, 100.0), &[last]);
    let rig = Rig::new(device, builder.build());
    let streams = ["a", "b"].map(|label| device.create_stream(label).expect("a stream"));
    let events = [0, 1].map(|_| device.create_event().expect("an event"));
    for round in 0..20 {
        let log = Log::new(None);
        let [a, b] = &streams;
        // The chain overwrites what the reader of the round before reads.
        a.submit(Command::Wait(events[1].clone())).expect("a wait is queued");
        rig.upload(&**a, 0, round);
        (0..LENGTH).for_each(|group| rig.submit_launch(&**a, group, &log));
        a.submit(Command::Record(events[0].clone())).expect("a record is queued");
        b.submit(Command::Wait(events[0].clone())).expect("a wait is queued");
        rig.submit_launch(&**b, LENGTH, &log);
        b.submit(Command::Record(events[1].clone())).expect("a record is queued");
        if round % 4 == 3 {
            assert_eq!(rig.value(&**b, reader), round + 108, "a stream waits for an event of another");
            if device.info().kind == DeviceKind::CUDA {
                continue; // Asked when a launch is queued, before those it waits for have ended.
            }
            let observed = log.observed();
            let at =
                |what: &Observed| observed.iter().position(|t| t == what).expect("each launch is reported");
            assert!(
                at(&Observed::End(LENGTH - 1, Ok(()))) < at(&Observed::Begin(LENGTH)),
                "reported in that order"
            );
        }
    }
    for stream in &streams {
        stream.synchronize().expect("no copy failed");
    }
}

/// A launch on one stream, waited for by another, whose event the host waits for.
pub(super) fn tell_of_what_they_come_after(device: &Arc<dyn Device>) {
    let rig = Rig::new(device, PlanBuilder::adding_chain(1, gray(64, 64)).build());
    let [a, b] = ["a", "b"].map(|label| device.create_stream(label).expect("a stream"));
    let [joined, done] = [0, 1].map(|_| device.create_event().expect("an event"));
    rig.upload(&*a, 0, 1);
    a.synchronize().expect("an upload succeeds");
    for _ in 0..10 {
        let log = Log::new(None);
        rig.submit_launch(&*a, 0, &log);
        a.submit(Command::Record(joined.clone())).expect("a record is queued");
        b.submit(Command::Wait(joined.clone())).expect("a wait is queued");
        rig.submit_launch(&*b, 1, &log);
        b.submit(Command::Record(done.clone())).expect("a record is queued");
        done.synchronize().expect("the event is reached");
        for group in [0, 1] {
            let end = Observed::End(group, Ok(()));
            assert!(
                log.observed().contains(&end),
                "the end of launch {group} is told when the event is reached"
            );
        }
    }
}
