//! An operator of your own, with a CPU side and a CUDA side.
//!
//! `cargo run --release --example 08_own_operator [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::Arc;

use mini_image_pipe::ops::OpError;
use mini_image_pipe::prelude::*;
use mini_image_pipe::types::{ImageView, ImageViewMut};

/// Fewer levels: each byte rounded down to a multiple of a step.
#[derive(Debug)]
struct Posterize;

impl CustomKernel for Posterize {
    fn name(&self) -> &'static str {
        "posterize"
    }

    fn run(
        &self,
        inputs: &[ImageView<'_>],
        uniforms: &[f32],
        output: &mut ImageViewMut<'_>,
    ) -> Result<(), CustomError> {
        let (layout, step) = (*output.layout(), uniforms[0] as u8);
        if step == 0 {
            return Err(CustomError("the step is 0".to_owned()));
        }
        for frame in 0..layout.batch_size {
            for plane in 0..layout.desc.planes() {
                for y in 0..layout.desc.height() as usize {
                    let from = inputs[0].row(frame, plane, y);
                    for (to, &from) in output.row_mut(frame, plane, y).iter_mut().zip(from) {
                        *to = from / step * step;
                    }
                }
            }
        }
        Ok(())
    }

    fn cuda_source(&self) -> Option<&str> {
        Some(
            "__device__ void pixel(const View* in, const View& out, int x, int y, const float* uniform) {
                int step = (int)uniform[0];
                for (int c = 0; c < out.channels; c++)
                    *out.at<Out>(x, y, c) = (Out)(*in[0].at<In0>(x, y, c) / step * step);
            }",
        )
    }
}

fn main() -> mini_image_pipe::Result<()> {
    let device = std::env::args().nth(1).unwrap_or("cpu".into()).parse()?;
    let mut pipeline = Pipeline::new(PipelineConfig { device, ..PipelineConfig::default() });
    let bytes_only = |inputs: &[ImageDesc]| match inputs[0].dtype() {
        DType::U8 => Ok(inputs[0]),
        other => Err(OpError::Input {
            operator: "posterize",
            slot: "a".to_owned(),
            given: other.to_string(),
            allowed: "u8".to_owned(),
        }),
    };
    let posterize = Custom::new(Arc::new(Posterize)).uniforms([32.0]).output(bytes_only);
    let flat = pipeline.add_operator("flat", posterize)?;
    let mirrored = pipeline.add_operator("mirrored", Flip::horizontal())?;
    pipeline.connect(flat, mirrored)?;

    let desc = ImageDesc::new(256, 4, PixelFormat::Gray, DType::U8)?;
    let ramp: Vec<u8> = (0..4).flat_map(|_| 0..=255).collect();
    pipeline.set_input(flat, &ImageBuffer::from_bytes(desc, &ramp)?)?;
    let report = pipeline.execute()?;
    let levels: std::collections::BTreeSet<u8> = pipeline.output(mirrored)?.to_bytes().into_iter().collect();
    println!("{} levels on {}: {levels:?}", levels.len(), report.device);
    assert_eq!(levels.len(), 8);
    Ok(())
}
