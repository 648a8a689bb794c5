use super::cover::chains;
use super::draft::Draft;

/// More lanes than any device runs side by side; a request for more is served with this many.
const MAX_LANES: u32 = 256;

/// Puts groups on lanes: a chain stays on one, independent groups go to different ones as far as there are any.
///
/// No more lanes are used than groups can run at once. When that is more than there are lanes, a new chain goes
/// to the lane where it can start first, counting every group as one step.
pub(super) fn assign(draft: &mut Draft<'_>) {
    let limit = draft.request.lanes.min(MAX_LANES) as usize;
    let groups = &mut draft.plan.groups;
    let producers: Vec<Vec<usize>> = groups.iter().map(|g| g.depends_on.clone()).collect();
    let chain_of = chains(&producers);
    let mut lane_of_chain: Vec<usize> = Vec::new();
    let mut lane_free: Vec<usize> = Vec::new();
    let mut finish: Vec<usize> = Vec::with_capacity(groups.len());
    for (id, group) in groups.iter_mut().enumerate() {
        let ready = producers[id].iter().map(|&p| finish[p]).max().unwrap_or(0);
        if chain_of[id] == lane_of_chain.len() {
            // Chains are numbered by their first groups: this group starts one.
            let lane = if lane_free.len() < limit {
                lane_free.push(0);
                lane_free.len() - 1
            } else {
                (0..limit).min_by_key(|&l| lane_free[l].max(ready)).unwrap_or(0)
            };
            lane_of_chain.push(lane);
        }
        let lane = lane_of_chain[chain_of[id]];
        group.lane = lane as u32;
        finish.push(lane_free[lane].max(ready) + 1);
        lane_free[lane] = finish[id];
    }
    draft.plan.lanes = lane_free.len() as u32;
}
