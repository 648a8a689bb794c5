//! Adding tasks, looking them up, and which results are outputs.

use mip_ops::{Operator, suggest};

use super::{Feed, MAX_TASKS, Source, Task, TaskGraph, TaskHandle};
use crate::GraphError;
use crate::names::{check_name, list};

impl TaskGraph {
    /// Adds a task whose inputs are still unconnected.
    ///
    /// Names are unique and match `[A-Za-z_][A-Za-z0-9_-]*`.
    ///
    /// # Errors
    /// [`GraphError::Name`], [`GraphError::Duplicate`] or [`GraphError::TooManyTasks`].
    pub fn add_task(&mut self, name: &str, operator: Box<dyn Operator>) -> Result<TaskHandle, GraphError> {
        check_name("a task", name)?;
        if self.tasks.iter().any(|t| t.name == name) {
            return Err(GraphError::Duplicate { what: "a task", name: name.to_owned() });
        }
        if self.tasks.len() == MAX_TASKS {
            return Err(GraphError::TooManyTasks { max: MAX_TASKS });
        }
        let sources = vec![None; operator.spec().inputs.len()];
        self.tasks.push(Task { name: name.to_owned(), operator, sources });
        self.topology_version += 1;
        Ok(self.handle(self.tasks.len() - 1))
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// All tasks in insertion order.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = TaskHandle> + '_ {
        (0..self.tasks.len()).map(|i| self.handle(i))
    }

    /// The task of that name.
    ///
    /// # Errors
    /// [`GraphError::UnknownTask`] with the closest name.
    pub fn task(&self, name: &str) -> Result<TaskHandle, GraphError> {
        let names = || self.tasks.iter().map(|t| t.name.as_str());
        names().position(|n| n == name).map(|i| self.handle(i)).ok_or_else(|| GraphError::UnknownTask {
            given: name.to_owned(),
            suggestion: suggest(name, names()),
            known: list(names()),
        })
    }

    /// A task's name.
    ///
    /// # Errors
    /// [`GraphError::ForeignHandle`].
    pub fn name(&self, task: TaskHandle) -> Result<&str, GraphError> {
        Ok(&self.tasks[self.index(task)?].name)
    }

    /// A task's operator.
    ///
    /// # Errors
    /// [`GraphError::ForeignHandle`].
    pub fn operator(&self, task: TaskHandle) -> Result<&dyn Operator, GraphError> {
        Ok(self.tasks[self.index(task)?].operator.as_ref())
    }

    /// What feeds each slot of a task, in declared order; `None` where nothing does yet.
    ///
    /// # Errors
    /// [`GraphError::ForeignHandle`].
    pub fn sources(&self, task: TaskHandle) -> Result<Vec<Option<Source>>, GraphError> {
        let sources = &self.tasks[self.index(task)?].sources;
        let public = |feed: Feed| match feed {
            Feed::Input(i) => Source::Input(i),
            Feed::Task(i) => Source::Task(self.handle(i)),
        };
        Ok(sources.iter().map(|s| s.map(public)).collect())
    }

    /// Tasks that read a task's result, each once, in insertion order.
    ///
    /// # Errors
    /// [`GraphError::ForeignHandle`].
    pub fn consumers(&self, task: TaskHandle) -> Result<Vec<TaskHandle>, GraphError> {
        let index = self.index(task)?;
        Ok(self.tasks().filter(|t| self.reads(t.index(), index)).collect())
    }

    /// Makes a task's result an output of the pipeline, in the order of these calls. As long as no task is
    /// marked, every task that nothing consumes is an output. Marking a task twice changes nothing.
    ///
    /// # Errors
    /// [`GraphError::ForeignHandle`].
    pub fn mark_output(&mut self, task: TaskHandle) -> Result<(), GraphError> {
        let index = self.index(task)?;
        if !self.marked_outputs.contains(&index) {
            self.marked_outputs.push(index);
            self.topology_version += 1;
        }
        Ok(())
    }

    /// The tasks whose results the pipeline gives back: those marked, or else every task that nothing consumes,
    /// in insertion order.
    pub fn outputs(&self) -> Vec<TaskHandle> {
        self.output_indices().into_iter().map(|i| self.handle(i)).collect()
    }

    pub(crate) fn output_indices(&self) -> Vec<usize> {
        if !self.marked_outputs.is_empty() {
            return self.marked_outputs.clone();
        }
        let mut consumed = vec![false; self.tasks.len()];
        for producer in (0..self.tasks.len()).flat_map(|t| self.producers(t)) {
            consumed[producer] = true;
        }
        (0..self.tasks.len()).filter(|&t| !consumed[t]).collect()
    }

    pub(crate) fn name_at(&self, index: usize) -> &str {
        &self.tasks[index].name
    }

    pub(crate) fn operator_at(&self, index: usize) -> &dyn Operator {
        self.tasks[index].operator.as_ref()
    }

    /// What feeds each slot, by index.
    pub(crate) fn feeds(&self, index: usize) -> &[Option<Feed>] {
        &self.tasks[index].sources
    }

    /// Tasks that a task reads, in slot order, repeated where it reads one twice.
    pub(crate) fn producers(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        self.tasks[index].sources.iter().filter_map(|s| match s {
            Some(Feed::Task(producer)) => Some(*producer),
            _ => None,
        })
    }

    pub(super) fn reads(&self, consumer: usize, producer: usize) -> bool {
        self.producers(consumer).any(|p| p == producer)
    }
}
