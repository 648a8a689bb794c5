//! Properties of graphs and plans over random DAGs.

use std::collections::{BTreeMap, BTreeSet};

use mip_core::ImageDesc;
use mip_plan::{GroupId, Place, Plan};
use proptest::prelude::*;

use crate::testing::{TestOp, rgb};
use crate::{PlanRequest, TaskGraph, check, plan};

/// For each task its sources: `None` is the pipeline input, `Some(t)` an earlier task.
#[derive(Debug, Clone)]
struct Dag {
    tasks: Vec<(Vec<Option<usize>>, i64)>,
    marked: Vec<usize>,
}

/// Up to 24 tasks with one to three inputs each, mostly from recent tasks so that there are chains and joins.
fn dags() -> impl Strategy<Value = Dag> {
    let source =
        prop_oneof![1 => Just(None), 5 => (1_usize..5).prop_map(Some), 2 => (1_usize..24).prop_map(Some)];
    let task =
        (prop::collection::vec(source, 1..=3), prop_oneof![6 => Just(1_i64), 1 => Just(2), 1 => Just(3)]);
    let marked = prop::collection::vec(0_usize..24, 0..3);
    (prop::collection::vec(task, 1..24), marked).prop_map(|(tasks, marked)| {
        let count = tasks.len();
        let back = |index: usize, distance: usize| index.checked_sub(distance);
        let tasks = tasks
            .into_iter()
            .enumerate()
            .map(|(i, (sources, scale))| {
                (sources.into_iter().map(|s| s.and_then(|d| back(i, d))).collect(), scale)
            })
            .collect();
        Dag { tasks, marked: marked.into_iter().filter(|&m| m < count).collect() }
    })
}

/// The same tasks and edges, added in another order.
fn build_shuffled(dag: &Dag, seed: u64) -> TaskGraph {
    let mut order: Vec<usize> = (0..dag.tasks.len()).collect();
    // Sorting by a hash is shuffling enough.
    order.sort_by_key(|&t| (t as u64 + 1).wrapping_mul(seed | 1).rotate_left(29));
    let mut graph = TaskGraph::new();
    for &index in &order {
        let (sources, scale) = &dag.tasks[index];
        graph.add_task(&format!("t{index}"), TestOp::scaled(sources.len(), *scale)).unwrap();
    }
    for &index in &order {
        let task = graph.task(&format!("t{index}")).unwrap();
        for source in &dag.tasks[index].0 {
            match source {
                None => graph.connect_input("input", task).unwrap(),
                Some(p) => graph.add_dependency(graph.task(&format!("t{p}")).unwrap(), task).unwrap(),
            }
        }
    }
    for marked in &dag.marked {
        graph.mark_output(graph.task(&format!("t{marked}")).unwrap()).unwrap();
    }
    graph
}

fn build(dag: &Dag) -> TaskGraph {
    let mut graph = TaskGraph::new();
    let mut handles = Vec::new();
    for (index, (sources, scale)) in dag.tasks.iter().enumerate() {
        let task = graph.add_task(&format!("t{index}"), TestOp::scaled(sources.len(), *scale)).unwrap();
        for source in sources {
            match source {
                None => graph.connect_input("input", task).unwrap(),
                Some(producer) => graph.add_dependency(handles[*producer], task).unwrap(),
            }
        }
        handles.push(task);
    }
    for &marked in &dag.marked {
        graph.mark_output(handles[marked]).unwrap();
    }
    graph
}

// The few graphs that divide this down to nothing are refused by inference.
const INPUT: (u32, u32) = (1 << 20, 243);

fn planned(dag: &Dag, streams: u32, workspaces: &[usize]) -> Option<Plan> {
    let graph = build(dag);
    let inputs: Vec<ImageDesc> = graph.inputs().iter().map(|_| rgb(INPUT.0, INPUT.1)).collect();
    let workspace = |group: &mip_plan::Group, _: &[mip_core::BatchLayout]| {
        workspaces.get(group.tasks[0] % workspaces.len().max(1)).copied().unwrap_or(0)
    };
    let request = PlanRequest { streams, batch: 2, workspace: &workspace, ..PlanRequest::new(&inputs) };
    match plan(&graph, &request) {
        Ok(plan) => Some(plan),
        Err(error) => {
            assert!(matches!(error, crate::GraphError::Operator { .. }), "{error}");
            None
        }
    }
}

