use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Operand, Plan};

use super::merge::MAX_STAGES;
use crate::testing::{TestOp, rgb};
use crate::{PipelineSpec, PlanRequest, TaskGraph, plan};

fn build(line: &str) -> TaskGraph {
    PipelineSpec::parse_line(line).unwrap().build().unwrap()
}

fn planned(graph: &TaskGraph, input: ImageDesc) -> Plan {
    let inputs = vec![input; graph.inputs().len()];
    plan(graph, &PlanRequest { streams: 4, ..PlanRequest::new(&inputs) }).unwrap()
}

/// Names of the tasks of each group.
fn groups(plan: &Plan) -> Vec<Vec<&str>> {
    plan.groups.iter().map(|g| g.tasks.iter().map(|&t| plan.tasks[t].name.as_ref()).collect()).collect()
}

fn reason<'p>(plan: &'p Plan, from: &str, to: &str) -> &'p str {
    let task = |name: &str| plan.tasks.iter().position(|t| &*t.name == name).unwrap();
    let decision = plan.fusion.iter().find(|d| (d.from, d.to) == (task(from), task(to))).unwrap();
    &decision.reason
}

const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 ! edges:sobel inputs=gray \
                    ! mix:blend inputs=soft,edges ! threshold threshold=40";

#[test]
fn the_benchmark_chains_are_one_kernel_each() {
    let edges = "color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel";
    let cases = [
        (format!("resize width=1280 height=720 ! {edges}"), (1920, 1080)),
        (format!("resize width=1920 height=1080 ! {edges}"), (3840, 2160)),
        (format!("resize width=1283 height=721 ! {edges}"), (1919, 1077)),
        (
            "resize shorter_side=256 ! crop width=224 height=224 ! normalize ! layout to=chw".to_owned(),
            (500, 375),
        ),
        (FORK.to_owned(), (1920, 1080)),
    ];
    for (line, (width, height)) in cases {
        let plan = planned(&build(&line), rgb(width, height));
        assert_eq!(plan.groups.len(), 1, "{line}: {:?}", plan.fusion);
        assert_eq!((plan.arena_bytes, plan.streams, plan.buffers.len()), (0, 1, 2));
        assert!(plan.fusion.iter().all(|d| d.fused && d.bytes_saved > 0));
    }
}

#[test]
fn wide_windows_stay_apart_and_maps_join_one_of_them() {
    let line = "gray:color_convert to=gray ! a:gaussian_blur kernel=31 ! t:threshold threshold=3 ! b:gaussian_blur kernel=31";
    let plan = planned(&build(line), rgb(1920, 1080));
    assert_eq!(groups(&plan), [vec!["gray", "a", "t"], vec!["b"]]);
    assert!(reason(&plan, "t", "b").contains("halos cost"), "{}", reason(&plan, "t", "b"));
    // Where a tile is the whole image there is no halo.
    assert_eq!(planned(&build(line), rgb(64, 32)).groups.len(), 1);
}

#[test]
fn a_custom_kernel_is_alone_and_nothing_is_fused_around_it() {
    let mut g = build("a:flip ! b:gaussian_blur ! mix:blend inputs=a,b");
    let c = g.add_task("c", TestOp::with_inputs(1)).unwrap();
    g.add_dependency(g.task("a").unwrap(), c).unwrap();
    let last = g.add_task("last", blend()).unwrap();
    g.add_dependency(g.task("a").unwrap(), last).unwrap();
    g.add_dependency(c, last).unwrap();
    let plan = planned(&g, rgb(64, 32));
    let groups = groups(&plan);
    assert_eq!(groups, [vec!["a", "b", "mix"], vec!["c"], vec!["last"]]);
    assert_eq!(reason(&plan, "a", "c"), "'c' has a custom kernel, which runs alone");
    assert_eq!(reason(&plan, "a", "last"), "'c' stands between them");
}

#[test]
fn what_has_sums_is_alone() {
    let line =
        "a:flip ! b:crop width=20 height=10 ! c:cast to=f32 scale=false ! d:threshold threshold=9 ! e:invert";
    let plan = planned(&build(line), rgb(64, 32).with_dtype(DType::I32).unwrap());
    assert_eq!(groups(&plan), [vec!["a"], vec!["b"], vec!["c"], vec!["d", "e"]]);
    assert_eq!(reason(&plan, "a", "b"), "'a' has samples of i32, so it runs alone");
    assert_eq!(reason(&plan, "c", "d"), "'c' has samples of i32, so it runs alone");
}

