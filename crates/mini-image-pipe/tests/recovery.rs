//! What happens when a fault costs the device, on null devices that are lost where they are asked to be.

use std::sync::{Arc, Mutex};

use mini_image_pipe::prelude::*;
use mini_image_pipe::runtime::device::null::{CommandKind, NullDevice, NullOptions, Site};
use mini_image_pipe::runtime::device::{Device as RuntimeDevice, DeviceError};

/// What the devices opened one after another do at the launch of group 1.
type Faults = Vec<Option<DeviceError>>;

fn lost() -> DeviceError {
    DeviceError::Lost("an illegal address".to_owned())
}

fn kernel_failed() -> DeviceError {
    DeviceError::Kernel { kernel: "affine".to_owned(), message: "an illegal address".to_owned() }
}

/// A device that is opened as often as there are faults; and how it was opened each time.
fn device(faults: Faults) -> (Device, Arc<Mutex<Vec<bool>>>) {
    let opened = Arc::new(Mutex::new(Vec::new()));
    let log = opened.clone();
    let device = Device::from_opener(move |synchronous| {
        let mut log = log.lock().unwrap();
        let Some(fault) = faults.get(log.len()) else {
            return Err(DeviceError::Unsupported("no more of these".to_owned()));
        };
        log.push(synchronous);
        let options = NullOptions { unified_memory: false, ..NullOptions::default() };
        let null = NullDevice::new(options);
        if let Some(error) = fault {
            null.inject(Site::Run(CommandKind::Launch(1)), error.clone());
        }
        Ok(null as Arc<dyn RuntimeDevice>)
    });
    (device, opened)
}

fn pipeline(device: Device) -> Pipeline {
    let spec = PipelineSpec::parse_line("first:flip ! second:flip ! third:flip").unwrap();
    let config = PipelineConfig { device, num_streams: 2, fuse: false, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_spec(&spec, config).unwrap();
    let image = ImageBuffer::new(ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap()).unwrap();
    pipeline.set_named_input("input", &image).unwrap();
    pipeline
}

#[test]
fn a_fault_is_put_down_to_its_task_and_the_device_opened_anew() {
    let (device, opened) = device(vec![Some(lost()), Some(kernel_failed()), None]);
    let mut p = pipeline(device);
    let reported = Arc::new(Mutex::new(Vec::new()));
    let log = reported.clone();
    p.set_error_callback(move |_, name, _| log.lock().unwrap().push(name.to_owned()));
    let error = p.execute().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("task 'second'") && text.contains("an illegal address"), "{text}");
    assert!(text.contains("running again") && text.contains("can be used"), "{text}");
    assert!(!error.is_request());
    assert_eq!(*opened.lock().unwrap(), [false, true, false]);
    let states = &p.report().unwrap().tasks;
    assert_eq!((states[0].state, states[1].state), (TaskState::Completed, TaskState::Failed { cause: 1 }));
    let mut names = reported.lock().unwrap().clone();
    names.dedup();
    assert!(names.len() <= 3, "no task is reported of twice: {names:?}");
    p.execute().unwrap();
    assert_eq!(opened.lock().unwrap().len(), 3);
}

#[test]
fn a_fault_that_does_not_appear_again_is_said_not_to() {
    let (device, opened) = device(vec![Some(lost()), None, None]);
    let mut p = pipeline(device);
    let text = p.execute().unwrap_err().to_string();
    assert!(text.contains("lost") && text.contains("did not appear again"), "{text}");
    p.execute().unwrap();
    assert_eq!(*opened.lock().unwrap(), [false, true, false]);
}

#[test]
fn a_device_lost_for_good_is_said_to_be() {
    let (device, _) = device(vec![Some(lost())]);
    let mut p = pipeline(device);
    let text = p.execute().unwrap_err().to_string();
    assert!(text.contains("an illegal address") && text.contains("restart the process"), "{text}");
    assert!(!text.contains("task"), "nobody knows which task it was: {text}");
    assert!(p.execute().unwrap_err().to_string().contains("no more of these"));
}

#[test]
fn a_device_given_from_outside_is_left_to_its_owner() {
    let null = NullDevice::new(NullOptions::default());
    null.inject(Site::Run(CommandKind::Launch(1)), lost());
    let mut p = pipeline(Device::from_runtime(null.clone()));
    let text = p.execute().unwrap_err().to_string();
    assert!(text.contains("make it anew there"), "{text}");
    null.clear_faults();
    p.execute().unwrap();
}

#[test]
fn another_pipeline_goes_on_with_the_new_device() {
    let (device, opened) = device(vec![Some(lost()), Some(kernel_failed()), None]);
    let (mut p, mut q) = (pipeline(device.clone()), pipeline(device));
    // One task: nothing faults.
    let spec = PipelineSpec::parse_line("only:flip").unwrap();
    let image = ImageBuffer::new(ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap()).unwrap();
    q = Pipeline::from_spec(&spec, q.config().clone()).unwrap();
    q.set_named_input("input", &image).unwrap();
    q.execute().unwrap();
    p.execute().unwrap_err();
    q.execute().unwrap();
    assert_eq!(opened.lock().unwrap().len(), 3, "the second pipeline opened nothing");
}
