use insta::assert_snapshot;
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Plan, Tiles, Tiling};

use super::{Traffic, render_dot, render_memory_svg, render_mermaid, render_svg, render_tiles};
use crate::{PipelineSpec, PlanRequest, plan};

const EDGES: &str =
    "resize width=1280 height=720 ! gray:color_convert to=gray ! soft:gaussian_blur kernel=5 ! edges:sobel";
const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 ! edges:sobel inputs=gray \
                    ! mix:blend inputs=soft,edges ! threshold threshold=40";

fn planned(line: &str, fuse: bool) -> Plan {
    let graph = PipelineSpec::parse_line(line).unwrap().build().unwrap();
    let inputs = vec![ImageDesc::new(192, 108, PixelFormat::Rgb, DType::U8).unwrap(); graph.inputs().len()];
    let request = PlanRequest { streams: 4, fuse, workspace: &|_, _| 4096, ..PlanRequest::new(&inputs) };
    plan(&graph, &request).unwrap()
}

#[test]
fn graphviz() {
    assert_snapshot!("dot_fused_chain", render_dot(&planned(EDGES, true)));
    assert_snapshot!("dot_fork_on_two_streams", render_dot(&planned(FORK, false)));
}

#[test]
fn mermaid() {
    assert_snapshot!("mermaid_fused_chain", render_mermaid(&planned(EDGES, true)));
    assert_snapshot!("mermaid_fork_on_two_streams", render_mermaid(&planned(FORK, false)));
}

#[test]
fn svg() {
    assert_snapshot!("svg_fused_fork", in_lines(&render_svg(&planned(FORK, true))));
    assert_snapshot!("svg_fork_on_two_streams", in_lines(&render_svg(&planned(FORK, false))));
    assert_snapshot!("svg_memory_of_the_fork", in_lines(&render_memory_svg(&planned(FORK, false))));
}

/// An element a line, so that a change shows where it is.
fn in_lines(svg: &str) -> String {
    svg.replace("><", ">\n<")
}

