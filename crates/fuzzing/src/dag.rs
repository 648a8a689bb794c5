//! Random graphs of registered operators that are valid by construction.

use std::collections::BTreeMap;
use std::fmt;

use arbitrary::Arbitrary;
use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{ImageBuffer, ImageDesc};
use mip_graph::{TaskGraph, TaskHandle};
use mip_ops::{Change, OpError, ParamKind, Value};
use mip_testkit::Params;
use mip_testkit::images::SplitMix64;

use crate::fitting::fitting;
use crate::single::try_operator;
use crate::{operator, run_operator};

/// What a task does and reads, as numbers that [`Dag::grow`] takes modulo what there is.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct Choice {
    /// The operator, among all registered ones.
    pub op: u8,
    /// Its parameters.
    pub way: u32,
    /// Its first input, among the pipeline's inputs and all results before it.
    pub a: u8,
    /// Its second input, among those of the same description as the first.
    pub b: u8,
}

/// Where a task's input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The pipeline input of that number.
    Input(usize),
    /// The result of an earlier task.
    Task(usize),
}

/// A task with everything needed to add it to a graph.
#[derive(Debug, Clone)]
pub struct Task {
    /// The operator's name.
    pub op: &'static str,
    /// Its parameters; those left out have their defaults.
    pub params: Params,
    /// What it reads, in slot order.
    pub sources: Vec<Source>,
}

/// A valid graph, tasks in topological order.
#[derive(Clone)]
pub struct Dag {
    /// The tasks, named by their numbers.
    pub tasks: Vec<Task>,
    /// Tasks marked as outputs; empty: those that nothing consumes.
    pub outputs: Vec<usize>,
}

impl fmt::Debug for Dag {
    /// One line a task: a failing case is read by people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Task { op, params, sources }) in self.tasks.iter().enumerate() {
            let given: Vec<_> = params.iter().collect();
            write!(f, "\n  {} = {op} {given:?} of {sources:?}", name(i))?;
        }
        write!(f, "\n  outputs {:?}", self.output_names())
    }
}

/// Results by task name.
pub type Results = BTreeMap<String, ImageBuffer>;

impl Dag {
    /// Makes every choice fit what is there already.
    ///
    /// # Panics
    /// When an operator refuses what was chosen for it: `fitting` does not know it well enough.
    pub fn grow(inputs: &[ImageDesc], choices: &[Choice], outputs: u64) -> Self {
        let mut growing = Growing::new(inputs);
        for choice in choices {
            let (task, desc) = growing.next(*choice);
            growing
                .add(task)
                .unwrap_or_else(|(task, e)| panic!("{} {:?} on {desc}: {e}", task.op, task.params));
        }
        growing.finish(outputs)
    }

    /// Names of the tasks that are outputs.
    fn output_names(&self) -> Vec<String> {
        let consumed = |i: usize| self.tasks.iter().any(|t| t.sources.contains(&Source::Task(i)));
        let is_output = |i: &usize| match self.outputs.as_slice() {
            [] => !consumed(*i),
            marked => marked.contains(i),
        };
        (0..self.tasks.len()).filter(is_output).map(name).collect()
    }

    /// Every task alone, one after another: what any other way of running must give.
    pub fn run_task_by_task(&self, device: &Device, images: &[ImageBuffer]) -> Results {
        let mut done: Vec<ImageBuffer> = Vec::new();
        for task in &self.tasks {
            let image = |source: &Source| match *source {
                Source::Input(i) => images[i].clone(),
                Source::Task(i) => done[i].clone(),
            };
            let inputs: Vec<ImageBuffer> = task.sources.iter().map(image).collect();
            let inputs: Vec<&ImageBuffer> = inputs.iter().collect();
            done.push(run_operator(device, task.op, &task.params, &inputs).remove(0));
        }
        let all: Results = (0..).map(name).zip(done).collect();
        self.output_names().into_iter().map(|n| (n.clone(), all[&n].clone())).collect()
    }

