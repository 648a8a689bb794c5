use super::cover::chains;
use super::draft::Draft;

/// More streams than any device runs side by side; a request for more is served with this many.
const MAX_STREAMS: u32 = 256;

/// Puts groups on streams: a chain stays on one, independent groups go to different ones as far as there are
/// any.
///
/// No more streams are used than groups can run at once. When that is more than there are streams, a new
/// chain goes to the stream where it can start first, counting every group as one step.
pub(super) fn assign(draft: &mut Draft<'_>) {
    let limit = draft.request.streams.min(MAX_STREAMS) as usize;
    let groups = &mut draft.plan.groups;
    let producers: Vec<Vec<usize>> = groups.iter().map(|g| g.depends_on.clone()).collect();
    let chain_of = chains(&producers);
    let mut stream_of_chain: Vec<usize> = Vec::new();
    let mut stream_free: Vec<usize> = Vec::new();
    let mut finish: Vec<usize> = Vec::with_capacity(groups.len());
    for (id, group) in groups.iter_mut().enumerate() {
        let ready = producers[id].iter().map(|&p| finish[p]).max().unwrap_or(0);
        if chain_of[id] == stream_of_chain.len() {
            // Chains are numbered by their first groups: this group starts one.
            let stream = if stream_free.len() < limit {
                stream_free.push(0);
                stream_free.len() - 1
            } else {
                (0..limit).min_by_key(|&l| stream_free[l].max(ready)).unwrap_or(0)
            };
            stream_of_chain.push(stream);
        }
        let stream = stream_of_chain[chain_of[id]];
        group.stream = stream as u32;
        finish.push(stream_free[stream].max(ready) + 1);
        stream_free[stream] = finish[id];
    }
    draft.plan.streams = stream_free.len() as u32;
}
