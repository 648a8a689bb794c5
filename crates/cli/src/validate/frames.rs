//! Frame streams: the bytes of one execution after another, in order, whatever happens in between.

use mini_image_pipe::{Device, Error, FrameResult, Pipeline, PipelineConfig, StreamOptions};
use mip_core::ImageBuffer;
use mip_graph::PipelineSpec;
use mip_ops::Value;

use super::modes::{CHAIN, DIAMOND, Results, all_same, results, test_image, text};
use super::{Outcome, Pending, Request, cases};

const FRAMES: u64 = 24;

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![
        ("a frame stream equals single executions".to_owned(), Box::new(streams)),
        ("a stream on this device and the CPU equals single executions".to_owned(), Box::new(shared_out)),
        ("a bad frame fails alone in its stream".to_owned(), Box::new(|r| Outcome::one(bad_frame(r)))),
    ]
}

/// Frames of two sizes, so that there is a new plan in the middle, and back.
fn frames(request: &Request) -> Vec<ImageBuffer> {
    let large = if request.small { (80, 45) } else { (320, 180) };
    let size = |i| if (8..16).contains(&i) { (97, 61) } else { large };
    let frame = |i| test_image(size(i).0, size(i).1, request.seed.wrapping_add(i));
    (0..FRAMES).map(frame).collect()
}

/// Changes a parameter before some of the frames: those before it are under way with the old one.
fn turn(pipeline: &mut Pipeline, frame: usize) -> Result<(), Error> {
    if frame.is_multiple_of(5) {
        let soft = pipeline.task("soft")?;
        pipeline.set_parameter(soft, "sigma", Value::from(0.6 + frame as f64 / 10.0))?;
    }
    Ok(())
}

fn pipeline(line: &str, device: &Device, replay: bool, ordered: bool) -> Result<Pipeline, Error> {
    let config = PipelineConfig {
        device: device.clone(),
        enable_graph_replay: replay,
        prefer_async_allocator: ordered,
        poison: true,
        ..PipelineConfig::default()
    };
    Pipeline::from_spec(&PipelineSpec::parse_line(line)?, config)
}

fn executed(line: &str, frames: &[ImageBuffer]) -> Result<Vec<Results>, Error> {
    let mut pipeline = pipeline(line, &Device::cpu(), false, false)?;
    let run = |(number, frame): (usize, &ImageBuffer)| {
        turn(&mut pipeline, number)?;
        pipeline.set_named_input("input", frame)?;
        pipeline.execute()?;
        Ok(results(&pipeline))
    };
    frames.iter().enumerate().map(run).collect()
}

fn streams(request: &Request) -> Outcome {
    // Some 2500 launches otherwise, which a sanitizer takes minutes for.
    let in_flight: &[usize] = if request.small { &[2, 6] } else { &[1, 2, 3, 6] };
    let runs: Vec<_> = [CHAIN, DIAMOND]
        .iter()
        .flat_map(|&line| in_flight.iter().map(move |&in_flight| (line, in_flight)))
        .flat_map(|(line, in_flight)| [false, true].map(|replay| (line, in_flight, replay)))
        .flat_map(|run| [(run, false), (run, true)])
        .collect();
    cases(1, &runs, |&((line, in_flight, replay), ordered)| {
        let what = |text: String| {
            format!("{in_flight} in flight, replay {replay}, stream-ordered {ordered}, {line}: {text}")
        };
        let run = || -> Result<(), String> {
            let frames = frames(request);
            let expected = executed(line, &frames).map_err(text)?;
            let mut pipeline = pipeline(line, &request.device, replay, ordered).map_err(text)?;
            let done = pushed(&mut pipeline, &frames, in_flight)?;
            same_frames(done, &expected, None)
        };
        run().map_err(what)
    })
}

