use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::draft::Draft;

/// Puts groups into launch order: every group after its producers, ties by the place they have now, which for
/// unfused groups is the graph's own topological order.
pub(super) fn order(draft: &mut Draft<'_>) {
    let producers = draft.group_producers();
    let mut consumers = vec![Vec::new(); producers.len()];
    for (group, producers) in producers.iter().enumerate() {
        for &producer in producers {
            consumers[producer].push(group);
        }
    }
    let mut missing: Vec<usize> = producers.iter().map(Vec::len).collect();
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..missing.len()).filter(|&g| missing[g] == 0).map(Reverse).collect();
    let mut ordered = Vec::with_capacity(missing.len());
    while let Some(Reverse(group)) = ready.pop() {
        ordered.push(std::mem::take(&mut draft.groups[group]));
        for &consumer in &consumers[group] {
            missing[consumer] -= 1;
            if missing[consumer] == 0 {
                ready.push(Reverse(consumer));
            }
        }
    }
    draft.groups = ordered;
}
