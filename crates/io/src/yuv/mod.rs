//! The RGB and gray images that pipelines make to YUV video samples. The other way round is a pipeline's own: the operator
//! `yuv_to_rgb`.
//!
//! Definitions, for 8-bit samples and both ranges:
//!
//! * `Y = Kr R + Kg G + Kb B`, `U = (B - Y) / (2 - 2 Kb)`, `V = (R - Y) / (2 - 2 Kr)` on RGB of 0 to 1, with the `Kr` and
//!   `Kb` of the [`Matrix`], and quantised as the [`Range`] says: limited puts Y at 16 to 235 and U, V at 16 to 240 around
//!   128, full uses 0 to 255.
//! * Results are the nearest integer to the exact value, saturated; only where that lies within 1/2048 of a tie may it
//!   be the other neighbour. R = G = B gives U = V = 128.
//! * **Chroma is averaged** over the pixels that share it, rounded once, as it is replicated to them when reading. What a
//!   pipeline leaves alone therefore comes out as it went in, apart from rounding and from colours that RGB cannot hold.
//!   Siting does not enter.
//! * Gray is luma alone: copied in full range, squeezed from 0..255 to 16..235 in limited.

mod coefficients;
mod converter;
mod from_rgb;
mod planes;
mod sampling;
#[cfg(test)]
mod tests;

pub use converter::YuvConverter;
pub use mip_core::video::{Matrix, Range};
pub use planes::{PlaneSizes, Planes};
pub use sampling::Sampling;