#[test]
fn what_means_something_in_xml_is_escaped_in_diagrams() {
    let mut plan = planned(EDGES, false);
    plan.tasks[1].name = "<a \"b\" & c>".into();
    plan.buffers[2].name = plan.tasks[1].name.to_string();
    for diagram in [render_svg(&plan), render_memory_svg(&plan)] {
        assert!(!diagram.contains("<a ") && diagram.contains("&lt;a "), "{diagram}");
    }
    assert!(render_dot(&plan).contains(r#"<a \"b\" & c>\ncolor_convert"#), "{}", render_dot(&plan));
    assert!(render_mermaid(&plan).contains("#lt;a #quot;b#quot; & c#gt;"), "{}", render_mermaid(&plan));
}

#[test]
fn traffic_adds_up_and_has_times_where_a_rate_is_given() {
    let plan = planned(EDGES, false);
    let traffic = Traffic::of(&plan, &[], Some(1000.0));
    let sum: u64 = traffic.launches.iter().map(|k| k.bytes_read + k.bytes_written).sum();
    assert_eq!((traffic.bytes, plan.traffic_bytes()), (sum, sum));
    assert_eq!(traffic.floor_bytes, 192 * 108 * 3 + 1280 * 720);
    assert_snapshot!(traffic.render_text(), @r"
    traffic, and the time it takes at least at 1000 GB/s
      #0     reads 62208 bytes    writes 2764800 bytes  2.83 us
      #1     reads 2764800 bytes  writes 921600 bytes   3.69 us
      #2     reads 921600 bytes   writes 921600 bytes   1.84 us
      #3     reads 921600 bytes   writes 921600 bytes   1.84 us
      all    10199808 bytes                             10.20 us  10.37 x floor
      floor  983808 bytes                               0.98 us
    ");
    assert_eq!(Traffic::of(&plan, &[], None).floor_us, None);
    assert!(!Traffic::of(&plan, &[], None).render_text().contains("us"));
}

#[test]
fn a_group_that_runs_as_a_launch_for_each_stage_moves_all_its_results() {
    let plan = planned(EDGES, true);
    let tiles = |stages: Vec<usize>, size, at_once, halo| Tiles {
        stages,
        size,
        frame: [10, 45],
        count: 450,
        threads: 128,
        local_bytes: 14224,
        at_once,
        halo,
    };
    let one = Tiling {
        kernels: vec![tiles(vec![0, 1, 2, 3], Some([128, 16]), Some(660), Some(1.21))],
        unfused: None,
    };
    let apart = Tiling {
        kernels: (0..4).map(|stage| tiles(vec![stage], None, None, None)).collect(),
        unfused: Some("a wrapped border reads the far side of the image".to_owned()),
    };
    let floor = Traffic::of(&plan, &[Ok(one.clone())], None);
    assert_eq!((floor.bytes, floor.times_floor), (plan.traffic_bytes(), 1.0));
    let unfused = Traffic::of(&plan, &[Ok(apart.clone())], None);
    assert_eq!(unfused.bytes, planned(EDGES, false).traffic_bytes());
    assert_snapshot!(render_tiles(&plan, "a device", &[Ok(one)]), @"

    tiles on a device
      #0  128x16  10 x 45 a frame  450 in all  660 at once  128 threads in 14224 bytes  1.210 computed for each pixel kept
    ");
    assert_snapshot!(render_tiles(&plan, "a device", &[Ok(apart)]), @"

    tiles on a device
      #0 resample     10 x 45 a frame  450 in all    128 threads in 14224 bytes
      #0 point        10 x 45 a frame  450 in all    128 threads in 14224 bytes
      #0 separable    10 x 45 a frame  450 in all    128 threads in 14224 bytes
      #0 stencil      10 x 45 a frame  450 in all    128 threads in 14224 bytes
      #0  a launch for each stage: a wrapped border reads the far side of the image
    ");
    assert_snapshot!(render_tiles(&plan, "a device", &[Err("no code for it".to_owned())]), @"

    tiles on a device
      #0  no code for it
    ");
}

/// Numbers of an attribute of all elements that begin so.
fn boxes(svg: &str) -> Vec<[f64; 4]> {
    let number = |element: &str, name: &str| -> f64 {
        let (_, rest) = element.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let nodes = svg.split("<g>").skip(1).map(|group| group.split_once("<rect").unwrap().1);
    nodes.map(|rect| ["x", "y", "width", "height"].map(|name| number(rect, name))).collect()
}

#[test]
fn in_a_graph_of_twenty_tasks_no_two_boxes_overlap_and_all_are_inside() {
    let plan = planned(TWENTY, false);
    assert!(plan.tasks.len() == 20 && plan.streams > 2);
    let svg = render_svg(&plan);
    let boxes = boxes(&svg);
    assert_eq!(boxes.len(), 22, "tasks and inputs");
    let size: Vec<f64> = svg
        .split_once("viewBox=\"0 0 ")
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0
        .split(' ')
        .map(|n| n.parse().unwrap())
        .collect();
    for (i, a) in boxes.iter().enumerate() {
        assert!(
            a[0] >= 0.0 && a[1] >= 0.0 && a[0] + a[2] <= size[0] && a[1] + a[3] <= size[1],
            "{a:?} of {size:?}"
        );
        for b in &boxes[..i] {
            let apart = |o: usize| a[o] + a[o + 2] <= b[o] || b[o] + b[o + 2] <= a[o];
            assert!(apart(0) || apart(1), "{a:?} and {b:?}");
        }
    }
}

/// Several branches that meet again, edges over many rows, two inputs.
const TWENTY: &str = "inputs=left,right ! lgray:color_convert to=gray inputs=@left ! rgray:color_convert to=gray inputs=@right \
    ! lsoft:gaussian_blur kernel=5 inputs=lgray ! rsoft:gaussian_blur kernel=9 inputs=rgray \
    ! ledges:sobel inputs=lsoft ! redges:sobel inputs=rsoft ! both:blend inputs=ledges,redges \
    ! wide:gaussian_blur kernel=31 inputs=lgray ! detail:blend inputs=lgray,wide ! small:resize width=96 height=54 inputs=detail \
    ! big:resize width=192 height=108 inputs=small ! mask:threshold threshold=50 inputs=both ! masked:blend inputs=mask,big \
    ! flipped:flip inputs=masked ! mirror:blend inputs=flipped,masked ! soft:gaussian_blur kernel=3 inputs=mirror \
    ! rims:sobel inputs=mirror ! last:blend inputs=soft,rims ! cut:threshold threshold=90 inputs=last \
    ! final:blend inputs=cut,rgray";
