//! Frame streams: order, back-pressure, failures, changes in the middle, and the bytes of `execute`.

use std::cell::Cell;
use std::sync::Arc;

use mini_image_pipe::prelude::*;
use mini_image_pipe::runtime::device::Device as RuntimeDevice;
use mini_image_pipe::runtime::device::null::{Execution, NullOptions};
use mini_image_pipe::runtime::testing::interpreting_device;
use mini_image_pipe::{FrameError, StreamedFrame};
use mip_core::{ImageView, ImageViewMut};

fn test_image(width: u32, height: u32, seed: usize) -> ImageBuffer {
    let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap();
    let byte = |i: usize| (i * 37 + i / 7 * (seed + 1) + seed) as u8;
    ImageBuffer::from_bytes(desc, &(0..desc.bytes()).map(byte).collect::<Vec<u8>>()).unwrap()
}

const CHAIN: &str = "small:resize width=60 height=40 ! gray:color_convert to=gray \
                     ! soft:gaussian_blur kernel=5 sigma=1.1 ! mix:blend inputs=gray,soft alpha=0.5";

fn pipeline(line: &str, device: Device) -> Pipeline {
    let spec = PipelineSpec::parse_line(line).unwrap();
    let config = PipelineConfig { device, poison: true, ..PipelineConfig::default() };
    Pipeline::from_spec(&spec, config).unwrap()
}

fn in_flight(frames_in_flight: usize) -> StreamOptions {
    StreamOptions { frames_in_flight, ..StreamOptions::default() }
}

/// What `execute` gives for a frame.
fn alone(pipeline: &mut Pipeline, frame: &ImageBuffer) -> ImageBuffer {
    pipeline.set_named_input("input", frame).unwrap();
    pipeline.execute().unwrap();
    let output = pipeline.task_graph().outputs()[0];
    pipeline.output(output).unwrap()
}

fn only(result: FrameResult) -> (u64, ImageBuffer) {
    let StreamedFrame { number, mut outputs, .. } = result.unwrap();
    assert_eq!(outputs.len(), 1);
    (number, outputs.remove(0).1)
}

#[test]
fn frames_come_out_as_execute_makes_them_and_in_order() {
    let frames: Vec<_> = (0..9).map(|i| test_image(90, 60, i)).collect();
    let mut p = pipeline(CHAIN, Device::cpu());
    let expected: Vec<_> = frames.iter().map(|frame| alone(&mut p, frame)).collect();
    for max in [1, 2, 3, 7, 20] {
        let results = p.stream_frames(frames.clone(), &in_flight(max)).unwrap().map(only);
        let numbered = (0..).zip(expected.iter().cloned());
        assert!(results.eq(numbered), "{max} frames in flight");
    }
}

#[test]
fn a_device_that_runs_late_and_in_any_order_gives_the_same() {
    // The null device blends; a second input keeps its image.
    let spec = |device| {
        let spec = PipelineSpec::parse_toml(BLENDS, "blends.toml").unwrap();
        let config = PipelineConfig { device, poison: true, ..PipelineConfig::default() };
        let mut p = Pipeline::from_spec(&spec, config).unwrap();
        p.set_named_input("other", &test_image(9, 5, 99)).unwrap();
        p
    };
    let frames: Vec<_> = (0..8).map(|i| test_image(9, 5, i)).collect();
    let mut plain = spec(Device::cpu());
    let expected: Vec<_> = frames.iter().map(|frame| alone(&mut plain, frame)).collect();
    for seed in 0..8 {
        let options = NullOptions {
            execution: Execution::Shuffled { seed },
            unified_memory: seed % 2 == 0,
            ..NullOptions::default()
        };
        let device = interpreting_device(options);
        let mut p = spec(Device::from_runtime(device.clone() as Arc<dyn RuntimeDevice>));
        let options = StreamOptions { input: Some("input".to_owned()), ..StreamOptions::default() };
        let results: Vec<_> = p.stream_frames(frames.clone(), &options).unwrap().map(only).collect();
        assert_eq!(results, (0..).zip(expected.iter().cloned()).collect::<Vec<_>>(), "seed {seed}");
        drop((results, p));
        assert_eq!(device.allocated(), 0, "nothing is kept");
    }
}

const BLENDS: &str = r#"
inputs = ["input", "other"]
[[task]]
name = "mix"
op = "blend"
inputs = ["@input", "@other"]
alpha = 0.25
[[task]]
name = "again"
op = "blend"
inputs = ["mix", "@input"]
alpha = 0.5
"#;

