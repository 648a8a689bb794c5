//! A pipeline from a TOML file, and parameters changed between executions.
//!
//! `cargo run --release --example 02_pipeline_file [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

const FILE: &str = include_str!("pipelines/edges.toml");

fn main() -> Result<(), Error> {
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::cuda(0),
        _ => Device::cpu(),
    };
    let spec = PipelineSpec::parse_toml(FILE, "edges.toml")?;
    let mut pipeline = Pipeline::from_spec(&spec, PipelineConfig { device, ..PipelineConfig::default() })?;

    let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?;
    let noise: Vec<u8> = (0..desc.bytes()).map(|i| (i * 7919 / 13 % 251) as u8).collect();
    pipeline.set_named_input("input", &ImageBuffer::from_bytes(desc, &noise)?)?;

    // sigma is a uniform parameter: new numbers for the same plan. kernel is structural: a new plan.
    let soft = pipeline.task("soft")?;
    let mut before = None;
    for (parameter, value) in
        [("sigma", Value::from(0.8)), ("sigma", Value::from(2.0)), ("kernel", Value::from(9_i64))]
    {
        let change = pipeline.set_parameter(soft, parameter, value.clone())?;
        pipeline.execute()?;
        let edges = pipeline.output(pipeline.task("edges")?)?;
        let sum: u64 = edges.to_bytes().iter().map(|&v| u64::from(v)).sum();
        println!(
            "{parameter} = {value}: {change:?} change, mean edge {:.2}",
            sum as f64 / edges.to_bytes().len() as f64
        );
        assert_ne!(before.replace(sum), Some(sum), "a parameter that does something");
    }
    Ok(())
}
