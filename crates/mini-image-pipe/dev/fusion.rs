//! The benchmark chains w1, w2 and w4 through `Pipeline`, fused and not, in turns: milliseconds for an image.
//!
//! `cargo run --release -p mini-image-pipe --example fusion -- ROUNDS [LINE]`; with a pipeline in one line,
//! that one on a 1080p image instead.

#![allow(clippy::print_stdout, reason = "an example that prints its result")]

use std::time::Instant;

use mini_image_pipe::Error;
use mini_image_pipe::prelude::*;

const EDGES: &str = "color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel";
const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=7 ! edges:sobel inputs=gray \
                    ! blend inputs=soft,edges ! threshold threshold=40";

fn test_image(width: u32, height: u32) -> Result<ImageBuffer, Error> {
    let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8)?;
    // Noise: the hardest image for branches.
    let mut state = 1_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    Ok(ImageBuffer::from_bytes(desc, &(0..desc.bytes()).map(|_| byte()).collect::<Vec<u8>>())?)
}

fn main() -> mini_image_pipe::Result<()> {
    let rounds: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    let own = std::env::args().nth(2);
    let mut workloads = vec![
        ("w1", format!("resize width=1280 height=720 ! {EDGES}"), test_image(1920, 1080)?),
        ("w2", format!("resize width=1920 height=1080 ! {EDGES}"), test_image(3840, 2160)?),
        ("w4", FORK.to_owned(), test_image(1920, 1080)?),
    ];
    if let Some(line) = own {
        workloads = vec![("own", line, test_image(1920, 1080)?)];
    }
    println!("workload  threads  fused       min   median");
    for threads in [1, 2] {
        let device = Device::cpu_with(CpuConfig { threads: Some(threads), ..CpuConfig::default() });
        for (name, line, image) in &workloads {
            let mut runs = Vec::new();
            for fuse in [true, false] {
                let config = PipelineConfig { device: device.clone(), fuse, ..PipelineConfig::default() };
                let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(line)?, config)?;
                pipeline.set_named_input("input", image)?;
                pipeline.execute()?;
                runs.push((fuse, pipeline, Vec::new()));
            }
            // In turns, so that a noisy neighbour hits both.
            for _ in 0..rounds {
                for (_, pipeline, times) in &mut runs {
                    let start = Instant::now();
                    pipeline.execute()?;
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                }
            }
            for (fuse, _, mut times) in runs {
                times.sort_by(f64::total_cmp);
                let median = times.get(times.len() / 2).copied().unwrap_or_default();
                let min = times.first().copied().unwrap_or_default();
                println!("{name:<8}  {threads:>7}  {fuse:<5}  {min:>8.3} {median:>8.3}");
            }
        }
    }
    Ok(())
}
