use mip_plan::{GroupId, Wait};

use super::draft::Draft;
use crate::bits::BitMatrix;

/// Inserts a wait for every dependency between streams that nothing else implies: the transitive reduction of
/// stream order and dependencies, which is unique, so that no smaller set orders every dependency without
/// ordering anything else.
pub(super) fn insert(draft: &mut Draft<'_>) {
    let plan = &mut draft.plan;
    let mut before = BitMatrix::new(plan.groups.len());
    let mut last_on_stream: Vec<Option<GroupId>> = vec![None; plan.streams as usize];
    for (id, group) in plan.groups.iter().enumerate() {
        let stream = group.stream as usize;
        if let Some(previous) = last_on_stream[stream].replace(id) {
            before.absorb(id, previous);
        }
        // Latest first: a producer that another one already waited for comes later in this order.
        let first = plan.waits.len();
        for &producer in group.depends_on.iter().rev() {
            if !before.contains(id, producer) {
                before.absorb(id, producer);
                plan.waits.push(Wait { group: id, on: producer });
            }
        }
        plan.waits[first..].sort_unstable();
    }
    draft.before = before;
}
