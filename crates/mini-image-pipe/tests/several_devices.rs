//! Pipelines on several devices: the bytes and the order of one, work for whoever is free, and nothing lost when a device is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mini_image_pipe::FrameError;
use mini_image_pipe::prelude::*;
use mini_image_pipe::runtime::device::null::{LaunchFn, NullDevice, NullOptions};
use mini_image_pipe::runtime::device::{Device as RuntimeDevice, DeviceError};
use mini_image_pipe::runtime::testing::{image_of, interpret};

fn test_image(width: u32, height: u32, seed: usize) -> ImageBuffer {
    let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap();
    let byte = |i: usize| (i * 37 + i / 7 * (seed + 1) + seed * 11) as u8;
    ImageBuffer::from_bytes(desc, &(0..desc.bytes()).map(byte).collect::<Vec<u8>>()).unwrap()
}

fn frames(count: usize) -> Vec<ImageBuffer> {
    (0..count).map(|seed| test_image(24, 16, seed)).collect()
}

const CHAIN: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=5 sigma=1.1 ! mix:blend inputs=gray,soft alpha=0.5";

fn pipeline(devices: Vec<Device>) -> Pipeline {
    let config = PipelineConfig { poison: true, max_batch_size: 3, ..PipelineConfig::default() };
    let spec = PipelineSpec::parse_line(CHAIN).unwrap();
    Pipeline::from_spec(&spec, config.on_devices(devices).unwrap()).unwrap()
}

fn expected(frames: &[ImageBuffer]) -> Vec<ImageBuffer> {
    pipeline(vec![Device::cpu()]).run_batch(frames).unwrap()
}

/// A device that computes in the host's memory or in its own; `on_launch` is asked before.
fn computing(
    unified_memory: bool,
    on_launch: Arc<dyn Fn() -> Result<(), DeviceError> + Send + Sync>,
) -> Arc<dyn RuntimeDevice> {
    let launch: Arc<LaunchFn> = Arc::new(move |launch, group| {
        on_launch()?;
        interpret(launch, group)
    });
    let options = NullOptions { unified_memory, on_launch: Some(launch), ..NullOptions::default() };
    NullDevice::new(options)
}

fn slow(milliseconds: u64) -> Device {
    let wait = move || {
        thread::sleep(Duration::from_millis(milliseconds));
        Ok(())
    };
    Device::from_runtime(computing(false, Arc::new(wait)))
}

