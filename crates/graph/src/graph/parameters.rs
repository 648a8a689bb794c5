use mip_ops::{Change, Value};

use super::{TaskGraph, TaskHandle};
use crate::GraphError;

impl TaskGraph {
    /// Sets a parameter of a task, from the next execution on, and tells what that costs.
    ///
    /// The value is checked against the operator's schema first. A value equal to the present one changes no
    /// version counter.
    ///
    /// # Errors
    /// [`GraphError::Parameter`] with the task, the parameter, what was given and what is allowed, or
    /// [`GraphError::ForeignHandle`]; the task is then as it was.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "`set_parameter(t, \"sigma\", Value::Float(2.0))` reads best"
    )]
    pub fn set_parameter(
        &mut self,
        task: TaskHandle,
        parameter: &str,
        value: Value,
    ) -> Result<Change, GraphError> {
        let index = self.index(task)?;
        let present = &self.tasks[index];
        let wrap = |source| GraphError::Parameter { task: present.name.clone(), source };
        let spec = present.operator.spec();
        let value = spec.check(parameter, &value).map_err(wrap)?;
        if present.operator.get(parameter).as_ref() == Some(&value) {
            return Ok(present.operator.change(parameter));
        }
        // On a copy: an operator that refuses the value half way must not be left half changed.
        let mut changed = present.operator.clone();
        changed.set(parameter, value).map_err(wrap)?;
        let change = changed.change(parameter);
        self.tasks[index].operator = changed;
        match change {
            Change::Uniform => self.uniform_version += 1,
            Change::Structural => self.topology_version += 1,
        }
        Ok(change)
    }

    /// Value of a task's parameter; `None` when it is unset or unknown.
    ///
    /// # Errors
    /// [`GraphError::ForeignHandle`].
    pub fn parameter(&self, task: TaskHandle, parameter: &str) -> Result<Option<Value>, GraphError> {
        Ok(self.operator(task)?.get(parameter))
    }
}
