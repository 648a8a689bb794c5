//! What a plan needs before it runs, a limit, and what was taken from the driver afterwards.
//!
//! `cargo run --release --example 07_memory [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn main() -> mini_image_pipe::Result<()> {
    let device = std::env::args().nth(1).unwrap_or("cpu".into()).parse()?;
    let config = PipelineConfig { device, fuse: false, prefer_async_allocator: true, ..Default::default() };
    let photo = ImageBuffer::new(ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?)?;
    let edges = include_str!("pipelines/edges.toml");

    let mut pipeline = Pipeline::parse_toml(edges)?.with_config(config.clone());
    let plan = pipeline.plan_for(&[*photo.desc()], 1)?;
    println!("intermediates share {} bytes", plan.arena_bytes);

    for _ in 0..4 {
        pipeline.run(&photo)?;
    }
    let allocator = &pipeline.report().expect("it ran").allocator;
    println!("allocator: {} asked for, {} in effect", allocator.requested, allocator.effective);
    let settled = pipeline.memory()?.stats().device.driver_allocations;
    for _ in 0..20 {
        pipeline.run(&photo)?;
    }
    println!("{settled} allocations in all, none of them in the last 20 executions");
    assert_eq!(pipeline.memory()?.stats().device.driver_allocations, settled);

    let config = PipelineConfig { memory_limit: Some(1 << 20), ..config };
    let refused = Pipeline::parse_toml(edges)?.with_config(config).run(&photo);
    let refused = refused.expect_err("more than a megabyte is needed");
    println!("with a limit of one megabyte: {refused}");
    assert!(refused.is_request());
    Ok(())
}
