use std::sync::{Arc, OnceLock};

use mip_core::BatchLayout;
use mip_plan::{BufferId, Plan};

use super::super::Timed;
use super::profile::Work;

/// The names of a plan's spans, made when a run is first recorded.
#[derive(Debug, Default)]
pub(crate) struct PlanLabels(OnceLock<Arc<Labels>>);

#[derive(Debug)]
pub(super) struct Labels {
    groups: Vec<Label>,
    inputs: Vec<Label>,
    /// By buffer.
    buffers: Vec<Label>,
    graph: Label,
}

/// A name and what it works on.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) name: Arc<str>,
    pub(super) work: Arc<Work>,
}

impl PlanLabels {
    pub(super) fn get(&self, plan: &Plan) -> Arc<Labels> {
        self.0.get_or_init(|| Arc::new(Labels::new(plan))).clone()
    }
}

impl Labels {
    fn new(plan: &Plan) -> Self {
        let group = |group: &mip_plan::Group| {
            let tasks: Vec<String> =
                group.tasks.iter().map(|&task| plan.tasks[task].name.to_string()).collect();
            let (reads, writes) = (group.reads(), group.writes());
            let bytes = reads.iter().chain(&writes).map(|&id| payload(layout(plan, id))).sum();
            let shapes = |ids: &[BufferId]| ids.iter().map(|&id| shape(plan, id)).collect();
            let work = Work { bytes, reads: shapes(&reads), writes: shapes(&writes), ..Work::default() };
            Label::new(tasks.join("+"), plan, Work { tasks, ..work })
        };
        let copy = |name: &str, buffer: BufferId| {
            let (bytes, reads) = (payload(layout(plan, buffer)), vec![shape(plan, buffer)]);
            Label::new(name.to_owned(), plan, Work { bytes, reads, ..Work::default() })
        };
        let inputs = plan.inputs.iter().map(|input| copy(&format!("@{}", input.name), input.buffer));
        let buffers = plan.buffers.iter().enumerate().map(|(id, buffer)| copy(&buffer.name, id));
        let tasks = plan.tasks.iter().map(|task| task.name.to_string()).collect();
        Self {
            groups: plan.groups.iter().map(group).collect(),
            inputs: inputs.collect(),
            buffers: buffers.collect(),
            graph: Label::new(
                "graph".to_owned(),
                plan,
                Work { tasks, bytes: plan.traffic_bytes(), ..Work::default() },
            ),
        }
    }

    pub(super) fn of(&self, what: Timed) -> &Label {
        match what {
            Timed::Upload(input) => &self.inputs[input],
            Timed::Group(group) => &self.groups[group],
            Timed::Download(buffer) => &self.buffers[buffer],
            Timed::Graph => &self.graph,
        }
    }
}

impl Label {
    fn new(name: String, plan: &Plan, work: Work) -> Self {
        Self { name: name.into(), work: Arc::new(Work { batch: plan.batch, ..work }) }
    }
}

fn layout(plan: &Plan, buffer: BufferId) -> &BatchLayout {
    &plan.buffers[buffer].layout
}

fn payload(layout: &BatchLayout) -> u64 {
    layout.desc.bytes() as u64 * layout.batch_size as u64
}

fn shape(plan: &Plan, buffer: BufferId) -> String {
    layout(plan, buffer).desc.to_string()
}
