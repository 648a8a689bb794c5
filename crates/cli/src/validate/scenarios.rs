//! Promises of the runtime that are not about pixels alone.

use mini_image_pipe::cuda::{CudaDevice, CudaOptions};
use mini_image_pipe::{Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_runtime::device::DeviceKind;
use mip_runtime::memory::AllocatorMode;
use mip_testkit::images::Pattern;

use super::operators::same;
use super::{Outcome, Pending, Request};

const LINE: &str = "color_convert to=gray ! gaussian_blur kernel=5 ! sobel";

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![
        ("allocator mode reported".to_owned(), Box::new(|r| Outcome::one(allocator(r)))),
        ("steady state allocates nothing".to_owned(), Box::new(|r| Outcome::one(steady(r)))),
        ("a held result is never overwritten".to_owned(), Box::new(|r| Outcome::one(held(r)))),
        ("trim gives memory back".to_owned(), Box::new(|r| Outcome::one(trim(r)))),
        ("the GPU's free memory does not shrink".to_owned(), Box::new(device_memory)),
        ("a memory limit refuses the plan".to_owned(), Box::new(|r| Outcome::one(limit(r)))),
        ("a profile changes nothing and names every task".to_owned(), Box::new(profile)),
    ]
}

pub(super) fn test_image(seed: u64) -> ImageBuffer {
    let desc = ImageDesc::new(320, 200, PixelFormat::Rgb, DType::U8).expect("a valid size");
    Pattern::Noise.draw(desc, seed)
}

pub(super) fn config(request: &Request) -> PipelineConfig {
    PipelineConfig { device: request.device.clone(), ..PipelineConfig::default() }
}

fn pipeline(request: &Request, config: PipelineConfig) -> Result<Pipeline, Error> {
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(LINE)?, config)?;
    pipeline.set_named_input("input", &test_image(request.seed))?;
    Ok(pipeline)
}

#[allow(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
pub(super) fn text(error: impl ToString) -> String {
    error.to_string()
}

/// A fallback is no failure, but must say why.
fn allocator(request: &Request) -> Result<(), String> {
    let config = PipelineConfig { prefer_async_allocator: true, ..config(request) };
    let report = pipeline(request, config).and_then(|mut p| p.execute()).map_err(text)?;
    let a = report.allocator;
    match (a.requested, a.effective, a.reason) {
        (AllocatorMode::StreamOrdered, AllocatorMode::StreamOrdered, None)
        | (AllocatorMode::StreamOrdered, AllocatorMode::Pooled, Some(_)) => Ok(()),
        (requested, effective, reason) => {
            let reason = reason.as_deref().unwrap_or("none");
            Err(format!("reported {requested} asked for, {effective} in effect, reason {reason}"))
        }
    }
}

fn allocations(pipeline: &mut Pipeline) -> Result<u64, Error> {
    let memory = pipeline.execute()?.memory;
    Ok(memory.device.driver_allocations + memory.pinned.driver_allocations)
}

fn steady(request: &Request) -> Result<(), String> {
    let mut pipeline = pipeline(request, config(request)).map_err(text)?;
    for _ in 0..3 {
        pipeline.execute().map_err(text)?;
    }
    let before = allocations(&mut pipeline).map_err(text)?;
    for _ in 0..50 {
        pipeline.execute().map_err(text)?;
    }
    match allocations(&mut pipeline).map_err(text)? - before {
        0 => Ok(()),
        n => Err(format!("{n} driver allocations in 51 executions")),
    }
}

fn held(request: &Request) -> Result<(), String> {
    let mut pipeline = pipeline(request, config(request)).map_err(text)?;
    pipeline.execute().map_err(text)?;
    let held: Vec<ImageBuffer> = pipeline.outputs().flat_map(|(_, images)| images.to_vec()).collect();
    let copy = ImageBuffer::from_bytes(*held[0].desc(), &held[0].to_bytes()).map_err(text)?;
    for seed in 1..6 {
        pipeline.set_named_input("input", &test_image(request.seed.wrapping_add(seed))).map_err(text)?;
        pipeline.execute().map_err(text)?;
    }
    same(&held[0], &copy)
}

