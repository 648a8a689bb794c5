use std::sync::{Arc, Weak};

use mip_core::{BatchLayout, ImageDesc};
use mip_plan::{Plan, PlanTask, Stage};

use super::DirtyReason;
use crate::Bindings;
use crate::device::Memory;

/// What has to stay the same for a graph to be replayed. Pixels and uniforms are no part of it, nor are the
/// addresses of inputs and outputs, which every replay brings along.
#[derive(Debug, Clone)]
pub(in crate::scheduler) struct Signature {
    plan: Arc<Plan>,
    inputs: Vec<BatchLayout>,
    /// Weak, so that a graph does not hold the memory; the handle's own address stays taken nevertheless.
    arena: Option<Weak<dyn Memory>>,
}

impl Signature {
    pub(in crate::scheduler) fn of(plan: &Arc<Plan>, bindings: &Bindings) -> Self {
        let bound = plan.inputs.iter().map(|input| bindings.buffers[input.buffer].layout);
        let arena = bindings.arena.as_ref().map(Arc::downgrade);
        Self { plan: plan.clone(), inputs: bound.collect(), arena }
    }

    /// The first thing in which the workload `next` differs from this one. The number of frames is none: a batch
    /// of another size has a graph of its own. Nor are addresses, which each session has its own of.
    pub(super) fn workload_change(&self, next: &Self) -> Option<DirtyReason> {
        let plans = !Arc::ptr_eq(&self.plan, &next.plan);
        let changed = if plans { plan_change(&self.plan, &next.plan) } else { None };
        changed.or_else(|| self.strides_differ(next).then_some(DirtyReason::Strides))
    }

    /// The first thing in which `next` differs from what was captured.
    pub(super) fn change(&self, next: &Self) -> Option<DirtyReason> {
        let address = |signature: &Self| signature.arena.as_ref().map(|arena| arena.as_ptr().cast::<()>());
        let moved = || (address(self) != address(next)).then_some(DirtyReason::MemoryAddresses);
        self.workload_change(next).or_else(moved)
    }

    fn strides_differ(&self, next: &Self) -> bool {
        let strides = |l: &BatchLayout| (l.row_stride, l.plane_stride);
        self.inputs.iter().zip(&next.inputs).any(|(a, b)| {
            let frames = a.batch_size == b.batch_size && a.batch_size > 1 && a.batch_stride != b.batch_stride;
            strides(a) != strides(b) || frames
        })
    }
}

fn plan_change(old: &Plan, new: &Plan) -> Option<DirtyReason> {
    let tasks = || old.tasks.iter().zip(&new.tasks);
    let any = |differ: &dyn Fn(&PlanTask, &PlanTask) -> bool| tasks().any(|(a, b)| differ(a, b));
    if old.tasks.len() != new.tasks.len() {
        return Some(DirtyReason::TaskCount);
    }
    if any(&|a, b| a.name != b.name || a.op != b.op) || old.inputs.len() != new.inputs.len() {
        return Some(DirtyReason::Topology);
    }
    if any(&|a, b| a.producers != b.producers) {
        return Some(DirtyReason::Dependencies);
    }
    let outputs = |plan: &Plan| plan.outputs.iter().map(|o| o.task).collect::<Vec<_>>();
    if outputs(old) != outputs(new) {
        return Some(DirtyReason::Topology);
    }
    let descs = || {
        let input = |plan: &Plan, index: usize| plan.buffers[plan.inputs[index].buffer].layout.desc;
        let inputs = (0..old.inputs.len()).map(move |i| (input(old, i), input(new, i)));
        tasks().map(|(a, b)| (a.output, b.output)).chain(inputs).collect::<Vec<_>>()
    };
    let size = |d: &ImageDesc| (d.width(), d.height());
    if descs().iter().any(|(a, b)| size(a) != size(b)) {
        return Some(DirtyReason::Shapes);
    }
    if descs().iter().any(|(a, b)| a != b) {
        return Some(DirtyReason::Formats);
    }
    // By task: groups may put them in another order.
    let stages = |plan| {
        let mut stages = stages_of(plan);
        stages.sort_by_key(|stage| stage.task);
        stages
    };
    let (a, b) = (stages(old), stages(new));
    let kernels = a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| a.kernel != b.kernel);
    if kernels {
        return Some(DirtyReason::Kernels);
    }
    // Groups and streams may depend on the number of frames.
    let same_streams =
        old.streams == new.streams && old.waits == new.waits && old.groups.len() == new.groups.len();
    (old.batch == new.batch && !same_streams).then_some(DirtyReason::Topology)
}

fn stages_of(plan: &Plan) -> Vec<&Stage> {
    plan.groups.iter().flat_map(|group| &group.stages).collect()
}
