//! Frames as a camera hands them over: NV12 planes in memory of its own, with its own row strides, read in place. Luma is
//! filtered; colours are made only where a task reads them.
//!
//! `cargo run --release --example 10_camera_frames`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::Arc;

use mini_image_pipe::prelude::*;
use mini_image_pipe::types::HostStorage;
use mini_image_pipe::video::{Matrix, Range, VideoColor, VideoFormat, VideoFrame};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 360;
/// Bytes from a row to the next, as the driver of the camera likes it.
const STRIDE: usize = 704;

/// A frame in the camera's memory, which is given back when the last part of the pipeline is done with it.
#[derive(Debug)]
struct CameraFrame {
    memory: Vec<u8>,
}

impl HostStorage for CameraFrame {
    fn bytes(&self) -> &[u8] {
        &self.memory
    }
}

/// What the driver would fill: a gradient that moves, over a chroma that turns slowly.
fn capture(number: usize) -> CameraFrame {
    let luma = (0..STRIDE * HEIGHT as usize).map(|i| ((i % STRIDE) / 4 + number * 8) as u8);
    let chroma = (0..STRIDE * HEIGHT as usize / 2).map(|i| if i % 2 == 0 { 100 + number as u8 } else { 140 });
    CameraFrame { memory: luma.chain(chroma).collect() }
}

/// The planes of a frame, borrowed.
fn borrowed(frame: CameraFrame) -> Result<VideoFrame, Box<dyn std::error::Error>> {
    let memory: Arc<dyn HostStorage> = Arc::new(frame);
    let mut offset = 0;
    let mut planes = Vec::new();
    for plane in VideoFormat::NV12.planes(WIDTH, HEIGHT)? {
        let tight = BatchLayout::tight(plane.desc, 1)?;
        let layout = BatchLayout { row_stride: STRIDE, ..tight };
        planes.push(ImageBuffer::from_storage(layout, memory.clone(), offset)?);
        offset += STRIDE * plane.desc.height() as usize;
    }
    Ok(VideoFrame::new(VideoFormat::NV12, WIDTH, HEIGHT, planes)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec = PipelineSpec::parse_line(
        "small:resize width=160 height=90 inputs=@input ! edges:sobel inputs=@input-y",
    )?;
    let mut pipeline = Pipeline::from_spec(&spec, PipelineConfig::default())?;
    pipeline.read_video("input", VideoFormat::NV12, Some(VideoColor::new(Matrix::Bt709, Range::Limited)))?;
    let mut stream = pipeline.stream(&StreamOptions::default())?;
    let mut done = Vec::new();
    for number in 0..8 {
        done.extend(stream.push_video(borrowed(capture(number))?));
    }
    done.extend(stream);
    for frame in done {
        let frame = frame?;
        let shapes: Vec<String> =
            frame.outputs.iter().map(|(task, image)| format!("{task} {}", image.desc())).collect();
        println!("frame {}: {}", frame.number, shapes.join(", "));
    }
    Ok(())
}
