use std::sync::Arc;

use mip_core::ImageBuffer;

use super::*;
use crate::device::{BufferMemory, BufferRef, Command};
use crate::testing::{PlanBuilder, gray};
use crate::{ManagerOptions, MemoryManager, RunRequest, Session, SessionOptions};

fn printed(device: &NullDevice) -> Vec<String> {
    device.take_records().iter().map(ToString::to_string).collect()
}

fn upload(memory: &Arc<dyn Memory>) -> Command {
    let from = ImageBuffer::new(gray(4, 2)).unwrap();
    let layout = *from.layout();
    Command::Upload { from, to: BufferRef { memory: BufferMemory::Block(memory.clone()), offset: 0, layout } }
}

#[test]
fn the_life_of_a_session_prints_the_same_every_time() {
    let null = NullDevice::new(NullOptions { unified_memory: false, ..NullOptions::default() });
    let device: Arc<dyn Device> = null.clone();
    let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
    let plan = PlanBuilder::diamond(1, gray(4, 2)).build();
    let session = Session::new(device, manager.clone(), plan, SessionOptions::default()).unwrap();
    let made = [
        "create stream 0 \"stream 0\"",
        "create stream 1 \"stream 1\"",
        "create stream 2 \"stream 2\"",
        "create event e0",
        "create event e1",
        "create event e2",
        "load group 0",
        "load group 1",
        "load group 2",
        "load group 3",
        "load group 4",
        "allocate m0: 256 bytes device",
    ];
    assert_eq!(printed(&null), made);

    session.execute(RunRequest::new(vec![ImageBuffer::new(gray(4, 2)).unwrap()])).unwrap();
    let ran = [
        "allocate m1: 128 bytes device",
        "allocate m2: 128 bytes device",
        "allocate m3: 128 bytes pinned",
        "allocate m4: 128 bytes device",
        "allocate m5: 128 bytes pinned",
        "allocate m6: 128 bytes device",
        "allocate m7: 128 bytes pinned",
        "stream 0: upload 4x2 gray u8 (batch of 1)",
        "stream 0: record e2",
        "stream 0: launch group 0",
        "stream 0: record e0",
        "stream 0: launch group 1",
        "stream 1: wait e0",
        "stream 1: launch group 2",
        "stream 1: record e1",
        "stream 1: download 4x2 gray u8 (batch of 1)",
        "stream 2: wait e2",
        "stream 2: launch group 3",
        "stream 2: download 4x2 gray u8 (batch of 1)",
        "stream 0: wait e1",
        "stream 0: launch group 4",
        "stream 0: download 4x2 gray u8 (batch of 1)",
        "host: synchronize stream 0",
        "host: synchronize stream 1",
        "host: synchronize stream 2",
    ];
    assert_eq!(printed(&null), ran);

    drop(session);
    manager.trim();
    assert_eq!(printed(&null).len(), 8, "each block is freed");
    assert_eq!(null.allocated(), 0);
}

#[test]
fn a_wait_for_an_event_never_recorded_shows() {
    let null = NullDevice::new(NullOptions::default());
    let (stream, event) = (null.create_stream("s").unwrap(), null.create_event().unwrap());
    assert!(event.is_complete());
    stream.submit(Command::Wait(event.clone())).unwrap();
    stream.submit(Command::Record(event.clone())).unwrap();
    stream.submit(Command::Wait(event)).unwrap();
    let records = printed(&null);
    assert_eq!(
        records[2..],
        ["stream 0: wait e0 (never recorded)", "stream 0: record e0", "stream 0: wait e0"]
    );
}

#[test]
fn shuffled_commands_run_when_waited_for_and_obey_events() {
    for seed in 0..50 {
        let execution = Execution::Shuffled { seed };
        let null = NullDevice::new(NullOptions { execution, ..NullOptions::default() });
        let (a, b) = (null.create_stream("a").unwrap(), null.create_stream("b").unwrap());
        let event = null.create_event().unwrap();
        let memory = null.allocate(Space::Device, 8).unwrap();
        a.submit(upload(&memory)).unwrap();
        a.submit(Command::Record(event.clone())).unwrap();
        b.submit(Command::Wait(event.clone())).unwrap();
        b.submit(upload(&memory)).unwrap();
        a.submit(upload(&memory)).unwrap();
        assert!(!event.is_complete());
        null.take_records();
        b.synchronize().unwrap();
        let records = printed(&null);
        let at = |line: &str| records.iter().position(|r| r == line).unwrap();
        assert!(at("stream 0: record e0") < at("stream 1: wait e0"), "{records:?}");
        assert!(event.is_complete());
    }
}

#[test]
fn faults_strike_where_they_were_put() {
    let boom = || DeviceError::Injected("boom".to_owned());
    let null = NullDevice::new(NullOptions { memory_limit: Some(100), ..NullOptions::default() });
    null.inject(Site::Allocation(2), boom());
    let memory = null.allocate(Space::Device, 60).unwrap();
    assert_eq!(null.allocate(Space::Pinned, 8).unwrap_err(), boom());
    let text = null.allocate(Space::Pinned, 41).unwrap_err().to_string();
    assert_eq!(text, "out of pinned memory: 41 bytes requested, 60 in use, 60 reserved, limit 100");

    let stream = null.create_stream("s").unwrap();
    null.inject(Site::Run(CommandKind::Upload), boom());
    stream.submit(upload(&memory)).unwrap();
    assert_eq!(stream.synchronize(), Err(boom()));
    assert_eq!(stream.synchronize(), Ok(()), "reported once");
    null.clear_faults();
    null.inject(Site::Submit(CommandKind::Upload), boom());
    assert_eq!(stream.submit(upload(&memory)), Err(boom()));
    assert_eq!(printed(&null).last().unwrap(), "stream 0: upload refused");
}

#[test]
fn queued_commands_keep_their_memory_until_they_ran() {
    let execution = Execution::Shuffled { seed: 1 };
    let null = NullDevice::new(NullOptions { execution, ..NullOptions::default() });
    let stream = null.create_stream("s").unwrap();
    stream.submit(upload(&null.allocate(Space::Device, 8).unwrap())).unwrap();
    assert_eq!(null.allocated(), 8);
    drop(stream);
    assert_eq!(null.allocated(), 0);
}