/// A device that is lost at each launch whose number, counted from 0 over all times that it was opened, is one of these. It
/// can be opened so many times.
fn faulty(lost_at: impl Fn(usize) -> bool + Send + Sync + 'static, openings: usize) -> Device {
    let launches = Arc::new(AtomicUsize::new(0));
    let opened = AtomicUsize::new(0);
    let lost_at = Arc::new(lost_at);
    Device::from_opener(move |_| {
        if opened.fetch_add(1, Ordering::SeqCst) >= openings {
            return Err(DeviceError::Unsupported("it does not come back".to_owned()));
        }
        let (launches, lost_at) = (launches.clone(), lost_at.clone());
        let launch = move || {
            if lost_at(launches.fetch_add(1, Ordering::SeqCst)) {
                return Err(DeviceError::Lost("an illegal address".to_owned()));
            }
            thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        Ok(computing(false, Arc::new(launch)))
    })
}

fn streamed(pipeline: &mut Pipeline, frames: &[ImageBuffer]) -> Vec<ImageBuffer> {
    pipeline.run_stream(frames.to_vec()).unwrap().map(Result::unwrap).collect()
}

#[test]
fn all_ways_of_running_give_the_bytes_of_one_device_in_order() {
    let frames = frames(20);
    let expected = expected(&frames);
    let mut p = pipeline(vec![slow(1), Device::cpu(), slow(3)]);
    p.warm_up(&[*frames[0].desc()], 1).unwrap();
    assert_eq!(p.run(&frames[7]).unwrap(), expected[7]);
    assert_eq!(p.run_batch(&frames).unwrap(), expected);
    assert_eq!(streamed(&mut p, &frames), expected);
    let (mut source, results) = p.stream_ends(&StreamOptions::default()).unwrap();
    let collecting = thread::spawn(move || results.map(|frame| frame.unwrap()).collect::<Vec<_>>());
    for frame in &frames {
        assert!(source.push(frame.clone()));
    }
    drop(source);
    let results = collecting.join().unwrap();
    assert!(results.iter().zip(0..).all(|(frame, number)| frame.number == number));
    assert!(results.into_iter().map(|mut frame| frame.outputs.remove(0).1).eq(expected));
    let reports = p.device_reports();
    assert_eq!(
        reports.iter().map(|report| report.device.as_str()).collect::<Vec<_>>(),
        ["null", "cpu", "null"]
    );
    assert_eq!(reports.iter().map(|report| report.frames).sum::<u64>(), 61);
    assert!(reports.iter().all(|report| report.losses.is_empty() && !report.left));
}

#[test]
fn whoever_is_free_gets_the_next_frame() {
    let frames = frames(40);
    let mut p = pipeline(vec![slow(60), slow(1)]);
    p.warm_up(&[*frames[0].desc()], 1).unwrap();
    assert_eq!(streamed(&mut p, &frames).len(), 40);
    let done: Vec<u64> = p.device_reports().iter().map(|report| report.frames).collect();
    assert!(done[0] >= 1 && done[1] > 2 * done[0], "{done:?}");
}

#[test]
fn both_devices_work_when_there_are_two_chunks() {
    let frames = frames(6);
    let mut p = pipeline(vec![slow(20), slow(20)]);
    p.warm_up(&[*frames[0].desc()], 3).unwrap();
    let report = p.execute_batch(&frames).unwrap();
    assert_eq!(report.devices.iter().map(|device| device.frames).collect::<Vec<_>>(), [3, 3]);
    assert_eq!((report.device.as_str(), report.frames), ("null, null", 6));
}

#[test]
fn parameters_count_for_the_frames_after_them() {
    let image = test_image(24, 16, 3);
    let set = |p: &mut Pipeline, alpha: f64| p.param::<f64>("mix.alpha").unwrap().set(alpha).unwrap();
    let mut p = pipeline(vec![slow(1), slow(1)]);
    let mut stream = p.stream(&StreamOptions::default()).unwrap();
    let mut results = Vec::new();
    for step in 0..8 {
        set(stream.pipeline(), f64::from(step) / 8.0);
        results.extend(stream.push(image.clone()));
    }
    results.extend(stream);
    for (step, result) in (0..8).zip(results) {
        let mut alone = pipeline(vec![Device::cpu()]);
        set(&mut alone, f64::from(step) / 8.0);
        assert_eq!(result.unwrap().outputs[0].1, alone.run(&image).unwrap(), "{step}");
    }
}

#[test]
fn a_lost_device_hands_its_frames_to_the_others() {
    let frames = frames(30);
    let expected = expected(&frames);
    let mut p = pipeline(vec![faulty(|launch| launch == 5, 1), slow(1)]);
    assert_eq!(streamed(&mut p, &frames), expected);
    let reports = p.device_reports();
    assert!(reports[0].left && reports[0].losses.len() == 1, "{reports:?}");
    assert!(reports[0].losses[0].contains("an illegal address"), "{reports:?}");
    assert_eq!(reports[0].frames + reports[1].frames, 30);
    // What is left goes on, in every way of running.
    assert_eq!(p.run_batch(&frames).unwrap(), expected);
    assert_eq!(p.device_reports()[1].frames, reports[1].frames + 30);
}

#[test]
fn a_device_that_can_be_opened_again_comes_back() {
    let frames = frames(40);
    let expected = expected(&frames);
    let mut p = pipeline(vec![faulty(|launch| launch == 5 || launch == 12, 9), slow(4)]);
    assert_eq!(streamed(&mut p, &frames), expected);
    let reports = p.device_reports();
    assert!(!reports[0].left && reports[0].losses.len() == 2 && reports[0].frames > 2, "{reports:?}");
}

#[test]
fn a_device_that_is_lost_too_often_is_left_alone() {
    let frames = frames(20);
    let mut p = pipeline(vec![faulty(|launch| launch % 2 == 1, 99), slow(2)]);
    assert_eq!(streamed(&mut p, &frames), expected(&frames));
    let reports = p.device_reports();
    assert!(reports[0].left && reports[0].losses.len() == 3, "{reports:?}");
}

#[test]
fn a_frame_that_no_device_survives_fails_alone() {
    // Both devices are lost whenever they meet it.
    let poisoned = test_image(24, 16, 7);
    let device = |poisoned: ImageBuffer| {
        Device::from_opener(move |_| {
            let poisoned = poisoned.clone();
            let launch: Arc<LaunchFn> = Arc::new(move |launch, group| {
                let is_poisoned = |input| image_of(input).is_ok_and(|image| image == poisoned);
                if launch.inputs.iter().any(is_poisoned) {
                    return Err(DeviceError::Lost("an illegal address".to_owned()));
                }
                interpret(launch, group)
            });
            Ok(NullDevice::new(NullOptions {
                on_launch: Some(launch),
                unified_memory: false,
                ..NullOptions::default()
            }) as _)
        })
    };
    let frames = frames(16);
    let expected = expected(&frames);
    let mut p = pipeline(vec![device(poisoned.clone()), device(poisoned)]);
    let results: Vec<_> = p.stream_frames(frames, &StreamOptions::default()).unwrap().collect();
    for (index, (result, expected)) in results.into_iter().zip(expected).enumerate() {
        match (index, result) {
            (7, Err(FrameError { number: 7, error, .. })) => {
                assert!(error.to_string().contains("an illegal address"), "{error}");
            }
            (_, result) => assert_eq!(result.unwrap().outputs[0].1, expected, "{index}"),
        }
    }
    assert!(p.device_reports().iter().all(|report| !report.left), "{:?}", p.device_reports());
}

#[test]
fn without_a_device_frames_fail_and_say_why() {
    let frames = frames(5);
    let mut p = pipeline(vec![faulty(|_| true, 1), faulty(|_| true, 1)]);
    let results: Vec<_> = p.stream_frames(frames.clone(), &StreamOptions::default()).unwrap().collect();
    assert_eq!(results.len(), 5);
    assert!(results.iter().all(Result::is_err));
    let text = p.run(&frames[0]).unwrap_err().to_string();
    assert!(text.contains("no device is left") && text.contains("an illegal address"), "{text}");
}

#[test]
fn who_stands_by_takes_over_when_all_others_are_lost() {
    let frames = frames(30);
    let expected = expected(&frames);
    let config = |device: Device| PipelineConfig {
        device,
        more_devices: vec![faulty(|launch| launch >= 7, 1)],
        standby: Some(Device::cpu()),
        ..PipelineConfig::default()
    };
    let mut p = pipeline(vec![slow(0)]).with_config(config(faulty(|launch| launch >= 4, 1)));
    assert_eq!(streamed(&mut p, &frames), expected);
    let reports = p.device_reports();
    assert!(reports[0].left && reports[1].left && reports[2].standby && !reports[2].left, "{reports:?}");
    assert_eq!(reports.iter().map(|report| report.frames).collect::<Vec<_>>(), [4, 7, 19]);
    assert_eq!(p.run_batch(&frames).unwrap(), expected);
    // It has nothing to do while another goes on.
    let mut p = pipeline(vec![slow(0)]).with_config(config(slow(1)));
    assert_eq!(streamed(&mut p, &frames), expected);
    assert_eq!(p.device_reports()[2].frames, 0);
}

#[test]
fn a_chunk_that_fails_ends_the_batch() {
    let failing = Device::from_runtime(computing(
        false,
        Arc::new(|| Err(DeviceError::Kernel { kernel: "blend".to_owned(), message: "it fails".to_owned() })),
    ));
    let mut p = pipeline(vec![failing.clone(), failing]);
    let error = p.run_batch(&frames(30)).unwrap_err().to_string();
    assert!(error.contains("it fails"), "{error}");
}

#[test]
fn what_needs_one_device_is_refused() {
    let mut p = pipeline(vec![slow(0), Device::cpu()]);
    let options = StreamOptions { keep_on_device: true, ..StreamOptions::default() };
    assert!(p.stream(&options).unwrap_err().to_string().contains("takes one device"));
    assert!(PipelineConfig::default().on_devices([]).unwrap_err().to_string().contains("at least one"));
}

#[test]
fn a_stream_that_is_dropped_leaves_the_pipeline_usable() {
    let frames = frames(12);
    let mut p = pipeline(vec![slow(2), slow(2)]);
    let mut stream = p.stream(&StreamOptions::default()).unwrap();
    for frame in &frames {
        stream.push(frame.clone());
    }
    drop(stream);
    let (mut source, results) = p.stream_ends(&StreamOptions::default()).unwrap();
    assert!(source.push(frames[0].clone()));
    drop(results);
    assert!(!source.push(frames[0].clone()));
    drop(source);
    assert_eq!(p.run_batch(&frames).unwrap(), expected(&frames));
    assert!(p.trim().is_ok());
    assert_eq!(p.run_batch(&frames).unwrap(), expected(&frames));
}

/// A device that takes so long to open, or cannot be opened.
fn late(milliseconds: u64, opens: bool) -> Device {
    Device::from_opener(move |_| {
        thread::sleep(Duration::from_millis(milliseconds));
        if !opens {
            return Err(DeviceError::Unsupported("the driver does not start".to_owned()));
        }
        Ok(computing(false, Arc::new(|| Ok(()))))
    })
}

fn in_background(device: Device) -> Pipeline {
    let config = PipelineConfig {
        poison: true,
        max_batch_size: 3,
        device,
        standby: Some(Device::cpu()),
        start_in_background: true,
        ..PipelineConfig::default()
    };
    Pipeline::from_spec(&PipelineSpec::parse_line(CHAIN).unwrap(), config).unwrap()
}

#[test]
fn the_cpu_works_while_a_device_is_opened() {
    let frames = frames(8);
    let expected = expected(&frames);
    let start = std::time::Instant::now();
    let mut p = in_background(late(5000, true));
    assert_eq!(p.run(&frames[0]).unwrap(), expected[0]);
    assert_eq!(p.run_batch(&frames).unwrap(), expected);
    assert_eq!(streamed(&mut p, &frames), expected);
    assert!(p.memory().unwrap().stats().device.peak > 0);
    let reports = p.device_reports();
    let done: Vec<_> = reports.iter().map(|report| (report.device.as_str(), report.frames)).collect();
    assert_eq!(done, [("made:0", 0), ("cpu", 17)]);
    assert!(reports[1].standby && !reports[0].left && reports[0].unusable.is_none(), "{reports:?}");
    assert!(mini_image_pipe::devices_starting() >= 1);
    drop(p);
    assert!(start.elapsed() < Duration::from_secs(4), "nobody waited for the device");
}

#[test]
fn a_device_that_has_been_opened_takes_over() {
    let frames = frames(8);
    let expected = expected(&frames);
    let mut p = in_background(late(20, true));
    let mut stream = p.stream(&StreamOptions::default()).unwrap();
    let mut pushed = 0;
    // Until it has done something; each push gives a result once enough are under way.
    while stream.pipeline().device_reports().first().is_none_or(|report| report.frames < 5) {
        if let Some(result) = stream.push(frames[pushed % 8].clone()) {
            result.unwrap();
        }
        pushed += 1;
        thread::sleep(Duration::from_millis(1));
        assert!(pushed < 20_000, "{:?}", stream.pipeline().device_reports());
    }
    drop(stream);
    let before = p.device_reports();
    assert_eq!(before[0].name, "null");
    // From now on the standby device stands by, also for other shapes once they are made ready, and with other numbers.
    assert_eq!(p.run_batch(&frames).unwrap(), expected);
    p.param::<f64>("mix.alpha").unwrap().set(0.25).unwrap();
    let mut alone = pipeline(vec![Device::cpu()]);
    alone.param::<f64>("mix.alpha").unwrap().set(0.25).unwrap();
    assert_eq!(p.run_batch(&frames).unwrap(), alone.run_batch(&frames).unwrap());
    let wide = test_image(40, 16, 1);
    assert_eq!(p.run(&wide).unwrap(), alone.run(&wide).unwrap());
    p.warm_up(&[*wide.desc()], 1).unwrap();
    let ready = p.device_reports();
    assert_eq!(p.run(&wide).unwrap(), alone.run(&wide).unwrap());
    let after = p.device_reports();
    assert_eq!((after[0].frames, after[1].frames), (ready[0].frames + 1, ready[1].frames));
}

#[test]
fn a_device_that_cannot_be_opened_in_the_background_costs_nothing() {
    let frames = frames(8);
    let mut p = in_background(late(10, false));
    let expected = expected(&frames);
    for _ in 0..3 {
        assert_eq!(p.run_batch(&frames).unwrap(), expected);
        thread::sleep(Duration::from_millis(10));
    }
    let reports = p.device_reports();
    assert!(reports[0].left && reports[1].frames == 24, "{reports:?}");
    assert_eq!(reports[0].unusable.as_deref(), Some("device: the driver does not start"));
    assert_eq!(p.warm_up(&[*frames[0].desc()], 1), Ok(()));
}

#[test]
fn a_plan_that_a_device_has_no_room_for_is_said() {
    let frames = frames(8);
    let limited = in_background(late(1, true));
    let config = PipelineConfig { memory_limit: Some(3000), ..limited.config().clone() };
    let mut p = limited.with_config(config);
    // The CPU's plan needs as much: nobody can do it.
    let refused = p.run_batch(&frames).unwrap_err().to_string();
    assert!(refused.contains("the limit is 3000"), "{refused}");
}
