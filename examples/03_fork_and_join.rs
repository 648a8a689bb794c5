//! Two branches of one image, joined: the graph and its plan, with independent tasks on streams of their own.
//!
//! `cargo run --release --example 03_fork_and_join [cuda]`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use mini_image_pipe::prelude::*;

fn main() -> mini_image_pipe::Result<()> {
    let device = std::env::args().nth(1).unwrap_or("cpu".into()).parse()?;
    // Unfused, so that there is something to put on two streams.
    let config = PipelineConfig { device, fuse: false, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::new(config);
    let gray = pipeline.add_operator("gray", ColorConvert::to(PixelFormat::Gray))?;
    let soft = pipeline.add_operator("soft", GaussianBlur::new(7))?;
    let edges = pipeline.add_operator("edges", Sobel::new())?;
    let mix = pipeline.add_operator("mix", Blend::new(0.6))?;
    pipeline.connect(gray, soft)?;
    pipeline.connect(gray, edges)?;
    pipeline.connect_slot(soft, mix, "a")?;
    pipeline.connect_slot(edges, mix, "b")?;
    assert!(pipeline.task_graph().are_independent(soft, edges)?);

    let desc = ImageDesc::new(800, 600, PixelFormat::Rgb, DType::U8)?;
    pipeline.set_input(gray, &ImageBuffer::new(desc)?)?;
    let plan = pipeline.plan_for(&[desc], 1)?;
    println!("{} launches on {} streams, {} waits", plan.groups.len(), plan.streams, plan.waits.len());
    assert_eq!((plan.groups.len(), plan.streams, plan.waits.len()), (4, 2, 2));

    let report = pipeline.execute()?;
    for task in &report.tasks {
        println!("{:6} {:14} {} after {} invocation(s)", task.name, task.op, task.state, task.invocations);
    }
    println!("mix: {}", pipeline.output(mix)?.desc());
    Ok(())
}
