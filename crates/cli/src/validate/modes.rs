//! The ways of running: streams, repetition, batches, parameter changes, random graphs. All give the same bytes.

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_testkit::images::Pattern;

use super::operators::same;
use super::{Outcome, Pending, Request, cases};

/// Fork and join over several streams.
pub(super) const DIAMOND: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 inputs=gray \
     ! edges:sobel inputs=gray ! mix:blend inputs=soft,edges ! cut:threshold threshold=100 inputs=mix \
     ! mirrored:flip inputs=edges";
/// The benchmark's first workload.
pub(super) const CHAIN: &str =
    "resize width=128 height=72 ! color_convert to=gray ! soft:gaussian_blur kernel=5 sigma=1.1 ! sobel";

/// Results by output.
pub(super) type Results = Vec<(String, Vec<ImageBuffer>)>;

pub(super) fn checks(request: &Request) -> Vec<Pending> {
    vec![
        ("streams 1, 2, 4, 8".to_owned(), Box::new(streams)),
        (format!("a diamond over 4 streams, {} executions", request.repeat), Box::new(repeated)),
        ("a batch equals its frames".to_owned(), Box::new(batch)),
        ("empty and mixed batches".to_owned(), Box::new(|r| Outcome::one(odd_batches(r)))),
        ("parameters changed between executions".to_owned(), Box::new(parameters)),
        ("sizes changed between executions".to_owned(), Box::new(sizes)),
    ]
}

pub(super) fn test_image(width: u32, height: u32, seed: u64) -> ImageBuffer {
    let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).expect("a valid size");
    Pattern::Noise.draw(desc, seed)
}

/// Unfused, so that there is something to run on several streams.
fn pipeline(line: &str, device: &Device, streams: u32) -> Result<Pipeline, Error> {
    let config = PipelineConfig {
        device: device.clone(),
        num_streams: streams,
        fuse: false,
        poison: true,
        ..PipelineConfig::default()
    };
    Pipeline::from_spec(&PipelineSpec::parse_line(line)?, config)
}

pub(super) fn results(pipeline: &Pipeline) -> Results {
    pipeline.outputs().map(|(name, images)| (name.to_owned(), images.to_vec())).collect()
}

fn once(line: &str, device: &Device, streams: u32, image: &ImageBuffer) -> Result<Results, Error> {
    let mut pipeline = pipeline(line, device, streams)?;
    pipeline.set_named_input("input", image)?;
    pipeline.execute()?;
    Ok(results(&pipeline))
}