/// What the driver says, not only what the runtime counts: nothing is left behind by executions, nor by pipelines.
fn device_memory(request: &Request) -> Outcome {
    match request.device.info() {
        Ok(info) if info.kind == DeviceKind::CUDA => Outcome::one(growth(request, info.index)),
        Ok(_) => Outcome::skip("only a GPU has memory of its own"),
        Err(error) => Outcome::one(Err(error.to_string())),
    }
}

fn growth(request: &Request, index: usize) -> Result<(), String> {
    const EXECUTIONS: usize = 1000;
    const PIPELINES: usize = 40;
    // A pool of its own, so that nothing else counts; the driver takes and gives back whole pieces of 2 MiB.
    let config = PipelineConfig { pinned_pool_size: (64 << 20) + 2, ..config(request) };
    let device = CudaDevice::open(index, CudaOptions::default()).map_err(text)?;
    let executed = |times: usize| -> Result<(), String> {
        let mut pipeline = pipeline(request, config.clone()).map_err(text)?;
        (0..times).try_for_each(|_| pipeline.execute().map(drop)).map_err(text)
    };
    let free = || -> Result<usize, String> {
        let memory = pipeline(request, config.clone()).and_then(|p| p.memory()).map_err(text)?;
        memory.trim();
        match memory.stats().device.reserved {
            0 => Ok(device.memory_info().map_err(text)?.0),
            n => Err(format!("{n} bytes still held from the driver after trim")),
        }
    };
    executed(2)?;
    let before = free()?;
    executed(EXECUTIONS)?;
    (0..PIPELINES).try_for_each(|_| executed(1))?;
    match before.saturating_sub(free()?) {
        0 => Ok(()),
        lost => Err(format!(
            "{lost} bytes fewer are free after {EXECUTIONS} executions and {PIPELINES} pipelines"
        )),
    }
}

fn trim(request: &Request) -> Result<(), String> {
    // A pool of its own, so that nothing else counts.
    let config = PipelineConfig { pinned_pool_size: (64 << 20) + 1, ..config(request) };
    let mut pipeline = pipeline(request, config).map_err(text)?;
    pipeline.execute().map_err(text)?;
    let memory = pipeline.memory().map_err(text)?;
    pipeline.reset();
    memory.trim();
    let stats = memory.stats();
    match stats.device.reserved + stats.pinned.reserved {
        0 => Ok(()),
        n => Err(format!("{n} bytes still held from the driver after reset and trim")),
    }
}

fn limit(request: &Request) -> Result<(), String> {
    let config = PipelineConfig { memory_limit: Some(10_000), ..config(request) };
    let mut pipeline = pipeline(request, config).map_err(text)?;
    match pipeline.execute() {
        Err(error) if error.is_request() && error.to_string().contains("10000") => Ok(()),
        Err(error) => Err(format!("another error: {error}")),
        Ok(_) => Err("the plan ran".to_owned()),
    }
}

fn profile(request: &Request) -> Outcome {
    if cfg!(not(feature = "profiling")) {
        return Outcome::skip("built without profiles");
    }
    let modes: Vec<_> = [false, true].into_iter().flat_map(|fuse| [(fuse, false), (fuse, true)]).collect();
    super::cases(1, &modes, |&(fuse, replay)| {
        let run = |profiled: bool| -> Result<_, Error> {
            let config = PipelineConfig {
                fuse,
                enable_graph_replay: replay,
                enable_profiling: profiled,
                ..config(request)
            };
            let mut pipeline = pipeline(request, config)?;
            for _ in 0..4 {
                pipeline.execute()?;
            }
            let images: Vec<ImageBuffer> = pipeline.outputs().flat_map(|(_, all)| all.to_vec()).collect();
            Ok((images, pipeline.take_profile()))
        };
        let (plain, none) = run(false).map_err(text)?;
        let (profiled, profile) = run(true).map_err(text)?;
        same(&profiled[0], &plain[0])?;
        let Some(profile) = profile else { return Err("there is no profile".to_owned()) };
        if none.is_some() {
            return Err("there is a profile nobody asked for".to_owned());
        }
        let rows = profile.summary().tasks;
        for task in ["color_convert", "gaussian_blur", "sobel"] {
            let row = rows.iter().find(|row| row.name.contains(task));
            match row.map(|row| row.count) {
                Some(4) => {}
                other => {
                    let times = other.unwrap_or(0);
                    return Err(format!("fuse {fuse}, replay {replay}: '{task}' ran {times} times of 4"));
                }
            }
        }
        Ok(())
    })
}
