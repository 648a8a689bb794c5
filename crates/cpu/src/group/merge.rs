//! Pairs of stages that are less work as one: a crop right after a resize leaves most of the resize undone, and values
//! that are only moved to another layout can be computed there.

use mip_plan::{AxisMap, Gather, Group, Kernel, MapKernel, Operand, Resample, Stage};

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
    group.stages.iter().map(|stage| merge(group, stage)).collect()
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
        (Kernel::Map(MapKernel::Affine), Kernel::Map(MapKernel::Copy)) => Kernel::Map(MapKernel::Affine),
        _ => return None,
    };
    Some(Merged { first, kernel })
}
