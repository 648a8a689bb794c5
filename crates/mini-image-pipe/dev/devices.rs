//! Frames a second of w1 on sets of devices, from pinned memory: single frames in a stream, and batches of 8. All sets take
//! turns, and every result is compared with the first set's. With `--fault N` the pipeline's device number N is lost in the
//! middle of a stream, by a kernel of another pipeline that writes where nothing is (`trap` behind the devices: that traps).
//!
//! `cargo run --release -p mini-image-pipe --example devices -- [--fault N] SECONDS cuda:0 cuda:0,cuda:1`

#![allow(clippy::print_stdout, reason = "an example that prints its result")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use mini_image_pipe::ops::Custom;
use mini_image_pipe::prelude::*;
use mini_image_pipe::runtime::pooled_image_with;
use mini_image_pipe::types::{ImageView, ImageViewMut};
use mini_image_pipe::{Backends, DeviceReport, Error};

const W1: &str =
    "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel";
const BATCH: usize = 8;
/// Inputs that take turns.
const INPUTS: usize = 12;

/// One set of devices.
struct Set {
    name: String,
    pipeline: Pipeline,
    frames: Vec<ImageBuffer>,
    batches: Vec<ImageBuffer>,
}

/// Noise in pinned memory, another for each seed.
fn noise(pipeline: &Pipeline, frames: usize, seed: u32) -> Result<ImageBuffer, Error> {
    let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?;
    let fill = |image: &mut ImageViewMut<'_>| {
        let mut state = seed;
        for byte in image.data_mut() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (state >> 24) as u8;
        }
    };
    Ok(pooled_image_with(&*pipeline.memory()?, BatchLayout::tight(desc, frames)?, fill)?)
}

impl Set {
    fn new(names: &str) -> Result<Self, Error> {
        let config = PipelineConfig {
            max_batch_size: BATCH,
            // Results of all batches are held at once.
            pinned_pool_size: 2 << 30,
            standby: Some(Device::cpu()).filter(|_| names.contains(',') && !names.contains("cpu")),
            ..PipelineConfig::default()
        };
        let config = config.on_devices(Backends::default().devices(names)?)?;
        let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(W1)?, config)?;
        let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?;
        pipeline.warm_up(&[desc], 1)?;
        pipeline.warm_up(&[desc], BATCH)?;
        let inputs = |count: u32, frames: usize| {
            (1..=count).map(|seed| noise(&pipeline, frames, seed)).collect::<Result<Vec<_>, _>>()
        };
        let (frames, batches) = (inputs(INPUTS as u32, 1)?, inputs(4, BATCH)?);
        Ok(Self { name: names.to_owned(), pipeline, frames, batches })
    }

    /// Frames a second of a stream.
    fn stream(&mut self, seconds: f64, check: &[ImageBuffer]) -> Result<f64, Error> {
        let start = Instant::now();
        let inputs = self.frames.clone();
        let endless = (0..).map_while(|index: usize| {
            (start.elapsed().as_secs_f64() < seconds).then(|| inputs[index % INPUTS].clone())
        });
        let mut count = 0;
        for (index, result) in self.pipeline.run_stream(endless)?.enumerate() {
            let result = result?;
            // Comparing each would take longer than computing it.
            let compared = index < 3 * INPUTS || index % 97 == 0;
            assert!(!compared || check.is_empty() || result == check[index % INPUTS], "frame {index}");
            count += 1;
        }
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    }

    /// Frames a second of executions of 5 rounds of batches.
    fn batches(&mut self, seconds: f64) -> Result<f64, Error> {
        let given: Vec<ImageBuffer> = self.batches.iter().cycle().take(20).cloned().collect();
        let (start, mut count) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < seconds {
            count += self.pipeline.run_batch(&given)?.len();
        }
        Ok(count as f64 / start.elapsed().as_secs_f64())
    }

    fn results(&mut self) -> Result<Vec<ImageBuffer>, Error> {
        let frames = self.frames.clone();
        self.pipeline.run_stream(frames)?.collect()
    }
}

/// Writes where nothing is.
const STRAY: &str =
    "__device__ void pixel(const View*, const View&, int x, int, const float*) { *(volatile int*)16 = x; }";
/// Ends its kernel.
const TRAP: &str = "__device__ void pixel(const View*, const View&, int, int, const float*) { __trap(); }";

/// A kernel that faults.
#[derive(Debug)]
struct Stray(&'static str);

impl CustomKernel for Stray {
    fn name(&self) -> &'static str {
        "stray"
    }

    fn run(&self, _: &[ImageView<'_>], _: &[f32], _: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        Err(CustomError("it runs on GPUs".to_owned()))
    }

    fn cuda_source(&self) -> Option<&str> {
        Some(self.0)
    }
}

/// Loses a device.
fn lose(device: &Device, source: &'static str) -> String {
    let run = || -> Result<ImageBuffer, Error> {
        let mut pipeline =
            Pipeline::new(PipelineConfig { device: device.clone(), ..PipelineConfig::default() });
        pipeline.add_operator("stray", Custom::new(Arc::new(Stray(source))))?;
        pipeline.run(&ImageBuffer::new(ImageDesc::new(64, 64, PixelFormat::Gray, DType::U8)?)?)
    };
    run().map_or_else(|error| error.to_string(), |_| "nothing happened".to_owned())
}

fn fault(seconds: f64, names: &str, number: usize) -> Result<(), Error> {
    let source = if std::env::args().any(|argument| argument == "trap") { TRAP } else { STRAY };
    let expected = Set::new("cpu")?.results()?;
    let mut set = Set::new(names)?;
    let victim = set.pipeline.config().devices().nth(number).expect("a device of that number").clone();
    let losing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs_f64(seconds / 2.0));
        lose(&victim, source)
    });
    let rate = set.stream(seconds, &expected)?;
    println!("{names} with a fault: {rate:.0} frames/s, all as the CPU makes them");
    println!("the faulting pipeline: {}", losing.join().expect("it reports what happens"));
    tell(&set.pipeline.device_reports());
    Ok(())
}

fn tell(reports: &[DeviceReport]) {
    for report in reports {
        println!(
            "  {}: {} frames, losses {:?}, left: {}",
            report.device, report.frames, report.losses, report.left
        );
    }
}

fn main() -> Result<(), Error> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut victim = None;
    if arguments.first().is_some_and(|argument| argument == "--fault") {
        victim = arguments[1].parse().ok();
        arguments.drain(..2);
    }
    let seconds: f64 = arguments[0].parse().expect("seconds");
    if let Some(number) = victim {
        return fault(seconds, &arguments[1], number);
    }
    let mut sets = arguments[1..].iter().map(|names| Set::new(names)).collect::<Result<Vec<_>, _>>()?;
    let expected = sets[0].results()?;
    for round in 0..3 {
        for set in &mut sets {
            let (stream, batches) = (set.stream(seconds, &expected)?, set.batches(seconds)?);
            println!(
                "round {round}: {:24} stream {stream:8.0} frames/s, batches of {BATCH} {batches:8.0} frames/s",
                set.name
            );
        }
    }
    for set in &sets {
        tell(&set.pipeline.device_reports());
    }
    Ok(())
}
