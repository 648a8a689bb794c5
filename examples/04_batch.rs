//! Many images of one shape at once: one invocation of each task per batch.
//!
//! `cargo run --release --example 04_batch [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn main() -> mini_image_pipe::Result<()> {
    let device = std::env::args().nth(1).unwrap_or("cpu".into()).parse()?;
    let config = PipelineConfig { device, max_batch_size: 8, ..PipelineConfig::default() };
    let text = include_str!("pipelines/classifier-input.toml");
    let mut pipeline = Pipeline::parse_toml(text)?.with_config(config);

    let desc = ImageDesc::new(500, 375, PixelFormat::Rgb, DType::U8)?;
    let frame = |i: u8| ImageBuffer::from_bytes(desc, &vec![i * 10; desc.bytes()]);
    let frames: Vec<ImageBuffer> = (0..20).map(frame).collect::<Result<_, _>>()?;
    let tensors = pipeline.run_batch(&frames)?;

    // 20 frames in chunks of at most 8.
    let report = pipeline.report().expect("it ran");
    assert!(report.tasks.iter().all(|task| task.invocations == 3));
    println!("{} tensors of {}", tensors.len(), tensors[0].desc());
    for (i, tensor) in tensors.iter().enumerate() {
        // Flat images: every red sample is (value / 255 - mean) / std.
        let red = tensor.view().sample(0, 100, 100, 0);
        let expected = (i as f64 * 10.0 / 255.0 - 0.485) / 0.229;
        assert!((red - expected).abs() < 1e-6, "frame {i}: {red} instead of {expected}");
    }
    Ok(())
}
