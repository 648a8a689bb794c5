//! Every operator after every operator: one kernel gives the bytes that two give, in every dtype, layout
//! and border, down to images one pixel wide, in batches, and with the value between them as an output.

mod support;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_cpu::SimdLevel;
use mip_graph::{PipelineSpec, TaskGraph};
use mip_testkit::images::Pattern;
use support::cpu;

/// Every kind of kernel as lines, each paired with each.
const KERNELS: [&str; 22] = [
    "resize width=9 height=5",
    "resize width=40 height=23 filter=bilinear",
    "resize width=6 height=4 filter=area",
    "resize width=7 height=9 filter=nearest",
    "flip direction=both",
    "color_convert to=gray",
    "color_convert to=bgra",
    "gaussian_blur kernel=3 border=wrap",
    "gaussian_blur kernel=7",
    "gaussian_blur kernel=5 border=constant",
    "gaussian_blur kernel=9 border=replicate",
    "sobel",
    "sobel border=reflect",
    "threshold threshold=0.3",
    "normalize mean=0.4 std=0.25",
    "cast to=u8",
    "cast to=f32",
    "layout to=chw",
    "layout to=hwc",
    "blend alpha=0.3",
    "point expr=\"v * 0.75 + 9\"",
    "point expr=\"v > 60 ? sqrt(v) : 3\"",
];

/// What the examples of every operator are paired with, before and after it.
const NEIGHBOURS: [&str; 7] = [
    "resize width=9 height=5",
    "flip direction=both",
    "color_convert to=gray",
    "gaussian_blur kernel=3 border=wrap",
    "sobel",
    "blend alpha=0.3",
    "point expr=\"v * 0.75 + 9\"",
];
const SIZES: [(u32, u32); 5] = [(1, 1), (1, 13), (17, 1), (13, 9), (35, 66)];

/// All kernels with each other, and the first examples of every operator with the neighbours.
fn pairs() -> Vec<(String, String)> {
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let mut pairs: Vec<_> = KERNELS.iter().flat_map(|a| KERNELS.iter().map(move |b| pair(a, b))).collect();
    for spec in mip_ops::operators() {
        for example in spec.examples.iter().take(2) {
            let own = format!("{} {example}", spec.name);
            pairs.extend(NEIGHBOURS.iter().flat_map(|other| [pair(&own, other), pair(other, &own)]));
        }
    }
    pairs
}

fn inputs() -> impl Iterator<Item = ImageDesc> {
    let kinds = [
        (PixelFormat::Rgb, DType::U8, Layout::Hwc),
        (PixelFormat::Gray, DType::U16, Layout::Hwc),
        (PixelFormat::Rgba, DType::U8, Layout::Chw),
        (PixelFormat::Bgr, DType::F32, Layout::Chw),
    ];
    kinds.into_iter().flat_map(|(format, dtype, layout)| {
        SIZES.map(|(w, h)| ImageDesc::new(w, h, format, dtype).unwrap().with_layout(layout))
    })
}

/// One operator after the other; the first one's result is an output too where `middle` says so.
fn pair(first: &str, second: &str, middle: bool) -> TaskGraph {
    let all_slots = |op: &str, of: &str| {
        let slots = mip_ops::spec(op.split(' ').next().unwrap()).unwrap().inputs.len();
        if slots > 1 { format!(" inputs={}", vec![of; slots].join(",")) } else { String::new() }
    };
    let line = format!("a:{first}{} ! b:{second}{}", all_slots(first, "@input"), all_slots(second, "a"));
    let mut graph =
        PipelineSpec::parse_line(&line).unwrap().build().unwrap_or_else(|e| panic!("{line}: {e}"));
    if middle {
        for name in ["a", "b"] {
            graph.mark_output(graph.task(name).unwrap()).unwrap();
        }
    }
    graph
}

fn results(graph: &TaskGraph, device: &Device, fuse: bool, frames: &[ImageBuffer]) -> Vec<Vec<ImageBuffer>> {
    let config = PipelineConfig {
        device: device.clone(),
        fuse,
        max_batch_size: 2,
        poison: true,
        ..PipelineConfig::default()
    };
    let mut pipeline = Pipeline::from_graph(graph.clone(), config);
    pipeline.execute_batch(frames).unwrap();
    pipeline.outputs().map(|(_, images)| images.to_vec()).collect()
}

/// Compares all pairs whose number leaves this rest by 4; how many were fused.
fn compare(rest: usize) -> usize {
    let device = cpu(
        if rest.is_multiple_of(2) { 1 } else { 2 },
        if rest < 2 { SimdLevel::Native } else { SimdLevel::Portable },
    );
    let (mut fused, mut number) = (0, 0);
    for (first, second) in pairs() {
        let graphs = [false, true].map(|middle| pair(&first, &second, middle));
        for desc in inputs() {
            number += 1;
            // Every pair meets every input on one of the devices, with and without an output in the middle by turns.
            let (graph, middle) = (&graphs[number / 4 % 2], number / 4 % 2 == 1);
            if number % 4 != rest || graph.infer(&[desc]).is_err() {
                continue;
            }
            let frames = [Pattern::Noise.draw(desc, 1), Pattern::Noise.draw(desc, 2)];
            let apart = results(graph, &device, false, &frames);
            let together = results(graph, &device, true, &frames);
            assert_eq!(apart, together, "{first} ! {second}, middle {middle}, {desc}");
            let plan = mip_graph::plan(graph, &mip_graph::PlanRequest::new(&[desc])).unwrap();
            fused += usize::from(plan.groups.len() == 1);
        }
    }
    fused
}

#[test]
fn one_thread_native() {
    assert!(compare(0) > 1000);
}

#[test]
fn two_threads_native() {
    assert!(compare(1) > 1000);
}

#[test]
fn one_thread_portable() {
    assert!(compare(2) > 1000);
}

#[test]
fn two_threads_portable() {
    assert!(compare(3) > 1000);
}
