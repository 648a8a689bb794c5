//! The device: conformance, and what the suite leaves open.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use mip_core::{ImageView, ImageViewMut};
use mip_cpu::{CpuConfig, CpuDevice, SimdLevel};
use mip_plan::{CustomError, CustomKernel, Kernel};
use mip_runtime::device::{
    BufferMemory, BufferRef, Command, Device, DeviceError, Launch, LaunchDecision, LaunchObserver, Space,
};
use mip_runtime::testing::{PlanBuilder, Work, device_conformance, gray};

use crate::plans::config;

fn device(threads: usize) -> Arc<CpuDevice> {
    CpuDevice::new(config(threads, SimdLevel::Native)).unwrap()
}

#[test]
fn conforms_on_one_and_several_threads() {
    for threads in [1, 3] {
        device_conformance(|| device(threads) as Arc<dyn Device>);
    }
}

#[test]
fn tells_what_it_is() {
    let one =
        CpuDevice::new(CpuConfig { threads: Some(1), simd: SimdLevel::Portable, ..CpuConfig::default() })
            .unwrap();
    let info = one.info();
    assert!(info.name.ends_with("(1 thread, portable)"), "{}", info.name);
    assert!(info.unified_memory);
    assert!(CpuDevice::new(CpuConfig::default()).unwrap().info().name.contains("thread"));
}

#[test]
fn memory_that_cannot_be_had_is_an_error() {
    let error = device(1).allocate(Space::Pinned, usize::MAX / 2).unwrap_err();
    let DeviceError::OutOfMemory { space, requested, .. } = error else { panic!("{error}") };
    assert_eq!((space, requested), ("pinned", usize::MAX / 2));
}

/// A kernel that tells when it starts and goes on when it is told to.
#[derive(Debug)]
struct Gate {
    started: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<&'static str>>,
}

impl CustomKernel for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }

    fn run(&self, _: &[ImageView<'_>], _: &[f32], output: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        self.started.lock().unwrap().send(()).unwrap();
        let order = self.go_on.lock().unwrap().recv().unwrap();
        match order {
            "fill" => output.data_mut().fill(9),
            what => panic!("told to {what}"),
        }
        Ok(())
    }
}

/// Passes results on.
#[derive(Debug)]
struct Reporter(Mutex<Sender<Result<(), DeviceError>>>);

impl LaunchObserver for Reporter {
    fn begin(&self, _: usize) -> LaunchDecision {
        LaunchDecision::Run
    }

    fn end(&self, _: usize, result: Result<(), DeviceError>) {
        self.0.lock().unwrap().send(result).unwrap();
    }
}

struct Rig {
    device: Arc<CpuDevice>,
    launch: Launch,
    started: Receiver<()>,
    go_on: Sender<&'static str>,
    results: Receiver<Result<(), DeviceError>>,
}

/// A launch of a gate.
fn gate() -> Rig {
    let ((start, started), (go_on, wait), (tell, results)) = (channel(), channel(), channel());
    let kernel = Arc::new(Gate { started: Mutex::new(start), go_on: Mutex::new(wait) });
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(8, 8));
    builder.task("gate", 0, Work::custom(Kernel::Custom(kernel)), &[input]);
    let plan = builder.build();
    let device = device(2);
    let buffer = |id: usize| {
        let layout = plan.buffers[id].layout;
        let memory = BufferMemory::Block(device.allocate(Space::Device, layout.span()).unwrap());
        BufferRef { memory, offset: 0, layout }
    };
    let launch = Launch {
        executable: device.load(&plan, 0).unwrap(),
        group: 0,
        inputs: vec![buffer(0)],
        outputs: vec![buffer(1)],
        workspace: None,
        uniforms: Arc::new([Arc::new([])]),
        observer: Arc::new(Reporter(Mutex::new(tell))),
    };
    Rig { device, launch, started, go_on, results }
}

#[test]
fn a_panic_in_a_kernel_is_its_failure_and_the_stream_goes_on() {
    let rig = gate();
    let stream = rig.device.create_stream("s\0trange").unwrap();
    for order in ["explode", "fill"] {
        rig.go_on.send(order).unwrap();
        stream.submit(Command::Launch(rig.launch.clone())).unwrap();
        let result = rig.results.recv().unwrap();
        let message = "panicked: told to explode".to_owned();
        let failure = DeviceError::Kernel { kernel: "gate".to_owned(), message };
        assert_eq!(result, if order == "fill" { Ok(()) } else { Err(failure) });
    }
    stream.synchronize().unwrap();
}

#[test]
fn an_event_is_complete_only_when_its_last_point_is_reached() {
    let rig = gate();
    let [busy, free] = ["busy", "free"].map(|label| rig.device.create_stream(label).unwrap());
    let event = rig.device.create_event().unwrap();
    busy.submit(Command::Record(event.clone())).unwrap();
    busy.synchronize().unwrap();
    assert!(event.is_complete());
    busy.submit(Command::Launch(rig.launch.clone())).unwrap();
    busy.submit(Command::Record(event.clone())).unwrap();
    free.submit(Command::Wait(event.clone())).unwrap();
    let behind = rig.device.create_event().unwrap();
    free.submit(Command::Record(behind.clone())).unwrap();
    rig.started.recv().unwrap();
    assert!(!event.is_complete() && !behind.is_complete(), "the gate is still closed");
    rig.go_on.send("fill").unwrap();
    behind.synchronize().unwrap();
    assert!(event.is_complete() && rig.results.try_recv().unwrap().is_ok());
}

#[test]
fn dropping_a_stream_finishes_its_queue() {
    let rig = gate();
    let stream = rig.device.create_stream("s").unwrap();
    for _ in 0..5 {
        stream.submit(Command::Launch(rig.launch.clone())).unwrap();
        rig.go_on.send("fill").unwrap();
    }
    drop(stream);
    assert_eq!(rig.results.try_iter().collect::<Vec<_>>(), vec![Ok(()); 5]);
}

#[test]
fn two_launches_on_the_same_memory_without_order_are_found() {
    let rig = gate();
    let streams = ["a", "b"].map(|label| rig.device.create_stream(label).unwrap());
    streams[0].submit(Command::Launch(rig.launch.clone())).unwrap();
    rig.started.recv().unwrap();
    streams[1].submit(Command::Launch(rig.launch.clone())).unwrap();
    assert!(matches!(rig.results.recv().unwrap(), Err(DeviceError::Conflict(_))));
    rig.go_on.send("fill").unwrap();
    assert_eq!(rig.results.recv().unwrap(), Ok(()));
}
