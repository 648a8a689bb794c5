//! Making one batch buffer of many frames.

use mip_core::{ALIGNMENT, BatchLayout, ImageBuffer, ImageViewMut};
use mip_runtime::pooled_image_with;
use mip_runtime::profiling::Kind;

use super::Pipeline;
use crate::Error;

/// Counts the frames and makes sure that they are of one shape.
pub(super) fn check(frames: &[ImageBuffer]) -> Result<usize, Error> {
    let Some(first) = frames.first() else { return Ok(0) };
    let mut index = 0;
    for frame in frames {
        if frame.desc() != first.desc() {
            let (given, expected) = (frame.desc().to_string(), first.desc().to_string());
            return Err(Error::MixedBatch { index, given, expected });
        }
        index += frame.batch_size();
    }
    Ok(index)
}

impl Pipeline {
    /// Splits frames into batches of at most `max_batch_size`.
    pub(super) fn chunks(&self, frames: &[ImageBuffer]) -> Result<Vec<Vec<ImageBuffer>>, Error> {
        let max = self.config.max_batch_size;
        if let [whole] = frames
            && whole.batch_size() <= max
        {
            return Ok(vec![vec![whole.clone()]]);
        }
        // Full batches already: nothing is copied.
        if let Some((last, full)) = frames.split_last()
            && max > 1
            && full.iter().all(|batch| batch.batch_size() == max)
            && last.batch_size() <= max
        {
            return Ok(frames.iter().map(|batch| vec![batch.clone()]).collect());
        }
        let single: Vec<ImageBuffer> =
            frames.iter().flat_map(|f| (0..f.batch_size()).map(|i| f.frame(i))).collect();
        single.chunks(max).map(|chunk| Ok(vec![self.gather(chunk)?])).collect()
    }

    /// Copies frames behind each other into pooled memory.
    fn gather(&self, frames: &[ImageBuffer]) -> Result<ImageBuffer, Error> {
        if let [only] = frames {
            return Ok(only.clone());
        }
        let _span = self.scheduler.probe().span(Kind::Gather, || format!("{} frames", frames.len()));
        let layout = BatchLayout::pitched(*frames[0].desc(), frames.len(), ALIGNMENT)?;
        let fill = |batch: &mut ImageViewMut<'_>| {
            for (index, frame) in frames.iter().enumerate() {
                let from = frame.view();
                for plane in 0..layout.desc.planes() {
                    for y in 0..layout.desc.height() as usize {
                        batch.row_mut(index, plane, y).copy_from_slice(from.row(0, plane, y));
                    }
                }
            }
        };
        Ok(pooled_image_with(&*self.memory()?, layout, fill)?)
    }
}
