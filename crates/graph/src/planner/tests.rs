use mip_plan::{Place, Plan, Wait};

use super::{PlanRequest, plan};
use crate::testing::{TestOp, graph, rgb};
use crate::{GraphError, MAX_TASKS, TaskGraph};

fn planned(graph: &TaskGraph, streams: u32) -> Plan {
    let inputs = vec![rgb(64, 32); graph.inputs().len()];
    plan(graph, &PlanRequest { streams, ..PlanRequest::new(&inputs) }).unwrap()
}

fn streams(plan: &Plan) -> Vec<u32> {
    plan.groups.iter().map(|g| g.stream).collect()
}

#[test]
fn a_chain_uses_one_stream_no_waits_and_two_intermediates() {
    let chain = graph(&[("a", &["@input"]), ("b", &["a"]), ("c", &["b"]), ("d", &["c"]), ("e", &["d"])]);
    let plan = planned(&chain, 4);
    assert_eq!((plan.streams, plan.waits.len()), (1, 0));
    let one = 64 * 3 * 32;
    assert_eq!((plan.arena_bytes, plan.sum_of_buffers()), (2 * one, 5 * one));
    let places: Vec<Place> = plan.buffers.iter().map(|b| b.place).collect();
    assert_eq!(
        places,
        [
            Place::Input(0),
            Place::Arena { offset: 0 },
            Place::Arena { offset: one },
            Place::Arena { offset: 0 },
            Place::Arena { offset: one },
            Place::Output(0)
        ]
    );
}

#[test]
fn a_diamond_uses_two_streams_and_two_waits() {
    let diamond = graph(&[("a", &["@input"]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])]);
    for given in [2, 3, 5] {
        let plan = planned(&diamond, given);
        assert_eq!(streams(&plan), [0, 0, 1, 1]);
        assert_eq!(plan.waits, [Wait { group: 2, on: 0 }, Wait { group: 3, on: 1 }]);
        assert_eq!(plan.groups[3].depends_on, [1, 2]);
    }
    assert_eq!(planned(&diamond, 1).waits, []);
}

#[test]
fn a_wait_that_another_implies_is_left_out() {
    // d reads a and c; c, on d's stream or waited for, has already waited for a.
    let skip = graph(&[
        ("a", &["@input"]),
        ("b", &["a"]),
        ("c", &["a"]),
        ("d", &["a", "c"]),
        ("e", &["b", "d", "a"]),
    ]);
    let plan = planned(&skip, 2);
    assert_eq!(plan.waits.len(), 2, "{:?}", plan.waits);
}

#[test]
fn branches_that_run_side_by_side_never_share_memory() {
    let fork =
        graph(&[("a", &["@input"]), ("b", &["a"]), ("c", &["@input"]), ("d", &["c"]), ("e", &["b", "d"])]);
    assert_eq!(planned(&fork, 2).arena_bytes, 4 * 64 * 3 * 32);
    // One after the other, c's launch follows every use of a.
    assert_eq!(planned(&fork, 1).arena_bytes, 3 * 64 * 3 * 32);
}

#[test]
fn an_output_that_others_read_is_one_tight_buffer() {
    let mut g = graph(&[("a", &["@input"]), ("b", &["a"])]);
    for name in ["b", "a"] {
        g.mark_output(g.task(name).unwrap()).unwrap();
    }
    let inputs = [rgb(5, 3)];
    let plan = plan(&g, &PlanRequest { batch: 2, ..PlanRequest::new(&inputs) }).unwrap();
    assert_eq!((plan.buffers.len(), plan.arena_bytes), (3, 0));
    assert_eq!(plan.outputs.iter().map(|o| (o.task, o.buffer)).collect::<Vec<_>>(), [(1, 2), (0, 1)]);
    assert!(plan.buffers.iter().all(|b| b.layout.is_tight() && b.layout.batch_size == 2));
    assert_eq!(plan.buffers[1].consumers, [1]);
}

#[test]
fn intermediates_have_padded_rows_and_whole_batches() {
    let g = graph(&[("a", &["@input"]), ("b", &["a"])]);
    let inputs = [rgb(5, 3)];
    let plan = plan(&g, &PlanRequest { batch: 7, ..PlanRequest::new(&inputs) }).unwrap();
    assert_eq!((plan.buffers[1].layout.row_stride, plan.arena_bytes), (64, 7 * 3 * 64));
}

#[test]
fn tasks_no_marked_output_needs_are_left_out_but_still_checked() {
    let mut g = graph(&[("a", &["@input"]), ("dead", &["a"]), ("dead2", &["dead"]), ("b", &["a"])]);
    g.mark_output(g.task("b").unwrap()).unwrap();
    let names: Vec<String> = planned(&g, 4).tasks.into_iter().map(|t| t.name.to_string()).collect();
    assert_eq!(names, ["a", "b"]);
    let dead = g.add_task("dead3", TestOp::scaled(1, 16)).unwrap();
    g.add_dependency(g.task("dead2").unwrap(), dead).unwrap();
    let tiny = [rgb(8, 8)];
    let error = plan(&g, &PlanRequest::new(&tiny)).unwrap_err();
    assert!(matches!(&error, GraphError::Operator { task, .. } if task == "dead3"), "{error}");
}

