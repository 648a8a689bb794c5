use std::sync::{Mutex, MutexGuard, PoisonError};

use mip_core::{BatchLayout, ImageBuffer};

/// Pixel buffers that are no longer needed, for readers to decode into: touching fresh memory for every picture costs
/// about as much as decoding a fifth of it. Several readers may share them.
#[derive(Debug)]
pub struct Spares {
    kept: Mutex<Vec<ImageBuffer>>,
    most: usize,
}

impl Default for Spares {
    fn default() -> Self {
        Self::for_batches(1)
    }
}

impl Spares {
    /// Buffers that are kept at most, where pictures are given back one by one.
    const MOST: usize = 8;

    /// For pictures that are given back so many at a time.
    pub fn for_batches(pictures: usize) -> Self {
        Self { kept: Mutex::default(), most: pictures.max(Self::MOST) }
    }

    /// Gives a buffer. Clones of it may live on, but then it saves nothing. Where there are as many as are kept, the oldest goes:
    /// pictures of a shape that comes no more would otherwise hold all places for ever.
    pub fn give(&self, image: ImageBuffer) {
        if image.batch_size() != 1 || !image.layout().is_tight() {
            return;
        }
        let mut kept = self.lock();
        let oldest = (kept.len() >= self.most).then(|| kept.remove(0));
        kept.push(image);
        drop(kept);
        // Freed without the lock.
        drop(oldest);
    }

    /// Lets go of all buffers.
    pub fn clear(&self) {
        let kept = std::mem::take(&mut *self.lock());
        drop(kept);
    }

    /// A buffer of this layout that nobody else holds.
    pub(super) fn take(&self, layout: &BatchLayout) -> Option<ImageBuffer> {
        let mut kept = self.lock();
        let index = kept.iter_mut().position(|image| image.layout() == layout && image.is_unique())?;
        Some(kept.remove(index))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ImageBuffer>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
