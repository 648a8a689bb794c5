//! Work that is the same every time is captured once and replayed; what changes is patched, or counted with its reason.
//!
//! `cargo run --release --example 06_graph_replay [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn image(width: u32, value: u8) -> mini_image_pipe::Result<ImageBuffer> {
    let desc = ImageDesc::new(width, 480, PixelFormat::Rgb, DType::U8)?;
    Ok(ImageBuffer::from_bytes(desc, &vec![value; desc.bytes()])?)
}

fn main() -> mini_image_pipe::Result<()> {
    let device = std::env::args().nth(1).unwrap_or("cpu".into()).parse()?;
    let config = PipelineConfig { device, enable_graph_replay: true, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::parse_toml(include_str!("pipelines/sketch.toml"))?.with_config(config);

    // New pixels, a new sigma and new results' memory: all patched into the captured graph.
    for round in 0..10 {
        pipeline.param::<f64>("soft.sigma")?.set(1.0 + f64::from(round) / 10.0)?;
        pipeline.run_named(&[("input", &image(640, round * 20)?)])?;
    }
    // Another size: that run goes direct, the next one is captured again.
    for _ in 0..3 {
        pipeline.run_named(&[("input", &image(800, 7)?)])?;
    }
    let stats = pipeline.scheduler().graph_stats();
    println!("{} captures, {} replays, {} direct", stats.captures, stats.replays, stats.direct_runs);
    for (reason, count) in &stats.invalidations {
        println!("invalidated {count} time(s): {reason:?}");
    }
    assert_eq!((stats.captures, stats.replays, stats.direct_runs), (2, 10, 1));
    Ok(())
}
