use std::sync::Arc;

use crate::device::Device;

/// TBD
pub fn device_conformance(make: impl Fn() -> Arc<dyn Device>) {
    let _ = make();
}
