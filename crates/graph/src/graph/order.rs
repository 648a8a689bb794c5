//! Order and reachability.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{TaskGraph, TaskHandle};
use crate::GraphError;

impl TaskGraph {
    /// Every task after all its producers; among tasks that could come next, the one added first. The same graph
    /// always gives the same order.
    pub fn topological_order(&self) -> Vec<TaskHandle> {
        self.order_indices().into_iter().map(|i| self.handle(i)).collect()
    }

    /// Whether neither task needs the other's result, directly or through others. A task is not independent of
    /// itself.
    ///
    /// # Errors
    /// [`GraphError::ForeignHandle`].
    pub fn are_independent(&self, a: TaskHandle, b: TaskHandle) -> Result<bool, GraphError> {
        let (a, b) = (self.index(a)?, self.index(b)?);
        Ok(self.path(a, b).is_none() && self.path(b, a).is_none())
    }

    /// Kahn's algorithm, ties by insertion.
    pub(crate) fn order_indices(&self) -> Vec<usize> {
        let consumers = self.consumer_lists();
        let mut missing: Vec<usize> = (0..self.tasks.len()).map(|t| self.producers(t).count()).collect();
        let mut ready: BinaryHeap<Reverse<usize>> =
            (0..self.tasks.len()).filter(|&t| missing[t] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(self.tasks.len());
        while let Some(Reverse(task)) = ready.pop() {
            order.push(task);
            for &consumer in &consumers[task] {
                missing[consumer] -= 1;
                if missing[consumer] == 0 {
                    ready.push(Reverse(consumer));
                }
            }
        }
        debug_assert_eq!(order.len(), self.tasks.len(), "edges that close a cycle are never added");
        order
    }

    /// Refuses an edge that would close a cycle.
    pub(super) fn refuse_cycle(&self, from: usize, to: usize) -> Result<(), GraphError> {
        let Some(path) = self.path(to, from) else { return Ok(()) };
        let name = |t: usize| self.name_at(t).to_owned();
        let path = std::iter::once(from).chain(path).map(name).collect();
        Err(GraphError::Cycle { from: name(from), to: name(to), path })
    }

    /// A shortest path along edges, both ends included; a task reaches itself. Searched from its end, because
    /// tasks know their producers.
    fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut next = vec![None; self.tasks.len()];
        next[to] = Some(to);
        let mut queue = VecDeque::from([to]);
        while let Some(task) = queue.pop_front() {
            if task == from {
                let step = |&at: &usize| if at == to { None } else { next[at] };
                return Some(std::iter::successors(Some(from), step).collect());
            }
            for producer in self.producers(task) {
                if next[producer].is_none() {
                    next[producer] = Some(task);
                    queue.push_back(producer);
                }
            }
        }
        None
    }

    /// Consumers of every task in insertion order, one entry an edge.
    fn consumer_lists(&self) -> Vec<Vec<usize>> {
        let mut consumers = vec![Vec::new(); self.tasks.len()];
        for task in 0..self.tasks.len() {
            for producer in self.producers(task) {
                consumers[producer].push(task);
            }
        }
        consumers
    }
}
