//! Whether ranges of the arena that may be in use at once stay apart.

use mip_core::ALIGNMENT;
use mip_plan::{GroupId, Place, Plan};

use super::PlanFault;
use super::order::Clocks;

/// A range of the arena and the groups that touch it, first the one that writes it first.
struct Range {
    what: String,
    offset: usize,
    end: usize,
    users: Vec<GroupId>,
}

pub(super) fn check(plan: &Plan, clocks: &Clocks) -> Result<(), PlanFault> {
    let mut ranges = ranges(plan)?;
    ranges.sort_by_key(|r| r.offset);
    for (index, range) in ranges.iter().enumerate() {
        for other in ranges[index + 1..].iter().take_while(|other| other.offset < range.end) {
            if !(precedes(range, other, clocks) || precedes(other, range, clocks)) {
                return Err(PlanFault::Overlap { first: range.what.clone(), second: other.what.clone() });
            }
        }
    }
    Ok(())
}

/// Whether every use of `a` is over before `b` is first written.
fn precedes(a: &Range, b: &Range, clocks: &Clocks) -> bool {
    a.users.iter().all(|&user| user < b.users[0] && clocks.ordered(user, b.users[0]))
}

fn ranges(plan: &Plan) -> Result<Vec<Range>, PlanFault> {
    let mut ranges = Vec::new();
    for buffer in &plan.buffers {
        if let (Place::Arena { offset }, Some(producer)) = (buffer.place, buffer.producer) {
            let users = std::iter::once(producer).chain(buffer.consumers.iter().copied()).collect();
            let what = format!("buffer '{}'", buffer.name);
            ranges.push(range(plan, what, offset, buffer.layout.span(), users)?);
        }
    }
    for (id, group) in plan.groups.iter().enumerate() {
        if let Some(workspace) = group.workspace {
            let what = format!("workspace of group {id}");
            ranges.push(range(plan, what, workspace.offset, workspace.bytes, vec![id])?);
        }
    }
    Ok(ranges)
}

fn range(
    plan: &Plan,
    what: String,
    offset: usize,
    bytes: usize,
    users: Vec<GroupId>,
) -> Result<Range, PlanFault> {
    let arena_bytes = plan.arena_bytes;
    let end = offset.checked_add(bytes);
    let problem = match end {
        _ if bytes == 0 => "it is empty",
        _ if !offset.is_multiple_of(ALIGNMENT) => "the offset is not aligned",
        Some(end) if end <= arena_bytes => return Ok(Range { what, offset, end, users }),
        _ => "it ends behind the arena",
    };
    Err(PlanFault::Range { what, offset, bytes, arena_bytes, problem })
}
