//! What every device has to do, beyond computing the right pixels.

mod copies;
mod events;
mod in_order;
mod launches;
mod memory;
mod replay;
mod rig;
mod sessions;

use std::sync::Arc;

use crate::device::Device;

/// Runs every check on devices that `make` gives, which may be the same each time.
///
/// Uses gray images, affine maps, blends and (except on CUDA) custom kernels.
///
/// # Panics
/// When the device does not conform; the message says in what.
pub fn device_conformance(make: impl Fn() -> Arc<dyn Device>) {
    memory::sizes_alignment_and_access(&*make());
    memory::freed_on_another_thread(&*make());
    copies::strides_may_differ(&*make());
    copies::order_of_samples_is_kept(&*make());
    events::never_recorded_is_complete(&*make());
    events::host_can_wait(&make());
    events::order_streams(&make());
    events::tell_of_what_they_come_after(&make());
    launches::run_in_order(&make());
    launches::take_new_uniforms(&make());
    launches::are_left_out_when_told(&make());
    launches::report_failure_and_go_on(&make());
    launches::let_go_of_memory(&make());
    launches::may_come_from_any_thread(&make());
    sessions::run_on_many_threads(&make());
    sessions::reach_a_steady_state(&make());
    sessions::finish_other_branches(&make());
    replay::equals_direct_runs(&make());
    replay::stream_ordered_memory_reaches_a_steady_state(&make());
    replay::images_stay_on_the_device(&make());
    in_order::runs_follow_each_other(&make());
    in_order::other_runs_come_after(&make());
}
