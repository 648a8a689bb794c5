//! How long planning takes: graphs of so many tasks, from the shape of their input to a plan. Run:
//! `cargo run --release -p mini-image-pipe --example planning [tasks] [rounds]`.

#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use std::fmt::Write as _;
use std::time::Instant;

use mini_image_pipe::{Pipeline, PipelineConfig};
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |place: usize, unsaid: usize| -> Result<usize, std::num::ParseIntError> {
        std::env::args().nth(place).map_or(Ok(unsaid), |text| text.parse())
    };
    let (tasks, rounds) = (number(1, 512)?, number(2, 20)?);
    let input = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8)?;
    for (name, line) in [
        ("chain of blurs", chain(tasks, |_| "gaussian_blur kernel=5".to_owned())),
        ("chain of points", chain(tasks, |i| format!("brightness_contrast brightness=0.0{}", i % 9 + 1))),
        ("chain of both", chain(tasks, |i| ["gaussian_blur kernel=3", "invert"][i % 2].to_owned())),
        ("fan of crops", fan(tasks)),
        ("pairs that join", pairs(tasks)),
    ] {
        let spec = PipelineSpec::parse_line(&line)?;
        let mut best = f64::INFINITY;
        let mut launches = 0;
        for _ in 0..rounds {
            let pipeline = Pipeline::from_spec(&spec, PipelineConfig::default())?;
            let start = Instant::now();
            let plan = pipeline.plan_for(&[input], 1)?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
            launches = plan.groups.len();
        }
        println!("{name:16} {tasks} tasks, {launches} launches: {best:.2} ms");
    }
    Ok(())
}

fn chain(tasks: usize, operator: impl Fn(usize) -> String) -> String {
    (0..tasks).map(operator).collect::<Vec<_>>().join(" ! ")
}

/// Parts of the input, each a result.
fn fan(tasks: usize) -> String {
    let part = |i: usize| format!("c{i}:crop x={} y={} width=64 height=64 inputs=@input", i % 1800, i % 1000);
    chain(tasks, part)
}

/// Two blurs of what was before, and their mean.
fn pairs(tasks: usize) -> String {
    let mut line = String::from("m0:invert inputs=@input");
    for i in 1..=tasks.saturating_sub(1) / 3 {
        let before = i - 1;
        let _ = write!(
            line,
            " ! a{i}:gaussian_blur kernel=3 inputs=m{before} ! b{i}:box_blur kernel=3 inputs=m{before}"
        );
        let _ = write!(line, " ! m{i}:blend inputs=a{i},b{i}");
    }
    line
}
