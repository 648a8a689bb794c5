//! A chain of four operators over one image.
//!
//! `cargo run --release --example 01_first_pipeline [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn main() -> Result<(), Error> {
    // An image: columns get brighter to the right, and one square stands out.
    let desc = ImageDesc::new(640, 480, PixelFormat::Rgb, DType::U8)?;
    let mut frame = ImageBuffer::new(desc)?;
    for y in 0..480 {
        for (x, pixel) in frame.view_mut().row_mut(0, 0, y).chunks_exact_mut(3).enumerate() {
            let inside = (200..300).contains(&x) && (150..250).contains(&y);
            pixel.fill(if inside { 255 } else { (x / 5) as u8 });
        }
    }

    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::cuda(0),
        _ => Device::cpu(),
    };
    let mut pipeline = Pipeline::new(PipelineConfig { device, ..PipelineConfig::default() });
    let small = pipeline.add_operator("small", Resize::to(320, 240))?;
    let gray = pipeline.add_operator("gray", ColorConvert::to(PixelFormat::Gray))?;
    let soft = pipeline.add_operator("soft", GaussianBlur::new(5).sigma(1.1))?;
    let edges = pipeline.add_operator("edges", Sobel::new())?;
    pipeline.connect(small, gray)?;
    pipeline.connect(gray, soft)?;
    pipeline.connect(soft, edges)?;

    pipeline.set_input(small, &frame)?;
    let report = pipeline.execute()?;
    let image = pipeline.output(edges)?;

    let view = image.view();
    let strongest = (0..240).flat_map(|y| view.row(0, 0, y).to_vec()).max();
    println!("{} on {}: strongest edge {strongest:?}", image.desc(), report.device);
    assert_eq!((image.desc().width, image.desc().height), (320, 240));
    assert!(strongest > Some(200), "the square has edges");
    Ok(())
}
