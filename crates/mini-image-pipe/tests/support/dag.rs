//! Random graphs of registered operators that are valid by construction.

use std::collections::BTreeMap;
use std::fmt;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_graph::{TaskGraph, TaskHandle};
use mip_ops::Value;
use mip_testkit::Params;
use mip_testkit::images::SplitMix64;
use proptest::prelude::*;

use super::{operator, run_operator};

/// Largest side that an operator of a graph may make: pictures stay small, graphs many.
const MAX_SIDE: u32 = 40;

/// What a task does and reads, as numbers that [`Dag::grow`] takes modulo what there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    op: u32,
    way: u32,
    a: u32,
    b: u32,
}

/// A choice for proptest.
pub(crate) fn choice() -> impl Strategy<Value = Choice> {
    (0..11_u32, any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(op, way, a, b)| Choice { op, way, a, b })
}

/// Where a task's input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Input(usize),
    Task(usize),
}

/// A task with everything needed to add it to a graph.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) op: &'static str,
    pub(crate) params: Params,
    pub(crate) sources: Vec<Source>,
}

/// A valid graph, tasks in topological order.
#[derive(Clone)]
pub(crate) struct Dag {
    pub(crate) tasks: Vec<Task>,
    /// Tasks marked as outputs; empty: those that nothing consumes.
    pub(crate) outputs: Vec<usize>,
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
pub(crate) type Results = BTreeMap<String, ImageBuffer>;

impl Dag {
    /// Makes every choice fit what is there already.
    pub(crate) fn grow(inputs: &[ImageDesc], choices: &[Choice], outputs: u64) -> Self {
        let mut values: Vec<(Source, ImageDesc)> =
            inputs.iter().enumerate().map(|(i, desc)| (Source::Input(i), *desc)).collect();
        let mut tasks = Vec::new();
        for choice in choices {
            let (a, desc) = values[choice.a as usize % values.len()];
            let like: Vec<Source> = values.iter().filter(|v| v.1 == desc).map(|v| v.0).collect();
            let b = like[choice.b as usize % like.len()];
            let (op, line) = way(*choice, &desc);
            let params = Params::line(&line);
            let sources = if op == "blend" { vec![a, b] } else { vec![a] };
            let described = operator(op, &params).infer(&vec![desc; sources.len()]);
            let out = described.unwrap_or_else(|e| panic!("{op} {line} on {desc}: {e}"));
            values.push((Source::Task(tasks.len()), out));
            tasks.push(Task { op, params, sources });
        }
        let outputs = (0..tasks.len()).filter(|&i| outputs >> i & 1 == 1).collect();
        Self { tasks, outputs }
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
    pub(crate) fn run_task_by_task(&self, device: &Device, images: &[ImageBuffer]) -> Results {
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
    pub(crate) fn used_inputs(&self) -> Vec<usize> {
        let used = |i: &usize| self.tasks.iter().any(|t| t.sources.contains(&Source::Input(*i)));
        (0..2).filter(used).collect()
    }

    /// A pipeline of the whole graph. `order` shuffles the order in which inputs, tasks and edges are added.
    pub(crate) fn pipeline(&self, config: PipelineConfig, order: u64) -> Pipeline {
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
        Pipeline::from_graph(graph, config)
    }

    /// Executes once with these images.
    pub(crate) fn execute(&self, pipeline: &mut Pipeline, images: &[ImageBuffer]) -> Results {
        for i in self.used_inputs() {
            pipeline.set_named_input(&input_name(i), &images[i]).expect("a declared input");
        }
        pipeline.execute().unwrap_or_else(|e| panic!("{e}\n{self:?}"));
        self.results(pipeline, 0)
    }

    /// The outputs of one frame of the last execution.
    pub(crate) fn results(&self, pipeline: &Pipeline, frame: usize) -> Results {
        let results: Results =
            pipeline.outputs().map(|(name, frames)| (name.to_owned(), frames[frame].clone())).collect();
        assert!(results.keys().eq(&self.output_names()), "outputs {:?} of {self:?}", results.keys());
        results
    }

    /// Gives some tasks other values of uniform parameters; what changes is returned as task, name, value.
    pub(crate) fn with_other_uniforms(&self, step: f64) -> (Self, Vec<(String, &'static str, Value)>) {
        let (mut other, mut changes) = (self.clone(), Vec::new());
        for (i, task) in other.tasks.iter_mut().enumerate() {
            let (parameter, value) = match task.op {
                "gaussian_blur" => ("sigma", 0.6 + step),
                "threshold" => ("threshold", 0.25 + step),
                "blend" => ("alpha", step / 4.0),
                "normalize" => ("mean", step),
                _ => continue,
            };
            task.params = std::mem::take(&mut task.params).with(parameter, value);
            changes.push((name(i), parameter, Value::Float(value)));
        }
        (other, changes)
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

/// An operator with parameters that fit the image.
fn way(choice: Choice, desc: &ImageDesc) -> (&'static str, String) {
    let mut random = SplitMix64::new(choice.way.into());
    let mut of = |words: &[&str]| words[random.below(words.len() as u32) as usize].to_owned();
    let middle = desc.dtype.full_scale() * 0.4;
    let borders = ["'reflect101'", "'reflect'", "'replicate'", "'wrap'", "'constant'"];
    match choice.op {
        0 => {
            let filter = of(&["'nearest'", "'bilinear'", "'area'", "'bilinear', antialias = true"]);
            let (w, h) = (random.below(MAX_SIDE) + 1, random.below(MAX_SIDE) + 1);
            ("resize", format!("width = {w}, height = {h}, filter = {filter}"))
        }
        1 => {
            let (w, h) = (random.below(desc.width) + 1, random.below(desc.height) + 1);
            ("crop", format!("width = {w}, height = {h}, center = true"))
        }
        2 => ("color_convert", format!("to = '{}'", of(&PixelFormat::ALL.map(PixelFormat::name)))),
        3 => {
            let kernel = of(&["3", "5, sigma = 1.1", "9"]);
            ("gaussian_blur", format!("kernel = {kernel}, border = {}", of(&borders)))
        }
        4 => ("sobel", format!("border = {}", of(&borders))),
        5 => ("flip", format!("direction = {}", of(&["'horizontal'", "'vertical'", "'both'"]))),
        6 => ("threshold", format!("threshold = {middle:?}")),
        7 => ("normalize", of(&["", "mean = 0.4, std = 0.25", "scale = 0.5, mean = 1, std = 3"])),
        8 => ("cast", format!("to = '{}'", of(&DType::ALL.map(DType::name)))),
        9 => ("layout", format!("to = '{}'", of(&Layout::ALL.map(Layout::name)))),
        _ => ("blend", format!("alpha = {}", of(&["0.5", "0.3", "0.875"]))),
    }
}
