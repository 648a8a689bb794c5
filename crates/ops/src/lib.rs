//! What can be computed: one operator a file, a registry, and the schema of their parameters.
//!
//! An [`Operator`] is pure description. It says what parameters it has, what shape it makes of its inputs,
//! and which kernels ([`mip_plan::Kernel`]) compute it; weights and tables are made here once, in f64, and
//! given to every device.
//!
//! Operators are made with builders ([`Resize::to`], [`GaussianBlur::new`]) or by name ([`create`]). Builders
//! store what they are given; [`Operator::infer`] and [`Operator::lower`] refuse what the specification does
//! not allow.
//!
//! ```
//! use mip_core::{DType, ImageDesc, PixelFormat};
//! use mip_ops::{Operator, Resize, Value, create};
//!
//! let photo = ImageDesc::new(500, 375, PixelFormat::Rgb, DType::U8)?;
//! let small = Resize::shorter_side(256).infer(&[photo])?;
//! assert_eq!(small.to_string(), "341x256 rgb u8");
//!
//! let by_name = create("resize", &[("shorter_side".to_owned(), Value::Int(256))])?;
//! assert_eq!(by_name.lower(&[photo])?.steps[0].output, small);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod border;
mod calls;
mod choice;
mod color_spaces;
mod counted;
mod cube;
mod error;
pub mod expr;
mod field;
mod margins;
mod operator;
pub mod operators;
mod param;
mod pointwise;
mod regions;
mod registry;
mod sampling;
mod tables;
mod value;
mod windowed;

pub use calls::Call;
pub use error::{OpError, ParamError};
pub use operator::{KernelStep, Lowered, Operator, StepInput};
pub use operators::*;
pub use param::{Change, ParamKind, ParamSpec};
pub use registry::{Create, Extra, OperatorSpec, create, operators, spec, suggest};
pub use sampling::WarpFilter;
pub use value::Value;

/// README's program, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