/// Everything that comes before each element, by brute force; `direct` holds earlier elements only.
fn closure(direct: &[Vec<usize>]) -> Vec<Vec<bool>> {
    let mut before: Vec<Vec<bool>> = Vec::new();
    for direct in direct {
        let mut row = vec![false; before.len()];
        for &p in direct {
            row[p] = true;
            row.iter_mut().zip(&before[p]).for_each(|(mine, theirs)| *mine |= theirs);
        }
        before.push(row);
    }
    let size = before.len();
    for row in &mut before {
        row.resize(size, false);
    }
    before
}

/// Which groups have finished when each starts, by streams and waits.
fn reachable(plan: &Plan) -> Vec<Vec<bool>> {
    let direct = |g: usize| {
        let stream_before = (0..g).rev().find(|&p| plan.groups[p].stream == plan.groups[g].stream);
        plan.waits_of(g).chain(stream_before).collect()
    };
    closure(&(0..plan.groups.len()).map(direct).collect::<Vec<_>>())
}

/// Which groups each group needs, directly or through others.
fn needed(plan: &Plan) -> Vec<Vec<bool>> {
    closure(&plan.groups.iter().map(|g| g.depends_on.clone()).collect::<Vec<_>>())
}

/// Size of the largest set of pairwise independent groups, by Dilworth: groups minus a maximum matching, found
/// by the textbook recursive search.
fn width(plan: &Plan) -> usize {
    fn search(g: usize, above: &[Vec<bool>], taken: &mut [Option<usize>], seen: &mut [bool]) -> bool {
        for p in 0..above.len() {
            if above[g][p] && !seen[p] {
                seen[p] = true;
                if taken[p].is_none_or(|other| search(other, above, taken, seen)) {
                    taken[p] = Some(g);
                    return true;
                }
            }
        }
        false
    }
    let n = plan.groups.len();
    let above = needed(plan);
    let mut taken = vec![None; n];
    n - (0..n).filter(|&g| search(g, &above, &mut taken, &mut vec![false; n])).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn plans_pass_the_checker_and_are_the_same_every_time(
        dag in dags(), streams in 1_u32..=5, workspaces in prop::collection::vec(0_usize..100_000, 0..4)
    ) {
        if let Some(plan) = planned(&dag, streams, &workspaces) {
            prop_assert_eq!(check(&plan), Ok(()));
            // As text: the test operator's kernels are custom, and those are equal only to themselves.
            let again = planned(&dag, streams, &workspaces);
            prop_assert_eq!(format!("{:?}", Some(plan)), format!("{again:?}"));
        }
    }

    #[test]
    fn streams_are_as_many_as_are_useful(dag in dags(), streams in 1_u32..=5) {
        if let Some(plan) = planned(&dag, streams, &[]) {
            prop_assert_eq!(plan.streams as usize, width(&plan).min(streams as usize));
        }
    }

    #[test]
    fn with_streams_enough_nothing_is_ordered_that_need_not_be(dag in dags()) {
        if let Some(plan) = planned(&dag, 24, &[]) {
            prop_assert_eq!(reachable(&plan), needed(&plan));
        }
    }

    #[test]
    fn a_group_after_its_only_producer_stays_on_its_stream(dag in dags(), streams in 1_u32..=5) {
        if let Some(plan) = planned(&dag, streams, &[]) {
            for group in &plan.groups {
                if let [producer] = group.depends_on[..] {
                    let followers = plan.groups.iter().filter(|g| g.depends_on.contains(&producer)).count();
                    prop_assert!(followers > 1 || plan.groups[producer].stream == group.stream);
                }
            }
        }
    }

    #[test]
    fn every_wait_is_needed_and_dropping_it_is_noticed(dag in dags(), streams in 2_u32..=5) {
        if let Some(plan) = planned(&dag, streams, &[]) {
            for index in 0..plan.waits.len() {
                let mut without = plan.clone();
                let wait = without.waits.remove(index);
                prop_assert!(!reachable(&without)[wait.group][wait.on]);
                prop_assert!(check(&without).is_err());
            }
        }
    }

    #[test]
    fn moving_a_buffer_onto_another_is_noticed_unless_they_never_meet(
        dag in dags(), streams in 1_u32..=5, pick in any::<(prop::sample::Index, prop::sample::Index)>()
    ) {
        let Some(plan) = planned(&dag, streams, &[]) else { return Ok(()) };
        let arena: Vec<usize> = (0..plan.buffers.len())
            .filter(|&b| matches!(plan.buffers[b].place, Place::Arena { .. }))
            .collect();
        if arena.len() < 2 {
            return Ok(());
        }
        let (moved, onto) = (*pick.0.get(&arena), *pick.1.get(&arena));
        let mut wrong = plan.clone();
        wrong.buffers[moved].place = plan.buffers[onto].place;
        // Room is not what this is about.
        wrong.arena_bytes *= 2;
        prop_assert_eq!(check(&wrong).is_ok(), !any_meeting(&wrong));
    }

    #[test]
    fn swapping_dependent_neighbours_is_noticed(dag in dags(), streams in 1_u32..=5) {
        if let Some(plan) = planned(&dag, streams, &[]) {
            for g in 1..plan.groups.len() {
                if plan.groups[g].depends_on.contains(&(g - 1)) {
                    let mut wrong = plan.clone();
                    wrong.groups.swap(g, g - 1);
                    prop_assert!(check(&wrong).is_err());
                }
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_the_order_of_insertion(dag in dags(), streams in 1_u32..=5, seed in any::<u64>()) {
        let shuffled = build_shuffled(&dag, seed);
        let graph = build(&dag);
        let inputs: Vec<ImageDesc> = graph.inputs().iter().map(|_| rgb(INPUT.0, INPUT.1)).collect();
        let by_name = |graph: &TaskGraph| -> Result<BTreeMap<String, ImageDesc>, ()> {
            let descs = graph.infer(&inputs).map_err(drop)?;
            Ok(graph.tasks().map(|t| (graph.name(t).unwrap().to_owned(), descs[t.index()])).collect())
        };
        prop_assert_eq!(by_name(&graph), by_name(&shuffled));
        let outputs = |graph: &TaskGraph| -> BTreeSet<String> {
            graph.outputs().iter().map(|&t| graph.name(t).unwrap().to_owned()).collect()
        };
        prop_assert_eq!(outputs(&graph), outputs(&shuffled));
        if let Ok(plan) = plan(&shuffled, &PlanRequest { streams, ..PlanRequest::new(&inputs) }) {
            prop_assert_eq!(plan.streams as usize, width(&plan).min(streams as usize));
        }
    }

    #[test]
    fn order_puts_producers_first_and_independence_is_symmetric(dag in dags()) {
        let graph = build(&dag);
        let order: Vec<usize> = graph.topological_order().iter().map(|t| t.index()).collect();
        let place = |t: usize| order.iter().position(|&o| o == t).unwrap();
        for (task, (sources, _)) in dag.tasks.iter().enumerate() {
            for &producer in sources.iter().flatten() {
                prop_assert!(place(producer) < place(task));
            }
        }
        let tasks: Vec<_> = graph.tasks().collect();
        let direct: Vec<Vec<usize>> = dag.tasks.iter().map(|t| t.0.iter().flatten().copied().collect()).collect();
        let above = closure(&direct);
        for (&a, &b) in tasks.iter().zip(tasks.iter().rev()) {
            let independent = graph.are_independent(a, b).unwrap();
            prop_assert_eq!(independent, graph.are_independent(b, a).unwrap());
            // What reads a is independent of b exactly when a does not need b.
            let mut copy = graph.clone();
            let extra = copy.add_task("extra", TestOp::with_inputs(1)).unwrap();
            let (a, b) = (copy.tasks().nth(a.index()).unwrap(), copy.tasks().nth(b.index()).unwrap());
            copy.add_dependency(a, extra).unwrap();
            prop_assert_eq!(copy.are_independent(extra, b).unwrap(), b != a && !above[a.index()][b.index()]);
        }
    }
}

/// Whether two buffers share bytes of the arena and some group may use one while another uses the other.
fn any_meeting(plan: &Plan) -> bool {
    let reach = reachable(plan);
    let ranges: Vec<(usize, usize, GroupId, Vec<GroupId>)> = plan
        .buffers
        .iter()
        .filter_map(|b| match (b.place, b.producer) {
            (Place::Arena { offset }, Some(producer)) => {
                let users = b.consumers.iter().copied().chain([producer]).collect();
                Some((offset, offset + b.layout.span(), producer, users))
            }
            _ => None,
        })
        .collect();
    let over = |a: &(usize, usize, GroupId, Vec<GroupId>), b: &(usize, usize, GroupId, Vec<GroupId>)| {
        a.3.iter().all(|&user| reach[b.2][user])
    };
    ranges
        .iter()
        .enumerate()
        .any(|(i, a)| ranges[..i].iter().any(|b| a.0 < b.1 && b.0 < a.1 && !over(a, b) && !over(b, a)))
}
