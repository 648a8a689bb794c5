//! The facade end to end on the CPU: what DESIGN promises of `Pipeline`.

use std::sync::{Arc, Mutex};

use mini_image_pipe::Error;
use mini_image_pipe::prelude::*;
use mini_image_pipe::runtime::RuntimeError;
use mip_core::{ImageView, ImageViewMut};

fn test_image(width: u32, height: u32, seed: u8) -> ImageBuffer {
    let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap();
    let byte = |i: usize| (i * 37 + i / 7 * usize::from(seed)) as u8;
    ImageBuffer::from_bytes(desc, &(0..desc.bytes()).map(byte).collect::<Vec<u8>>()).unwrap()
}

/// resize -> gray -> {blur, as is} -> blend, as in the design.
fn diamond(config: PipelineConfig) -> (Pipeline, [TaskHandle; 4]) {
    let mut p = Pipeline::new(config);
    let small = p.add_operator("small", Resize::to(60, 40)).unwrap();
    let gray = p.add_operator("gray", ColorConvert::to(PixelFormat::Gray)).unwrap();
    let soft = p.add_operator("soft", GaussianBlur::new(5).sigma(1.1)).unwrap();
    let mix = p.add_operator("mix", Blend::new(0.5)).unwrap();
    p.connect(small, gray).unwrap();
    p.connect(gray, soft).unwrap();
    p.connect(gray, mix).unwrap();
    p.connect_slot(soft, mix, "b").unwrap();
    (p, [small, gray, soft, mix])
}

#[test]
fn the_design_example_runs_and_shares_the_fork() {
    let (mut p, [small, _, _, mix]) = diamond(PipelineConfig::default());
    p.set_input(small, &test_image(90, 60, 1)).unwrap();
    let report = p.execute().unwrap();
    assert!(report.tasks.iter().all(|t| t.invocations == 1 && t.state == TaskState::Completed));
    assert_eq!((report.frames, report.graph.direct_runs), (1, 1));
    let image = p.output(mix).unwrap();
    assert_eq!(image.desc().to_string(), "60x40 gray u8");
    assert!(image.to_bytes().iter().any(|&b| b != image.to_bytes()[0]), "an image, not a constant");
}

#[test]
fn a_file_and_rust_build_the_same_pipeline() {
    let (mut p, [small, _, _, mix]) = diamond(PipelineConfig::default());
    let image = test_image(90, 60, 2);
    p.set_input(small, &image).unwrap();
    p.execute().unwrap();
    let line = "small:resize width=60 height=40 ! gray:color_convert to=gray \
                ! soft:gaussian_blur kernel=5 sigma=1.1 ! mix:blend inputs=gray,soft alpha=0.5";
    let spec = PipelineSpec::parse_line(line).unwrap();
    let mut q = Pipeline::from_spec(&spec, PipelineConfig::default()).unwrap();
    q.set_named_input("input", &image).unwrap();
    q.execute().unwrap();
    assert_eq!(p.output(mix).unwrap(), q.output(q.task("mix").unwrap()).unwrap());
}

#[test]
fn a_uniform_parameter_takes_effect_without_a_new_plan_and_equals_a_fresh_pipeline() {
    let (mut p, [small, _, soft, mix]) = diamond(PipelineConfig::default());
    let image = test_image(90, 60, 3);
    p.set_input(small, &image).unwrap();
    p.execute().unwrap();
    let before = p.output(mix).unwrap();
    assert_eq!(p.set_parameter(soft, "sigma", 3.0).unwrap(), Change::Uniform);
    p.execute().unwrap();
    let after = p.output(mix).unwrap();
    assert_ne!(before, after);

    let (mut fresh, [small, _, soft, mix]) = diamond(PipelineConfig::default());
    fresh.set_parameter(soft, "sigma", 3.0).unwrap();
    fresh.set_input(small, &image).unwrap();
    fresh.execute().unwrap();
    assert_eq!(after, fresh.output(mix).unwrap());
}

