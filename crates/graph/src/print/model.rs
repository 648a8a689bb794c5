//! A plan as nodes and edges: what all diagrams show.

use std::collections::BTreeSet;

use mip_plan::{GroupId, Operand, Place, Plan, Wait};

/// Everything there is to draw.
#[derive(Debug)]
pub(super) struct Model {
    /// The pipeline's inputs, then its tasks in plan order.
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// The tasks' nodes of each group, in plan order.
    pub(super) groups: Vec<Vec<usize>>,
    /// The stream of each group.
    pub(super) streams: Vec<u32>,
}

/// A pipeline input or a task.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) title: String,
    /// What it is, and the shape of its result.
    pub(super) lines: Vec<String>,
    /// Nothing for pipeline inputs.
    pub(super) group: Option<GroupId>,
    pub(super) is_output: bool,
}

/// From a producer to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: EdgeKind,
}

/// How a reader gets what it reads, and how it knows that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeKind {
    /// Inside one launch: the image never exists as a whole.
    Inside,
    /// Through memory; the order of the stream, or another wait, is enough.
    Memory,
    /// Through memory, and the reader's stream waits for the producer's.
    Waits,
}

impl Model {
    pub(super) fn of(plan: &Plan) -> Self {
        let inputs = plan.inputs.len();
        let input_nodes = plan.inputs.iter().map(|input| Node {
            title: format!("@{}", input.name),
            lines: vec!["input".to_owned(), plan.buffers[input.buffer].layout.desc.to_string()],
            group: None,
            is_output: false,
        });
        let is_output = |task| plan.outputs.iter().any(|output| output.task == task);
        let task_nodes = plan.tasks.iter().enumerate().map(|(id, task)| Node {
            title: task.name.to_string(),
            // A task named after its operator needs no second line to say so.
            lines: [(task.op != task.name).then(|| task.op.to_string()), Some(task.output.to_string())]
                .into_iter()
                .flatten()
                .collect(),
            group: Some(task.group),
            is_output: is_output(id),
        });
        let mut groups = vec![Vec::new(); plan.groups.len()];
        for (id, task) in plan.tasks.iter().enumerate() {
            groups[task.group].push(inputs + id);
        }
        Self {
            nodes: input_nodes.chain(task_nodes).collect(),
            edges: edges(plan),
            groups,
            streams: plan.groups.iter().map(|group| group.stream).collect(),
        }
    }

    /// The stream of a node, where it has one.
    pub(super) fn stream(&self, node: usize) -> Option<u32> {
        self.nodes[node].group.map(|group| self.streams[group])
    }

    /// A launch's number, and its stream where there are several.
    pub(super) fn launch(&self, group: GroupId) -> String {
        match self.streams.iter().max() {
            Some(1..) => format!("launch #{group}, stream {}", self.streams[group]),
            _ => format!("launch #{group}"),
        }
    }

    /// The lines of a node where nothing but text tells its launch: those of several tasks have a box with a
    /// title.
    pub(super) fn lines(&self, node: usize) -> Vec<String> {
        let Node { title, lines, group, .. } = &self.nodes[node];
        let alone = group.filter(|&group| self.groups[group].len() == 1);
        let launch = alone.map(|group| self.launch(group));
        std::iter::once(title.clone()).chain(lines.iter().cloned()).chain(launch).collect()
    }

    /// Groups of several tasks.
    pub(super) fn fused(&self) -> impl Iterator<Item = (GroupId, &[usize])> {
        let several = |(_, nodes): &(usize, &Vec<usize>)| nodes.len() > 1;
        self.groups.iter().enumerate().filter(several).map(|(id, nodes)| (id, nodes.as_slice()))
    }
}

/// Each pair of nodes once, in order of its ends. What an expression never looks at (the chroma of a gray result) is
/// not read, so no line leads there, and nothing makes the reader stand below it.
fn edges(plan: &Plan) -> Vec<Edge> {
    let inputs = plan.inputs.len();
    let mut pairs = BTreeSet::new();
    for stage in plan.groups.iter().flat_map(|group| &group.stages) {
        for operand in &stage.inputs {
            if let Operand::Buffer(buffer) = *operand
                && let Place::Input(input) = plan.buffers[buffer].place
            {
                pairs.insert((input, inputs + stage.task));
            }
        }
    }
    for (to, task) in plan.tasks.iter().enumerate() {
        let read = |from: &&usize| {
            let on = plan.tasks[**from].group;
            on == task.group || plan.groups[task.group].depends_on.contains(&on)
        };
        pairs.extend(task.producers.iter().filter(read).map(|from| (inputs + from, inputs + to)));
    }
    let group = |node: usize| node.checked_sub(inputs).map(|task| plan.tasks[task].group);
    let edge = |(from, to): (usize, usize)| {
        let kind = match (group(from), group(to)) {
            (Some(on), Some(group)) if on == group => EdgeKind::Inside,
            (Some(on), Some(group)) if plan.waits.contains(&Wait { group, on }) => EdgeKind::Waits,
            _ => EdgeKind::Memory,
        };
        Edge { from, to, kind }
    };
    pairs.into_iter().map(edge).collect()
}

/// A colour for each stream: line and fill.
pub(super) const fn stream_colours(stream: u32) -> (&'static str, &'static str) {
    match stream % 8 {
        0 => ("#1f6fb2", "#e3eff9"),
        1 => ("#b3560b", "#fdecdc"),
        2 => ("#2b7a3f", "#e2f3e6"),
        3 => ("#8a3b8f", "#f5e6f6"),
        4 => ("#8a6d00", "#faf3d4"),
        5 => ("#0f7c80", "#dcf2f3"),
        6 => ("#b02a48", "#fae3e8"),
        _ => ("#555b6e", "#e9ebf0"),
    }
}

/// The line above a diagram.
pub(super) fn heading(plan: &Plan) -> String {
    format!(
        "batch {}: {}, {}, {}, arena {} bytes",
        plan.batch,
        counted(plan.groups.len(), "launch"),
        counted(plan.streams as usize, "stream"),
        counted(plan.waits.len(), "wait"),
        plan.arena_bytes
    )
}

/// A number of things, in words.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = match what {
        _ if count == 1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {what}{plural}")
}
