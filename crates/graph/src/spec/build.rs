//! From a spec to a graph, with every complaint at the place it belongs to.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use mip_ops::{Operator, OperatorSpec, ParamError, Value, create, spec, suggest};

use super::{Located, PipelineSpec, Position, TaskSpec};
use crate::graph::DEFAULT_INPUT;
use crate::names::{check_length, check_name, list};
use crate::{GraphError, MAX_TASKS, TaskGraph, TaskHandle};

/// Keys of a task that are not parameters.
pub(super) const TASK_KEYS: [&str; 3] = ["name", "op", "inputs"];

impl PipelineSpec {
    /// Makes the graph. Names may be used before they are defined.
    ///
    /// # Errors
    /// The first thing that is wrong: an operator, parameter, value, name, reference or cycle, or an input left
    /// open; as [`GraphError::At`] when the spec was read from a text.
    pub fn build(&self) -> Result<TaskGraph, GraphError> {
        if self.tasks.len() > MAX_TASKS {
            return Err(GraphError::TooManyTasks { max: MAX_TASKS });
        }
        let mut graph = TaskGraph::new();
        if let Some(name) = &self.name {
            check_length("the pipeline", name).map_err(|e| self.place(e, name.at))?;
        }
        for input in &self.inputs {
            graph.declare_input(input).map_err(|e| self.place(e, input.at))?;
        }
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for (task, name) in self.tasks.iter().zip(self.names()?) {
            let operator = self.operator(task, &name)?;
            let at = task.name.as_ref().map_or(task.op.at, |n| n.at);
            tasks.push(graph.add_task(&name, operator).map_err(|e| self.place(e, at))?);
        }
        for (index, task) in self.tasks.iter().enumerate() {
            self.connect(&mut graph, &tasks, index, task)?;
        }
        for (index, output) in self.outputs.iter().enumerate() {
            if self.outputs[..index].contains(output) {
                let error = GraphError::Duplicate { what: "an output", name: output.value.clone() };
                return Err(self.place(error, output.at));
            }
            let task = graph.task(output).map_err(|e| self.place(e, output.at))?;
            graph.mark_output(task)?;
        }
        graph.validate().map_err(|e| self.place_invalid(e, &graph))?;
        Ok(graph)
    }

    /// Makes the paths of files absolute: relative ones count from the folder of the pipeline's own file.
    fn resolve_paths(&mut self) {
        let folder = Path::new(&self.file).parent().unwrap_or_else(|| Path::new(""));
        for task in &mut self.tasks {
            let Ok(spec) = spec(&task.op) else { continue };
            for (name, value) in &mut task.params {
                let Ok(param) = spec.param(name) else { continue };
                let Some(path) = param.path(&value.value).filter(|path| !path.is_empty()) else { continue };
                // Without a working directory, or where it has no text, the path stays as it is.
                let whole = std::path::absolute(folder.join(path)).ok();
                if let Some(whole) = whole.as_deref().and_then(Path::to_str) {
                    value.value = Value::from(whole);
                }
            }
        }
    }

    /// Resolves paths of files, proves that the spec builds, and brings every value to its parameter's own type.
    pub(super) fn settled(mut self) -> Result<Self, GraphError> {
        self.resolve_paths();
        self.build()?;
        for task in &mut self.tasks {
            if let Ok(spec) = spec(&task.op) {
                for (name, value) in &mut task.params {
                    if let Ok(checked) = spec.check(name, value) {
                        value.value = checked;
                    }
                }
            }
        }
        Ok(self)
    }

