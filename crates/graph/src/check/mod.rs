//! The last look at a plan: proves it right from the plan alone, with other means than the planner's.

mod fault;
mod fusion;
mod groups;
mod memory;
mod order;
mod references;

use mip_plan::Plan;

pub use fault::PlanFault;

/// Proves that a plan can be executed as it stands, without looking at how it was made:
///
/// * every index is valid, and buffers, groups and tasks agree on who writes and reads what;
/// * every stage fits its kernel: number and shape of inputs, shape of the result, number of uniforms;
/// * groups come after their producers, and streams and waits order every dependency;
/// * no wait is implied by others or orders nothing that is needed;
/// * whatever overlaps in the arena is never alive at once, whatever order streams and waits leave open;
/// * a custom kernel shares its group with no other task, a warp reads no stage of its group, tasks of a group are
///   connected by what they read of each other or belong to branches of the same program, and
///   what is said of each edge is true.
///
/// # Errors
/// The first fault found.
pub fn check(plan: &Plan) -> Result<(), PlanFault> {
    references::check(plan)?;
    groups::check(plan)?;
    let clocks = order::check(plan)?;
    memory::check(plan, &clocks)?;
    fusion::check(plan)
}

#[cfg(test)]
mod tests;
