//! Kernels over whole images, on as many threads as that is worth.

use mip_core::{ImageView, ImageViewMut};
use mip_plan::{RowBands, RowScratch, Whole, WholeOrder, WholeRows, whole_frame};

use super::bands::{Queue, RowBand, cut};
use super::program::Root;
use super::run::{BANDS_PER_WORKER, SMALL, ThreadTeam};

/// Computes all frames.
pub(super) fn run_whole(
    kernel: &Whole,
    team: ThreadTeam<'_>,
    (inputs, output): (&[ImageView<'_>], &mut [ImageViewMut<'_>]),
    uniforms: &[f32],
) {
    let (desc, frames) = (output[0].layout().desc, output[0].layout().batch_size);
    let read: usize = inputs.iter().map(|view| view.layout().desc.bytes()).sum();
    let small = desc.bytes().max(read).saturating_mul(frames) < SMALL;
    let workers = if small || team.pool.is_none() { 1 } else { team.workers };
    let bands = match kernel.order() {
        WholeOrder::Frames => 1,
        WholeOrder::Rows | WholeOrder::Bands if workers == 1 => 1,
        WholeOrder::Rows => (workers * BANDS_PER_WORKER).div_ceil(frames),
        // What is joined afterwards is done by one thread.
        WholeOrder::Bands => workers.div_ceil(frames),
    };
    let bands = bands.min(desc.height() as usize);
    let root = Root { stage: 0, height: desc.height(), shared: false };
    let work = cut(&[root], output, bands);
    let starts: Vec<u32> = work[..bands].iter().map(|band| band.rows[0].start).collect();
    let workers = workers.min(work.len());
    let queue = Queue::new(work, workers);
    let planes = desc.planes();
    team.side_by_side(
        workers,
        || (),
        |index, ()| {
            while let Some(mut band) = queue.next(index) {
                run_band(kernel, (inputs, &mut band), planes, uniforms);
            }
        },
    );
    drop(queue);
    for frame in (0..frames).filter(|_| bands > 1) {
        if let Some(bands) = RowBands::new(kernel, &inputs[0], frame) {
            bands.join(starts.iter().copied(), &mut output[0]);
        }
    }
}

fn run_band(
    kernel: &Whole,
    (inputs, band): (&[ImageView<'_>], &mut RowBand<'_>),
    planes: usize,
    uniforms: &[f32],
) {
    let (frame, rows) = (band.frame, band.rows[0].clone());
    match kernel.order() {
        WholeOrder::Rows => {
            let computed = WholeRows::new(kernel, uniforms, inputs, frame);
            let mut scratch = RowScratch::default();
            for y in rows {
                computed.row(y, &mut scratch, band.row_mut(0, y).bytes(planes));
            }
        }
        WholeOrder::Bands => {
            let bands = RowBands::new(kernel, &inputs[0], frame).expect("a kernel of bands");
            let (layout, memory) = band.memory(0);
            bands.band(rows, layout.row_stride, memory);
        }
        WholeOrder::Frames => {
            let inputs: Vec<ImageView<'_>> = inputs.iter().map(|view| frame_of(view, frame)).collect();
            let (layout, memory) = band.memory(0);
            let mut output = ImageViewMut::new(layout.single(), memory).expect("a whole frame");
            whole_frame(kernel, uniforms, &inputs, 0, &mut output);
        }
    }
}

/// A frame as an image of its own.
fn frame_of<'a>(view: &ImageView<'a>, frame: usize) -> ImageView<'a> {
    let (layout, desc) = (view.layout(), view.layout().desc);
    let start = layout.row_range(frame, 0, 0).start;
    let end = layout.row_range(frame, desc.planes() - 1, desc.height() as usize - 1).end;
    ImageView::new(layout.single(), &view.data()[start..end]).expect("a whole frame")
}
