//! YUV video samples to and from the RGB and gray images that pipelines work on.
//!
//! Definitions, for 8-bit samples and both ranges:
//!
//! * `Y = Kr R + Kg G + Kb B`, `U = (B - Y) / (2 - 2 Kb)`, `V = (R - Y) / (2 - 2 Kr)` on RGB of 0 to 1, with the `Kr` and
//!   `Kb` of the [`Matrix`], and quantised as the [`Range`] says: limited puts Y at 16 to 235 and U, V at 16 to 240 around
//!   128, full uses 0 to 255.
//! * Results are the nearest integer to the exact value, saturated; only where that lies within 1/2048 of a tie may it
//!   be the other neighbour. U = V = 128 gives R = G = B, and the other way round.
//! * **Chroma is replicated** to the luma samples that share it when reading, and **averaged** over them when writing,
//!   rounded once. What a pipeline leaves alone therefore comes out as it went in, apart from rounding and from
//!   colours that RGB cannot hold. Siting does not enter.
//! * Luma alone is gray: copied in full range, spread from 16..235 to 0..255 in limited.

mod coefficients;
mod converter;
mod from_rgb;
mod matrix;
mod planes;
mod sampling;
#[cfg(test)]
mod tests;
mod to_rgb;

pub use converter::YuvConverter;
pub use matrix::{Matrix, Range};
pub use planes::{PlaneSizes, Planes};
pub use sampling::Sampling;
