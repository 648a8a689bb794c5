//! The words every other crate speaks: pixel formats, dtypes, image descriptions, strides,
//! buffers and views.
//!
//! Nothing here computes a pixel or knows a device. All byte arithmetic is checked: a description that
//! exists has a size that fits in memory arithmetic, so later code may multiply without fear.

#![forbid(unsafe_code)]

mod budget;
mod buffer;
mod bytes;
mod desc;
mod error;
pub mod faults;
mod format;
pub mod panics;
mod sample;
mod strides;
pub mod text;
pub mod threads;
pub mod video;
mod view;

pub use budget::{MemoryBudget, OverBudget, Reservation};
pub use buffer::{AlignedBytes, HostStorage, ImageBuffer};
pub use bytes::byte_text;
pub use desc::ImageDesc;
pub use error::ImageError;
pub use format::{DType, Layout, PixelFormat};
pub use half::f16;
pub use sample::Sample;
pub use strides::BatchLayout;
pub use view::{ImageView, ImageViewMut};

/// Alignment in bytes of every buffer the runtime allocates and of every padded row: one cache line, and
/// a multiple of every vector width in use.
pub const ALIGNMENT: usize = 64;

/// README's program, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
