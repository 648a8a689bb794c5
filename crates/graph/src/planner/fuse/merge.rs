use mip_core::DType;
use mip_plan::{Access, GroupId, Kernel, TaskId};

use super::cost::{Cost, MAX_ROW_BYTES, MAX_TILE_BYTES, OPERATIONS_PER_BYTE, cost};
use super::edges::Edge;
use super::footprint::points;
use crate::planner::draft::{Draft, DraftValue, StageId};

/// Stages of a group at most: code for more takes long to compile and gains little.
pub(super) const MAX_STAGES: usize = 24;

/// Groups that become fewer.
pub(super) struct Merger<'d, 'a> {
    draft: &'d Draft<'a>,
    /// Stages of each group, sorted; empty where a group has gone into another.
    groups: Vec<Vec<StageId>>,
    group_of: Vec<GroupId>,
    /// Stages that read each stage.
    readers: Vec<Vec<StageId>>,
    /// Whether a stage is the result of an output.
    output: Vec<bool>,
}

impl<'d, 'a> Merger<'d, 'a> {
    pub(super) fn new(draft: &'d Draft<'a>) -> Self {
        Self {
            draft,
            groups: draft.groups.clone(),
            group_of: draft.group_of_stage(),
            readers: draft.readers(),
            output: draft.output_stages(),
        }
    }

    pub(super) fn into_groups(self) -> Vec<Vec<StageId>> {
        self.groups
    }

    fn group(&self, task: TaskId) -> GroupId {
        self.group_of[self.draft.results[task]]
    }

    /// Whether both ends are in one group.
    pub(super) fn together(&self, edge: &Edge) -> bool {
        self.group(edge.from) == self.group(edge.to)
    }

    /// Whether the task's whole group only maps and gathers.
    pub(super) fn computes_points(&self, task: TaskId) -> bool {
        points(self.draft, &self.groups[self.group(task)]).into_iter().all(|point| point)
    }

    /// Merges the groups of an edge's ends, or says why they stay apart.
    pub(super) fn merge(&mut self, edge: &Edge) -> Result<String, String> {
        let (from, to) = (self.group(edge.from), self.group(edge.to));
        self.alone(edge)?;
        self.pictures(edge)?;
        let mut members = [&self.groups[from][..], &self.groups[to][..]].concat();
        members.sort_unstable();
        if members.len() > MAX_STAGES {
            return Err(format!("one launch would have {} steps, of at most {MAX_STAGES}", members.len()));
        }
        self.one_size(&members)?;
        self.no_path_outside(from, to)?;
        let reason = self.pays(from, to, &members)?;
        for &member in &members {
            self.group_of[member] = to;
        }
        self.groups[from].clear();
        self.groups[to] = members;
        Ok(reason)
    }

    /// What reads whole images has a group of its own: these images must exist before. (Custom kernels can fail, too.)
    fn alone(&self, edge: &Edge) -> Result<(), String> {
        for task in [edge.from, edge.to] {
            let mut kernels = self.groups[self.group(task)].iter().map(|&s| &self.draft.stages[s].kernel);
            if let Some(kernel) = kernels.find(|kernel| kernel.access() == Access::Whole) {
                let custom = matches!(kernel, Kernel::Custom(_));
                let why = if custom { "has a custom kernel, which" } else { "reads a whole image, so it" };
                return Err(format!("'{}' {why} runs alone", self.name(task)));
            }
        }
        Ok(())
    }

    /// Between the steps of a launch samples are binary32, which i32 has more bits than.
    fn pictures(&self, edge: &Edge) -> Result<(), String> {
        let desc = |value: &DraftValue| match *value {
            DraftValue::Input(input) => self.draft.request.inputs[input],
            DraftValue::Stage(stage) => self.draft.stages[stage].output,
        };
        let wide = |&stage: &StageId| {
            let stage = &self.draft.stages[stage];
            stage.inputs.iter().map(desc).chain([stage.output]).any(|desc| desc.dtype() == DType::I32)
        };
        for task in [edge.from, edge.to] {
            if self.groups[self.group(task)].iter().any(wide) {
                return Err(format!("'{}' has samples of i32, so it runs alone", self.name(task)));
            }
        }
        Ok(())
    }

