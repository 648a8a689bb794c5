//! Pairs of stages that are less work as one: a crop right after a resize leaves most of the resize undone, and values
//! that are only moved to another layout can be computed there.

use mip_plan::{AxisMap, Gather, Group, Kernel, Operand, Point, Resample, Stage};

/// A stage and the one that alone reads it, as one kernel with the inputs and uniforms of the first and the output of
/// the second.
#[derive(Debug)]
pub(super) struct Merged {
    /// The first stage.
    pub(super) first: usize,
    /// Both.
    pub(super) kernel: Kernel,
}

/// For each stage that ends such a pair, the pair.
pub(super) fn find(group: &Group) -> Vec<Option<Merged>> {
    let mut pairs: Vec<Option<Merged>> = Vec::with_capacity(group.stages.len());
    for stage in &group.stages {
        // A stage that ends a pair already begins no other.
        let merged = merge(group, stage).filter(|pair| pairs[pair.first].is_none());
        pairs.push(merged);
    }
    pairs
}

fn merge(group: &Group, second: &Stage) -> Option<Merged> {
    let &[Operand::Stage(first)] = &second.inputs[..] else { return None };
    let producer = &group.stages[first];
    if !group.is_read_once(first) {
        return None;
    }
    let kernel = match (&producer.kernel, &second.kernel) {
        (
            Kernel::Resample(resize),
            Kernel::Gather(Gather { x: AxisMap::Offset { first: left }, y: AxisMap::Offset { first: top } }),
        ) => {
            let columns = *left as usize..(left + second.output.width) as usize;
            let rows = *top as usize..(top + second.output.height) as usize;
            Kernel::Resample(Resample { x: resize.x.range(columns)?, y: resize.y.range(rows)? })
        }
        // Computed where the other order wants it.
        (Kernel::Point(kernel), Kernel::Point(copy))
            if *copy == Point::copy() && second.output.dtype == producer.output.dtype =>
        {
            Kernel::Point(kernel.clone())
        }
        _ => return None,
    };
    Some(Merged { first, kernel })
}