#[test]
fn never_more_frames_under_way_than_asked_for() {
    for max in [1, 3] {
        let mut p = pipeline(CHAIN, Device::cpu());
        let taken = Cell::new(0);
        let frames = (0..20).map(|i| {
            taken.set(taken.get() + 1);
            test_image(90, 60, i)
        });
        let results = p.stream_frames(frames, &in_flight(max)).unwrap();
        for (done, result) in (1..).zip(results) {
            only(result);
            // One frame more was taken than is under way: the one that made the oldest come out.
            assert!(taken.get() <= done + max, "{} taken, {done} done, {max} in flight", taken.get());
        }

        let mut stream = p.stream(&in_flight(max)).unwrap();
        for i in 0..10_usize {
            let result = stream.push(test_image(90, 60, i));
            assert_eq!((stream.in_flight(), result.is_some()), ((i + 1).min(max), i >= max));
        }
        assert_eq!((stream.pushed(), stream.finish().len()), (10, max));
    }
}

/// Fails on images whose first sample is 13.
#[derive(Debug)]
struct Superstitious;

impl CustomKernel for Superstitious {
    fn name(&self) -> &'static str {
        "superstitious"
    }

    fn run(&self, from: &[ImageView<'_>], _: &[f32], to: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        if from[0].row(0, 0, 0)[0] == 13 {
            return Err(CustomError("out of luck".to_owned()));
        }
        for y in 0..to.layout().desc.height() as usize {
            to.row_mut(0, 0, y).copy_from_slice(from[0].row(0, 0, y));
        }
        Ok(())
    }
}

#[test]
fn a_frame_that_fails_names_itself_and_its_task_and_the_others_go_on() {
    let mut p = Pipeline::new(PipelineConfig::default());
    let source = p.add_operator("source", Flip::vertical()).unwrap();
    let picky = p.add_operator("picky", Custom::new(Arc::new(Superstitious))).unwrap();
    let sober = p.add_operator("sober", Flip::vertical()).unwrap();
    p.connect(source, picky).unwrap();
    p.connect(source, sober).unwrap();
    let frame = |i: u8| {
        let desc = ImageDesc::new(8, 1, PixelFormat::Gray, DType::U8).unwrap();
        ImageBuffer::from_bytes(desc, &[i; 8]).unwrap()
    };
    let results: Vec<_> = p.stream_frames((10..20).map(frame), &in_flight(3)).unwrap().collect();
    assert_eq!(results.len(), 10);
    for (number, result) in (0_u8..).zip(results) {
        if number == 3 {
            let error = result.unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("frame 3: task 'picky'") && text.contains("out of luck"), "{text}");
            let FrameError { outputs, tasks, .. } = error;
            assert_eq!((outputs.len(), outputs[0].0.as_str(), tasks.len()), (1, "sober", 3));
            assert_eq!(outputs[0].1, frame(13));
        } else {
            let StreamedFrame { outputs, .. } = result.unwrap();
            assert!(outputs.len() == 2 && outputs.iter().all(|(_, image)| *image == frame(10 + number)));
        }
    }
}

#[test]
fn another_size_in_the_middle_gets_a_plan_of_its_own() {
    let sizes =
        [(90, 60), (90, 60), (17, 5), (90, 60), (17, 5), (33, 80), (8, 8), (9, 9), (10, 10), (90, 60)];
    let frames: Vec<_> = sizes.iter().zip(0..).map(|(&(w, h), i)| test_image(w, h, i)).collect();
    let mut p = pipeline("soft:gaussian_blur kernel=3 ! edges:sobel", Device::cpu());
    let expected: Vec<_> = frames.iter().map(|frame| alone(&mut p, frame)).collect();
    let results = p.stream_frames(frames, &in_flight(3)).unwrap().map(only);
    assert!(results.eq((0..).zip(expected)));
}

#[test]
fn a_frame_that_does_not_fit_is_refused_in_its_place() {
    let mut p = pipeline("crop width=8 height=8", Device::cpu());
    let frames = [test_image(9, 9, 0), test_image(5, 5, 1), test_image(9, 9, 2)];
    let results: Vec<_> = p.stream_frames(frames, &in_flight(2)).unwrap().collect();
    assert!(results[0].is_ok() && results[2].is_ok());
    let error = results[1].as_ref().unwrap_err();
    assert!(error.error.is_request() && error.tasks.is_empty());
    assert!(error.to_string().starts_with("frame 1: ") && error.to_string().contains("crop"), "{error}");

    let pair = ImageBuffer::with_layout(BatchLayout::tight(*test_image(9, 9, 0).desc(), 2).unwrap()).unwrap();
    let error = p.stream_frames([pair], &in_flight(2)).unwrap().next().unwrap().unwrap_err();
    assert!(error.to_string().contains("single images"), "{error}");
}