    /// The inputs that some task reads.
    pub fn used_inputs(&self) -> Vec<usize> {
        let used = |i: &usize| self.tasks.iter().any(|t| t.sources.contains(&Source::Input(*i)));
        (0..2).filter(used).collect()
    }

    /// A pipeline of the whole graph.
    pub fn pipeline(&self, config: PipelineConfig, order: u64) -> Pipeline {
        Pipeline::from_graph(self.graph(order), config)
    }

    /// The whole graph. `order` shuffles the order in which inputs, tasks and edges are added.
    ///
    /// # Panics
    /// When the graph refuses a task or an edge.
    pub fn graph(&self, order: u64) -> TaskGraph {
        let mut random = SplitMix64::new(order);
        let mut graph = TaskGraph::new();
        for i in shuffled(self.used_inputs(), &mut random) {
            graph.declare_input(&input_name(i)).expect("a new name");
        }
        let mut handles: BTreeMap<usize, TaskHandle> = BTreeMap::new();
        for i in shuffled((0..self.tasks.len()).collect(), &mut random) {
            let task = &self.tasks[i];
            handles.insert(i, graph.add_task(&name(i), operator(task.op, &task.params)).expect("a new name"));
        }
        let edges = self.tasks.iter().enumerate().flat_map(|(i, task)| {
            let slots = operator(task.op, &task.params).spec().inputs;
            task.sources.iter().zip(slots).map(move |(source, slot)| (*source, i, *slot))
        });
        for (source, to, slot) in shuffled(edges.collect(), &mut random) {
            let added = match source {
                Source::Input(i) => graph.connect_input_slot(&input_name(i), handles[&to], slot),
                Source::Task(from) => graph.add_dependency_slot(handles[&from], handles[&to], slot),
            };
            added.unwrap_or_else(|e| panic!("{source:?} -> {to}.{slot}: {e}"));
        }
        for i in &self.outputs {
            graph.mark_output(handles[i]).expect("a task of this graph");
        }
        graph
    }

    /// The shapes of the graph's inputs in its own order.
    ///
    /// # Panics
    /// When the graph is another one.
    pub fn input_descs(&self, graph: &TaskGraph, images: &[ImageBuffer]) -> Vec<ImageDesc> {
        let image = |name: &String| (0..images.len()).find(|&i| input_name(i) == *name).expect("an input");
        graph.inputs().iter().map(|name| *images[image(name)].desc()).collect()
    }

    /// Executes once with these images.
    ///
    /// # Panics
    /// When that fails.
    pub fn execute(&self, pipeline: &mut Pipeline, images: &[ImageBuffer]) -> Results {
        self.try_execute(pipeline, images).unwrap_or_else(|e| panic!("{e}\n{self:?}"))
    }

    /// Executes once with these images.
    ///
    /// # Errors
    /// When the graph is refused, or fails.
    pub fn try_execute(&self, pipeline: &mut Pipeline, images: &[ImageBuffer]) -> Result<Results, Error> {
        for i in self.used_inputs() {
            pipeline.set_named_input(&input_name(i), &images[i])?;
        }
        pipeline.execute()?;
        Ok(self.results(pipeline, 0))
    }

    /// The outputs of one frame of the last execution.
    pub fn results(&self, pipeline: &Pipeline, frame: usize) -> Results {
        let results: Results =
            pipeline.outputs().map(|(name, frames)| (name.to_owned(), frames[frame].clone())).collect();
        assert!(results.keys().eq(&self.output_names()), "outputs {:?} of {self:?}", results.keys());
        results
    }

