//! Offsets in the arena.

use mip_core::ALIGNMENT;
use mip_plan::{BufferId, GroupId, Place, Plan};

use super::draft::Draft;
use crate::GraphError;
use crate::bits::BitMatrix;

/// Something that wants a range of the arena.
struct Block {
    owner: Owner,
    bytes: usize,
    /// The group that writes it first.
    first: GroupId,
    /// Every group that touches it.
    users: Vec<GroupId>,
}

#[derive(Clone, Copy)]
enum Owner {
    Buffer(BufferId),
    Workspace(GroupId),
}

/// Places intermediates and workspaces. Two share bytes only when every group that touches one has finished
/// before the other is first written, by an order that streams and waits give anyway.
///
/// Blocks go one after another into the smallest gap that holds them, once largest first and once in launch
/// order; the smaller arena wins. (Finding the smallest possible one is NP-hard.)
pub(super) fn place(draft: &mut Draft<'_>) -> Result<(), GraphError> {
    let too_large = || GraphError::TooLarge { batch: draft.request.batch };
    let blocks = blocks(&draft.plan).ok_or_else(too_large)?;
    let launch_order: Vec<usize> = (0..blocks.len()).collect();
    let mut by_size = launch_order.clone();
    by_size.sort_by_key(|&b| std::cmp::Reverse(blocks[b].bytes));
    let by_size = pack(&blocks, &by_size, &draft.before).ok_or_else(too_large)?;
    let by_launch = pack(&blocks, &launch_order, &draft.before).ok_or_else(too_large)?;
    let (offsets, bytes) = if by_launch.1 < by_size.1 { by_launch } else { by_size };
    for (block, offset) in blocks.iter().zip(offsets) {
        match block.owner {
            Owner::Buffer(buffer) => draft.plan.buffers[buffer].place = Place::Arena { offset },
            Owner::Workspace(group) => {
                draft.plan.groups[group].workspace.as_mut().expect("this block stands for it").offset =
                    offset;
            }
        }
    }
    draft.plan.arena_bytes = bytes;
    Ok(())
}

/// All blocks in launch order, sizes rounded up to the alignment (which also gives every last row its padding).
fn blocks(plan: &Plan) -> Option<Vec<Block>> {
    let mut blocks = Vec::new();
    for (id, buffer) in plan.buffers.iter().enumerate() {
        if let (Place::Arena { .. }, Some(first)) = (buffer.place, buffer.producer) {
            let users = std::iter::once(first).chain(buffer.consumers.iter().copied()).collect();
            let bytes = buffer.layout.span().checked_next_multiple_of(ALIGNMENT)?;
            blocks.push(Block { owner: Owner::Buffer(id), bytes, first, users });
        }
    }
    for (id, group) in plan.groups.iter().enumerate() {
        if let Some(workspace) = group.workspace {
            let bytes = workspace.bytes.checked_next_multiple_of(ALIGNMENT)?;
            blocks.push(Block { owner: Owner::Workspace(id), bytes, first: id, users: vec![id] });
        }
    }
    blocks.sort_by_key(|b| b.first);
    Some(blocks)
}

/// Offsets of all blocks, placed in the given order, and the bytes they span.
fn pack(blocks: &[Block], order: &[usize], before: &BitMatrix) -> Option<(Vec<usize>, usize)> {
    let mut offsets = vec![0; blocks.len()];
    let mut placed: Vec<usize> = Vec::with_capacity(blocks.len());
    let mut end = 0;
    for &block in order {
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .filter(|&&other| !never_together(&blocks[block], &blocks[other], before))
            .map(|&other| (offsets[other], offsets[other] + blocks[other].bytes))
            .collect();
        taken.sort_unstable();
        let offset = best_gap(&taken, blocks[block].bytes);
        let block_end = offset.checked_add(blocks[block].bytes).filter(|&e| isize::try_from(e).is_ok())?;
        offsets[block] = offset;
        end = end.max(block_end);
        placed.push(block);
    }
    Some((offsets, end))
}

/// Whether one block's last use is always before the other's first.
fn never_together(a: &Block, b: &Block, before: &BitMatrix) -> bool {
    let precedes = |x: &Block, y: &Block| x.users.iter().all(|&user| before.contains(y.first, user));
    precedes(a, b) || precedes(b, a)
}

/// Start of the smallest gap between sorted ranges that holds `bytes`, the lowest of equals; the end of all
/// ranges when none does.
fn best_gap(taken: &[(usize, usize)], bytes: usize) -> usize {
    let mut best: Option<(usize, usize)> = None;
    let mut end = 0;
    for &(start, stop) in taken {
        let gap = start.saturating_sub(end);
        if gap >= bytes && best.is_none_or(|(size, _)| gap < size) {
            best = Some((gap, end));
        }
        end = end.max(stop);
    }
    best.map_or(end, |(_, start)| start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_gap_is_taken_and_the_end_when_none_fits() {
        let taken = [(64, 128), (256, 320), (384, 448), (400, 430)];
        assert_eq!(best_gap(&taken, 64), 0);
        assert_eq!(best_gap(&taken, 128), 128);
        assert_eq!(best_gap(&taken, 192), 448);
        assert_eq!(best_gap(&[], 64), 0);
    }
}
