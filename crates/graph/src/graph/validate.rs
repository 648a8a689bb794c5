use super::{Feed, TaskGraph};
use crate::GraphError;

impl TaskGraph {
    /// Checks that there is something to do, that every input slot is fed and that every pipeline input is
    /// read. (Cycles, wrong slots and unknown tasks cannot get into a graph.)
    ///
    /// # Errors
    /// [`GraphError::Empty`], [`GraphError::Unconnected`] for the first such task in insertion order and its
    /// first such slot, or [`GraphError::UnusedInput`].
    pub fn validate(&self) -> Result<(), GraphError> {
        if self.tasks.is_empty() {
            return Err(GraphError::Empty);
        }
        let mut used = vec![false; self.inputs.len()];
        for task in &self.tasks {
            let spec = task.operator.spec();
            for (slot, source) in spec.inputs.iter().zip(&task.sources) {
                match source {
                    None => {
                        return Err(GraphError::Unconnected {
                            task: task.name.clone(),
                            op: spec.name,
                            slot: (*slot).to_owned(),
                        });
                    }
                    Some(Feed::Input(input)) => used[*input] = true,
                    Some(Feed::Task(_)) => {}
                }
            }
        }
        match used.iter().position(|u| !u) {
            Some(input) => Err(GraphError::UnusedInput { name: self.inputs[input].clone() }),
            None => Ok(()),
        }
    }
}
