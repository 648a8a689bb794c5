//! The benchmark chain w1 through `Pipeline`, as a user runs it: 1080p RGB, resize to 720p, gray, Gaussian 5,
//! Sobel; one image after another, results dropped. Prints one line of JSON.
//!
//! `cargo run --release -p mini-image-pipe --example w1 -- THREADS SECONDS`

#![allow(clippy::print_stdout, reason = "an example that prints its result")]

use std::time::{Duration, Instant};

use mini_image_pipe::prelude::*;

fn argument(index: usize, default: f64) -> f64 {
    std::env::args().nth(index).and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() -> Result<(), Error> {
    let threads = argument(1, 1.0) as usize;
    let length = Duration::from_secs_f64(argument(2, 1.5));
    let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?;
    // Noise: the hardest picture for branches, and no value repeats in a pattern that a predictor could learn.
    let mut state = 1_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let image = ImageBuffer::from_bytes(desc, &(0..desc.bytes()).map(|_| byte()).collect::<Vec<u8>>())?;

    let device = Device::cpu_with(CpuConfig { threads: Some(threads), ..CpuConfig::default() });
    let mut pipeline = Pipeline::new(PipelineConfig { device, ..PipelineConfig::default() });
    let small = pipeline.add_operator("small", Resize::to(1280, 720))?;
    let gray = pipeline.add_operator("gray", ColorConvert::to(PixelFormat::Gray))?;
    let soft = pipeline.add_operator("soft", GaussianBlur::new(5).sigma(1.1))?;
    let edges = pipeline.add_operator("edges", Sobel::new())?;
    pipeline.connect(small, gray)?;
    pipeline.connect(gray, soft)?;
    pipeline.connect(soft, edges)?;
    pipeline.set_input(small, &image)?;

    let first = Instant::now();
    pipeline.execute()?;
    let first_ms = first.elapsed().as_secs_f64() * 1e3;
    for _ in 0..5 {
        pipeline.execute()?;
    }
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < length {
        let one = Instant::now();
        pipeline.execute()?;
        times.push(one.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{{\"threads\": {threads}, \"runs\": {}, \"min_ms\": {:.3}, \"median_ms\": {:.3}, \"p99_ms\": {:.3}, \"first_ms\": {first_ms:.3}}}",
        times.len(),
        at(0.0),
        at(0.5),
        at(0.99)
    );
    Ok(())
}
