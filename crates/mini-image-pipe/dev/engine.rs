//! What an execution costs the host, direct and replayed; what stream-ordered memory costs; whether a stream of frames
//! overlaps. Run: `cargo run --release -p mini-image-pipe --example engine [cpu|cuda]`.

#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use std::time::{Duration, Instant};

use mini_image_pipe::prelude::*;
use mini_image_pipe::{Pipeline, PipelineConfig, StreamOptions};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_runtime::device::Command;
use mip_runtime::memory::{AllocatorMode, ManagerOptions, MemoryManager};
use mip_runtime::{RunInput, RunRequest, Session, SessionOptions};

const W1: &str =
    "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel";
const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 inputs=gray ! edges:sobel inputs=gray \
                    ! mix:blend inputs=soft,edges ! cut:threshold threshold=100 inputs=mix";
const ROUNDS: usize = 400;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::cuda(0),
        _ => Device::cpu(),
    };
    println!("{}", device.info()?.name);
    for fuse in [false, true] {
        for (name, line) in [("w1", W1), ("fork", FORK)] {
            for replay in [false, true] {
                execute(&device, name, line, fuse, replay)?;
            }
        }
    }
    allocate(&device)?;
    for frames in [1, 2, 3, 4] {
        stream(&device, frames)?;
    }
    Ok(())
}

fn config(device: &Device) -> PipelineConfig {
    PipelineConfig { device: device.clone(), pinned_pool_size: 1 << 30, ..PipelineConfig::default() }
}

fn frame() -> Result<ImageDesc, Box<dyn std::error::Error>> {
    Ok(ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?)
}

fn micros(times: &mut [Duration], part: usize) -> f64 {
    times.sort_unstable();
    times[times.len() * part / 100].as_secs_f64() * 1e6
}

/// Inputs and outputs on the device: what is left is the host's work and the kernels.
fn execute(
    device: &Device,
    name: &str,
    line: &str,
    fuse: bool,
    replay: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let pipeline =
        Pipeline::from_spec(&PipelineSpec::parse_line(line)?, PipelineConfig { fuse, ..config(device) })?;
    let plan = pipeline.plan_for(&[frame()?], 1)?;
    let (streams, waits, groups) = (plan.streams, plan.waits.len(), plan.groups.len());
    let options = SessionOptions { replay, ..SessionOptions::default() };
    let session = Session::new(device.open()?, pipeline.memory()?, plan.into(), options)?;
    let input = session.upload(&ImageBuffer::new(frame()?)?)?;
    let (mut submits, mut totals) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let request = RunRequest {
            inputs: vec![RunInput::from(input.clone())],
            keep_on_device: true,
            ..RunRequest::default()
        };
        let start = Instant::now();
        let ticket = session.submit(request)?;
        submits.push(start.elapsed());
        let report = ticket.wait();
        totals.push(start.elapsed());
        if let Some(error) = report.error {
            return Err(error.into());
        }
    }
    let stats = session.scheduler().stats();
    println!(
        "{name:5} fuse {fuse:5} replay {replay:5}: submit {:6.1} us, total p50 {:6.1} p99 {:6.1} us; {groups} groups, \
         {streams} streams, {waits} planned waits, {:.1} events and {:.1} waits a run",
        micros(&mut submits, 50),
        micros(&mut totals, 50),
        micros(&mut totals, 99),
        stats.events_recorded as f64 / ROUNDS as f64,
        stats.waits as f64 / ROUNDS as f64,
    );
    Ok(())
}

/// Allocating and freeing 6 MB: in stream order, and through the driver's plain calls.
fn allocate(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let opened = device.open()?;
    let options = ManagerOptions { allocator: AllocatorMode::StreamOrdered, ..ManagerOptions::default() };
    let manager = MemoryManager::new(opened.clone(), options);
    let stream = opened.create_stream("test")?;
    let (mut ordered, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let block = manager.allocate_on(&*stream, 6 << 20)?;
        if manager.effective_mode().0 == AllocatorMode::StreamOrdered {
            stream.submit(Command::Free(block.memory().clone()))?;
        }
        drop(block);
        ordered.push(start.elapsed());
        let start = Instant::now();
        drop(opened.allocate(mip_runtime::device::Space::Device, 6 << 20)?);
        plain.push(start.elapsed());
    }
    let mode = manager.effective_mode();
    let (ordered, plain) = (micros(&mut ordered, 50), micros(&mut plain, 50));
    println!("allocate and free 6 MiB: {} {ordered:.2} us, plain driver calls {plain:.1} us", mode.0);
    Ok(())
}

/// Frames in pinned memory, uploaded, computed and read back.
fn stream(device: &Device, frames_in_flight: usize) -> Result<(), Box<dyn std::error::Error>> {
    let spec = PipelineSpec::parse_line(W1)?;
    let mut pipeline = Pipeline::from_spec(&spec, config(device))?;
    let image = pipeline.pooled_image(frame()?, |view| view.data_mut().fill(7))?;
    let options = StreamOptions { frames_in_flight, ..StreamOptions::default() };
    let mut elapsed = Duration::ZERO;
    for warm in [true, false] {
        let count = if warm { 20 } else { ROUNDS };
        let frames = std::iter::repeat_n(image.clone(), count);
        let start = Instant::now();
        for result in pipeline.stream_frames(frames, &options)? {
            result?;
        }
        elapsed = start.elapsed() / count as u32;
    }
    println!(
        "stream of 1080p RGB, {frames_in_flight} in flight: {:.1} us a frame",
        elapsed.as_secs_f64() * 1e6
    );
    Ok(())
}
