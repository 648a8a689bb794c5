use mip_plan::{AxisMap, Kernel, Operand, Place, Plan, Wait, Warp, Workspace};

use super::{PlanFault, check};
use crate::testing::{graph, rgb};
use crate::{PlanRequest, plan};

/// `a -> {b, c} -> d -> e` with inputs and outputs, on two streams, a workspace each: something of
/// everything.
fn good() -> Plan {
    let g = graph(&[("a", &["@input"]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"]), ("e", &["d"])]);
    let inputs = [rgb(64, 32)];
    plan(&g, &PlanRequest { streams: 2, workspace: &|_, _| 100, ..PlanRequest::new(&inputs) }).unwrap()
}

/// The fault after a change of the good plan.
fn fault(change: impl FnOnce(&mut Plan)) -> PlanFault {
    let mut plan = good();
    assert_eq!(check(&plan), Ok(()));
    change(&mut plan);
    check(&plan).expect_err("the change goes unnoticed")
}

#[test]
fn a_missing_wait_is_found() {
    for index in 0..good().waits.len() {
        let dropped = fault(|p| {
            p.waits.remove(index);
        });
        assert!(matches!(dropped, PlanFault::Unordered { .. }), "{dropped}");
    }
}

#[test]
fn a_warp_of_what_its_own_group_makes_is_found() {
    let found = fault(|p| {
        let stage = &mut p.groups[0].stages[1];
        let x = AxisMap::Nearest { input: 64, output: 32 };
        stage.kernel = Kernel::Warp(Warp::Transposed { x, y: AxisMap::Nearest { input: 32, output: 64 } });
        stage.uniforms = [].into();
    });
    assert!(found.to_string().contains("a warp reads a stage of its group"), "{found}");
}

#[test]
fn a_needless_or_impossible_wait_is_found() {
    let add = |group, on| move |p: &mut Plan| p.waits.push(Wait { group, on });
    assert_eq!(good().groups.iter().map(|g| g.stream).collect::<Vec<_>>(), [0, 0, 1, 1, 1]);
    assert!(matches!(fault(add(1, 0)), PlanFault::NeedlessWait { problem: "both run on one stream", .. }));
    assert!(matches!(fault(add(2, 1)), PlanFault::NeedlessWait { problem: "nothing depends on it", .. }));
    assert!(matches!(fault(add(2, 0)), PlanFault::NeedlessWait { problem: "it is listed twice", .. }));
    assert!(matches!(fault(add(1, 2)), PlanFault::ImpossibleWait { .. }));
    assert!(matches!(fault(add(9, 0)), PlanFault::ImpossibleWait { .. }));
    // Here 3 depends on 0 as well, which the wait of 2 on the same stream has covered.
    let implied = fault(|p| {
        let a = p.groups[1].stages[0].inputs[0];
        let Operand::Buffer(a_buffer) = a else { unreachable!("b reads a's buffer") };
        p.groups[3].stages[0].inputs[0] = a;
        p.tasks[3].producers = vec![0, 2];
        p.groups[3].depends_on = vec![0, 2];
        p.buffers[a_buffer].consumers = vec![1, 2, 3];
        let b = p.groups[1].stages[1].store.unwrap();
        p.buffers[b].consumers.clear();
        p.waits = vec![Wait { group: 2, on: 0 }, Wait { group: 3, on: 0 }];
    });
    assert!(matches!(implied, PlanFault::NeedlessWait { group: 3, on: 0, .. }), "{implied}");
}

#[test]
fn ranges_that_may_be_alive_at_once_are_found() {
    let offset = |p: &Plan, buffer: usize| match p.buffers[buffer].place {
        Place::Arena { offset } => offset,
        other => panic!("{other:?}"),
    };
    // Producer and consumer side by side, and a result under its reader's own.
    for (moved, onto) in [(1, 2), (2, 3), (3, 2), (3, 4)] {
        let found = fault(|p| p.buffers[moved].place = Place::Arena { offset: offset(p, onto) });
        assert!(matches!(found, PlanFault::Overlap { .. }), "{moved} onto {onto}: {found}");
    }
    // Scratch of two groups on different streams, and scratch under the group's own result.
    let shared = fault(|p| {
        let place = p.groups[1].workspace;
        p.groups[2].workspace = place;
    });
    assert!(matches!(shared, PlanFault::Overlap { .. }), "{shared}");
    let own = fault(|p| p.groups[1].workspace = Some(Workspace { offset: offset(p, 2), bytes: 1 }));
    assert!(matches!(own, PlanFault::Overlap { .. }), "{own}");
}

#[test]
fn ranges_outside_the_arena_or_off_alignment_are_found() {
    for bad in [1, usize::MAX - 63, good().arena_bytes] {
        let found = fault(|p| p.buffers[1].place = Place::Arena { offset: bad });
        assert!(matches!(found, PlanFault::Range { .. }), "{found}");
    }
    assert!(matches!(fault(|p| p.arena_bytes -= 64), PlanFault::Range { .. }));
    let empty = fault(|p| p.groups[0].workspace = Some(Workspace { offset: 0, bytes: 0 }));
    assert!(matches!(empty, PlanFault::Range { .. }), "{empty}");
}

#[test]
fn wrong_launch_orders_are_found() {
    for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)] {
        fault(|p| p.groups.swap(a, b));
    }
    let late = fault(|p| {
        // The same swap with every reference mended: only the order itself is wrong.
        p.groups.swap(3, 4);
        p.groups[3].depends_on = vec![4];
        p.tasks[3].group = 4;
        p.tasks[4].group = 3;
        for buffer in &mut p.buffers {
            let swap = |g: usize| [0, 1, 2, 4, 3][g];
            buffer.producer = buffer.producer.map(swap);
            buffer.consumers = buffer.consumers.iter().map(|&g| swap(g)).collect();
        }
    });
    assert_eq!(late, PlanFault::LaunchOrder { group: 3, needs: 4 });
}

#[test]
fn dangling_and_contradictory_references_are_found() {
    type Change = fn(&mut Plan);
    let changes: [Change; 17] = [
        |p| p.inputs[0].buffer = 1,
        |p| p.inputs[0].buffer = 99,
        |p| p.outputs[0].buffer = 99,
        |p| p.outputs[0].task = 99,
        |p| p.outputs[0].task = 0,
        |p| p.outputs.clear(),
        |p| p.buffers[1].producer = Some(1),
        |p| p.buffers[1].producer = None,
        |p| p.buffers[1].consumers = vec![1],
        |p| p.buffers[0].producer = Some(0),
        |p| p.groups[0].stages[1].store = Some(99),
        |p| p.groups[0].stages[1].store = None,
        |p| p.groups[1].stages[0].inputs = vec![Operand::Buffer(99)],
        |p| p.groups[1].stages[0].inputs = vec![Operand::Stage(0)],
        |p| p.groups[0].stream = 7,
        |p| p.streams = 3,
        |p| p.groups.truncate(3),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let found = fault(change);
        let expected = matches!(found, PlanFault::Reference { .. } | PlanFault::Stage { .. });
        assert!(expected || matches!(found, PlanFault::Count { .. }), "change {index}: {found}");
    }
    assert!(matches!(fault(|p| p.groups[3].depends_on = vec![2]), PlanFault::Dependencies { .. }));
    assert!(matches!(fault(|p| p.batch = 2), PlanFault::Layout { .. }));
    assert!(matches!(fault(|p| p.batch = 0), PlanFault::Count { .. }));
    assert!(matches!(fault(|p| p.streams = u32::MAX), PlanFault::Count { .. }));
    assert!(matches!(fault(|p| p.buffers[1].layout.row_stride = 1), PlanFault::Layout { .. }));
}

#[test]
fn stages_and_tasks_that_do_not_fit_are_found() {
    let wider = |p: &mut Plan| p.groups[0].stages[1].output = rgb(65, 32);
    assert!(matches!(fault(wider), PlanFault::Stage { group: 0, stage: 1, .. }));
    let uniforms = |p: &mut Plan| p.groups[0].stages[1].uniforms = vec![1.0].into();
    assert!(matches!(fault(uniforms), PlanFault::Stage { .. }));
    let two = |p: &mut Plan| p.groups[4].stages[0].inputs.push(Operand::Buffer(0));
    assert!(matches!(fault(two), PlanFault::Reference { .. } | PlanFault::Stage { .. }));
    assert!(matches!(fault(|p| p.tasks[4].output = rgb(1, 1)), PlanFault::Task { task: 4, .. }));
    assert!(matches!(fault(|p| p.tasks[3].group = 0), PlanFault::Task { task: 3, .. }));
    assert!(matches!(fault(|p| p.tasks[3].group = 99), PlanFault::Task { task: 3, .. }));
    assert!(matches!(fault(|p| p.tasks[0].producers = vec![3]), PlanFault::Task { task: 0, .. }));
    assert!(matches!(fault(|p| p.tasks[4].producers.clear()), PlanFault::Task { task: 4, .. }));
}

#[test]
fn what_may_not_share_a_group_and_what_is_said_of_edges_is_found() {
    let said = |change: fn(&mut Plan)| fault(change).to_string();
    assert!(said(|p| p.fusion[0].fused = true).contains("says fused true, but tasks"));
    assert!(said(|p| p.fusion[0].from = 4).contains("does not read task 4"));
    assert!(said(|p| p.fusion[0].to = 9).contains("there is no task 9"));
    let line = "a:gaussian_blur ! b:threshold threshold=3 ! c:flip inputs=@input ! d:blend inputs=b,c";
    let mut g = crate::PipelineSpec::parse_line(line).unwrap().build().unwrap();
    let inputs = [rgb(64, 32)];
    let fused = plan(&g, &PlanRequest::new(&inputs)).unwrap();
    assert_eq!(fused.groups.len(), 1);
    // The same with a custom kernel in place of the blur.
    let mut wrong = fused.clone();
    wrong.groups[0].stages[0].kernel = good().groups[0].stages[0].kernel.clone();
    assert!(check(&wrong).unwrap_err().to_string().contains("shares its group with another task"));
    // Two chains that only share an input, in one group.
    for name in ["b", "c"] {
        g.mark_output(g.task(name).unwrap()).unwrap();
    }
    let mut apart = plan(&g, &PlanRequest::new(&inputs)).unwrap();
    assert_eq!(apart.groups.len(), 2);
    let mut second = apart.groups.remove(1);
    apart.groups[0].tasks.append(&mut second.tasks);
    let first = apart.groups[0].stages.len();
    apart.groups[0].stages.append(&mut second.stages);
    assert_eq!(first, 2);
    for task in &mut apart.tasks {
        task.group = 0;
    }
    for buffer in &mut apart.buffers {
        buffer.producer = buffer.producer.map(|_| 0);
        buffer.consumers.dedup_by_key(|_| 0);
        buffer.consumers.iter_mut().for_each(|c| *c = 0);
    }
    let found = check(&apart).unwrap_err().to_string();
    assert!(found.contains("has nothing to do with the others"), "{found}");
}
