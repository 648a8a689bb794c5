//! Work that is the same every time is captured once and replayed; what changes is patched, or counted with its reason.
//!
//! `cargo run --release --example 06_graph_replay [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn main() -> Result<(), Error> {
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::cuda(0),
        _ => Device::cpu(),
    };
    let config = PipelineConfig { device, enable_graph_replay: true, ..PipelineConfig::default() };
    let spec = PipelineSpec::parse_toml(include_str!("pipelines/sketch.toml"), "sketch.toml")?;
    let mut pipeline = Pipeline::from_spec(&spec, config)?;
    let image = |width: u32, value: u8| -> Result<ImageBuffer, Error> {
        let desc = ImageDesc::new(width, 480, PixelFormat::Rgb, DType::U8)?;
        Ok(ImageBuffer::from_bytes(desc, &vec![value; desc.bytes()])?)
    };

    // New pixels, a new sigma and new results' memory: all patched into the captured graph.
    let soft = pipeline.task("soft")?;
    for round in 0..10 {
        pipeline.set_named_input("input", &image(640, round * 20)?)?;
        pipeline.set_parameter(soft, "sigma", Value::from(1.0 + f64::from(round) / 10.0))?;
        pipeline.execute()?;
    }
    // Another size: that run goes direct, the next one is captured again.
    for _ in 0..3 {
        pipeline.set_named_input("input", &image(800, 7)?)?;
        pipeline.execute()?;
    }
    let stats = pipeline.scheduler().graph_stats();
    println!("{} captures, {} replays, {} direct", stats.captures, stats.replays, stats.direct_runs);
    for (reason, count) in &stats.invalidations {
        println!("invalidated {count} time(s): {reason:?}");
    }
    assert_eq!((stats.captures, stats.replays, stats.direct_runs), (2, 10, 1));
    Ok(())
}
