//! The suite that every device has to pass, where there is an NVIDIA GPU; and what is said where there is none.

#![allow(clippy::print_stdout, reason = "what was skipped is printed")]

use std::sync::Arc;

use mip_cuda::{CudaDevice, CudaOptions, probe};
use mip_runtime::device::{Device, DeviceError};
use mip_runtime::testing::device_conformance;

#[test]
fn a_gpu_conforms() {
    if let Err(missing) = probe().usable(0) {
        println!("SKIPPED: {missing}");
        return;
    }
    let device = CudaDevice::open(0, CudaOptions::default()).expect("a usable device opens");
    device_conformance(|| device.clone() as Arc<dyn Device>);
    assert_eq!(device.cache_problem(), None);
}

#[test]
fn a_gpu_that_waits_for_every_launch_conforms() {
    if let Err(missing) = probe().usable(0) {
        println!("SKIPPED: {missing}");
        return;
    }
    let options = CudaOptions { synchronous: true, ..CudaOptions::default() };
    let device = CudaDevice::open(0, options).expect("a usable device opens");
    device_conformance(|| device.clone() as Arc<dyn Device>);
}

#[test]
fn a_device_that_is_not_there_is_refused_with_the_reason_and_the_remedy() {
    let refused = CudaDevice::open(4000, CudaOptions::default());
    let Err(DeviceError::Unsupported(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains(';') && text.len() > 30, "{text}");
    assert_eq!(CudaDevice::enumerate().len(), probe().devices.len());
}