pub(super) fn all_same(actual: &Results, expected: &Results) -> Result<(), String> {
    if actual.len() != expected.len() {
        return Err(format!("{} outputs instead of {}", actual.len(), expected.len()));
    }
    for ((name, actual), (_, expected)) in actual.iter().zip(expected) {
        for (frame, (a, e)) in actual.iter().zip(expected).enumerate() {
            same(a, e).map_err(|text| format!("output '{name}', frame {frame}: {text}"))?;
        }
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
pub(super) fn text(error: impl ToString) -> String {
    error.to_string()
}

fn streams(request: &Request) -> Outcome {
    let image = test_image(193, 109, request.seed);
    let list: Vec<(&str, u32)> =
        [DIAMOND, CHAIN].iter().flat_map(|&line| [1, 2, 4, 8].map(|s| (line, s))).collect();
    cases(1, &list, |&(line, streams)| {
        let expected = once(line, &Device::cpu(), 1, &image).map_err(text)?;
        let actual = once(line, &request.device, streams, &image).map_err(text)?;
        all_same(&actual, &expected).map_err(|t| format!("{streams} streams, {line}: {t}"))
    })
}

fn repeated(request: &Request) -> Outcome {
    let run = || -> Result<(), String> {
        let image = test_image(320, 200, request.seed);
        let expected = once(DIAMOND, &Device::cpu(), 1, &image).map_err(text)?;
        let config =
            PipelineConfig { device: request.device.clone(), fuse: false, ..PipelineConfig::default() };
        let spec = PipelineSpec::parse_line(DIAMOND).map_err(text)?;
        let mut pipeline = Pipeline::from_spec(&spec, config).map_err(text)?;
        pipeline.set_named_input("input", &image).map_err(text)?;
        let (mut settled, mut resident) = (None, None);
        for execution in 0..request.repeat {
            let report = pipeline.execute().map_err(|e| format!("execution {execution}: {e}"))?;
            all_same(&results(&pipeline), &expected).map_err(|t| format!("execution {execution}: {t}"))?;
            let allocations =
                report.memory.device.driver_allocations + report.memory.pinned.driver_allocations;
            match settled {
                Some(before) if execution >= 2 && allocations != before => {
                    return Err(format!(
                        "{} driver allocations by execution {execution}",
                        allocations - before
                    ));
                }
                _ => settled = Some(allocations),
            }
            if execution == request.repeat / 10 {
                resident = resident_bytes();
            }
        }
        match (resident, resident_bytes()) {
            (Some(before), Some(after)) if after > before + GROWTH => {
                Err(format!("host memory grew from {before} to {after} bytes"))
            }
            _ => Ok(()),
        }
    };
    Outcome { cases: request.repeat, ..Outcome::one(run()) }
}

/// Host memory that an execution may leave the process larger by before it counts as growth: what allocators
/// and drivers round to, far below a frame an execution.
const GROWTH: usize = 16 << 20;

/// Resident bytes of this process, where the system tells.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    pages.split_whitespace().nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}

fn batch(request: &Request) -> Outcome {
    let list: Vec<(&str, usize, usize)> = [DIAMOND, CHAIN]
        .iter()
        .flat_map(|&line| [(1, 8), (2, 8), (5, 3), (8, 8)].map(|(frames, max)| (line, frames, max)))
        .collect();
    cases(1, &list, |&(line, frames, max)| {
        let images: Vec<ImageBuffer> =
            (0..frames).map(|i| test_image(130, 71, request.seed.wrapping_add(i as u64))).collect();
        let config = PipelineConfig {
            device: request.device.clone(),
            max_batch_size: max,
            ..PipelineConfig::default()
        };
        let spec = PipelineSpec::parse_line(line).map_err(text)?;
        let mut pipeline = Pipeline::from_spec(&spec, config).map_err(text)?;
        let report = pipeline.execute_batch(&images).map_err(text)?;
        let chunks = frames.div_ceil(max) as u64;
        if let Some(task) = report.tasks.iter().find(|t| t.invocations != chunks) {
            return Err(format!(
                "'{}' was invoked {} times for {chunks} batches",
                task.name, task.invocations
            ));
        }
        let together = results(&pipeline);
        for (frame, image) in images.iter().enumerate() {
            let alone = once(line, &Device::cpu(), 1, image).map_err(text)?;
            let of_frame: Results =
                together.iter().map(|(n, images)| (n.clone(), vec![images[frame].clone()])).collect();
            all_same(&of_frame, &alone).map_err(|t| format!("frame {frame} of {frames}: {t}"))?;
        }
        Ok(())
    })
}

/// No frames are an empty result; frames of several shapes are refused, naming the first that differs.
fn odd_batches(request: &Request) -> Result<(), String> {
    let mut pipeline = pipeline(CHAIN, &request.device, 4).map_err(text)?;
    let frames = [test_image(64, 48, 1), test_image(64, 48, 2), test_image(65, 48, 3)];
    pipeline.execute_batch(&frames[..2]).map_err(text)?;
    let report = pipeline.execute_batch(&[]).map_err(|e| format!("an empty batch: {e}"))?;
    if report.frames != 0 || pipeline.outputs().any(|(_, images)| !images.is_empty()) {
        return Err(format!("an empty batch has results: {} frames", report.frames));
    }
    match pipeline.execute_batch(&frames) {
        Err(error) if error.is_request() && error.to_string().contains("frame 2") => Ok(()),
        Err(error) => Err(format!("frames of two shapes: {error}")),
        Ok(_) => Err("frames of two shapes were not refused".to_owned()),
    }
}

fn parameters(request: &Request) -> Outcome {
    let image = test_image(193, 109, request.seed);
    let run = || -> Result<(), Error> {
        let mut pipelines = [pipeline(CHAIN, &request.device, 4)?, pipeline(CHAIN, &Device::cpu(), 1)?];
        for p in &mut pipelines {
            p.set_named_input("input", &image)?;
        }
        for (parameter, value) in
            [("sigma", 0.7), ("sigma", 2.5), ("kernel", 9.0), ("sigma", 1.1), ("kernel", 5.0)]
        {
            for p in &mut pipelines {
                let soft = p.task("soft")?;
                let value =
                    if parameter == "kernel" { (value as i64).into() } else { mip_ops::Value::from(value) };
                p.set_parameter(soft, parameter, value)?;
                p.execute()?;
            }
            let [device, cpu] = &pipelines;
            all_same(&results(device), &results(cpu))
                .map_err(|t| Error::Usage(format!("after {parameter} = {value}: {t}")))?;
        }
        Ok(())
    };
    Outcome { cases: 5, ..Outcome::one(run().map_err(text)) }
}

fn sizes(request: &Request) -> Outcome {
    let run = || -> Result<(), Error> {
        let mut pipeline = pipeline(CHAIN, &request.device, 4)?;
        for (width, height) in [(193, 109), (64, 64), (1, 1), (193, 109), (1921, 1081), (64, 64)] {
            let image = test_image(width, height, request.seed);
            pipeline.set_named_input("input", &image)?;
            pipeline.execute()?;
            let expected = once(CHAIN, &Device::cpu(), 1, &image)?;
            all_same(&results(&pipeline), &expected)
                .map_err(|t| Error::Usage(format!("at {width}x{height}: {t}")))?;
        }
        Ok(())
    };
    Outcome { cases: 6, ..Outcome::one(run().map_err(text)) }
}
