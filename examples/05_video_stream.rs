//! Frames one after another, three under way at once, results in order.
//!
//! `cargo run --release --example 05_video_stream [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::time::Instant;

use mini_image_pipe::prelude::*;

fn main() -> mini_image_pipe::Result<()> {
    const FRAMES: u64 = 60;
    let device = std::env::args().nth(1).unwrap_or("cpu".into()).parse()?;
    let line = "resize width=640 height=360 ! gaussian_blur kernel=5";
    let mut pipeline = Pipeline::parse(line)?.on(device);

    let desc = ImageDesc::new(1280, 720, PixelFormat::Rgb, DType::U8)?;
    let start = Instant::now();
    let mut stream = pipeline.stream(&StreamOptions::default())?;
    let mut done = Vec::new();
    for number in 0..FRAMES {
        // In memory that the device copies from directly; a camera or a decoder would write here. Where frames come from an
        // iterator, `run_stream` does all of this.
        let frame = stream.frame(desc, |pixels| pixels.data_mut().fill(number as u8))?;
        done.extend(stream.push(frame)); // the result of the frame three before
    }
    done.extend(stream);

    let seconds = start.elapsed().as_secs_f64();
    println!("{} frames in {seconds:.3} s: {:.0} a second", done.len(), done.len() as f64 / seconds);
    for (frame, number) in done.into_iter().zip(0..FRAMES) {
        assert_eq!(frame?.number, number, "results come in order");
    }
    Ok(())
}
