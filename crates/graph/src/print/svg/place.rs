//! A row and a column for every node.

use mip_plan::Plan;

use super::super::model::Model;

/// Where nodes stand. Producers are always in rows above their readers.
#[derive(Debug)]
pub(super) struct Places {
    /// Row and column of each node.
    pub(super) of: Vec<(usize, usize)>,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// The column is the stream. A group takes as many rows as it has tasks, below the groups it depends on and below the
/// group before it on its stream; inputs stand on top, in the column of their first reader.
pub(super) fn place(plan: &Plan, model: &Model) -> Places {
    let columns = plan.streams.max(1) as usize;
    let mut of = vec![(0, 0); model.nodes.len()];
    let mut next = vec![0; columns];
    for (input, place) in of.iter_mut().enumerate().take(plan.inputs.len()) {
        let reader = model.edges.iter().find(|edge| edge.from == input).map(|edge| edge.to);
        let column = reader.and_then(|node| model.stream(node)).unwrap_or(0) as usize;
        *place = (next[column], column);
        next[column] += 1;
    }
    let top = next.iter().copied().max().unwrap_or(0);
    next.fill(top);
    let mut ends = vec![top; plan.groups.len()];
    for (id, group) in plan.groups.iter().enumerate() {
        let column = group.stream as usize;
        let waited = plan.waits_of(id);
        let after = group.depends_on.iter().copied().chain(waited).map(|on| ends[on]).max().unwrap_or(top);
        let first = after.max(next[column]);
        for (offset, &node) in model.groups[id].iter().enumerate() {
            of[node] = (first + offset, column);
        }
        ends[id] = first + model.groups[id].len();
        next[column] = ends[id];
    }
    let rows = of.iter().map(|(row, _)| row + 1).max().unwrap_or(0);
    Places { of, rows, columns }
}
