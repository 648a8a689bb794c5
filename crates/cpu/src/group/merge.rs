//! Stages that are less work as one: chroma of pixels that are picked for it alone; and pairs, where a crop right after a resize leaves most of the resize undone, and values
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

/// A stage that makes chroma of an image's pixels, which the gathers before it pick for it alone.
#[derive(Debug)]
pub(super) struct Chroma {
    /// Those gathers.
    pub(super) gathers: Vec<usize>,
    /// What they read.
    pub(super) source: Operand,
    /// Rows that share a sample, as a power of two; columns are two.
    pub(super) down: u32,
}

/// For each stage that is one, what it reads.
pub(super) fn find_chroma(group: &Group) -> Vec<Option<Chroma>> {
    group.stages.iter().map(|stage| chroma(group, stage)).collect()
}

fn chroma(group: &Group, stage: &Stage) -> Option<Chroma> {
    let Kernel::Point(_) = &stage.kernel else { return None };
    let down = match stage.inputs.len() {
        2 => 0,
        4 => 1,
        _ => return None,
    };
    let gather = |&input: &Operand| match input {
        Operand::Stage(gather) if group.is_read_once(gather) => Some(gather),
        Operand::Stage(_) | Operand::Buffer(_) => None,
    };
    let gathers: Vec<usize> = stage.inputs.iter().map(gather).collect::<Option<_>>()?;
    let &source = group.stages[gathers[0]].inputs.first()?;
    let picks = |(n, &gather): (usize, &usize)| {
        let Stage { kernel: Kernel::Gather(Gather { x, y }), inputs, .. } = &group.stages[gather] else {
            return false;
        };
        let (right, below) = (n as u32 % 2, n as u32 / 2);
        let row = match *y {
            AxisMap::Step { first: 0, step: 1, shift: 0, .. } => down == 0,
            _ => down == 1 && is_half(*y, below),
        };
        inputs[..] == [source] && is_half(*x, right) && row
    };
    gathers.iter().enumerate().all(picks).then_some(Chroma { gathers, source, down })
}

/// Whether every second coordinate is taken, from the first or the second on; of an axis of one, that one.
fn is_half(map: AxisMap, first: u32) -> bool {
    match map {
        AxisMap::Step { first: own, step: 2, shift: 0, last } => own == first.min(last),
        _ => false,
    }
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
            let columns = *left as usize..(left + second.output.width()) as usize;
            let rows = *top as usize..(top + second.output.height()) as usize;
            Kernel::Resample(Resample { x: resize.x.range(columns)?, y: resize.y.range(rows)? })
        }
        // Computed where the other order wants it.
        (Kernel::Point(kernel), Kernel::Point(copy))
            if *copy == Point::copy() && second.output.dtype() == producer.output.dtype() =>
        {
            Kernel::Point(kernel.clone())
        }
        _ => return None,
    };
    Some(Merged { first, kernel })
}
