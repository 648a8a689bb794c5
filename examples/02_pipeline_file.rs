//! A pipeline from a file, and parameters changed between runs.
//!
//! `cargo run --release --example 02_pipeline_file [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn main() -> mini_image_pipe::Result<()> {
    let device = std::env::args().nth(1).unwrap_or("cpu".into()).parse()?;
    let mut pipeline = Pipeline::parse_toml(include_str!("pipelines/edges.toml"))?.on(device);

    let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?;
    let noise: Vec<u8> = (0..desc.bytes()).map(|i| (i * 7919 / 13 % 251) as u8).collect();
    let photo = ImageBuffer::from_bytes(desc, &noise)?;

    // A uniform parameter: new numbers for the same plan.
    let change = pipeline.param::<f64>("soft.sigma")?.set(0.8)?;
    let fine = pipeline.run(&photo)?;
    // A structural one: a new plan. By name, values may come from anywhere.
    let replan = pipeline.set("soft.kernel", 9)?;
    let coarse = pipeline.run(&photo)?;

    println!("sigma: {change:?} change, kernel: {replan:?} change");
    assert_eq!((change, replan), (Change::Uniform, Change::Structural));
    assert_ne!(fine, coarse, "parameters that do something");
    Ok(())
}
