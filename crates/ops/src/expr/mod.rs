//! Expressions as people write them: in Rust with operators, or as text.
//!
//! ```
//! use mip_ops::expr::{uniform, v};
//! use mip_ops::Point;
//!
//! let brighter = Point::each(v().mul_add(1.2, 10.0).min(255.0));
//! let vignette = Point::each(v() * uniform("gain")).set_uniform("gain", 0.8);
//! let sepia = Point::text("clamp((r*0.393 + g*0.769 + b*0.189) * gain, 0, 255)")?.set_uniform("gain", 1.0);
//! # let _ = (brighter, vignette, sepia);
//! # Ok::<(), mip_ops::ParamError>(())
//! ```

mod lexer;
mod parser;
mod term;
#[cfg(test)]
mod tests;

pub use parser::MAX_TEXT;
pub(crate) use parser::{CONSTANTS, FUNCTIONS, PLACES, parse};
pub use term::{
    Condition, Term, a, alpha_of, b, blue_of, g, green_of, height, r, red_of, uniform, v, v_of, width, x, y,
};
pub(crate) use term::{is_size, size_of};

/// What is wrong with an expression's text, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct ExprError {
    /// Where, in characters from 1.
    pub column: usize,
    /// What.
    pub message: String,
}

/// What an expression's text says.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    /// One for each channel of the result, or one for all.
    pub(crate) results: Vec<Term>,
    /// Names that are no channels: numbers that the user gives.
    pub(crate) uniforms: Vec<Name>,
}

/// A name, and where it stands first.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) column: usize,
}
