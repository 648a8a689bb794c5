//! Edges: between tasks, and from pipeline inputs to tasks.

use mip_core::video::Plane;
use mip_ops::suggest;

use super::{Feed, TaskGraph, TaskHandle};
use crate::GraphError;
use crate::names::{check_name, list};

/// The input a pipeline has when none is declared.
pub(crate) const DEFAULT_INPUT: &str = "input";

/// Whether an input is the one that a pipeline has when none is declared, or one of its planes: see
/// [`TaskGraph::read_video`].
fn is_default(input: &str) -> bool {
    let plane = input.strip_prefix(DEFAULT_INPUT).and_then(|rest| rest.strip_prefix('-'));
    input == DEFAULT_INPUT || plane.is_some_and(|plane| Plane::NAMES.contains(&plane))
}

impl TaskGraph {
    /// Feeds the result of `from` to the next free input slot of `to`, in declared order.
    ///
    /// # Errors
    /// [`GraphError::Cycle`] with the path, [`GraphError::NoFreeSlot`] or [`GraphError::ForeignHandle`]; the
    /// graph is then as it was.
    pub fn add_dependency(&mut self, from: TaskHandle, to: TaskHandle) -> Result<(), GraphError> {
        let (from, to) = (self.index(from)?, self.index(to)?);
        self.refuse_cycle(from, to)?;
        let slot = self.free_slot(to)?;
        self.fill(to, slot, Feed::Task(from))
    }

    /// Feeds the result of `from` to the named input slot of `to`.
    ///
    /// # Errors
    /// As [`TaskGraph::add_dependency`], and [`GraphError::UnknownSlot`] or [`GraphError::SlotTaken`].
    pub fn add_dependency_slot(
        &mut self,
        from: TaskHandle,
        to: TaskHandle,
        slot: &str,
    ) -> Result<(), GraphError> {
        let (from, to) = (self.index(from)?, self.index(to)?);
        self.refuse_cycle(from, to)?;
        let slot = self.slot(to, slot)?;
        self.fill(to, slot, Feed::Task(from))
    }

    /// Declares a pipeline input. Images are given in the order of these calls. A graph that declares none has
    /// one named `input` as soon as something is connected to it.
    ///
    /// # Errors
    /// [`GraphError::Name`] or [`GraphError::Duplicate`].
    pub fn declare_input(&mut self, name: &str) -> Result<(), GraphError> {
        check_name("a pipeline input", name)?;
        if self.inputs.iter().any(|i| i == name) {
            return Err(GraphError::Duplicate { what: "a pipeline input", name: name.to_owned() });
        }
        self.inputs.push(name.to_owned());
        self.topology_version += 1;
        Ok(())
    }

    /// The names of the pipeline inputs in declared order, without `@`.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Feeds a pipeline input to the next free input slot of `to`, in declared order.
    ///
    /// # Errors
    /// [`GraphError::UnknownInput`], [`GraphError::NoFreeSlot`] or [`GraphError::ForeignHandle`].
    pub fn connect_input(&mut self, name: &str, to: TaskHandle) -> Result<(), GraphError> {
        let to = self.index(to)?;
        let slot = self.free_slot(to)?;
        let input = self.input(name)?;
        self.fill(to, slot, Feed::Input(input))
    }

    /// Feeds a pipeline input to the named input slot of `to`.
    ///
    /// # Errors
    /// [`GraphError::UnknownInput`], [`GraphError::UnknownSlot`], [`GraphError::SlotTaken`] or
    /// [`GraphError::ForeignHandle`].
    pub fn connect_input_slot(&mut self, name: &str, to: TaskHandle, slot: &str) -> Result<(), GraphError> {
        let to = self.index(to)?;
        let slot = self.slot(to, slot)?;
        self.check_free(to, slot)?;
        let input = self.input(name)?;
        self.fill(to, slot, Feed::Input(input))
    }

    fn input(&mut self, name: &str) -> Result<usize, GraphError> {
        // The usual input need not be declared, nor the planes that it has as video.
        let known = self.inputs.iter().any(|input| input == name);
        if !known && is_default(name) && self.inputs.iter().all(|input| is_default(input)) {
            self.declare_input(name)?;
        }
        if let Some(index) = self.inputs.iter().position(|i| i == name) {
            return Ok(index);
        }
        // What could be connected: a graph without inputs would take the default one.
        let default = [DEFAULT_INPUT.to_owned()];
        let known = if self.inputs.is_empty() { &default[..] } else { &self.inputs };
        Err(GraphError::UnknownInput {
            given: name.to_owned(),
            suggestion: suggest(name, known.iter().map(String::as_str)).map(|s| format!("@{s}")),
            known: list(known.iter().map(|k| format!("@{k}"))),
        })
    }

    /// The inputs with `@`, for messages.
    pub(super) fn input_list(&self) -> String {
        list(self.inputs.iter().map(|i| format!("@{i}")))
    }

    fn fill(&mut self, task: usize, slot: usize, feed: Feed) -> Result<(), GraphError> {
        self.check_free(task, slot)?;
        self.tasks[task].sources[slot] = Some(feed);
        self.topology_version += 1;
        Ok(())
    }

    fn check_free(&self, task: usize, slot: usize) -> Result<(), GraphError> {
        match self.tasks[task].sources[slot] {
            None => Ok(()),
            Some(feed) => Err(GraphError::SlotTaken {
                task: self.name_at(task).to_owned(),
                slot: self
                    .operator_at(task)
                    .spec()
                    .inputs
                    .get(slot)
                    .map_or_else(String::new, |s| (*s).to_owned()),
                by: self.feed_name(feed),
            }),
        }
    }

    fn free_slot(&self, task: usize) -> Result<usize, GraphError> {
        let sources = self.feeds(task);
        if let Some(slot) = sources.iter().position(Option::is_none) {
            return Ok(slot);
        }
        let spec = self.operator_at(task).spec();
        let fed: Vec<String> = spec
            .inputs
            .iter()
            .zip(sources)
            .filter_map(|(slot, feed)| feed.map(|f| format!("'{slot}' by '{}'", self.feed_name(f))))
            .collect();
        Err(GraphError::NoFreeSlot {
            task: self.name_at(task).to_owned(),
            op: spec.name,
            count: spec.inputs.len(),
            slots: list(fed),
        })
    }

    fn slot(&self, task: usize, name: &str) -> Result<usize, GraphError> {
        let slots = self.operator_at(task).spec().inputs;
        slots.iter().position(|s| *s == name).ok_or_else(|| GraphError::UnknownSlot {
            task: self.name_at(task).to_owned(),
            given: name.to_owned(),
            suggestion: suggest(name, slots.iter().copied()),
            known: list(slots),
        })
    }

    fn feed_name(&self, feed: Feed) -> String {
        match feed {
            Feed::Input(input) => format!("@{}", self.inputs[input]),
            Feed::Task(task) => self.name_at(task).to_owned(),
        }
    }
}
