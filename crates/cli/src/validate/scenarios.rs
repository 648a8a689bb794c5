//! Promises of the runtime that are not about pixels alone.

use std::sync::Arc;

use mini_image_pipe::{Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, ImageView, ImageViewMut, PixelFormat};
use mip_graph::PipelineSpec;
use mip_ops::{Custom, Flip};
use mip_plan::{CustomError, CustomKernel};
use mip_runtime::device::DeviceKind;
use mip_runtime::memory::AllocatorMode;
use mip_testkit::images::Picture;

use super::operators::same;
use super::{Outcome, Pending, Request};

const LINE: &str = "color_convert to=gray ! gaussian_blur kernel=5 ! sobel";

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![
        ("allocator mode reported".to_owned(), Box::new(|r| Outcome::one(allocator(r)))),
        ("steady state allocates nothing".to_owned(), Box::new(|r| Outcome::one(steady(r)))),
        ("a held result is never overwritten".to_owned(), Box::new(|r| Outcome::one(held(r)))),
        ("trim gives memory back".to_owned(), Box::new(|r| Outcome::one(trim(r)))),
        ("a memory limit refuses the plan".to_owned(), Box::new(|r| Outcome::one(limit(r)))),
        ("a failure leaves other branches alone".to_owned(), Box::new(failure)),
    ]
}

fn picture(seed: u64) -> ImageBuffer {
    let desc = ImageDesc::new(320, 200, PixelFormat::Rgb, DType::U8).expect("a valid size");
    Picture::Noise.draw(desc, seed)
}

fn config(request: &Request) -> PipelineConfig {
    PipelineConfig { device: request.device.clone(), ..PipelineConfig::default() }
}

fn pipeline(request: &Request, config: PipelineConfig) -> Result<Pipeline, Error> {
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(LINE)?, config)?;
    pipeline.set_named_input("input", &picture(request.seed))?;
    Ok(pipeline)
}

#[allow(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
fn text(error: impl ToString) -> String {
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
        other => Err(format!("reported {other:?}")),
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
        pipeline.set_named_input("input", &picture(request.seed.wrapping_add(seed))).map_err(text)?;
        pipeline.execute().map_err(text)?;
    }
    same(&held[0], &copy)
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

#[derive(Debug)]
struct Fails;

impl CustomKernel for Fails {
    fn name(&self) -> &'static str {
        "fails"
    }

    fn run(&self, _: &[ImageView<'_>], _: &[f32], _: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        Err(CustomError("asked to fail".to_owned()))
    }
}

fn failure(request: &Request) -> Outcome {
    match request.device.info() {
        Ok(info) if info.kind != DeviceKind::Cpu => {
            Outcome::skip("needs a kernel that fails on demand, which only the CPU can run so far")
        }
        Ok(_) => Outcome::one(isolated(request)),
        Err(error) => Outcome::one(Err(error.to_string())),
    }
}

fn isolated(request: &Request) -> Result<(), String> {
    let mut p = Pipeline::new(config(request));
    let build = |p: &mut Pipeline| -> Result<_, Error> {
        let source = p.add_operator("source", Flip::horizontal())?;
        let bad = p.add_operator("bad", Custom::new(Arc::new(Fails)))?;
        let after = p.add_operator("after", Flip::vertical())?;
        let good = p.add_operator("good", Flip::vertical())?;
        p.connect(source, bad)?;
        p.connect(bad, after)?;
        p.connect(source, good)?;
        p.set_input(source, &picture(request.seed))?;
        Ok((after, good))
    };
    let (after, good) = build(&mut p).map_err(text)?;
    match p.execute() {
        Err(error) if error.to_string().contains("bad") => {}
        other => return Err(format!("the failing task was not reported: {other:?}")),
    }
    p.output(good).map_err(|e| format!("an independent branch was lost: {e}"))?;
    match p.output(after) {
        Err(_) => Ok(()),
        Ok(_) => Err("a result that depends on the failed task can be read".to_owned()),
    }
}
