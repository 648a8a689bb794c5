use mip_core::ImageDesc;

use super::{Feed, TaskGraph};
use crate::GraphError;

/// What an operator says of its result beside the pixels ([`mip_ops::Operator::derived`]): the scale of a letterbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived<'g> {
    /// Name of the task.
    pub task: &'g str,
    /// Names and numbers.
    pub values: Vec<(&'static str, f64)>,
}

impl TaskGraph {
    /// Shape, format and type of every task's result, by [`crate::TaskHandle::index`], for pipeline inputs given
    /// in declared order.
    ///
    /// # Errors
    /// What [`TaskGraph::validate`] finds, [`GraphError::InputCount`], or [`GraphError::Operator`] naming the first task that cannot work on its inputs.
    pub fn infer(&self, inputs: &[ImageDesc]) -> Result<Vec<ImageDesc>, GraphError> {
        self.validate()?;
        self.check_inputs(inputs)?;
        let mut results: Vec<Option<ImageDesc>> = vec![None; self.tasks.len()];
        for task in self.order_indices() {
            let slots = self.slot_descs(task, inputs, |producer| results[producer]);
            let wrap = |source| GraphError::Operator { task: self.name_at(task).to_owned(), source };
            let desc = self.operator_at(task).infer(&slots).map_err(wrap)?;
            results[task] = Some(desc);
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// What operators say of results beside their pixels, for pipeline inputs given in declared order. Tasks that say nothing are left out.
    ///
    /// # Errors
    /// As for [`TaskGraph::infer`].
    pub fn derived(&self, inputs: &[ImageDesc]) -> Result<Vec<Derived<'_>>, GraphError> {
        let results = self.infer(inputs)?;
        let of_task = |task: usize| {
            let slots = self.slot_descs(task, inputs, |producer| results.get(producer).copied());
            Derived { task: self.name_at(task), values: self.operator_at(task).derived(&slots) }
        };
        let said = self.order_indices().into_iter().map(of_task);
        Ok(said.filter(|derived| !derived.values.is_empty()).collect())
    }

    fn check_inputs(&self, inputs: &[ImageDesc]) -> Result<(), GraphError> {
        if inputs.len() != self.inputs.len() {
            let (expected, given) = (self.inputs.len(), inputs.len());
            return Err(GraphError::InputCount { expected, names: self.input_list(), given });
        }
        Ok(())
    }

    /// Descriptions of what a task reads, in slot order. Only for validated graphs, when all its producers'
    /// results are known.
    pub(crate) fn slot_descs(
        &self,
        task: usize,
        inputs: &[ImageDesc],
        result: impl Fn(usize) -> Option<ImageDesc>,
    ) -> Vec<ImageDesc> {
        let desc = |feed: &Option<Feed>| match feed {
            Some(Feed::Input(input)) => inputs.get(*input).copied(),
            Some(Feed::Task(producer)) => result(*producer),
            None => None,
        };
        self.feeds(task).iter().filter_map(desc).collect()
    }
}
