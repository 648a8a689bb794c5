use mip_plan::{Place, Plan};

use super::draft::Draft;
use crate::GraphError;

/// Refuses a plan whose bytes cannot be added up, or that is over the limit.
///
/// Inputs count although a device that shares the host's memory reads them in place: whether it can is not
/// known here, and a limit is kept in every case.
pub(super) fn enforce(draft: &mut Draft<'_>) -> Result<(), GraphError> {
    let plan = &draft.plan;
    let batch = plan.batch;
    let too_large = || GraphError::TooLarge { batch };
    let sum = |wanted: fn(&Place) -> bool| {
        let spans = plan.buffers.iter().filter(|b| wanted(&b.place)).map(|b| b.layout.span());
        total(spans).ok_or_else(too_large)
    };
    let inputs = sum(|p| matches!(p, Place::Input(_)))?;
    let outputs = sum(|p| matches!(p, Place::Output(_)))?;
    let arena = plan.arena_bytes;
    let needed = total([inputs, outputs, arena]).ok_or_else(too_large)?;
    // What printing compares with must be representable too.
    total(separate_bytes(plan)).ok_or_else(too_large)?;
    match draft.request.memory_limit {
        Some(limit) if needed > limit => {
            Err(GraphError::MemoryLimit { needed, inputs, outputs, arena, batch, limit })
        }
        _ => Ok(()),
    }
}

/// Every buffer and workspace, as if none shared memory.
fn separate_bytes(plan: &Plan) -> impl Iterator<Item = usize> + '_ {
    let workspaces = plan.groups.iter().filter_map(|g| g.workspace).map(|w| w.bytes);
    plan.buffers.iter().map(|b| b.layout.span()).chain(workspaces)
}

fn total(bytes: impl IntoIterator<Item = usize>) -> Option<usize> {
    let sum = bytes.into_iter().try_fold(0_usize, usize::checked_add)?;
    isize::try_from(sum).is_ok().then_some(sum)
}
