//! The gate that every change passes: random graphs give the same bytes in every mode of running.

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_testkit::images::{Pattern, SplitMix64};

use super::modes::{Results, all_same, results, text};
use super::{Outcome, Pending, Request, cases, random};

/// Frames of the batch; each alone is the truth for its place.
const FRAMES: u64 = 3;

pub(super) fn checks(request: &Request) -> Vec<Pending> {
    let name = format!(
        "{} random graphs: CPU = direct = multi-stream = fused = replay = batch = stream-ordered",
        request.graphs
    );
    vec![
        (name, Box::new(random_graphs)),
        (
            "horizontal fusion: CPU = direct = fused into one launch = replay = batch".to_owned(),
            Box::new(branches),
        ),
    ]
}

/// Pipelines of branches that a GPU launches together: several kernels a launch and one, one program and several, more
/// than a launch has room for, and such as need memory between their kernels.
fn branch_lines() -> Vec<String> {
    let pieces = |count: u32, size: fn(u32) -> u32, rest: &str| {
        let piece = |n: u32| {
            let (x, y, size) = (n * 7 % 61, n * 5 % 31, size(n));
            let rest = rest.replace("{n}", &n.to_string());
            format!("c{n}:crop x={x} y={y} width={size} height=24 inputs=@input{rest}")
        };
        (0..count).map(piece).collect::<Vec<_>>().join(" ! ")
    };
    let tensor =
        " ! r{n}:resize width=20 height=17 ! n{n}:normalize mean=0.{n}1 std=0.2 ! t{n}:layout to=chw";
    let blurred = " ! g{n}:color_convert to=gray ! b{n}:gaussian_blur kernel=5 sigma=0.5{n} ! s{n}:sobel";
    let wrapped = " ! b{n}:gaussian_blur kernel=5 border=wrap ! d{n}:threshold threshold=1{n}";
    vec![
        pieces(9, |_| 30, tensor),
        pieces(9, |_| 30, blurred),
        pieces(60, |_| 29, blurred),
        pieces(9, |_| 30, wrapped),
        pieces(9, |_| 30, ""),
        pieces(9, |n| 28 + n % 3, tensor),
        pieces(300, |_| 30, tensor),
    ]
}

fn branches(request: &Request) -> Outcome {
    let desc = ImageDesc::new(97, 61, PixelFormat::Rgb, DType::U8).expect("a valid size");
    let images: Vec<ImageBuffer> =
        (0..FRAMES).map(|i| Pattern::Noise.draw(desc, request.seed.wrapping_add(i))).collect();
    let lines = branch_lines();
    let outcome = cases(request.jobs, &lines, |line| every_way(line, &images, &request.device, 4));
    Outcome { cases: outcome.cases * modes(&request.device, 4).len(), ..outcome }
}

/// Whether each mode of running a pipeline gives what the CPU does task by task.
fn every_way(line: &str, images: &[ImageBuffer], device: &Device, streams: u32) -> Result<(), String> {
    let cpu = PipelineConfig { fuse: false, num_streams: 1, ..PipelineConfig::default() };
    let cpu = Mode { name: "CPU", config: PipelineConfig { device: Device::cpu(), ..cpu }, batch: false };
    let expected = run(line, &cpu, images).map_err(text)?;
    modes(device, streams).iter().try_for_each(|mode| {
        let run = run(line, mode, images).map_err(text);
        let same = run.and_then(|actual| all_same(&actual, &expected));
        same.map_err(|t| format!("{streams} streams, {line}: {}: {t}", mode.name))
    })
}

/// One mode of running.
struct Mode {
    name: &'static str,
    config: PipelineConfig,
    /// All frames at once, instead of one after another.
    batch: bool,
}

fn modes(device: &Device, streams: u32) -> Vec<Mode> {
    let one = PipelineConfig {
        device: device.clone(),
        num_streams: 1,
        fuse: false,
        poison: true,
        ..PipelineConfig::default()
    };
    let several = PipelineConfig { num_streams: streams, ..one.clone() };
    let fused = PipelineConfig { fuse: true, ..several.clone() };
    let mode = |name, config, batch| Mode { name, config, batch };
    vec![
        mode("direct", one, false),
        mode("replay, unfused", PipelineConfig { enable_graph_replay: true, ..several.clone() }, false),
        mode("multi-stream", several, false),
        mode("fused and replayed", PipelineConfig { enable_graph_replay: true, ..fused.clone() }, false),
        mode("stream-ordered", PipelineConfig { prefer_async_allocator: true, ..fused.clone() }, false),
        mode("batch, fused", fused.clone(), true),
        mode("fused", fused, false),
    ]
}

fn random_graphs(request: &Request) -> Outcome {
    let seeds: Vec<u64> = (0..request.graphs as u64).map(|i| request.seed.wrapping_add(i)).collect();
    let outcome = cases(request.jobs, &seeds, |&seed| {
        let mut numbers = SplitMix64::new(seed);
        let (width, height) = (1 + numbers.below(70), 1 + numbers.below(50));
        let format = PixelFormat::PICTURES[numbers.below(PixelFormat::PICTURES.len() as u32) as usize];
        let dtype = DType::ALL[numbers.below(DType::ALL.len() as u32) as usize];
        let desc = ImageDesc::new(width, height, format, dtype).map_err(text)?;
        let line = random::line(&mut numbers, 12, &desc)?;
        let images: Vec<ImageBuffer> =
            (0..FRAMES).map(|i| Pattern::Noise.draw(desc, seed.wrapping_add(i))).collect();
        let streams = 2 + numbers.below(5);
        every_way(&line, &images, &request.device, streams).map_err(|t| format!("seed {seed}, {desc}, {t}"))
    });
    Outcome { cases: outcome.cases * modes(&request.device, 2).len(), ..outcome }
}

/// The results of all frames, by output.
fn run(line: &str, mode: &Mode, images: &[ImageBuffer]) -> Result<Results, Error> {
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(line)?, mode.config.clone())?;
    if mode.batch {
        pipeline.execute_batch(images)?;
        return Ok(results(&pipeline));
    }
    let mut all: Results = Vec::new();
    for image in images {
        pipeline.set_named_input("input", image)?;
        pipeline.execute()?;
        // Held, so that the memory of the next run lies elsewhere.
        for (name, images) in results(&pipeline) {
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, held)) => held.extend(images),
                None => all.push((name, images)),
            }
        }
    }
    Ok(all)
}
