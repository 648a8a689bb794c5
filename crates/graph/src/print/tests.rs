use insta::assert_snapshot;
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::Plan;

use super::{FusionSummary, check_report, render_json, render_text};
use crate::{PipelineSpec, PlanRequest, TaskGraph, plan};

const EDGES: &str = "resize width=1280 height=720 ! gray:color_convert to=gray ! soft:gaussian_blur kernel=5 sigma=1.1 ! edges:sobel";
const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 ! edges:sobel inputs=gray \
                    ! mix:blend inputs=soft,edges ! threshold threshold=40";

fn planned(line: &str, request: PlanRequest<'_>) -> (TaskGraph, Plan) {
    let graph = PipelineSpec::parse_line(line).unwrap().build().unwrap();
    let plan = plan(&graph, &request).unwrap();
    (graph, plan)
}

/// Four streams, unfused.
fn unfused(inputs: &[ImageDesc]) -> PlanRequest<'_> {
    PlanRequest { streams: 4, fuse: false, ..PlanRequest::new(inputs) }
}

fn full_hd() -> ImageDesc {
    ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8).unwrap()
}

#[test]
fn a_chain_prints_fused() {
    let inputs = [full_hd()];
    let request = PlanRequest { batch: 2, streams: 4, ..PlanRequest::new(&inputs) };
    let (_, fused) = planned(EDGES, request);
    let (_, unfused) = planned(EDGES, PlanRequest { fuse: false, ..request });
    let beside = FusionSummary::of(&fused, &unfused).render_text();
    assert_snapshot!(render_text(&fused) + &beside);
}

#[test]
fn what_is_kept_apart_prints_with_its_reason() {
    let line = "gray:color_convert to=gray ! wide:gaussian_blur kernel=31 ! wider:gaussian_blur kernel=31 ! \
                edges:sobel ! small:resize width=640 height=360";
    let mut graph = PipelineSpec::parse_line(line).unwrap().build().unwrap();
    for name in ["edges", "small"] {
        graph.mark_output(graph.task(name).unwrap()).unwrap();
    }
    let plan = plan(&graph, &PlanRequest::new(&[full_hd()])).unwrap();
    assert_snapshot!(render_text(&plan));
    assert_snapshot!(serde_json::to_string_pretty(&render_json(&plan)["fusion"]).unwrap());
}

/// Of branches of the same program the first stands for all, where they share a group.
#[test]
fn same_program_branches_print_as_one_launch() {
    let line = "left:crop x=1 width=300 height=200 ! a:resize width=224 height=224 \
                ! right:crop x=900 y=5 width=300 height=200 inputs=@input ! b:resize width=224 height=224";
    let inputs = [full_hd()];
    let (_, plan) = planned(line, PlanRequest { horizontal_fusion: true, ..PlanRequest::new(&inputs) });
    assert_snapshot!(render_text(&plan));
}

#[test]
fn a_chain_prints() {
    let (_, plan) = planned(EDGES, PlanRequest { batch: 2, ..unfused(&[full_hd()]) });
    assert_snapshot!(render_text(&plan));
}

#[test]
fn a_fork_prints_with_its_waits_and_scratch() {
    let inputs = [full_hd()];
    let request = PlanRequest { workspace: &|_, _| 4096, ..unfused(&inputs) };
    let (_, plan) = planned(FORK, request);
    assert_snapshot!(render_text(&plan));
}

#[test]
fn json_holds_what_programs_are_promised() {
    let (_, plan) = planned(FORK, unfused(&[full_hd()]));
    let json = render_json(&plan);
    assert_eq!(json["launches"].as_array().map(Vec::len), Some(5));
    assert_eq!(json["tasks"].as_array().map(Vec::len), Some(5));
    assert_eq!((&json["streams"], &json["waits"][0]["on"]), (&2.into(), &0.into()));
    assert_eq!(json["arena_bytes"], plan.arena_bytes);
    assert_eq!(json["sum_of_buffers"], plan.sum_of_buffers());
    let pretty = serde_json::to_string_pretty(&json["launches"][3]).unwrap();
    assert_snapshot!(pretty);
}

#[test]
fn the_report_lists_tasks_with_shapes() {
    let (graph, _) = planned(FORK, PlanRequest::new(&[full_hd()]));
    let report = check_report(&graph, &[full_hd()]).unwrap();
    let lines: Vec<String> = report
        .iter()
        .map(|t| {
            format!(
                "{} = {}({}): {}{}",
                t.name,
                t.op,
                t.inputs.join(", "),
                t.output,
                if t.is_output { ", out" } else { "" }
            )
        })
        .collect();
    assert_snapshot!(lines.join("\n"));
}
