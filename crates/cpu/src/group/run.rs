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
pub(super) const SMALL: usize = 64 * 1024;
/// Bands a worker gets, so that one that is held up can be helped.
pub(super) const BANDS_PER_WORKER: usize = 4;
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
    let space =
        || if program.worker_bytes == 0 { Default::default() } else { spaces.next().expect("counted") };
    team.side_by_side(workers, space, |index, space| {
        let mut worker = Worker::new(shared, space);
        while let Some(mut band) = queue.next(index) {
            worker.run(&mut band);
        }
    });
}

impl ThreadTeam<'_> {
    /// Has `work(index, share)` done by so many workers at once, this thread one of them; `share()` makes what each is given.
    pub(super) fn side_by_side<S: Send>(
        &self,
        workers: usize,
        mut share: impl FnMut() -> S,
        work: impl Fn(usize, S) + Sync,
    ) {
        let own = share();
        match self.pool {
            Some(pool) if workers > 1 => pool.in_place_scope(|scope| {
                for index in 1..workers {
                    let (share, work) = (share(), &work);
                    scope.spawn(move |_| work(index, share));
                }
                work(0, own);
            }),
            Some(_) | None => work(0, own),
        }
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