    /// The name of every task, in order: given, or the operator's with a number when that is taken.
    ///
    /// # Errors
    /// [`GraphError::Name`] or [`GraphError::Duplicate`] for names given.
    pub fn names(&self) -> Result<Vec<String>, GraphError> {
        let mut taken: HashSet<&str> = HashSet::new();
        for name in self.tasks.iter().filter_map(|t| t.name.as_ref()) {
            check_name("a task", name).map_err(|e| self.place(e, name.at))?;
            if !taken.insert(name) {
                let error = GraphError::Duplicate { what: "a task", name: name.value.clone() };
                return Err(self.place(error, name.at));
            }
        }
        // Numbers already used for each operator; a default name is never another operator's default, but for
        // the rare `op` and `op2` that both exist.
        let mut last: HashMap<&str, usize> = HashMap::new();
        let mut given: HashSet<String> = HashSet::new();
        let mut names = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            if let Some(name) = &task.name {
                names.push(name.value.clone());
                continue;
            }
            let number = last.entry(&task.op).or_insert(0);
            let name = loop {
                *number += 1;
                let name =
                    if *number == 1 { task.op.value.clone() } else { format!("{}{number}", task.op.value) };
                if !taken.contains(name.as_str()) && given.insert(name.clone()) {
                    break name;
                }
            };
            names.push(name);
        }
        Ok(names)
    }

    fn operator(&self, task: &TaskSpec, name: &str) -> Result<Box<dyn Operator>, GraphError> {
        let wrap = |source: ParamError, at: Option<Position>| {
            self.place(GraphError::Parameter { task: name.to_owned(), source }, at)
        };
        let spec = spec(&task.op).map_err(|e| wrap(e, task.op.at))?;
        for (key, value) in &task.params {
            if spec.param(key).is_err() {
                return Err(self.place(unknown_key(spec, name, key), key.at));
            }
            spec.check(key, value).map_err(|e| wrap(e, value.at))?;
        }
        let params: Vec<_> = task.params.iter().map(|(k, v)| (k.value.clone(), v.value.clone())).collect();
        create(spec.name, &params).map_err(|error| {
            let at = task
                .params
                .iter()
                .rev()
                .find(|(key, _)| error.parameter() == Some(&*key.value))
                .map(|(key, _)| key.at);
            wrap(error, at.unwrap_or(task.op.at))
        })
    }

    fn connect(
        &self,
        graph: &mut TaskGraph,
        tasks: &[TaskHandle],
        index: usize,
        task: &TaskSpec,
    ) -> Result<(), GraphError> {
        let to = tasks[index];
        let Some(sources) = &task.inputs else {
            if graph.operator(to)?.spec().inputs.is_empty() {
                return Ok(());
            }
            let connected = if index > 0 {
                graph.add_dependency(tasks[index - 1], to)
            } else {
                let input = self.inputs.first().map_or(DEFAULT_INPUT, |i| i.value.as_str());
                graph.connect_input(input, to)
            };
            return connected.map_err(|e| self.place(e, task.op.at));
        };
        for source in sources {
            let connected = match source.strip_prefix('@') {
                Some(input) => graph.connect_input(input, to),
                None => graph.task(source).and_then(|from| graph.add_dependency(from, to)),
            };
            connected.map_err(|e| self.place(e, source.at))?;
        }
        Ok(())
    }

    /// Finds the place of what validation complains about.
    fn place_invalid(&self, error: GraphError, graph: &TaskGraph) -> GraphError {
        let at = match &error {
            GraphError::Unconnected { task, .. } => {
                graph.task(task).ok().and_then(|t| self.tasks.get(t.index())).and_then(|t| t.op.at)
            }
            GraphError::UnusedInput { name } => {
                self.inputs.iter().find(|i| i.value == *name).and_then(|i| i.at)
            }
            GraphError::Empty if !self.file.is_empty() => Some(Position { line: 1, column: 1 }),
            _ => None,
        };
        self.place(error, at)
    }

    fn place(&self, error: GraphError, at: Option<Position>) -> GraphError {
        error.at(&self.file, at)
    }
}

fn unknown_key(spec: &'static OperatorSpec, task: &str, key: &Located<String>) -> GraphError {
    let known = || TASK_KEYS.into_iter().chain(spec.params.iter().map(|p| p.name));
    GraphError::UnknownKey {
        place: format!("task '{task}' ({})", spec.name),
        key: key.value.clone(),
        suggestion: suggest(key, known()),
        known: list(known()),
    }
}