#[test]
fn parameters_count_from_the_next_frame_on() {
    let image = test_image(90, 60, 1);
    let fresh = |sigma: f64, width: i64| {
        let mut p = pipeline(CHAIN, Device::cpu());
        p.set_parameter(p.task("soft").unwrap(), "sigma", sigma).unwrap();
        p.set_parameter(p.task("small").unwrap(), "width", width).unwrap();
        alone(&mut p, &image)
    };
    let expected = [fresh(1.1, 60), fresh(1.1, 60), fresh(3.0, 60), fresh(3.0, 33), fresh(2.0, 33)];
    let mut p = pipeline(CHAIN, Device::cpu());
    let (small, soft) = (p.task("small").unwrap(), p.task("soft").unwrap());
    let mut stream = p.stream(&in_flight(4)).unwrap();
    let mut results = Vec::new();
    for frame in 0..5 {
        let changed = match frame {
            2 => Some(stream.pipeline().set_parameter(soft, "sigma", 3.0).unwrap()),
            3 => Some(stream.pipeline().set_parameter(small, "width", 33).unwrap()),
            4 => Some(stream.pipeline().set_parameter(soft, "sigma", 2.0).unwrap()),
            _ => None,
        };
        assert_eq!(changed == Some(Change::Structural), frame == 3);
        results.extend(stream.push(image.clone()));
    }
    results.extend(stream);
    assert!(results.into_iter().map(only).eq((0..).zip(expected)));
}

#[test]
fn dropping_a_stream_midway_leaves_the_pipeline_as_it_was() {
    let image = test_image(90, 60, 1);
    let mut p = pipeline(CHAIN, Device::cpu());
    let expected = alone(&mut p, &image);
    let mut stream = p.stream(&StreamOptions::default()).unwrap();
    for i in 0..5 {
        drop(stream.push(test_image(90, 60, i)));
    }
    drop(stream);
    assert_eq!(alone(&mut p, &image), expected);
    drop(expected);
    p.reset();
    let in_use = p.memory().unwrap().stats();
    assert_eq!((in_use.device.in_use, in_use.pinned.in_use), (0, 0));
}

#[test]
fn the_steady_state_asks_for_no_new_memory() {
    let mut p = pipeline(CHAIN, Device::cpu());
    let desc = *test_image(90, 60, 0).desc();
    let mut stream = p.stream(&StreamOptions::default()).unwrap();
    let mut count = Vec::new();
    for i in 0..40_u8 {
        let frame = stream.frame(desc, |pixels| pixels.data_mut().fill(i)).unwrap();
        stream.push(frame).transpose().unwrap();
        let stats = stream.pipeline().memory().unwrap().stats();
        count.push(stats.device.driver_allocations + stats.pinned.driver_allocations);
    }
    assert_eq!(count[8], count[39], "{count:?}");
}

#[test]
fn what_is_wrong_with_a_stream_is_said_before_it_begins() {
    let mut p = pipeline(CHAIN, Device::cpu());
    let refused = |p: &mut Pipeline, options: StreamOptions| p.stream(&options).unwrap_err().to_string();
    assert!(refused(&mut p, in_flight(0)).contains("`frames_in_flight` is 0, but must be at least 1"));
    let named = StreamOptions { input: Some("left".to_owned()), ..StreamOptions::default() };
    assert!(refused(&mut p, named).contains("no pipeline input '@left'; inputs: @input"));

    let mut two = Pipeline::new(PipelineConfig::default());
    let mix = two.add_operator("mix", Blend::new(0.25)).unwrap();
    two.set_input_slot(mix, "a", &test_image(6, 4, 1)).unwrap();
    assert!(refused(&mut two, StreamOptions::default()).contains("mix"), "an open slot");
    two.set_input_slot(mix, "b", &test_image(6, 4, 1)).unwrap();
    let text = refused(&mut two, StreamOptions::default());
    assert!(text.contains("this pipeline has 2") && text.contains("StreamOptions::input"), "{text}");

    let mut empty = Pipeline::new(PipelineConfig::default());
    assert!(empty.stream(&StreamOptions::default()).is_err());
    empty.add_operator("a", Flip::vertical()).unwrap();
    empty.add_operator("b", Flip::vertical()).unwrap();
    assert!(refused(&mut empty, StreamOptions::default()).contains('a'), "two open slots");
}

#[test]
fn streams_go_between_threads() {
    let mut p = pipeline(CHAIN, Device::cpu());
    let expected = alone(&mut p, &test_image(90, 60, 0));
    let mut stream = p.stream(&StreamOptions::default()).unwrap();
    assert!(stream.push(test_image(90, 60, 0)).is_none());
    let there = std::thread::scope(|scope| scope.spawn(move || stream.finish()).join().unwrap());
    assert!(there.into_iter().map(only).eq([(0, expected)]));
}
