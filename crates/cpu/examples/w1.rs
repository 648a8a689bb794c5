//! Times the benchmark chain w1 (1080p RGB, resize to 720p, gray, Gaussian 5, Sobel): each kernel alone, one
//! after the other, and all in one group.
//!
//! `cargo run --release -p mip-cpu --example w1 [-- ROUNDS [WORD]]`; with a word, only what has it in its name.

#![allow(clippy::print_stdout, reason = "an example that prints a table")]

use std::time::Instant;

use mip_core::{AlignedBytes, BatchLayout, DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_cpu::{CpuConfig, GroupRunner, SimdLevel};
use mip_plan::{
    AxisTaps, Border, Buffer, Group, Kernel, MapKernel, Operand, Place, Plan, Resample, Separable, Sobel,
    Stage, Uniforms,
};

fn bilinear(input: u32, output: u32) -> AxisTaps {
    let scale = f64::from(input) / f64::from(output);
    let outputs: Vec<Vec<(i64, f64)>> = (0..output)
        .map(|i| {
            let source = (f64::from(i) + 0.5) * scale - 0.5;
            let (first, fraction) = (source.floor() as i64, source - source.floor());
            vec![(first, 1.0 - fraction), (first + 1, fraction)]
        })
        .collect();
    AxisTaps::from_contributions(input, &outputs)
}

fn gaussian(radius: i32, sigma: f64) -> Uniforms {
    let weight = |k: i32| (-f64::from(k * k) / (2.0 * sigma * sigma)).exp();
    let sum: f64 = (-radius..=radius).map(weight).sum();
    let half: Vec<f32> = (0..=radius).map(|k| (weight(k) / sum) as f32).collect();
    [half.clone(), half].concat().into()
}

/// The four kernels as stages that read each other.
fn chain(input: ImageDesc, width: u32, height: u32) -> Vec<Stage> {
    let small = input.with_size(width, height);
    let gray = small.with_format(PixelFormat::Gray);
    let border = Border::Reflect101;
    let resize = Resample { x: bilinear(input.width, width), y: bilinear(input.height, height) };
    let stage = |kernel, uniforms: Uniforms, from, output| Stage {
        kernel,
        uniforms,
        inputs: vec![from],
        output,
        store: None,
        task: 0,
    };
    vec![
        stage(Kernel::Resample(resize), [].into(), Operand::Buffer(0), small),
        stage(Kernel::Map(MapKernel::ColorConvert), [].into(), Operand::Stage(0), gray),
        stage(
            Kernel::Separable(Separable { radius_x: 2, radius_y: 2, border }),
            gaussian(2, 1.1),
            Operand::Stage(1),
            gray,
        ),
        stage(Kernel::Sobel(Sobel { border }), [].into(), Operand::Stage(2), gray),
    ]
}

/// A plan with one group that reads buffer 0 and writes buffer 1.
fn plan(input: ImageDesc, mut stages: Vec<Stage>) -> Plan {
    let last = stages.last_mut().expect("a stage");
    last.store = Some(1);
    let descs = [input, last.output];
    let buffers = descs.map(|desc| Buffer {
        name: String::new(),
        layout: BatchLayout::tight(desc, 1).expect("a valid size"),
        place: Place::Input(0),
        producer: None,
        consumers: vec![],
    });
    Plan {
        batch: 1,
        lanes: 1,
        inputs: vec![],
        outputs: vec![],
        tasks: vec![],
        buffers: buffers.into(),
        groups: vec![Group { tasks: vec![0], stages, lane: 0, depends_on: vec![], workspace: None }],
        waits: vec![],
        arena_bytes: 0,
        fusion: vec![],
    }
}

/// A group with everything it needs to run again and again.
struct Bench {
    name: &'static str,
    runner: GroupRunner,
    uniforms: Vec<Uniforms>,
    input: ImageBuffer,
    output: ImageBuffer,
    workspace: AlignedBytes,
    times: Vec<f64>,
}

impl Bench {
    fn new(name: &'static str, input: ImageDesc, stages: Vec<Stage>, threads: usize) -> Self {
        let plan = plan(input, stages);
        let config = CpuConfig { threads: Some(threads), simd: SimdLevel::Native };
        let runner = GroupRunner::new(&plan, 0, &config).expect("a group that can be built");
        let mut image = ImageBuffer::new(input).expect("a valid size");
        let mut state = 12345_u32;
        for (i, byte) in image.view_mut().data_mut().iter_mut().enumerate() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = ((i / 64) as u8).wrapping_add((state >> 28) as u8);
        }
        Self {
            name,
            uniforms: plan.groups[0].stages.iter().map(|s| s.uniforms.clone()).collect(),
            input: image,
            output: ImageBuffer::new(plan.buffers[1].layout.desc).expect("a valid size"),
            workspace: AlignedBytes::zeroed(runner.workspace_bytes()),
            runner,
            times: Vec::new(),
        }
    }

    fn round(&mut self) {
        let start = Instant::now();
        let workspace = self.workspace.as_mut_slice();
        self.runner
            .run(&[self.input.view()], &mut [self.output.view_mut()], &self.uniforms, workspace)
            .expect("a run");
        self.times.push(start.elapsed().as_secs_f64() * 1e3);
    }
}

fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(200);
    let rgb = |w, h| ImageDesc::new(w, h, PixelFormat::Rgb, DType::U8).expect("a valid size");
    let input = rgb(1920, 1080);
    let word = std::env::args().nth(2).unwrap_or_default();
    for threads in [1, 2] {
        let mut benches = Vec::new();
        let mut from = input;
        for (name, mut stage) in
            ["resize", "gray", "gaussian 5", "sobel"].into_iter().zip(chain(input, 1280, 720))
        {
            stage.inputs = vec![Operand::Buffer(0)];
            let output = stage.output;
            benches.push(Bench::new(name, from, vec![stage], threads));
            from = output;
        }
        benches.push(Bench::new("one group", input, chain(input, 1280, 720), threads));
        benches.push(Bench::new(
            "2160p->1080p",
            rgb(3840, 2160),
            chain(rgb(3840, 2160), 1920, 1080),
            threads,
        ));
        benches.push(Bench::new(
            "1919x1077->1283x721",
            rgb(1919, 1077),
            chain(rgb(1919, 1077), 1283, 721),
            threads,
        ));
        benches.retain(|bench| bench.name.contains(&word));
        // Interleaved, so that a noisy neighbour hits all of them.
        for _ in 0..rounds {
            benches.iter_mut().for_each(Bench::round);
        }
        println!("{threads} thread(s), ms          min   median");
        for bench in &mut benches {
            bench.times.sort_by(f64::total_cmp);
            println!("{:<22} {:>8.3} {:>8.3}", bench.name, bench.times[0], bench.times[rounds / 2]);
        }
        if word.is_empty() {
            let sum: f64 = benches[..4].iter().map(|b| b.times[0]).sum();
            println!("{:<22} {sum:>8.3}", "four groups");
        }
    }
}
