//! For tests of this crate and of device crates: hand-made plans, a tiny interpreter for the null device, and
//! the conformance suite that every device has to pass.

mod conformance;
mod interpret;
mod kernels;
mod plans;

pub use conformance::device_conformance;
pub use interpret::{image_of, interpret, interpreting_device};
pub use kernels::{FnKernel, KernelFn};
pub use plans::{PlanBuilder, Work, gray, padded};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::device::Device;
    use crate::device::null::{Execution, NullOptions};

    #[test]
    fn the_null_device_conforms() {
        for (unified_memory, stream_ordered) in
            [(true, Ok(())), (false, Ok(())), (false, Err("not here".to_owned()))]
        {
            for execution in [Execution::Immediate, Execution::Shuffled { seed: 7 }] {
                let stream_ordered = stream_ordered.clone();
                let options =
                    NullOptions { execution, unified_memory, stream_ordered, ..NullOptions::default() };
                device_conformance(|| interpreting_device(options.clone()) as Arc<dyn Device>);
            }
        }
    }
}
