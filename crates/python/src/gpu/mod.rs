//! Tensors of CUDA: borrowed where they lie, ordered by events of the device, results handed out the same way. The host waits for
//! nothing.
//!
//! # Locks
//! Whoever drops a tensor of another library may have to attach to the interpreter first, also inside the engine. So what is locked here
//! is locked detached, but for the list of what was left under way, under whose lock nothing is dropped.

mod call;
mod consumer;
mod image;
mod jpeg;
mod order;
mod run;
mod tensor;

pub(crate) use call::{batch, call};
pub(crate) use image::DeviceImage;
pub(crate) use jpeg::{File, Jpegs, decode};
pub(crate) use order::{Gateway, Orders};
pub(crate) use run::{Run, UnderWay};
pub(crate) use tensor::OnGpu;
