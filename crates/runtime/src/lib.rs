//! Runs plans on devices: the device traits, the null device, the memory manager, the DAG scheduler, sessions.

pub mod device;
pub mod memory;
