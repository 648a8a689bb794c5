//! Properties of fused plans over random graphs of real operators. That the bytes stay the same is tested where
//! there is a device.

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_ops::{Blend, Flip, GaussianBlur, Operator, Rotate90, Sobel, Threshold, Turn};
use mip_plan::{Access, Kernel, Place, Plan};
use proptest::prelude::*;

use crate::testing::TestOp;
use crate::{PlanRequest, TaskGraph, check, plan, uniforms};

/// What a task does, and how far back its inputs are; 0 stands for the pipeline input.
#[derive(Debug, Clone)]
struct Step {
    op: u32,
    back: [usize; 2],
    output: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back = || prop_oneof![1 => Just(0_usize), 6 => 1..4_usize, 2 => 1..16_usize];
    let step = (0..11_u32, back(), back(), prop::bool::weighted(0.15)).prop_map(|(op, a, b, output)| Step {
        op,
        back: [a, b],
        output,
    });
    prop::collection::vec(step, 1..30)
}

/// All operators keep the shape but two kinds: one halves that of the input, one turns it.
fn build(steps: &[Step], input: ImageDesc) -> TaskGraph {
    copied(steps, input, 1)
}

/// The same several times, reading the same input.
fn copied(steps: &[Step], input: ImageDesc, copies: usize) -> TaskGraph {
    let mut graph = TaskGraph::new();
    for copy in 0..copies {
        add(&mut graph, steps, input, copy);
    }
    graph
}

fn add(graph: &mut TaskGraph, steps: &[Step], input: ImageDesc, copy: usize) {
    let mut handles = Vec::new();
    let mut descs: Vec<ImageDesc> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let source = |back: usize| index.checked_sub(back).filter(|_| back > 0);
        let desc_of = |source: Option<usize>| source.map_or(input, |s| descs[s]);
        let first = source(step.back[0]);
        let second = Some(source(step.back[1])).filter(|&s| desc_of(s) == desc_of(first)).unwrap_or(first);
        let operator: Box<dyn Operator> = match step.op {
            0 | 1 => Box::new(GaussianBlur::new(3)),
            2 => Box::new(GaussianBlur::new(31)),
            3 => Box::new(Sobel::default()),
            4 => Box::new(Threshold::new(9.0)),
            5 => Box::new(Flip::default()),
            6 => TestOp::with_inputs(1),
            7 => Box::new(Rotate90::new(Turn::Clockwise)),
            8 if desc_of(first) == input => TestOp::scaled(1, 2),
            _ => Box::new(Blend::default()),
        };
        let inputs = vec![desc_of(first); operator.spec().inputs.len()];
        descs.push(operator.infer(&inputs).unwrap());
        let task = graph.add_task(&format!("t{copy}_{index}"), operator).unwrap();
        for source in [first, second].into_iter().take(inputs.len()) {
            match source {
                None => graph.connect_input("input", task).unwrap(),
                Some(producer) => graph.add_dependency(handles[producer], task).unwrap(),
            }
        }
        handles.push(task);
    }
    for (_, &task) in steps.iter().zip(&handles).filter(|(step, _)| step.output) {
        graph.mark_output(task).unwrap();
    }
}

fn input(width: u32, height: u32, wide: bool) -> ImageDesc {
    ImageDesc::new(width, height, PixelFormat::Gray, if wide { DType::F32 } else { DType::U8 }).unwrap()
}

