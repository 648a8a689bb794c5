//! Operators for tests: no pixels, but every shape of graph.

use std::sync::Arc;

use mip_core::{DType, ImageDesc, ImageView, ImageViewMut, PixelFormat};
use mip_ops::{
    Change, Extra, KernelStep, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec,
    StepInput, Value,
};
use mip_plan::{CustomError, CustomKernel, Kernel, Point};

use crate::{GraphError, TaskGraph, TaskHandle};

const GAIN: ParamSpec = ParamSpec {
    name: "gain",
    help: "Factor",
    kind: ParamKind::Float { min: 0.0, max: 8.0, above_min: false },
    default: Some("1"),
    required: false,
    change: Change::Uniform,
    of_image: false,
    is_file: false,
};
const SCALE: ParamSpec = ParamSpec {
    name: "scale",
    help: "Divides the size",
    kind: ParamKind::Int { min: 1, max: 16, odd: false },
    default: Some("1"),
    required: false,
    change: Change::Structural,
    of_image: false,
    is_file: false,
};

macro_rules! test_spec {
    ($name:ident, $text:literal, $inputs:expr) => {
        static $name: OperatorSpec = OperatorSpec {
            name: $text,
            summary: "A test operator",
            inputs: $inputs,
            params: &[GAIN, SCALE],
            extra: Extra::NONE,
            examples: &[""],
            create: |_| Ok(Box::new(TestOp::new(&$name))),
        };
    };
}
test_spec!(ONE, "one", &["image"]);
test_spec!(TWO, "two", &["a", "b"]);
test_spec!(THREE, "three", &["a", "b", "c"]);

/// Takes one to three images of any shape; makes an image of the first one's shape divided by `scale`, in two
/// kernels: one that sees everything, and a gain.
#[derive(Debug, Clone)]
pub(crate) struct TestOp {
    spec: &'static OperatorSpec,
    gain: f64,
    scale: i64,
    kernel: Arc<Anything>,
    lie: bool,
}

#[derive(Debug)]
struct Anything(usize);

impl CustomKernel for Anything {
    fn name(&self) -> &'static str {
        "anything"
    }
    fn input_count(&self) -> usize {
        self.0
    }
    fn run(&self, _: &[ImageView<'_>], _: &[f32], _: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        Ok(())
    }
}

impl TestOp {
    fn new(spec: &'static OperatorSpec) -> Self {
        Self { spec, gain: 1.0, scale: 1, kernel: Arc::new(Anything(spec.inputs.len())), lie: false }
    }

    /// An operator with that many inputs, 1 to 3.
    pub(crate) fn with_inputs(count: usize) -> Box<dyn Operator> {
        Box::new(Self::new([&ONE, &TWO, &THREE][count - 1]))
    }

    /// One that divides the size.
    pub(crate) fn scaled(count: usize, scale: i64) -> Box<dyn Operator> {
        Box::new(Self { scale, ..Self::new([&ONE, &TWO, &THREE][count - 1]) })
    }

    /// One whose kernels contradict its inference.
    pub(crate) fn lying() -> Box<dyn Operator> {
        Box::new(Self { lie: true, ..Self::new(&ONE) })
    }
}

impl Operator for TestOp {
    fn spec(&self) -> &'static OperatorSpec {
        self.spec
    }

    fn get(&self, parameter: &str) -> Option<Value> {
        match parameter {
            "gain" => Some(Value::Float(self.gain)),
            "scale" => Some(Value::Int(self.scale)),
            _ => None,
        }
    }

    fn set(&mut self, parameter: &str, value: Value) -> Result<(), ParamError> {
        match (parameter, value) {
            ("gain", Value::Float(gain)) => self.gain = gain,
            ("scale", Value::Int(scale)) => self.scale = scale,
            (name, value) => unreachable!("'{name}' = {value} was not checked"),
        }
        Ok(())
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let first = inputs[0];
        let size = |n: u32| n / self.scale as u32;
        Ok(ImageDesc::new(size(first.width()), size(first.height()), first.format(), first.dtype())?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let mut output = self.infer(inputs)?;
        if self.lie {
            output = output.with_size(output.width() + 1, output.height())?;
        }
        let channels = output.channels();
        let gains = (0..channels).flat_map(|_| [self.gain as f32, 0.0]);
        Ok(Lowered {
            steps: vec![
                KernelStep {
                    kernel: Kernel::Custom(self.kernel.clone()),
                    uniforms: Vec::new().into(),
                    inputs: (0..inputs.len()).map(StepInput::Slot).collect(),
                    output,
                },
                KernelStep {
                    kernel: Kernel::Point(Point::affine(output.format())),
                    uniforms: gains.collect(),
                    inputs: vec![StepInput::Step(0)],
                    output,
                },
            ],
        })
    }

    fn clone_box(&self) -> Box<dyn Operator> {
        Box::new(self.clone())
    }
}

/// An 8-bit RGB image.
pub(crate) fn rgb(width: u32, height: u32) -> ImageDesc {
    ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap()
}

/// A graph from `(name, producers)`; `@name` is a pipeline input.
pub(crate) fn graph(tasks: &[(&str, &[&str])]) -> TaskGraph {
    let mut graph = TaskGraph::new();
    for (name, producers) in tasks {
        add(&mut graph, name, producers).unwrap();
    }
    graph
}

fn add(graph: &mut TaskGraph, name: &str, producers: &[&str]) -> Result<TaskHandle, GraphError> {
    let task = graph.add_task(name, TestOp::with_inputs(producers.len()))?;
    for producer in producers {
        match producer.strip_prefix('@') {
            Some(input) => {
                if input != "input" && !graph.inputs().iter().any(|i| i == input) {
                    graph.declare_input(input)?;
                }
                graph.connect_input(input, task)?;
            }
            None => graph.add_dependency(graph.task(producer)?, task)?,
        }
    }
    Ok(task)
}
