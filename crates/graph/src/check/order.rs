//! Whether launch order, streams and waits order what they must, and nothing twice.

use mip_plan::{GroupId, Operand, Plan};

use super::PlanFault;

/// What is known to have finished when each group starts: for every stream, how many of its groups (a vector
/// clock). The planner works with sets of groups instead, so that one mistake does not hide in both.
pub(super) struct Clocks {
    stream: Vec<usize>,
    /// How many groups of its stream, itself included, have been launched with it.
    place: Vec<usize>,
    at_start: Vec<Vec<usize>>,
}

impl Clocks {
    /// Whether `earlier` has finished whenever `group` starts.
    pub(super) fn ordered(&self, earlier: GroupId, group: GroupId) -> bool {
        known(&self.at_start[group], self.stream[earlier], self.place[earlier])
    }
}

fn known(clock: &[usize], stream: usize, place: usize) -> bool {
    clock[stream] >= place
}

pub(super) fn check(plan: &Plan) -> Result<Clocks, PlanFault> {
    check_streams(plan)?;
    check_dependencies(plan)?;
    check_waits(plan)?;
    let clocks = clocks(plan)?;
    for (group, needs) in dependencies(plan) {
        if !clocks.ordered(needs, group) {
            return Err(PlanFault::Unordered { group, needs });
        }
    }
    Ok(clocks)
}

fn check_streams(plan: &Plan) -> Result<(), PlanFault> {
    let streams = plan.streams as usize;
    // The first bound keeps the clocks from being allocated for streams that cannot be in use.
    if streams == 0 || streams > plan.groups.len() {
        return Err(PlanFault::Count { what: "the number of streams", given: streams });
    }
    let mut used = vec![false; streams];
    for (id, group) in plan.groups.iter().enumerate() {
        let Some(used) = used.get_mut(group.stream as usize) else {
            let problem = format!("there is no stream {}", group.stream);
            return Err(PlanFault::Reference { place: format!("group {id}"), problem });
        };
        *used = true;
    }
    match used.iter().position(|u| !u) {
        Some(stream) => {
            let problem = "no group runs on it".to_owned();
            Err(PlanFault::Reference { place: format!("stream {stream}"), problem })
        }
        None => Ok(()),
    }
}

fn dependencies(plan: &Plan) -> impl Iterator<Item = (GroupId, GroupId)> + '_ {
    plan.groups.iter().enumerate().flat_map(|(id, g)| g.depends_on.iter().map(move |&needs| (id, needs)))
}

/// `depends_on` holds the producers of everything read, sorted, and nothing else.
fn check_dependencies(plan: &Plan) -> Result<(), PlanFault> {
    for (id, group) in plan.groups.iter().enumerate() {
        let mut actual: Vec<GroupId> = group
            .stages
            .iter()
            .flat_map(|s| &s.inputs)
            .filter_map(|operand| match *operand {
                Operand::Buffer(buffer) => plan.buffers[buffer].producer,
                Operand::Stage(_) => None,
            })
            .collect();
        actual.sort_unstable();
        actual.dedup();
        if actual != group.depends_on {
            let listed = group.depends_on.clone();
            return Err(PlanFault::Dependencies { group: id, listed, actual });
        }
        if let Some(&needs) = actual.iter().find(|&&needs| needs >= id) {
            return Err(PlanFault::LaunchOrder { group: id, needs });
        }
    }
    Ok(())
}

fn check_waits(plan: &Plan) -> Result<(), PlanFault> {
    for wait in &plan.waits {
        let (group, on) = (wait.group, wait.on);
        let (Some(waiting), Some(waited_for)) = (plan.groups.get(group), plan.groups.get(on)) else {
            return Err(PlanFault::ImpossibleWait { group, on, problem: "there is no such group" });
        };
        if on >= group {
            return Err(PlanFault::ImpossibleWait { group, on, problem: "it is launched later" });
        }
        if waiting.stream == waited_for.stream {
            return Err(PlanFault::NeedlessWait { group, on, problem: "both run on one stream" });
        }
        if !waiting.depends_on.contains(&on) {
            return Err(PlanFault::NeedlessWait { group, on, problem: "nothing depends on it" });
        }
        if plan.waits.iter().filter(|w| *w == wait).count() > 1 {
            return Err(PlanFault::NeedlessWait { group, on, problem: "it is listed twice" });
        }
    }
    Ok(())
}

/// Builds the clocks in launch order and refuses waits that stream order and the group's other waits imply.
fn clocks(plan: &Plan) -> Result<Clocks, PlanFault> {
    let streams = plan.streams as usize;
    let mut clocks = Clocks {
        stream: plan.groups.iter().map(|g| g.stream as usize).collect(),
        place: Vec::with_capacity(plan.groups.len()),
        at_start: Vec::with_capacity(plan.groups.len()),
    };
    // What each stream knows after its last group so far.
    let mut stream_clock = vec![vec![0; streams]; streams];
    for id in 0..plan.groups.len() {
        let waits: Vec<GroupId> = plan.waits_of(id).collect();
        let stream = clocks.stream[id];
        let with = |clocks: &Clocks, left_out: Option<GroupId>| {
            let mut clock = stream_clock[stream].clone();
            for &on in waits.iter().filter(|&&on| Some(on) != left_out) {
                merge(&mut clock, &clocks.at_start[on]);
                let place = clocks.place[on];
                clock[clocks.stream[on]] = clock[clocks.stream[on]].max(place);
            }
            clock
        };
        for &on in &waits {
            if known(&with(&clocks, Some(on)), clocks.stream[on], clocks.place[on]) {
                let problem = "stream order and other waits imply it";
                return Err(PlanFault::NeedlessWait { group: id, on, problem });
            }
        }
        let clock = with(&clocks, None);
        let place = clock[stream] + 1;
        let mut after = clock.clone();
        after[stream] = place;
        clocks.at_start.push(clock);
        clocks.place.push(place);
        stream_clock[stream] = after;
    }
    Ok(clocks)
}

fn merge(clock: &mut [usize], other: &[usize]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
