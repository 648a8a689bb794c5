use mip_core::{ImageView, ImageViewMut};
use mip_plan::Uniforms;
use rayon::ThreadPool;

use super::bands::{Queue, cut};
use super::program::Rows;
use super::shared::Shared;
use super::worker::Worker;
use crate::simd::Level;

/// The threads a launch may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadTeam<'a> {
    /// Workers at most, the calling thread included.
    pub(super) workers: usize,
    /// Where the others run; `None` when there are no others.
    pub(super) pool: Option<&'a ThreadPool>,
}

/// Bytes of results below which waking other threads costs more than it brings.
const SMALL: usize = 64 * 1024;
/// Bands a worker gets, so that one that is held up can be helped.
const BANDS_PER_WORKER: usize = 4;
/// Rows a band has at least, unless the image is smaller: neighbouring bands compute shared rows twice.
const BAND_ROWS: usize = 24;

/// Computes all results for all frames.
pub(super) fn run(
    program: &Rows,
    level: Level,
    team: ThreadTeam<'_>,
    (inputs, outputs): (&[ImageView<'_>], &mut [ImageViewMut<'_>]),
    uniforms: &[Uniforms],
    workspace: &mut [u8],
) {
    let frames = outputs.first().map_or(0, |o| o.layout().batch_size);
    let shared = Shared { program, level, inputs, uniforms };
    let workers = team.pool.map_or(1, |_| team.workers);
    let (workers, bands) = division(program, workers, frames, workspace.len());
    let work = cut(&program.roots, outputs, bands);
    let workers = workers.min(work.len()).max(1);
    let queue = Queue::new(work, workers);
    let mut spaces = workspace.chunks_exact_mut(program.worker_bytes.max(1));
    let mut space =
        || if program.worker_bytes == 0 { Default::default() } else { spaces.next().expect("counted") };
    let work_off = |index: usize, space: &mut [u8]| {
        let mut worker = Worker::new(shared, space);
        while let Some(mut band) = queue.next(index) {
            worker.run(&mut band);
        }
    };
    let own = space();
    match team.pool {
        Some(pool) if workers > 1 => pool.in_place_scope(|scope| {
            for index in 1..workers {
                let (space, work_off) = (space(), &work_off);
                scope.spawn(move |_| work_off(index, space));
            }
            work_off(0, own);
        }),
        _ => work_off(0, own),
    }
}

/// Workers, and bands of a frame, for so many workers at most and so much workspace.
pub(super) fn division(program: &Rows, workers: usize, frames: usize, workspace: usize) -> (usize, usize) {
    let fits = workspace.checked_div(program.worker_bytes).unwrap_or(usize::MAX);
    let small = program.samples.saturating_mul(frames) < SMALL;
    let workers = if small { 1 } else { workers.min(fits) };
    let bands = if workers == 1 { 1 } else { bands_per_frame(program, frames, workers) };
    (workers, bands)
}

/// Enough bands to share the work evenly, but none so thin that the shared rows dominate.
fn bands_per_frame(program: &Rows, frames: usize, workers: usize) -> usize {
    let height = program.roots.iter().map(|r| r.height as usize).max().unwrap_or(1);
    let wanted = (workers * BANDS_PER_WORKER).div_ceil(frames.max(1));
    wanted.min(height.div_ceil(BAND_ROWS)).max(1)
}
