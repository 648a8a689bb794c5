use mip_core::BatchLayout;
use mip_plan::Workspace;

use super::draft::Draft;

/// Asks the device for the scratch memory of each group. Offsets come with the arena.
pub(super) fn ask(draft: &mut Draft<'_>) {
    let plan = &mut draft.plan;
    let layouts: Vec<BatchLayout> = plan.buffers.iter().map(|b| b.layout).collect();
    for group in &mut plan.groups {
        let bytes = (draft.request.workspace)(group, &layouts);
        group.workspace = (bytes > 0).then_some(Workspace { offset: 0, bytes });
    }
}
