//! A task that fails stops what depends on it, nothing else; mistakes are refused before anything runs.
//!
//! `cargo run --release --example 09_failures`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::Arc;

use mini_image_pipe::prelude::*;
use mini_image_pipe::types::{ImageView, ImageViewMut};

#[derive(Debug)]
struct Broken;

impl CustomKernel for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn run(&self, _: &[ImageView<'_>], _: &[f32], _: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        Err(CustomError("the lamp is out".to_owned()))
    }
}

fn main() -> mini_image_pipe::Result<()> {
    // Refused before anything runs: the error names the task, what was given and what is allowed.
    let wrong =
        PipelineSpec::parse_line("resize width=640 ! gaussian_blur kernel=4").and_then(|spec| spec.build());
    println!("{}", wrong.expect_err("kernels are odd"));

    let mut pipeline = Pipeline::new(PipelineConfig::default());
    let source = pipeline.add_operator("source", Flip::vertical())?;
    let broken = pipeline.add_operator("broken", Custom::new(Arc::new(Broken)))?;
    let after = pipeline.add_operator("after", Sobel::new())?;
    let beside = pipeline.add_operator("beside", Flip::horizontal())?;
    pipeline.connect(source, broken)?;
    pipeline.connect(broken, after)?;
    pipeline.connect(source, beside)?;
    let desc = ImageDesc::new(64, 64, PixelFormat::Gray, DType::U8)?;
    pipeline.set_input(source, &ImageBuffer::new(desc)?)?;
    pipeline.set_error_callback(|_, task, error| println!("failed: task '{task}': {error}"));

    let error = pipeline.execute().expect_err("one task fails");
    println!("{error}");
    assert!(pipeline.output(after).is_err(), "it needs what failed");
    println!("beside: {}", pipeline.output(beside)?.desc());
    Ok(())
}