#[test]
fn workspaces_take_part_in_reuse() {
    let g = graph(&[("a", &["@input"]), ("b", &["a"]), ("c", &["b"])]);
    let inputs = [rgb(64, 32)];
    let workspace: &dyn Fn(&mip_plan::Group, &[mip_core::BatchLayout]) -> usize = &|group, layouts| {
        assert_eq!(layouts.len(), 4);
        if group.tasks == [1] { 0 } else { 1000 }
    };
    let plan = plan(&g, &PlanRequest { workspace, ..PlanRequest::new(&inputs) }).unwrap();
    let sizes: Vec<Option<usize>> = plan.groups.iter().map(|g| g.workspace.map(|w| w.bytes)).collect();
    assert_eq!(sizes, [Some(1000), None, Some(1000)]);
    // a's result and its scratch, then b's result in place of neither; c's scratch reuses a's bytes.
    assert_eq!(plan.arena_bytes, 2 * 64 * 3 * 32);
}

#[test]
fn a_plan_over_the_limit_is_refused_with_the_numbers() {
    let g = graph(&[("a", &["@input"]), ("b", &["a"])]);
    let inputs = [rgb(64, 32)];
    let request = |limit| PlanRequest { memory_limit: Some(limit), ..PlanRequest::new(&inputs) };
    let one = 64 * 3 * 32;
    assert!(plan(&g, &request(3 * one)).is_ok());
    let error = plan(&g, &request(3 * one - 1)).unwrap_err();
    assert_eq!(
        error,
        GraphError::MemoryLimit {
            needed: 3 * one,
            inputs: one,
            outputs: one,
            arena: one,
            batch: 1,
            limit: 3 * one - 1
        }
    );
}

#[test]
fn sizes_that_overflow_are_errors() {
    let inputs = [rgb(1 << 30, 1 << 30)];
    let g = graph(&[("a", &["@input"]), ("b", &["a"]), ("c", &["b"])]);
    let error = plan(&g, &PlanRequest::new(&inputs)).unwrap_err();
    assert_eq!(error, GraphError::TooLarge { batch: 1 });
    let error = plan(&g, &PlanRequest { batch: usize::MAX, ..PlanRequest::new(&inputs) }).unwrap_err();
    assert!(matches!(error, GraphError::Image { .. }), "{error}");
    let small = [rgb(4, 4)];
    let huge_workspace = PlanRequest { workspace: &|_, _| usize::MAX, ..PlanRequest::new(&small) };
    assert_eq!(plan(&g, &huge_workspace).unwrap_err(), GraphError::TooLarge { batch: 1 });
}

#[test]
fn impossible_requests_and_contradictory_operators_are_refused() {
    let inputs = [rgb(4, 4)];
    let mut g = graph(&[("a", &["@input"])]);
    let good = PlanRequest::new(&inputs);
    for bad in [PlanRequest { batch: 0, ..good }, PlanRequest { streams: 0, ..good }] {
        assert!(matches!(plan(&g, &bad), Err(GraphError::Request { given: 0, .. })));
    }
    assert!(matches!(
        plan(&g, &PlanRequest::new(&[])),
        Err(GraphError::InputCount { expected: 1, given: 0, .. })
    ));
    let liar = g.add_task("liar", TestOp::lying()).unwrap();
    g.connect_input("input", liar).unwrap();
    let error = plan(&g, &good).unwrap_err();
    assert!(matches!(&error, GraphError::Lowering { task, op: "one", .. } if task == "liar"), "{error}");
}

#[test]
fn wide_graphs_use_every_stream_and_no_more() {
    let wide = graph(&[
        ("a", &["@input"]),
        ("b", &["a"]),
        ("c", &["a"]),
        ("d", &["a"]),
        ("e", &["a"]),
        ("f", &["b", "c"]),
        ("g", &["d", "e"]),
    ]);
    for (given, used) in [(1, 1), (2, 2), (3, 3), (4, 4), (9, 4)] {
        assert_eq!(planned(&wide, given).streams, used);
    }
}

#[test]
fn the_largest_graph_is_planned_and_no_larger_one_made() {
    let mut g = TaskGraph::new();
    let root = g.add_task("root", TestOp::with_inputs(1)).unwrap();
    g.connect_input("input", root).unwrap();
    // Chains of every length and joins between them.
    let mut last = [root; 64];
    for i in 1..MAX_TASKS {
        let task = g.add_task(&format!("t{i}"), TestOp::with_inputs(1 + i % 2)).unwrap();
        g.add_dependency(last[i * i % 64], task).unwrap();
        if i % 2 == 1 {
            g.add_dependency(last[i * 7 % 64], task).unwrap();
        }
        last[i % 64] = task;
    }
    let full = g.add_task("one_more", TestOp::with_inputs(1));
    assert_eq!(full, Err(GraphError::TooManyTasks { max: MAX_TASKS }));
    let plan = planned(&g, 8);
    assert_eq!((plan.groups.len(), plan.streams), (MAX_TASKS, 8));
}

#[test]
fn every_pass_has_a_name_of_its_own() {
    let mut names: Vec<&str> = super::passes().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), super::PASSES.len());
}
