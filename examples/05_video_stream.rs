//! Frames one after another, three under way at once, results in order.
//!
//! `cargo run --release --example 05_video_stream [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::time::Instant;

use mini_image_pipe::prelude::*;

fn main() -> Result<(), Error> {
    const FRAMES: u64 = 60;
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::cuda(0),
        _ => Device::cpu(),
    };
    let spec = PipelineSpec::parse_line("resize width=640 height=360 ! gaussian_blur kernel=5")?;
    let mut pipeline = Pipeline::from_spec(&spec, PipelineConfig { device, ..PipelineConfig::default() })?;

    let desc = ImageDesc::new(1280, 720, PixelFormat::Rgb, DType::U8)?;
    let start = Instant::now();
    let mut stream = pipeline.stream(&StreamOptions::default())?;
    let mut done = 0;
    let mut show = |frame: FrameResult| -> Result<(), Error> {
        let frame = frame?;
        assert_eq!(frame.number, done, "results come in order");
        done += 1;
        Ok(())
    };
    for number in 0..FRAMES {
        // In memory that the device copies from directly; a camera or a decoder would write here.
        let frame = stream.frame(desc, |pixels| pixels.data_mut().fill(number as u8))?;
        if let Some(finished) = stream.push(frame) {
            show(finished)?; // of the frame three before
        }
    }
    stream.try_for_each(&mut show)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{done} frames in {seconds:.3} s: {:.0} a second", done as f64 / seconds);
    assert_eq!(done, FRAMES);
    Ok(())
}
