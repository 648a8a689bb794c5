//! What a plan needs before it runs, a limit, and what was taken from the driver afterwards.
//!
//! `cargo run --release --example 07_memory [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn main() -> Result<(), Error> {
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::cuda(0),
        _ => Device::cpu(),
    };
    let config =
        PipelineConfig { device, fuse: false, prefer_async_allocator: true, ..PipelineConfig::default() };
    let spec = PipelineSpec::parse_toml(include_str!("pipelines/edges.toml"), "edges.toml")?;
    let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?;

    let mut pipeline = Pipeline::from_spec(&spec, config.clone())?;
    let plan = pipeline.plan_for(&[desc], 1)?;
    println!("intermediates share {} bytes", plan.arena_bytes);

    pipeline.set_named_input("input", &ImageBuffer::new(desc)?)?;
    let mut report = pipeline.execute()?;
    let allocator = &report.allocator;
    println!("allocator: {} asked for, {} in effect", allocator.requested, allocator.effective);
    if let Some(reason) = &allocator.reason {
        println!("because {reason}");
    }
    for _ in 0..3 {
        report = pipeline.execute()?;
    }
    let settled = report.memory.device.driver_allocations;
    for _ in 0..20 {
        report = pipeline.execute()?;
    }
    println!("{settled} allocations in all, none of them in the last 20 executions");
    assert_eq!(report.memory.device.driver_allocations, settled);

    let mut limited = Pipeline::from_spec(&spec, PipelineConfig { memory_limit: Some(1 << 20), ..config })?;
    limited.set_named_input("input", &ImageBuffer::new(desc)?)?;
    let refused = limited.execute().expect_err("more than a megabyte is needed");
    println!("with a limit of one megabyte: {refused}");
    assert!(refused.is_request());
    Ok(())
}
