mod conformance;
mod manager;
mod model;
mod pool;

use std::sync::Arc;

use super::*;
use crate::device::null::{NullDevice, NullOptions};
use crate::device::{Device, Space};

fn null(memory_limit: Option<usize>) -> Arc<NullDevice> {
    NullDevice::new(NullOptions { memory_limit, ..NullOptions::default() })
}

fn driver(device: &Arc<NullDevice>) -> Arc<dyn Resource> {
    Arc::new(DriverResource::new(device.clone() as Arc<dyn Device>, Space::Device))
}

/// Where a block's bytes are.
fn address(block: &Block) -> usize {
    let host = block.memory().host().unwrap();
    host.read(0..host.len()).unwrap().as_ptr().addr()
}
