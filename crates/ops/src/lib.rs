//! What can be computed: one operator a file, a registry, and the schema of their parameters.
//!
//! An [`Operator`] is pure description. It says what parameters it has, what shape it makes of its inputs,
//! and which kernels ([`mip_plan::Kernel`]) compute it; weights and tables are made here once, in f64, and
//! given to every device.

#![forbid(unsafe_code)]

mod error;
mod operator;
mod param;
mod registry;

pub use error::{OpError, ParamError};
pub use operator::{KernelStep, Lowered, Operator, StepInput};
pub use param::{Change, ParamKind, ParamSpec, Value};
pub use registry::{OperatorSpec, create, operators, spec, suggest};