/// The results of frames that are pushed into a stream.
fn pushed(
    pipeline: &mut Pipeline,
    frames: &[ImageBuffer],
    frames_in_flight: usize,
) -> Result<Vec<FrameResult>, String> {
    let options = StreamOptions { frames_in_flight, ..StreamOptions::default() };
    let mut stream = pipeline.stream(&options).map_err(text)?;
    let mut done: Vec<FrameResult> = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        turn(stream.pipeline(), number).map_err(text)?;
        // Every other frame from memory that the device copies from directly.
        let pooled =
            |f: &ImageBuffer| stream.frame(*f.desc(), |to| to.data_mut().copy_from_slice(&f.to_bytes()));
        let frame = if number.is_multiple_of(2) { frame.clone() } else { pooled(frame).map_err(text)? };
        done.extend(stream.push(frame));
    }
    done.extend(stream);
    Ok(done)
}

/// Frames that go to whichever of two devices is free.
fn shared_out(request: &Request) -> Outcome {
    let runs = [(CHAIN, false), (CHAIN, true), (DIAMOND, false), (DIAMOND, true)];
    cases(1, &runs, |&(line, replay)| {
        let run = || -> Result<(), String> {
            let frames = frames(request);
            let expected = executed(line, &frames).map_err(text)?;
            let mut pipeline = pipeline(line, &request.device, replay, false).map_err(text)?;
            let config = PipelineConfig { more_devices: vec![Device::cpu()], ..pipeline.config().clone() };
            pipeline = pipeline.with_config(config);
            // So that one does not have all frames while the other compiles.
            for frame in [&frames[0], &frames[8]] {
                pipeline.warm_up(&[*frame.desc()], 1).map_err(text)?;
            }
            same_frames(pushed(&mut pipeline, &frames, 3)?, &expected, None)?;
            // Which device has how many is a matter of time.
            let reports = pipeline.device_reports();
            let done: u64 = reports.iter().map(|report| report.frames).sum();
            match reports.iter().find(|report| !report.losses.is_empty()) {
                Some(lost) => Err(format!("{} was lost: {}", lost.device, lost.losses.join("; "))),
                None if done == FRAMES => Ok(()),
                None => Err(format!("the devices count {done} frames of {FRAMES}")),
            }
        };
        run().map_err(|text| format!("replay {replay}, {line}: {text}"))
    })
}

/// Compares the results of all frames but `without`, which failed.
fn same_frames(done: Vec<FrameResult>, expected: &[Results], without: Option<usize>) -> Result<(), String> {
    if done.len() != expected.len() {
        return Err(format!("{} results for {} frames", done.len(), expected.len()));
    }
    let frames = done.into_iter().zip(expected).enumerate();
    for (number, (frame, expected)) in frames.filter(|(number, _)| Some(*number) != without) {
        let frame = frame.map_err(text)?;
        if frame.number != number as u64 {
            return Err(format!("frame {} came out in the place of {number}", frame.number));
        }
        let outputs = frame.outputs.into_iter().map(|(name, image)| (name, vec![image])).collect();
        all_same(&outputs, expected).map_err(|text| format!("frame {number}: {text}"))?;
    }
    Ok(())
}

/// A frame that no plan can be made for, in the middle.
fn bad_frame(request: &Request) -> Result<(), String> {
    const BAD: usize = 5;
    let frames: Vec<ImageBuffer> =
        (0..10).map(|i| test_image(200, 120, request.seed.wrapping_add(i))).collect();
    let expected = executed(CHAIN, &frames).map_err(text)?;
    let mut pipeline = pipeline(CHAIN, &request.device, false, false).map_err(text)?;
    let mut stream = pipeline.stream(&StreamOptions::default()).map_err(text)?;
    let mut done: Vec<FrameResult> = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        turn(stream.pipeline(), number).map_err(text)?;
        let two = || {
            let layout = mip_core::BatchLayout::tight(*frame.desc(), 2).map_err(text)?;
            ImageBuffer::with_layout(layout).map_err(text)
        };
        done.extend(stream.push(if number == BAD { two()? } else { frame.clone() }));
    }
    done.extend(stream);
    match done.get(BAD) {
        Some(Err(_)) => same_frames(done, &expected, Some(BAD)),
        Some(Ok(_)) => Err("the bad frame was not refused".to_owned()),
        None => Err("the bad frame has no result".to_owned()),
    }
}
