//! A workload of the benchmark suite through `Pipeline`, as a user runs it: one image (w3: one batch of 32) after
//! another, results dropped. For every number of seconds on a line of standard input it runs that long and prints
//! a line of JSON, so that a script can take turns between this and other programs (`benchmarks/cpu/peers.py`).
//!
//! `echo 1.5 | cargo run --release -p mini-image-pipe --example workload -- w1|w2|w3|w3-antialiased|w4|LINE THREADS`
//!
//! LINE is a pipeline of one input in its one-line form, run over one image of 1080p.

#![allow(clippy::print_stdout, reason = "an example that prints its result")]

use std::io::BufRead;
use std::time::Instant;

use mini_image_pipe::Error;
use mini_image_pipe::prelude::*;

const EDGES: &str = "color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel";
const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 sigma=1.5 ! edges:sobel inputs=gray \
                    ! blend inputs=soft,edges ! threshold threshold=100";
const TENSOR: &str = "crop width=224 height=224 center=true \
                      ! normalize mean=[0.485, 0.456, 0.406] std=[0.229, 0.224, 0.225] ! layout to=chw";

/// The pipeline in one line, the size of its input, and the frames in a batch.
fn workload(name: &str) -> Option<(String, [u32; 2], usize)> {
    Some(match name {
        "w1" => (format!("resize width=1280 height=720 ! {EDGES}"), [1920, 1080], 1),
        "w2" => (format!("resize width=1920 height=1080 ! {EDGES}"), [3840, 2160], 1),
        "w3" => (format!("resize shorter_side=256 ! {TENSOR}"), [500, 375], 32),
        "w3-antialiased" => (format!("resize shorter_side=256 antialias=true ! {TENSOR}"), [500, 375], 32),
        "w4" => (FORK.to_owned(), [1920, 1080], 1),
        line if line.contains(['=', '!']) || mip_ops::spec(line).is_ok() => {
            (line.to_owned(), [1920, 1080], 1)
        }
        _ => return None,
    })
}

/// Noise: the hardest image for branches, and no value repeats in a pattern that a predictor could learn.
fn noise(layout: BatchLayout) -> Result<ImageBuffer, Error> {
    let mut state = 1_u32;
    let mut image = ImageBuffer::with_layout(layout)?;
    for byte in image.view_mut().data_mut() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    Ok(image)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "w1".to_owned());
    let threads: usize = std::env::args().nth(2).map_or(Ok(1), |text| text.parse())?;
    let (line, [width, height], batch) = workload(&name)
        .ok_or("the workloads are w1, w2, w3, w3-antialiased, w4, and pipelines in one line")?;
    let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8)?;
    let input = noise(BatchLayout::tight(desc, batch)?)?;

    let device = Device::cpu_with(CpuConfig { threads: Some(threads), ..CpuConfig::default() });
    let config = PipelineConfig { device, max_batch_size: batch, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(&line)?, config)?;
    // A batch in one piece is used as it is; the peers' images lie in one piece as well.
    let mut execute = || pipeline.execute_batch(std::slice::from_ref(&input)).map(|_| ());
    for _ in 0..5 {
        execute()?;
    }
    for seconds in std::io::stdin().lock().lines() {
        let seconds: f64 = seconds?.trim().parse()?;
        let (start, mut times) = (Instant::now(), Vec::new());
        while times.is_empty() || start.elapsed().as_secs_f64() < seconds {
            let one = Instant::now();
            execute()?;
            times.push(one.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "{{\"runs\": {}, \"min_ms\": {:.4}, \"median_ms\": {:.4}}}",
            times.len(),
            times[0],
            times[times.len() / 2]
        );
    }
    Ok(())
}