#[test]
fn a_structural_parameter_and_a_new_input_size_make_a_new_plan() {
    let (mut p, [small, _, _, mix]) = diamond(PipelineConfig::default());
    p.set_input(small, &test_image(90, 60, 4)).unwrap();
    p.execute().unwrap();
    assert_eq!(p.set_parameter(small, "width", 33).unwrap(), Change::Structural);
    p.execute().unwrap();
    assert_eq!(p.output(mix).unwrap().desc().width(), 33);
    p.set_input(small, &test_image(17, 5, 4)).unwrap();
    p.execute().unwrap();
    assert_eq!(p.output(mix).unwrap().desc().width(), 33);
}

#[test]
fn a_batch_equals_its_frames_one_by_one_with_one_invocation_a_chunk() {
    let frames: Vec<_> = (0..5).map(|i| test_image(50, 30, i)).collect();
    let (mut p, [small, _, _, mix]) = diamond(PipelineConfig { max_batch_size: 3, ..Default::default() });
    p.set_input(small, &frames[0]).unwrap();
    let report = p.execute_batch(&frames).unwrap();
    assert!(report.tasks.iter().all(|t| t.invocations == 2), "5 frames in chunks of 3: {:?}", report.tasks);
    let batch = p.batch_outputs(mix).unwrap().to_vec();
    assert_eq!(batch.len(), 5);
    for (frame, from_batch) in frames.iter().zip(&batch) {
        p.set_input(small, frame).unwrap();
        p.execute().unwrap();
        assert_eq!(&p.output(mix).unwrap(), from_batch);
    }
}

#[test]
fn empty_and_mixed_batches() {
    let (mut p, [small, _, _, mix]) = diamond(PipelineConfig::default());
    p.set_input(small, &test_image(8, 8, 0)).unwrap();
    assert_eq!(p.execute_batch(&[]).unwrap().frames, 0);
    assert!(p.batch_outputs(mix).unwrap().is_empty());
    let mixed = [test_image(8, 8, 0), test_image(8, 8, 1), test_image(9, 8, 2)];
    let error = p.execute_batch(&mixed).unwrap_err();
    assert!(matches!(&error, Error::MixedBatch { index: 2, .. }), "{error}");
    assert!(error.to_string().contains("9x8 rgb u8"), "{error}");
}

#[derive(Debug)]
struct Fails;

impl CustomKernel for Fails {
    fn name(&self) -> &'static str {
        "fails"
    }

    fn run(&self, _: &[ImageView<'_>], _: &[f32], _: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        Err(CustomError("out of luck".to_owned()))
    }
}

#[test]
fn a_failure_stops_what_depends_on_it_and_nothing_else() {
    let mut p = Pipeline::new(PipelineConfig::default());
    let source = p.add_operator("source", Flip::horizontal()).unwrap();
    let bad = p.add_operator("bad", Custom::new(Arc::new(Fails))).unwrap();
    let after = p.add_operator("after", Flip::vertical()).unwrap();
    let good = p.add_operator("good", Flip::vertical()).unwrap();
    p.connect(source, bad).unwrap();
    p.connect(bad, after).unwrap();
    p.connect(source, good).unwrap();
    p.set_input(source, &test_image(20, 10, 0)).unwrap();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let log = reported.clone();
    p.set_error_callback(move |_, name, error| log.lock().unwrap().push(format!("{name}: {error}")));

    for _ in 0..2 {
        let error = p.execute().unwrap_err();
        assert!(matches!(&error, Error::Run(RuntimeError::Task { task, .. }) if task == "bad"), "{error}");
        assert!(!error.is_request());
        assert!(p.output(good).is_ok());
        let refused = p.output(after).unwrap_err().to_string();
        assert!(refused.contains("after") && refused.contains("failed"), "{refused}");
    }
    let reported = reported.lock().unwrap();
    assert_eq!(reported.len(), 2, "once an execution: {reported:?}");
    assert!(reported[0].contains("out of luck"), "{reported:?}");
}

