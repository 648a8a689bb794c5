//! Planner, plan checker and execution over graphs of all operators with any parameters.

use std::sync::LazyLock;

use arbitrary::{Arbitrary, Unstructured};
use mini_image_pipe::{Device, Error, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_cpu::{CpuConfig, SimdLevel};
use mip_graph::{
    GraphError, PlanRequest, TaskGraph, check, plan, render_dot, render_json, render_memory_svg,
    render_mermaid, render_svg, render_text,
};
use mip_runtime::device::null::{Execution, NullDevice, NullOptions};
use mip_testkit::images::{Pattern, padded};
use mip_testkit::{Params, same_pixels};

use crate::dag::{Choice, Dag, Growing, Results, Task};
use crate::odd::Odd;
use crate::single::try_operator;
use crate::{Outcome, refused};

/// Longest side of an input.
const LONGEST: u32 = 40;
/// Longest side of a result up to which a graph is executed; beyond it is only planned.
const LONGEST_RUN: u32 = 200;
/// Most tasks of a graph.
const TASKS: usize = 8;
/// Most odd parameters of a task.
const ODDS: usize = 3;

#[derive(Debug, Arbitrary)]
struct Input {
    shapes: [Shape; 2],
    /// Whether the second input has the first one's shape.
    same: bool,
    /// Bits that mark outputs, or none.
    outputs: Option<u8>,
    order: u8,
    seed: u8,
    /// With odd parameters for some.
    #[arbitrary(with = tasks)]
    tasks: Vec<(Choice, Vec<Odd>)>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
struct Shape {
    width: u8,
    height: u8,
    format: u8,
    dtype: u8,
    layout: bool,
    pattern: u8,
    padded: bool,
}

/// A graph from bytes: refused for one reason whoever plans or runs it, or planned (each plan passes the checker
/// and prints) and run with the same bytes on one thread task by task and on several, fused or not, joined or not, and
/// without a fault on a device that runs what it is given in any order.
pub fn run(bytes: &[u8]) -> Outcome {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(bytes)) else { return Outcome::Refused };
    let images = input.images();
    let (dag, small) = input.grow(&images);
    if dag.tasks.is_empty() {
        return Outcome::Refused;
    }
    let order = input.order.into();
    let graph = dag.graph(order);
    // Tables of large results take a second to make: once is enough.
    let modes = if small { &PLANS[..] } else { &PLANS[..1] };
    let planned = plans(&graph, &dag.input_descs(&graph, &images), modes);
    if !small {
        return planned.map_or_else(|error| refused(&error), |()| Outcome::Accepted);
    }
    let runs = Modes::new(input.seed).0.map(|config| {
        let mut pipeline = dag.pipeline(config, order);
        dag.try_execute(&mut pipeline, &images)
    });
    if let Err(error) = planned {
        for run in runs {
            assert_eq!(run.err(), Some(Error::Graph(error.clone())), "{dag:?}");
        }
        return refused(&error);
    }
    let results = runs.map(|run| run.unwrap_or_else(|e| panic!("{e}{dag:?}")));
    let [first, others @ .., null_fused, null_unfused] = results;
    for (mode, other) in others.iter().enumerate() {
        assert!(equal(&first, other), "mode {} differs: {dag:?}", mode + 1);
    }
    for null in [null_fused, null_unfused] {
        let shapes = |results: &Results| results.values().map(|i| *i.desc()).collect::<Vec<_>>();
        assert_eq!(shapes(&first), shapes(&null), "{dag:?}");
    }
    Outcome::Accepted
}

/// As many as the first byte says, or as there are bytes for.
fn tasks(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Vec<(Choice, Vec<Odd>)>> {
    let count = bytes.int_in_range(1..=TASKS)?;
    let mut tasks = Vec::new();
    while tasks.len() < count && !bytes.is_empty() {
        let choice = Choice::arbitrary(bytes)?;
        let odds = bytes.int_in_range(0..=2 * ODDS)?.saturating_sub(ODDS);
        tasks.push((choice, (0..odds).map(|_| Odd::arbitrary(bytes)).collect::<Result<_, _>>()?));
    }
    Ok(tasks)
}

impl Input {
    fn images(&self) -> [ImageBuffer; 2] {
        let [a, b] = self.shapes;
        [a, if self.same { a } else { b }].map(|shape| shape.image(self.seed.into()))
    }

    /// The graph, and whether every result is small enough to be computed.
    fn grow(&self, images: &[ImageBuffer; 2]) -> (Dag, bool) {
        let mut growing = Growing::new(&images.each_ref().map(|image| *image.desc()));
        let mut small = true;
        for (choice, odds) in &self.tasks {
            let (mut task, _) = growing.next(*choice);
            for odd in odds {
                put(&mut task, *odd);
            }
            match growing.add(task) {
                Ok(out) if out.width().max(out.height()) > LONGEST_RUN => {
                    small = false;
                    break;
                }
                Ok(_) => {}
                // The whole graph is to be refused, whatever else is in it.
                Err((task, error)) => {
                    refused(&error);
                    growing.add_refused(task);
                    break;
                }
            }
        }
        (growing.finish(self.outputs.map_or(0, u64::from)), small)
    }
}

impl Shape {
    fn image(self, seed: u64) -> ImageBuffer {
        let side = |byte: u8| 1 + u32::from(byte) % LONGEST;
        let of = |byte: u8, count: usize| usize::from(byte) % count;
        let format = PixelFormat::ALL[of(self.format, PixelFormat::ALL.len())];
        let dtype = DType::ALL[of(self.dtype, DType::ALL.len())];
        let desc = ImageDesc::new(side(self.width), side(self.height), format, dtype).expect("small sides");
        let desc = desc.with_layout(Layout::ALL[usize::from(self.layout)]);
        let image = Pattern::ALL[of(self.pattern, Pattern::ALL.len())].draw(desc, seed);
        if self.padded { padded(&image, 16) } else { image }
    }
}

/// Gives a task an odd parameter beside what it has or, where that contradicts it, alone; or not at all.
fn put(task: &mut Task, odd: Odd) {
    let spec = mip_ops::spec(task.op).expect("a registered operator");
    for start in [task.params.clone(), Params::new()] {
        let params = odd.put(spec, start);
        match try_operator(task.op, &params) {
            Ok(_) => {
                task.params = params;
                return;
            }
            Err(error) => _ = refused(&error),
        }
    }
}

/// The execution modes whose results are compared: the plainest first, the null device fused and unfused
/// last.
struct Modes([PipelineConfig; 6]);

/// One thread without special instructions; one and two threads; one that fuses horizontally. Opened once:
/// opening starts threads.
static DEVICES: LazyLock<[Device; 4]> = LazyLock::new(|| {
    let cpu = |threads, simd, horizontal_fusion| {
        let config = CpuConfig { threads: Some(threads), simd, horizontal_fusion };
        Device::cpu_with(config)
    };
    [
        cpu(1, SimdLevel::Portable, false),
        cpu(1, SimdLevel::Native, false),
        cpu(2, SimdLevel::Native, false),
        cpu(2, SimdLevel::Native, true),
    ]
});

impl Modes {
    fn new(seed: u8) -> Self {
        let null = || {
            let execution = Execution::Shuffled { seed: seed.into() };
            Device::from_runtime(NullDevice::new(NullOptions { execution, ..NullOptions::default() }))
        };
        let [plain, one, two, horizontal] = DEVICES.each_ref().map(Device::clone);
        let modes = [
            (plain, 1, false),
            (one, 2, false),
            (two, 4, true),
            (horizontal, 1, true),
            (null(), 4, true),
            (null(), 3, false),
        ];
        Self(modes.map(|(device, num_streams, fuse)| PipelineConfig {
            device,
            num_streams,
            fuse,
            poison: true,
            ..PipelineConfig::default()
        }))
    }
}

/// Whether two results are the same.
fn equal(a: &Results, b: &Results) -> bool {
    a.keys().eq(b.keys()) && a.iter().zip(b).all(|((_, a), (_, b))| same_pixels(a, b))
}

/// Streams, whether fused, and whether branches are joined.
const PLANS: [(u32, bool, bool); 4] =
    [(3, true, true), (1, false, false), (4, false, false), (1, true, false)];

/// Plans the graph in several modes: it is refused in all of them, for the same reason, or in none.
fn plans(graph: &TaskGraph, inputs: &[ImageDesc], modes: &[(u32, bool, bool)]) -> Result<(), GraphError> {
    let results: Vec<_> = modes.iter().map(|mode| planned(graph, inputs, *mode)).collect();
    assert!(results.iter().all(|result| *result == results[0]), "refused only in one way: {results:?}");
    results.into_iter().collect()
}

/// Plans the graph; the plan passes the checker and prints.
fn planned(graph: &TaskGraph, inputs: &[ImageDesc], mode: (u32, bool, bool)) -> Result<(), GraphError> {
    let (streams, fuse, horizontal_fusion) = mode;
    let plan =
        match plan(graph, &PlanRequest { streams, fuse, horizontal_fusion, ..PlanRequest::new(inputs) }) {
            Err(error @ (GraphError::Internal(_) | GraphError::Lowering { .. })) => panic!("{error}"),
            planned => planned?,
        };
    assert_eq!(check(&plan), Ok(()));
    for render in [render_text, render_dot, render_mermaid, render_svg, render_memory_svg] {
        assert!(!render(&plan).is_empty());
    }
    assert!(render_json(&plan).is_object());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use mip_testkit::images::SplitMix64;

    use super::*;

    /// Graphs that are planned, too.
    const PLANNED: usize = 400;

    #[test]
    fn bytes_become_graphs_of_every_operator_small_and_large_right_and_wrong() {
        let mut random = SplitMix64::new(5);
        let (mut ops, mut refused, mut large, mut several) = (BTreeSet::new(), 0, 0, 0);
        let known: BTreeSet<&str> = mip_ops::operators().iter().map(|spec| spec.name).collect();
        // Some operators want images that few bytes make: these are only looked for.
        for round in 0..40_000 {
            if round >= PLANNED && ops.len() == known.len() {
                break;
            }
            let bytes: Vec<u8> = (0..40 + random.below(300)).map(|_| random.below(256) as u8).collect();
            let input = Input::arbitrary_take_rest(Unstructured::new(&bytes)).expect("enough bytes");
            let images = input.images();
            let (dag, small) = input.grow(&images);
            several += u32::from(dag.tasks.len() > 3);
            large += u32::from(!small);
            if round < PLANNED && small && !dag.tasks.is_empty() {
                let graph = dag.graph(input.order.into());
                refused += u32::from(plans(&graph, &dag.input_descs(&graph, &images), &PLANS).is_err());
            }
            ops.extend(dag.tasks.into_iter().map(|task| task.op));
        }
        assert_eq!(ops, known);
        assert!(
            refused > 10 && large > 3 && several > 100,
            "{refused} refused, {large} large, {several} of some size"
        );
    }
}
