//! What must hold for all operators, over all operators.

mod examples;
mod lowering;
mod parameters;
mod surface;