/// Groups that a group needs, directly or through others.
fn needed(plan: &Plan) -> Vec<Vec<bool>> {
    let mut needed: Vec<Vec<bool>> = Vec::new();
    for group in &plan.groups {
        let mut row = vec![false; plan.groups.len()];
        for &producer in &group.depends_on {
            row[producer] = true;
            row.iter_mut().zip(&needed[producer]).for_each(|(mine, theirs)| *mine |= theirs);
        }
        needed.push(row);
    }
    needed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn fused_plans_keep_the_rules(
        steps in steps(), size in (2..3000_u32, 2..3000_u32), wide in any::<bool>(), streams in 1..5_u32, batch in 1..3_usize
    ) {
        let inputs = [input(size.0, size.1, wide)];
        let graph = build(&steps, inputs[0]);
        let request = PlanRequest { batch, streams, ..PlanRequest::new(&inputs) };
        let fused = plan(&graph, &request).unwrap();
        let unfused = plan(&graph, &PlanRequest { fuse: false, ..request }).unwrap();
        prop_assert_eq!(check(&fused), Ok(()));
        prop_assert_eq!(unfused.groups.len(), unfused.tasks.len());
        // The same tasks, each in one group.
        let mut tasks: Vec<usize> = fused.groups.iter().flat_map(|g| g.tasks.iter().copied()).collect();
        tasks.sort_unstable();
        prop_assert_eq!(tasks, (0..unfused.tasks.len()).collect::<Vec<_>>());
        for group in &fused.groups {
            let whole = group.stages.iter().any(|s| s.kernel.access() == Access::Whole);
            prop_assert!(!whole || group.tasks.len() == 1);
            let mut sizes: Vec<_> = group.writes().iter().map(|&b| {
                let desc = fused.buffers[b].layout.desc;
                (desc.width(), desc.height())
            }).collect();
            sizes.dedup();
            prop_assert_eq!(sizes.len(), 1, "one size, and something is written");
        }
        // What is said of edges adds up to no more than what plans say of themselves.
        let edges: usize = fused.tasks.iter().map(|t| {
            let mut producers = t.producers.clone();
            producers.sort_unstable();
            producers.dedup();
            producers.len()
        }).sum();
        prop_assert_eq!((fused.fusion.len(), unfused.fusion.len()), (edges, edges));
        let saved: u64 = fused.fusion.iter().map(|d| d.bytes_saved).sum();
        prop_assert!(fused.traffic_bytes() + saved <= unfused.traffic_bytes());
    }

    #[test]
    fn only_branches_of_the_same_program_are_fused(steps in steps(), copies in 1..4_usize) {
        // The same steps several times over, side by side.
        let inputs = [input(64, 48, false)];
        let graph = copied(&steps, inputs[0], copies);
        let request = PlanRequest { streams: 3, horizontal_fusion: true, ..PlanRequest::new(&inputs) };
        let joined = plan(&graph, &request).unwrap();
        prop_assert_eq!(check(&joined), Ok(()));
        let apart = plan(&graph, &PlanRequest { horizontal_fusion: false, ..request }).unwrap();
        let branches = |plan: &Plan| plan.groups.iter().map(|g| g.branches().len()).sum::<usize>();
        prop_assert_eq!(branches(&joined), apart.groups.len());
        prop_assert_eq!(&joined.fusion, &apart.fusion);
        for group in joined.groups.iter().filter(|g| g.branches().len() > 1) {
            let outside = group.writes().iter().all(|&b| matches!(joined.buffers[b].place, Place::Output(_)));
            prop_assert!(outside, "no intermediate lives longer");
        }
        // What is written by a copy is written by all: outputs of the last layer are fused where they are the
        // same program.
        if copies > 1 && apart.groups.len() == copies {
            let custom = apart.groups[0].stages.iter().any(|s| matches!(s.kernel, Kernel::Custom(_)));
            prop_assert_eq!(joined.groups.len(), if custom { copies } else { 1 });
        }
        let own = uniforms(&graph, &inputs, &joined).unwrap();
        for (group, uniforms) in joined.groups.iter().zip(own) {
            prop_assert!(group.stages.iter().map(|s| &s.uniforms).eq(uniforms.iter()));
        }
    }

    #[test]
    fn only_what_reads_each_other_is_brought_together(steps in steps()) {
        let inputs = [input(64, 48, false)];
        let graph = build(&steps, inputs[0]);
        let request = PlanRequest { streams: 9, ..PlanRequest::new(&inputs) };
        let (fused, unfused) =
            (plan(&graph, &request).unwrap(), plan(&graph, &PlanRequest { fuse: false, ..request }).unwrap());
        // A group waits for another exactly where a task of one reads a task of the other.
        let needed = needed(&fused);
        let direct = |group: usize, on: usize| {
            fused.groups[group].tasks.iter().any(|&t| {
                unfused.tasks[t].producers.iter().any(|p| fused.groups[on].tasks.contains(p))
            })
        };
        for (group, row) in needed.iter().enumerate() {
            for (on, &needed) in row.iter().enumerate().take(group) {
                prop_assert!(!direct(group, on) || needed);
                prop_assert_eq!(fused.groups[group].depends_on.contains(&on), direct(group, on));
            }
        }
        let own = uniforms(&graph, &inputs, &fused).unwrap();
        for (group, uniforms) in fused.groups.iter().zip(own) {
            prop_assert!(group.stages.iter().map(|s| &s.uniforms).eq(uniforms.iter()));
        }
        prop_assert_eq!(format!("{fused:?}"), format!("{:?}", plan(&graph, &request).unwrap()));
    }
}
