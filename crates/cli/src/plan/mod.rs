//! What `mip plan` tells of a device: the plan for it, its tiles, the rate of its memory.

mod rate;
mod target;

pub(crate) use rate::Rate;
pub(crate) use target::Target;