    /// Gives some tasks other values of uniform parameters; what changes is returned as task, name, value.
    pub fn with_other_uniforms(&self, step: f64) -> (Self, Vec<(String, &'static str, Value)>) {
        let (mut other, mut changes) = (self.clone(), Vec::new());
        for (i, task) in other.tasks.iter_mut().enumerate() {
            let spec = mip_ops::spec(task.op).expect("a registered operator");
            let number = |kind| match kind {
                ParamKind::Float { min, max, .. } | ParamKind::PerChannel { min, max, .. } => {
                    Some((0.25 + step / 4.0).clamp(min, max))
                }
                ParamKind::Int { .. }
                | ParamKind::Bool
                | ParamKind::Numbers { .. }
                | ParamKind::Text { .. }
                | ParamKind::Choice { .. } => None,
            };
            let mut uniform = spec.params.iter().filter(|p| p.change == Change::Uniform);
            let Some((parameter, value)) = uniform.find_map(|p| Some((p.name, number(p.kind)?))) else {
                continue;
            };
            let params = task.params.clone().with(parameter, value);
            // Some go with other parameters only.
            if try_operator(task.op, &params).is_err() {
                continue;
            }
            task.params = params;
            changes.push((name(i), parameter, Value::Float(value)));
        }
        (other, changes)
    }
}

/// A graph under way: what there is to read.
pub struct Growing {
    values: Vec<(Source, ImageDesc)>,
    tasks: Vec<Task>,
}

impl Growing {
    /// Nothing but inputs.
    pub fn new(inputs: &[ImageDesc]) -> Self {
        let values = inputs.iter().enumerate().map(|(i, desc)| (Source::Input(i), *desc)).collect();
        Self { values, tasks: Vec::new() }
    }

    /// A task of that choice, with parameters that fit the image it reads, and that image's description.
    pub fn next(&self, choice: Choice) -> (Task, ImageDesc) {
        let (a, desc) = self.values[usize::from(choice.a) % self.values.len()];
        let like: Vec<Source> = self.values.iter().filter(|v| v.1 == desc).map(|v| v.0).collect();
        let b = like[usize::from(choice.b) % like.len()];
        let all = mip_ops::operators();
        // The one chosen, or the next that takes such an image.
        let from = usize::from(choice.op) % all.len();
        let mut ring = all[from..].iter().chain(&all[..from]);
        let takes = |spec: &&'static mip_ops::OperatorSpec| Some((*spec, fitting(spec, choice.way, &desc)?));
        let (spec, params) = ring.find_map(takes).expect("most operators take every image");
        // Some take as many inputs as a parameter says.
        let slots = operator(spec.name, &params).spec().inputs.len();
        let sources = std::iter::once(a).chain(std::iter::repeat(b)).take(slots).collect();
        (Task { op: spec.name, params, sources }, desc)
    }

    /// Adds a task; its result can be read from now on.
    ///
    /// # Errors
    /// The task and the reason when its operator refuses its input.
    ///
    /// # Panics
    /// When the registry refuses its parameters.
    pub fn add(&mut self, task: Task) -> Result<ImageDesc, (Task, OpError)> {
        let desc = |source: &Source| self.values.iter().find(|v| v.0 == *source).expect("read before").1;
        let descs: Vec<ImageDesc> = task.sources.iter().map(desc).collect();
        match operator(task.op, &task.params).infer(&descs) {
            Ok(out) => {
                self.values.push((Source::Task(self.tasks.len()), out));
                self.tasks.push(task);
                Ok(out)
            }
            Err(error) => Err((task, error)),
        }
    }

    /// Adds a task that was refused. Nothing can read its result.
    pub fn add_refused(&mut self, task: Task) {
        self.tasks.push(task);
    }

    /// The graph. The bits of `outputs` mark tasks.
    pub fn finish(self, outputs: u64) -> Dag {
        let outputs = (0..self.tasks.len()).filter(|&i| outputs >> i & 1 == 1).collect();
        Dag { tasks: self.tasks, outputs }
    }
}

fn name(i: usize) -> String {
    format!("t{i:02}")
}

fn input_name(i: usize) -> String {
    format!("in{i}")
}

fn shuffled<T>(mut items: Vec<T>, random: &mut SplitMix64) -> Vec<T> {
    for i in (1..items.len()).rev() {
        items.swap(i, random.below(i as u32 + 1) as usize);
    }
    items
}
