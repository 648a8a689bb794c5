//! To and from the types of other crates: `image` (feature `image`) and `ndarray` (feature `ndarray`).
//!
//! Images are taken over and lent without copying their pixels; what is copied says so.

#[cfg(feature = "image")]
pub mod image;
#[cfg(feature = "ndarray")]
pub mod ndarray;

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;
use mip_core::{BatchLayout, HostStorage, ImageBuffer};

use crate::Error;

/// Samples in memory of another crate, which goes when the last image in it does.
struct Samples<T>(Vec<T>);

impl<T> fmt::Debug for Samples<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Samples({})", self.0.len())
    }
}

impl<T: Pod + Send + Sync> HostStorage for Samples<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// An image in memory that is taken over; `offset` in samples.
fn taken<T: Pod + Send + Sync>(
    layout: BatchLayout,
    samples: Vec<T>,
    offset: usize,
) -> Result<ImageBuffer, Error> {
    let offset = offset * size_of::<T>();
    Ok(ImageBuffer::from_storage(layout, Arc::new(Samples(samples)), offset)?)
}
