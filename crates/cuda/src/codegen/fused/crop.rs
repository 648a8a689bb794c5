use std::borrow::Cow;

use mip_core::BatchLayout;
use mip_plan::{AxisMap, BufferId, Gather, Group, Kernel, Operand, Resample, Stage};

use super::setting::VECTOR;
use crate::codegen::stage::{Input, corner_offset};

/// A group whose crops are no part of its code, so that crops of one size share their machine code and a launch.
pub(super) struct Cropped<'a> {
    /// Resizes of crops are resizes of what is cropped, with the place in their tables; what else reads a crop of a buffer
    /// reads a buffer of its own, numbered from the plan's last one on. Such crops stay as stages that nobody reads, unless
    /// they are stored.
    pub group: Cow<'a, Group>,
    /// By buffer, of the plan and behind them of the views.
    pub layouts: Cow<'a, [BatchLayout]>,
    views: Vec<View>,
}

/// The part of a buffer that a crop takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct View {
    buffer: BufferId,
    /// The shape of the part; strides are the buffer's.
    layout: BatchLayout,
    corner: [u32; 2],
}

impl<'a> Cropped<'a> {
    pub(super) fn of(group: &'a Group, layouts: &'a [BatchLayout]) -> Self {
        let (mut group, mut layouts) = (crops_in_resizes(group), Cow::Borrowed(layouts));
        let mut views: Vec<View> = Vec::new();
        let buffers = layouts.len();
        for index in 0..group.stages.len() {
            let stage = &group.stages[index];
            let read = group.stages.iter().any(|other| other.inputs.contains(&Operand::Stage(index)));
            if !read && stage.store.is_none() {
                continue;
            }
            let Some(mut view) = crop_of_buffer(stage, &layouts) else { continue };
            if let Some(outer) = view.buffer.checked_sub(buffers).map(|place| views[place]) {
                let [x, y] = view.corner;
                view.corner = [outer.corner[0] + x, outer.corner[1] + y];
                view.buffer = outer.buffer;
            }
            let place = views.iter().position(|other| *other == view).unwrap_or(views.len());
            if place == views.len() {
                views.push(view);
                layouts.to_mut().push(view.layout);
            }
            let operand = Operand::Buffer(buffers + place);
            let stages = &mut group.to_mut().stages;
            let whole = AxisMap::Offset { first: 0 };
            stages[index].kernel = Kernel::Gather(Gather { x: whole, y: whole });
            stages[index].inputs = vec![operand];
            for input in stages.iter_mut().flat_map(|stage| &mut stage.inputs) {
                if *input == Operand::Stage(index) {
                    *input = operand;
                }
            }
        }
        Self { group, layouts, views }
    }

    /// The buffer of the plan, and where in it an input of the kernel begins.
    pub(super) fn input(&self, id: BufferId) -> Input {
        match self.view(id) {
            Some(view) => Input { source: Operand::Buffer(view.buffer), corner: view.corner },
            None => Input::whole(Operand::Buffer(id)),
        }
    }

    pub(super) fn has_views(&self) -> bool {
        !self.views.is_empty()
    }

    /// The largest power of two up to 16 that divides the address of a part's rows where it begins with a whole vector of
    /// pixels, given rows that are aligned.
    pub(super) fn alignment(&self) -> usize {
        let of = |view: &View| 1 << (16 | corner_offset(&view.layout, [VECTOR as u32, 0])).trailing_zeros();
        self.views.iter().map(of).min().unwrap_or(16)
    }

    /// Whether a buffer's strides are certain, given it of those of the plan.
    pub(super) fn is_fixed(&self, id: BufferId, fixed: &dyn Fn(usize) -> bool) -> bool {
        fixed(self.view(id).map_or(id, |view| view.buffer))
    }

    fn view(&self, id: BufferId) -> Option<&View> {
        id.checked_sub(self.layouts.len() - self.views.len()).map(|place| &self.views[place])
    }
}

fn crop_of_buffer(stage: &Stage, layouts: &[BatchLayout]) -> Option<View> {
    let (corner, &[Operand::Buffer(buffer)]) = (crop(stage)?, &stage.inputs[..]) else { return None };
    let layout = BatchLayout { desc: stage.output, ..layouts[buffer] };
    Some(View { buffer, layout, corner })
}

/// Where a crop begins.
const fn crop(stage: &Stage) -> Option<[u32; 2]> {
    match stage.kernel {
        Kernel::Gather(Gather { x: AxisMap::Offset { first: left }, y: AxisMap::Offset { first: top } }) => {
            Some([left, top])
        }
        _ => None,
    }
}

fn crops_in_resizes(group: &Group) -> Cow<'_, Group> {
    let mut changed = Cow::Borrowed(group);
    for (index, stage) in group.stages.iter().enumerate() {
        if let Some((kernel, source)) = resize_of_crop(group, stage) {
            let stage = &mut changed.to_mut().stages[index];
            stage.kernel = Kernel::Resample(kernel);
            stage.inputs = vec![source];
        }
    }
    changed
}

fn resize_of_crop(group: &Group, stage: &Stage) -> Option<(Resample, Operand)> {
    let Kernel::Resample(resize) = &stage.kernel else { return None };
    let &[Operand::Stage(read)] = &stage.inputs[..] else { return None };
    let crop_stage = &group.stages[read];
    let [left, top] = crop(crop_stage)?;
    let resize = || Resample { x: resize.x.behind(left), y: resize.y.behind(top) };
    group.is_read_once(read).then(|| (resize(), crop_stage.inputs[0]))
}
