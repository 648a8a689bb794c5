//! Times the benchmark chains w1 (1080p RGB, resize to 720p, gray, Gaussian 5, Sobel) and w4 (1080p RGB, gray,
//! Gaussian 7 and Sobel, blend, threshold): each kernel alone, and all in one group. And an expression that no fast way is
//! known for, against the same loop written by hand.
//!
//! `cargo run --release -p mip-cpu --example steps [-- ROUNDS [WORD [THREADS]]]`; with a word, only what has it in its
//! name; on one and two threads unless told otherwise.

#![allow(clippy::print_stdout, reason = "an example that prints a table")]

use std::time::Instant;

use mip_core::{AlignedBytes, BatchLayout, DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_cpu::{CpuConfig, GroupRunner};
use mip_plan::{
    AxisTaps, Border, Buffer, Group, Kernel, Operand, Place, Plan, Point, Resample, Separable, Stage,
    Stencil, Uniforms,
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

fn stage(kernel: Kernel, uniforms: Uniforms, inputs: &[Operand], output: ImageDesc) -> Stage {
    Stage { kernel, uniforms, inputs: inputs.to_vec(), output, store: None, task: 0 }
}

fn gaussian(radius: u32, sigma: f64, input: Operand, output: ImageDesc) -> Stage {
    let weight = |k: u32| (-f64::from(k * k) / (2.0 * sigma * sigma)).exp();
    let sum: f64 = (1..=radius).map(|k| 2.0 * weight(k)).sum::<f64>() + 1.0;
    let half: Vec<f32> = (0..=radius).map(|k| (weight(k) / sum) as f32).collect();
    let kernel = Separable { radius_x: radius, radius_y: radius, border: Border::Reflect101 };
    stage(Kernel::Separable(kernel), [half.clone(), half].concat().into(), &[input], output)
}

fn sobel(input: Operand, output: ImageDesc) -> Stage {
    stage(Kernel::Stencil(Stencil::sobel(Border::Reflect101)), [].into(), &[input], output)
}

/// The four kernels of w1 as stages that read each other.
fn chain(input: ImageDesc, width: u32, height: u32) -> Vec<Stage> {
    let small = input.with_size(width, height).unwrap();
    let gray = small.with_format(PixelFormat::Gray).unwrap();
    let resize = Resample { x: bilinear(input.width(), width), y: bilinear(input.height(), height) };
    vec![
        stage(Kernel::Resample(resize), [].into(), &[Operand::Buffer(0)], small),
        stage(
            Kernel::Point(Point::convert(small.format(), gray.format(), small.dtype())),
            [].into(),
            &[Operand::Stage(0)],
            gray,
        ),
        gaussian(2, 1.1, Operand::Stage(1), gray),
        sobel(Operand::Stage(2), gray),
    ]
}

/// The five kernels of w4 as stages that read each other.
fn fork(input: ImageDesc) -> Vec<Stage> {
    let gray = input.with_format(PixelFormat::Gray).unwrap();
    let point = |kernel, uniforms: &[f32], inputs: &[Operand]| {
        stage(Kernel::Point(kernel), uniforms.into(), inputs, gray)
    };
    vec![
        point(Point::convert(input.format(), gray.format(), input.dtype()), &[], &[Operand::Buffer(0)]),
        gaussian(3, 1.4, Operand::Stage(0), gray),
        sobel(Operand::Stage(0), gray),
        point(Point::blend(gray.format()), &[0.5, 0.5], &[Operand::Stage(1), Operand::Stage(2)]),
        point(Point::threshold(), &[100.0, 255.0], &[Operand::Stage(3)]),
    ]
}

const SEPIA: &str = "clamp((r*0.393 + g*0.769 + b*0.189) * gain, 0, 255)";

fn sepia(input: ImageDesc) -> Stage {
    let expr = mip_ops::Point::text(SEPIA).ok().and_then(|point| point.expr().cloned());
    let point = Point { expr: expr.expect("an expression").into() };
    stage(
        Kernel::Point(point),
        [1.1].into(),
        &[Operand::Buffer(0)],
        input.with_format(PixelFormat::Gray).unwrap(),
    )
}

/// The same by hand, compiled with AVX2 and FMA where there are.
fn sepia_by_hand(pixels: &[u8], gray: &mut [u8]) {
    #[inline(always)]
    fn run(pixels: &[u8], gray: &mut [u8]) {
        let gain = std::hint::black_box(1.1_f32);
        for (gray, &[r, g, b]) in gray.iter_mut().zip(pixels.as_chunks::<3>().0) {
            let [r, g, b] = [r, g, b].map(f32::from);
            let value = (r * 0.393 + g * 0.769 + b * 0.189) * gain;
            *gray = value.clamp(0.0, 255.0).round_ties_even() as u8;
        }
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        v3.vectorize(
            #[inline(always)]
            || run(pixels, gray),
        );
        return;
    }
    run(pixels, gray);
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
        streams: 1,
        inputs: vec![],
        outputs: vec![],
        tasks: vec![],
        buffers: buffers.into(),
        groups: vec![Group { tasks: vec![0], stages, stream: 0, depends_on: vec![], workspace: None }],
        waits: vec![],
        arena_bytes: 0,
        fusion: vec![],
    }
}

/// A group with everything it needs to run again and again.
struct Bench {
    name: String,
    /// None: by hand.
    runner: Option<GroupRunner>,
    uniforms: Vec<Uniforms>,
    input: ImageBuffer,
    output: ImageBuffer,
    workspace: AlignedBytes,
    times: Vec<f64>,
}

impl Bench {
    fn new(name: String, input: ImageDesc, stages: Vec<Stage>, threads: usize) -> Self {
        let plan = plan(input, stages);
        let config = CpuConfig { threads: Some(threads), ..CpuConfig::default() };
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
            runner: Some(runner),
            times: Vec::new(),
        }
    }

    fn round(&mut self) {
        let start = Instant::now();
        let workspace = self.workspace.as_mut_slice();
        match &self.runner {
            Some(runner) => runner
                .run(&[self.input.view()], &mut [self.output.view_mut()], &self.uniforms, workspace)
                .expect("a run"),
            None => sepia_by_hand(self.input.view().data(), self.output.view_mut().data_mut()),
        }
        self.times.push(start.elapsed().as_secs_f64() * 1e3);
    }
}

fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(200);
    let word = std::env::args().nth(2).unwrap_or_default();
    let rgb = |w, h| ImageDesc::new(w, h, PixelFormat::Rgb, DType::U8).expect("a valid size");
    let (input, large, odd) = (rgb(1920, 1080), rgb(3840, 2160), rgb(1919, 1077));
    let threads = std::env::args().nth(3).and_then(|a| a.parse().ok());
    for threads in threads.map_or(vec![1, 2], |threads| vec![threads]) {
        let mut benches = Vec::new();
        let chains = [("w1", input, chain(input, 1280, 720)), ("w4", input, fork(input))];
        for (chain, input, stages) in chains {
            let mut from = input;
            for mut stage in stages.clone() {
                let name = format!("{chain} {}", stage.kernel.name());
                stage.inputs.fill(Operand::Buffer(0));
                let output = stage.output;
                benches.push(Bench::new(name, from, vec![stage], threads));
                from = output;
            }
            benches.push(Bench::new(format!("{chain} in one group"), input, stages, threads));
        }
        benches.push(Bench::new("w2 in one group".into(), large, chain(large, 1920, 1080), threads));
        benches.push(Bench::new("1919x1077->1283x721".into(), odd, chain(odd, 1283, 721), threads));
        benches.push(Bench::new("expression".into(), input, vec![sepia(input)], threads));
        if threads == 1 {
            let by_hand = Bench::new("expression by hand".into(), input, vec![sepia(input)], threads);
            benches.push(Bench { runner: None, ..by_hand });
        }
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
    }
}