    /// A path that leaves a group and comes back would make it wait for itself.
    fn no_path_outside(&self, from: GroupId, to: GroupId) -> Result<(), String> {
        // For each group reached, the first group of the path.
        let mut seen = vec![false; self.groups.len()];
        let mut stack: Vec<(GroupId, GroupId)> =
            self.next(from).filter(|&g| g != to && g != from).map(|g| (g, g)).collect();
        while let Some((group, first)) = stack.pop() {
            if group == to {
                let task = self.draft.stages[self.groups[first][0]].task;
                return Err(format!("'{}' stands between them", self.name(task)));
            }
            if !std::mem::replace(&mut seen[group], true) {
                stack.extend(self.next(group).filter(|&next| next != group).map(|next| (next, first)));
            }
        }
        Ok(())
    }

    /// Groups that read a group's results, and perhaps itself.
    fn next(&self, group: GroupId) -> impl Iterator<Item = GroupId> + '_ {
        self.groups[group].iter().flat_map(|&s| &self.readers[s]).map(|&reader| self.group_of[reader])
    }

    /// Whether a member's result leaves a group of these members.
    fn stored(&self, members: &[StageId], stage: StageId) -> bool {
        self.output[stage] || self.readers[stage].iter().any(|r| members.binary_search(r).is_err())
    }

    /// A launch's tiles are tiles of every image that it writes.
    fn one_size(&self, members: &[StageId]) -> Result<(), String> {
        let stored = members.iter().filter(|&&m| self.stored(members, m));
        let mut sizes = stored.map(|&m| (self.draft.stages[m].output, self.draft.stages[m].task));
        let Some((first, one)) = sizes.next() else { return Ok(()) };
        match sizes.find(|(size, _)| (size.width(), size.height()) != (first.width(), first.height())) {
            Some((size, other)) => Err(format!(
                "one launch would write '{}' with {}x{} and '{}' with {}x{}",
                self.name(one),
                first.width(),
                first.height(),
                self.name(other),
                size.width(),
                size.height()
            )),
            None => Ok(()),
        }
    }

    /// The cost rule: what is spared in memory traffic against what is computed twice.
    fn pays(&self, from: GroupId, to: GroupId, members: &[StageId]) -> Result<String, String> {
        let cost =
            |members: &[StageId]| -> Cost { cost(self.draft, members, &|stage| self.stored(members, stage)) };
        let (first, second, both) = (cost(&self.groups[from]), cost(&self.groups[to]), cost(members));
        if both.tile > MAX_TILE_BYTES {
            let tile = both.tile;
            return Err(format!("a tile would keep {tile} bytes on the chip, of at most {MAX_TILE_BYTES}"));
        }
        if both.rows > MAX_ROW_BYTES {
            let rows = both.rows;
            return Err(format!("a row band would keep {rows} bytes of rows, of at most {MAX_ROW_BYTES}"));
        }
        let spared = (first.traffic + second.traffic).saturating_sub(both.traffic);
        let extra = both.operations - first.operations - second.operations;
        let price = (extra / OPERATIONS_PER_BYTE).round();
        if price > spared as f64 {
            return Err(format!(
                "a frame would spare {spared} bytes, but halos cost as much as moving {price}"
            ));
        }
        Ok(match price {
            price if price > 0.0 => {
                format!("a frame spares {spared} bytes, halos cost as much as moving {price}")
            }
            price if price < 0.0 => {
                format!("a frame spares {spared} bytes, and work as much as moving {}", -price)
            }
            _ => format!("a frame spares {spared} bytes, nothing is computed twice"),
        })
    }

    fn name(&self, task: TaskId) -> &str {
        self.draft.graph.name_at(self.draft.live[task])
    }
}

impl Draft<'_> {
    /// The stages that read each stage.
    fn readers(&self) -> Vec<Vec<StageId>> {
        let mut readers = vec![Vec::new(); self.stages.len()];
        for (reader, stage) in self.stages.iter().enumerate() {
            for value in &stage.inputs {
                if let DraftValue::Stage(read) = *value
                    && readers[read].last() != Some(&reader)
                {
                    readers[read].push(reader);
                }
            }
        }
        readers
    }

    /// Whether each stage holds an output.
    pub(super) fn output_stages(&self) -> Vec<bool> {
        let mut output = vec![false; self.stages.len()];
        for index in self.graph.output_indices() {
            let task = self.live.iter().position(|&t| t == index).expect("outputs are never pruned");
            output[self.results[task]] = true;
        }
        output
    }

    /// Whether each stage's result leaves its group.
    pub(super) fn stored(&self) -> Vec<bool> {
        let group_of = self.group_of_stage();
        let mut stored = self.output_stages();
        for (stage, readers) in self.readers().into_iter().enumerate() {
            stored[stage] |= readers.into_iter().any(|reader| group_of[reader] != group_of[stage]);
        }
        stored
    }
}
