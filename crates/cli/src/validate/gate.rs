//! The gate that every change passes: random graphs give the same bytes in every way of running.

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_testkit::images::{Picture, SplitMix64};

use super::modes::{Results, all_same, results, text};
use super::{Outcome, Pending, Request, cases, random};

/// Frames of the batch; each alone is the truth for its place.
const FRAMES: u64 = 3;

pub(super) fn checks(request: &Request) -> Vec<Pending> {
    let name = format!(
        "{} random graphs: CPU = direct = multi-stream = fused = replay = batch = stream-ordered",
        request.graphs
    );
    vec![(name, Box::new(random_graphs))]
}

/// One way of running.
struct Way {
    name: &'static str,
    config: PipelineConfig,
    /// All frames at once, instead of one after another.
    batch: bool,
}

fn ways(device: &Device, streams: u32) -> Vec<Way> {
    let one = PipelineConfig {
        device: device.clone(),
        num_streams: 1,
        fuse: false,
        poison: true,
        ..PipelineConfig::default()
    };
    let several = PipelineConfig { num_streams: streams, ..one.clone() };
    let fused = PipelineConfig { fuse: true, ..several.clone() };
    let way = |name, config, batch| Way { name, config, batch };
    vec![
        way("direct", one, false),
        way("replay, unfused", PipelineConfig { enable_graph_replay: true, ..several.clone() }, false),
        way("multi-stream", several, false),
        way("fused and replayed", PipelineConfig { enable_graph_replay: true, ..fused.clone() }, false),
        way("stream-ordered", PipelineConfig { prefer_async_allocator: true, ..fused.clone() }, false),
        way("batch, fused", fused.clone(), true),
        way("fused", fused, false),
    ]
}

fn random_graphs(request: &Request) -> Outcome {
    let seeds: Vec<u64> = (0..request.graphs as u64).map(|i| request.seed.wrapping_add(i)).collect();
    let outcome = cases(request.jobs, &seeds, |&seed| {
        let mut numbers = SplitMix64::new(seed);
        let (width, height) = (1 + numbers.below(70), 1 + numbers.below(50));
        let format = PixelFormat::ALL[numbers.below(PixelFormat::ALL.len() as u32) as usize];
        let dtype = DType::ALL[numbers.below(DType::ALL.len() as u32) as usize];
        let desc = ImageDesc::new(width, height, format, dtype).map_err(text)?;
        let line = random::line(&mut numbers, 12, &desc)?;
        let images: Vec<ImageBuffer> =
            (0..FRAMES).map(|i| Picture::Noise.draw(desc, seed.wrapping_add(i))).collect();
        let streams = 2 + numbers.below(5);
        let cpu = PipelineConfig { fuse: false, num_streams: 1, ..PipelineConfig::default() };
        let cpu = Way { name: "CPU", config: PipelineConfig { device: Device::cpu(), ..cpu }, batch: false };
        let expected = run(&line, &cpu, &images).map_err(text)?;
        ways(&request.device, streams).iter().try_for_each(|way| {
            let run = run(&line, way, &images).map_err(text);
            let same = run.and_then(|actual| all_same(&actual, &expected));
            same.map_err(|t| format!("seed {seed}, {desc}, {streams} streams, {line}: {}: {t}", way.name))
        })
    });
    Outcome { cases: outcome.cases * ways(&request.device, 2).len(), ..outcome }
}

/// The results of all frames, by output.
fn run(line: &str, way: &Way, images: &[ImageBuffer]) -> Result<Results, Error> {
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(line)?, way.config.clone())?;
    if way.batch {
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