#[test]
fn a_quarter_turn_reads_a_whole_image_and_half_a_turn_does_not() {
    let line = |turn| format!("a:gaussian_blur ! b:rotate90 direction={turn} ! c:threshold threshold=9");
    let plan = planned(&build(&line("cw")), rgb(64, 32));
    assert_eq!(groups(&plan), [["a"], ["b"], ["c"]]);
    assert_eq!(reason(&plan, "a", "b"), "'b' reads a whole image, so it runs alone");
    assert_eq!(reason(&plan, "b", "c"), "'b' reads a whole image, so it runs alone");
    assert_eq!(planned(&build(&line("180")), rgb(64, 32)).groups.len(), 1);
}

fn blend() -> Box<dyn mip_ops::Operator> {
    Box::new(mip_ops::Blend::new(0.5))
}

#[test]
fn what_others_need_is_written_by_the_kernel_that_makes_it() {
    let mut g = build("gray:color_convert to=gray ! soft:gaussian_blur ! edges:sobel");
    for name in ["edges", "gray"] {
        g.mark_output(g.task(name).unwrap()).unwrap();
    }
    let plan = planned(&g, rgb(64, 32));
    assert_eq!((plan.groups.len(), plan.arena_bytes), (1, 0));
    let stages = &plan.groups[0].stages;
    assert_eq!(stages.iter().map(|s| s.store.is_some()).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(stages[1].inputs, [Operand::Stage(0)]);
    let gray = 64 * 32;
    // gray is still written: only the read is spared.
    assert_eq!(plan.fusion.iter().map(|d| d.bytes_saved).collect::<Vec<_>>(), [gray, 2 * gray]);
}

#[test]
fn a_kernel_writes_images_of_one_size() {
    let mut g = build("soft:gaussian_blur ! small:resize width=20 height=10 ! edges:flip");
    let names = |plan: &Plan| groups(plan).concat().len();
    assert_eq!(names(&planned(&g, rgb(64, 32))), 3);
    assert_eq!(planned(&g, rgb(64, 32)).groups.len(), 1);
    for name in ["soft", "edges"] {
        g.mark_output(g.task(name).unwrap()).unwrap();
    }
    let plan = planned(&g, rgb(64, 32));
    assert_eq!(groups(&plan), [vec!["soft"], vec!["small", "edges"]]);
    let why = "one launch would write 'soft' with 64x32 and 'edges' with 20x10";
    assert_eq!(reason(&plan, "soft", "small"), why);
}

#[test]
fn a_fork_joins_once_its_branches_have() {
    // Tried first, 'soft' has a reader outside and would have to be written in another size than 'a'.
    let line = "soft:gaussian_blur ! a:resize width=20 height=10 ! a2:gaussian_blur \
                ! b:resize width=20 height=10 inputs=soft ! b2:gaussian_blur ! mix:blend inputs=a2,b2";
    let plan = planned(&build(line), rgb(64, 32));
    assert_eq!(plan.groups.len(), 1, "{:?}", plan.fusion);
}

#[test]
fn branches_that_share_only_an_input_run_side_by_side() {
    let line = "a:gaussian_blur inputs=@input ! b:threshold threshold=3 ! c:gaussian_blur inputs=@input ! d:threshold threshold=3";
    let plan = planned(&build(line), rgb(64, 32));
    assert_eq!(groups(&plan), [vec!["a", "b"], vec!["c", "d"]]);
    assert_eq!((plan.streams, plan.waits.len()), (2, 0));
}

#[test]
fn groups_have_bounds() {
    let long = vec!["flip"; 3 * MAX_STAGES].join(" ! ");
    let sizes: Vec<usize> =
        planned(&build(&long), rgb(64, 32)).groups.iter().map(|g| g.stages.len()).collect();
    assert_eq!(sizes, [MAX_STAGES; 3]);
    let wide = ImageDesc::new(1 << 17, 8, PixelFormat::Rgba, DType::F32).unwrap();
    let plan = planned(&build("a:gaussian_blur kernel=3 ! b:gaussian_blur kernel=3"), wide);
    assert!(reason(&plan, "a", "b").starts_with("a row band would keep"), "{:?}", plan.fusion);
    let deep = ImageDesc::new(4096, 4096, PixelFormat::Rgba, DType::F32).unwrap();
    let plan = planned(&build("a:gaussian_blur kernel=3 ! b:resize width=512 height=512"), deep);
    assert!(reason(&plan, "a", "b").starts_with("a tile would keep"), "{:?}", plan.fusion);
}

#[test]
fn without_fusion_every_task_has_its_kernel_and_every_edge_says_so() {
    let inputs = [rgb(64, 32)];
    let plan = plan(&build(FORK), &PlanRequest { fuse: false, ..PlanRequest::new(&inputs) }).unwrap();
    assert_eq!((plan.groups.len(), plan.fusion.len()), (5, 5));
    assert!(plan.fusion.iter().all(|d| !d.fused && d.bytes_saved == 0 && d.reason == "fusion is off"));
}

#[test]
fn uniforms_find_their_stages_in_a_group() {
    use mip_ops::Value;
    let mut g = build(FORK);
    let inputs = [rgb(64, 32)];
    let old = plan(&g, &PlanRequest::new(&inputs)).unwrap();
    let before = crate::uniforms(&g, &inputs, &old).unwrap();
    let planned: Vec<_> = old.groups[0].stages.iter().map(|s| s.uniforms.clone()).collect();
    assert_eq!(before[0][..], planned[..]);
    for (task, parameter, value) in
        [("soft", "sigma", 2.5), ("mix", "alpha", 0.25), ("threshold", "threshold", 99.0)]
    {
        g.set_parameter(g.task(task).unwrap(), parameter, Value::Float(value)).unwrap();
    }
    let after = crate::uniforms(&g, &inputs, &old).unwrap();
    let changed: Vec<bool> = before[0].iter().zip(after[0].iter()).map(|(a, b)| a != b).collect();
    let tasks: Vec<&str> = old.groups[0].stages.iter().map(|s| old.tasks[s.task].name.as_ref()).collect();
    assert_eq!(tasks, ["gray", "soft", "edges", "mix", "threshold"]);
    assert_eq!(changed, [false, true, false, true, true]);
}

/// The tasks of each group for a device that joins branches; and how many groups there are for another one.
fn joined(line: &str, input: ImageDesc) -> (Vec<String>, usize) {
    let graph = build(line);
    let inputs = vec![input; graph.inputs().len()];
    let request = PlanRequest { streams: 4, horizontal_fusion: true, ..PlanRequest::new(&inputs) };
    let with = plan(&graph, &request).unwrap();
    let unfused = plan(&graph, &PlanRequest { fuse: false, ..request }).unwrap();
    assert_eq!(unfused.groups.len(), unfused.tasks.len(), "horizontal fusion is a kind of fusion");
    (groups(&with).iter().map(|tasks| tasks.join(" ")).collect(), planned(&graph, input).groups.len())
}

#[test]
fn branches_of_the_same_program_share_a_group_where_the_device_batches_them() {
    let line = "a:crop x=1 width=30 height=20 ! b:resize width=10 height=9 \
                ! c:crop x=7 y=3 width=30 height=20 inputs=@input ! d:resize width=10 height=9 \
                ! e:crop x=7 y=3 width=26 height=20 inputs=@input ! f:resize width=10 height=9 \
                ! g:crop width=30 height=20 inputs=@input ! h:resize width=10 height=8";
    // A crop of another size is another shape; so is a result of another size.
    assert_eq!(
        joined(line, rgb(64, 48)),
        (vec!["a b c d".to_owned(), "e f".to_owned(), "g h".to_owned()], 4)
    );
}

#[test]
fn branches_that_differ_in_numbers_alone_are_the_same_program() {
    let line = "inputs=input,other ! a:threshold threshold=3 inputs=@input ! b:threshold threshold=9 inputs=@input \
                ! c:threshold threshold=9 inputs=@other";
    assert_eq!(joined(line, rgb(64, 48)), (vec!["a b c".to_owned()], 3));
    // Tables are numbers too, where they are of one size.
    let of = |table: &str| format!("point expr=\"lookup(v, {table})\" inputs=@input");
    let line = [of("1, 2"), of("7, 5"), of("7, 5, 6")].join(" ! ");
    assert_eq!(joined(&line, rgb(64, 48)), (vec!["point point2".to_owned(), "point3".to_owned()], 3));
    let line = "a:flip ! b:flip direction=vertical inputs=@input ! \
                c:sobel border=reflect inputs=@input ! d:sobel inputs=@input";
    assert_eq!(joined(line, rgb(64, 48).with_format(PixelFormat::Gray).unwrap()).0.len(), 4);
}

/// What lives until all have read it would live longer; and what waits for one would wait for all.
#[test]
fn branches_with_intermediates_or_other_producers_stay_apart() {
    let blur = |n: u32, from: &str| {
        format!("s{n}:gaussian_blur kernel=31 inputs={from} ! w{n}:gaussian_blur kernel=31")
    };
    let line = format!("{} ! {}", blur(0, "@input"), blur(1, "@input"));
    let (groups, apart) = joined(&line, rgb(1920, 1080));
    assert_eq!((groups.len(), apart), (4, 4), "{groups:?}");
    // All read the same intermediate, and write outputs.
    let line = "s:gaussian_blur kernel=31 ! a:gaussian_blur kernel=31 inputs=s ! b:gaussian_blur kernel=31 sigma=2 inputs=s";
    assert_eq!(joined(line, rgb(1920, 1080)), (vec!["s".to_owned(), "a b".to_owned()], 3));
}
