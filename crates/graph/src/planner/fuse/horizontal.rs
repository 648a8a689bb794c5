use std::collections::HashMap;

use mip_core::ImageDesc;
use mip_plan::{GroupId, Kernel};

use crate::planner::draft::{Draft, DraftValue, StageId};

/// What groups have in common that may be joined: whom they wait for, and in short what they compute.
type Key<'d> = (&'d [GroupId], Vec<&'d str>, Vec<ImageDesc>);

/// Horizontal fusion of branches of the same program: groups that wait for the same groups, and so not for
/// each other, and that need the same code but for where crops begin and for numbers in tables. A device that
/// asks for it runs them as one launch, where each by itself would be too small to fill it.
///
/// Only where all that they write are the pipeline's outputs: an intermediate would have to live until all branches have
/// read theirs, and memory is worth more than a launch.
pub(in crate::planner) fn horizontal(draft: &mut Draft<'_>) {
    if !draft.request.fuse || !draft.request.horizontal_fusion {
        return;
    }
    let producers = draft.group_producers();
    let (stored, outputs) = (draft.stored(), draft.output_stages());
    let joins = |stages: &[StageId]| {
        let custom = |&s: &StageId| matches!(draft.stages[s].kernel, Kernel::Custom(_));
        !stages.iter().any(custom) && stages.iter().all(|&s| !stored[s] || outputs[s])
    };
    // The groups that others are fused with: with one key few, since most groups with equal keys are the same
    // program.
    let mut heads: HashMap<Key<'_>, Vec<GroupId>> = HashMap::new();
    let mut joined: Vec<Vec<StageId>> = draft.groups.clone();
    for (group, stages) in draft.groups.iter().enumerate().filter(|(_, stages)| joins(stages)) {
        let names = stages.iter().map(|&s| draft.stages[s].kernel.name()).collect();
        let shapes = stages.iter().map(|&s| draft.stages[s].output).collect();
        let heads = heads.entry((&producers[group], names, shapes)).or_default();
        let same = |head: &&GroupId| same_program(draft, &stored, &draft.groups[**head], stages);
        if let Some(&head) = heads.iter().find(same) {
            let stages = std::mem::take(&mut joined[group]);
            joined[head].extend(stages);
        } else {
            heads.push(group);
        }
    }
    joined.retain(|stages| !stages.is_empty());
    draft.groups = joined;
}

/// Whether two groups of as many stages differ in nothing but what [`Kernel::same_program`] lets differ.
fn same_program(draft: &Draft<'_>, stored: &[bool], first: &[StageId], second: &[StageId]) -> bool {
    // Which stage of its group a value is; or else what it looks like.
    let value = |group: &[StageId], value: &DraftValue| match *value {
        DraftValue::Stage(stage) => match group.iter().position(|&s| s == stage) {
            Some(position) => Ok(position),
            None => Err(draft.stages[stage].output),
        },
        DraftValue::Input(input) => Err(draft.request.inputs[input]),
    };
    first.iter().zip(second).all(|(&one, &other)| {
        let (a, b) = (&draft.stages[one], &draft.stages[other]);
        a.kernel.same_program(&b.kernel)
            && a.output == b.output
            && a.uniforms.len() == b.uniforms.len()
            && stored[one] == stored[other]
            && a.inputs.iter().map(|v| value(first, v)).eq(b.inputs.iter().map(|v| value(second, v)))
    })
}
