//! Random graphs with random failures against a reference that goes through the tasks one by one.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::device::null::{CommandKind, Execution};
use crate::testing::Work;

/// A task: its stream, its sources (0 the pipeline input, n the task n-1) and whether it fails.
#[derive(Debug, Clone)]
struct Node {
    stream: u32,
    sources: Vec<usize>,
    fails: bool,
}

fn graphs() -> impl Strategy<Value = Vec<Node>> {
    let node = (0..4_u32, any::<[prop::sample::Index; 2]>(), any::<bool>(), prop::bool::weighted(0.15));
    proptest::collection::vec(node, 1..14).prop_map(|nodes| {
        let with_index = nodes.into_iter().enumerate();
        let build =
            |(index, (stream, picks, two, fails)): (usize, (u32, [prop::sample::Index; 2], bool, bool))| {
                let sources =
                    picks.iter().take(1 + usize::from(two)).map(|pick| pick.index(index + 1)).collect();
                Node { stream, sources, fails }
            };
        with_index.map(build).collect()
    })
}

fn plan(nodes: &[Node]) -> Arc<Plan> {
    let mut builder = PlanBuilder::new(1);
    let mut buffers = vec![builder.input("input", gray(5, 3))];
    for (index, node) in nodes.iter().enumerate() {
        let inputs: Vec<usize> = node.sources.iter().map(|&source| buffers[source]).collect();
        let work = match inputs.len() {
            1 => Work::affine(1.0, index as f32),
            _ => Work::blend(1.0, 1.0),
        };
        buffers.push(builder.task(&format!("t{index}"), node.stream, work, &inputs));
        let across: BTreeSet<usize> = node
            .sources
            .iter()
            .filter_map(|s| s.checked_sub(1))
            .filter(|&t| nodes[t].stream != node.stream)
            .collect();
        for on in across {
            builder.wait(index, on);
        }
    }
    for &buffer in &buffers[1..] {
        let read = nodes.iter().any(|node| node.sources.iter().any(|&source| buffers[source] == buffer));
        if !read {
            builder.output(buffer);
        }
    }
    builder.build()
}

/// For each task: the failing task that stops it, if any, and the first two pixels of its result.
fn expected(nodes: &[Node]) -> Vec<(Option<TaskId>, [u8; 2])> {
    let mut results: Vec<(Option<TaskId>, [u8; 2])> = vec![(None, [0, 1])];
    for (index, node) in nodes.iter().enumerate() {
        let sources: Vec<_> = node.sources.iter().map(|&source| results[source]).collect();
        let inherited = sources.iter().filter_map(|(cause, _)| *cause).min();
        let cause = inherited.or(node.fails.then_some(index));
        let pixel = |i: usize| match sources[..] {
            [(_, a)] => a[i].saturating_add(index as u8),
            [(_, a), (_, b)] => a[i].saturating_add(b[i]),
            _ => unreachable!("one or two sources"),
        };
        results.push((cause, [pixel(0), pixel(1)]));
    }
    results.split_off(1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn runs_end_as_the_reference_says(
        nodes in graphs(),
        seed in any::<u64>(),
        [unified_memory, replay, ordered] in any::<[bool; 3]>(),
    ) {
        let execution = Execution::Shuffled { seed };
        let stream_ordered = Ok(());
        let options = NullOptions { execution, unified_memory, stream_ordered, ..NullOptions::default() };
        let plan = plan(&nodes);
        let mode = if ordered { AllocatorMode::StreamOrdered } else { AllocatorMode::Pooled };
        let bench = Bench::with(options, plan.clone(), replay, mode);
        let mut images = Vec::new(); // Held, so that later runs get memory at other addresses.
        for round in 0..2 {
            let report = bench.run();
            prop_assert_eq!(&report.error, &None, "round {}", round);
            images.push(report);
        }
        for (group, _) in nodes.iter().enumerate().filter(|(_, node)| node.fails) {
            bench.device.inject(Site::Run(CommandKind::Launch(group)), boom());
        }
        let report = bench.run();
        let expected = expected(&nodes);
        for (index, (task, (cause, _))) in report.tasks.iter().zip(&expected).enumerate() {
            let state = cause.map_or(TaskState::Completed, |cause| TaskState::Failed { cause });
            prop_assert_eq!(task.state, state, "task {}", index);
            let ran = cause.is_none_or(|cause| cause == index);
            prop_assert_eq!(task.invocations, u64::from(ran));
        }
        for (index, output) in plan.outputs.iter().enumerate() {
            let (cause, pixels) = expected[output.task];
            prop_assert_eq!(head(&report, index), cause.is_none().then_some(pixels));
        }
        let mut reported: Vec<TaskId> = bench.reported.lock().unwrap().iter().map(|(task, ..)| *task).collect();
        reported.sort_unstable();
        let failing: Vec<TaskId> =
            (0..nodes.len()).filter(|&index| expected[index].0 == Some(index)).collect();
        prop_assert_eq!(&reported, &failing);
        prop_assert_eq!(report.error.is_some(), !failing.is_empty());

        bench.device.clear_faults();
        prop_assert_eq!(bench.run().error, None);
        let graphs = bench.graphs();
        let replayed = (graphs.captures, graphs.replays, graphs.direct_runs);
        prop_assert_eq!(replayed, if replay { (1, 3, 0) } else { (0, 0, 4) });
        drop((images, report));
        bench.session.trim();
        bench.session.manager().trim();
        prop_assert_eq!(bench.device.allocated(), 0, "everything is given back");
    }
}