#[test]
fn the_steady_state_asks_the_driver_for_nothing() {
    let (mut p, [small, _, _, mix]) = diamond(PipelineConfig::default());
    let image = test_image(90, 60, 5);
    p.set_input(small, &image).unwrap();
    let mut held = None;
    for _ in 0..3 {
        p.execute().unwrap();
        held = Some(p.output(mix).unwrap());
    }
    let warm = p.execute().unwrap().memory;
    let before = held.as_ref().map(ImageBuffer::to_bytes);
    for _ in 0..20 {
        p.execute().unwrap();
    }
    let later = p.execute().unwrap().memory;
    assert_eq!(warm.device.driver_allocations, later.device.driver_allocations);
    assert_eq!(held.as_ref().map(ImageBuffer::to_bytes), before, "a held result is never overwritten");
}

#[test]
fn mistakes_are_named_before_anything_runs() {
    let (mut p, [small, _, soft, mix]) = diamond(PipelineConfig::default());
    let missing = p.execute().unwrap_err();
    assert!(missing.is_request() && missing.to_string().contains("small"), "{missing}");
    assert!(p.output(mix).unwrap_err().to_string().contains("execute first"));
    let even = p.set_parameter(soft, "kernel", 4).unwrap_err().to_string();
    assert!(even.contains("soft") && even.contains("kernel") && even.contains("odd"), "{even}");
    let cycle = p.connect(mix, small).unwrap_err().to_string();
    assert!(cycle.contains("small") && cycle.contains("mix"), "{cycle}");
    p.set_input(small, &test_image(4, 4, 0)).unwrap();
    let fed = p.set_input(soft, &test_image(4, 4, 0)).unwrap_err().to_string();
    assert!(fed.contains("soft"), "{fed}");
    assert_eq!(p.task_graph().inputs().len(), 1, "a refused input leaves nothing behind");
    p.execute().unwrap();
    assert!(p.output(small).unwrap_err().to_string().contains("mark_output"));
}

#[test]
fn two_inputs_by_slot_and_exchange_of_images() {
    let mut p = Pipeline::new(PipelineConfig::default());
    let mix = p.add_operator("mix", Blend::new(0.25)).unwrap();
    p.set_input_slot(mix, "a", &test_image(6, 4, 1)).unwrap();
    p.set_input_slot(mix, "b", &test_image(6, 4, 2)).unwrap();
    p.execute().unwrap();
    let first = p.output(mix).unwrap();
    p.set_input_slot(mix, "b", &test_image(6, 4, 3)).unwrap();
    p.execute().unwrap();
    assert_ne!(first, p.output(mix).unwrap());
    let different = p.set_input_slot(mix, "b", &test_image(7, 4, 3)).and_then(|()| p.execute().map(|_| ()));
    assert!(different.unwrap_err().to_string().contains("mix"));
    p.reset();
    assert!(matches!(p.execute(), Err(Error::MissingInput { .. })));
}

#[test]
fn pipelines_move_between_threads() {
    let (mut p, [small, _, _, mix]) = diamond(PipelineConfig::default());
    p.set_input(small, &test_image(30, 20, 1)).unwrap();
    p.execute().unwrap();
    let here = p.output(mix).unwrap();
    let there = std::thread::spawn(move || {
        p.execute().unwrap();
        p.output(mix).unwrap()
    });
    assert_eq!(here, there.join().unwrap());
}

#[test]
fn a_memory_limit_refuses_the_plan_before_allocating() {
    let (mut p, [small, ..]) = diamond(PipelineConfig { memory_limit: Some(1000), ..Default::default() });
    p.set_input(small, &test_image(90, 60, 5)).unwrap();
    let error = p.execute().unwrap_err();
    assert!(error.to_string().contains("1000"), "{error}");
    assert_eq!(p.memory().unwrap().stats().device.driver_allocations, 0);
}

#[cfg(not(feature = "profiling"))]
#[test]
fn settings_this_build_lacks_are_refused_not_ignored() {
    let (mut p, [small, ..]) = diamond(PipelineConfig { enable_profiling: true, ..Default::default() });
    p.set_input(small, &test_image(9, 6, 5)).unwrap();
    assert!(p.execute().unwrap_err().to_string().contains("enable_profiling"));
}
