//! The short way, as a newcomer takes it, and the mistakes that newcomers make.

use mini_image_pipe::prelude::*;
use mini_image_pipe::{Error, ErrorDetails, Result};
use mip_testkit::images::Pattern;

fn photo() -> ImageBuffer {
    let desc = ImageDesc::new(64, 48, PixelFormat::Rgb, DType::U8).unwrap();
    Pattern::Noise.draw(desc, 1)
}

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error.to_string(),
    }
}

#[cfg(feature = "io")]
#[test]
fn three_lines_open_run_and_save() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("photo.png"), folder.path().join("edges.png"));
    save(&photo(), &from)?;

    let out = Pipeline::parse("resize width=32 ! sobel")?.run(&open(&from)?)?;
    save(&out, &to)?;

    assert_eq!(open(&to)?, out);
    assert_eq!(out.desc().to_string(), "32x24 gray u8");
    Ok(())
}

#[test]
fn text_file_builder_and_graph_are_the_same_pipeline() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("edges.toml");
    let text = "[[task]]\nop = \"resize\"\nwidth = 32\n\n[[task]]\nop = \"sobel\"\n";
    std::fs::write(&file, text).unwrap();
    let photo = photo();
    let expected = Pipeline::parse("resize width=32 ! sobel")?.run(&photo)?;
    assert_eq!(Pipeline::parse_toml(text)?.run(&photo)?, expected);
    assert_eq!(Pipeline::load(&file)?.run(&photo)?, expected);
    let chain = Pipeline::builder().then("small", Resize::width(32)).then("edges", Sobel::new());
    assert_eq!(chain.build()?.run(&photo)?, expected);
    let mut by_hand = Pipeline::new(PipelineConfig::default());
    let small = by_hand.add_operator("small", Resize::width(32))?;
    let edges = by_hand.add_operator("edges", Sobel::new())?;
    by_hand.connect(small, edges)?;
    assert_eq!(by_hand.run(&photo)?, expected);
    Ok(())
}

#[test]
fn one_image_many_and_a_stream_give_the_same() -> Result<()> {
    let mut pipeline = Pipeline::parse("gaussian_blur sigma=2 ! sobel")?;
    let frames: Vec<ImageBuffer> = (0..11).map(|seed| Pattern::Noise.draw(*photo().desc(), seed)).collect();
    let each = frames.iter().map(|frame| pipeline.run(frame)).collect::<Result<Vec<_>>>()?;
    assert_eq!(pipeline.run_batch(&frames)?, each);
    assert_eq!(pipeline.run_stream(frames)?.collect::<Result<Vec<_>>>()?, each);
    assert_eq!(pipeline.run_batch(&[])?, []);
    Ok(())
}

#[test]
fn a_frame_of_a_stream_that_fails_is_an_error_in_its_place() -> Result<()> {
    let mut pipeline = Pipeline::parse("crop x=0 y=0 width=40 height=40")?;
    let small = ImageBuffer::new(ImageDesc::new(8, 8, PixelFormat::Rgb, DType::U8)?)?;
    let frames = [photo(), small, photo()];
    let results: Vec<_> = pipeline.run_stream(frames)?.collect();
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    let error = results.into_iter().nth(1).unwrap().unwrap_err();
    assert!(error.to_string().starts_with("frame 1: task 'crop'"), "{error}");
    assert_eq!(error.details().task.as_deref(), Some("crop"));
    Ok(())
}

#[test]
fn an_image_that_was_run_is_not_held_and_not_copied() -> Result<()> {
    let mut pipeline = Pipeline::parse("sobel")?;
    let mut photo = photo();
    pipeline.run(&photo)?;
    assert!(photo.is_unique(), "the pipeline let go of it");
    let edges = pipeline.task("sobel")?;
    assert!(message(pipeline.output(edges)).contains("handed it over"));
    Ok(())
}

#[test]
fn parameters_by_handle_and_by_name() -> Result<()> {
    let mut pipeline = Pipeline::parse("soft:gaussian_blur kernel=5 ! normalize mean=0.5 std=0.25")?;
    assert_eq!(pipeline.param::<f64>("soft.sigma")?.get(), None);
    assert_eq!(pipeline.param::<f64>("soft.sigma")?.set(1.4)?, Change::Uniform);
    assert_eq!(pipeline.get("soft.sigma")?, Some(Value::Float(1.4)));
    assert_eq!(pipeline.param::<i64>("soft.kernel")?.set(7)?, Change::Structural);
    assert_eq!(pipeline.param::<u32>("soft.kernel")?.get(), Some(7));
    assert_eq!(pipeline.param::<f64>("normalize.mean")?.get(), Some(0.5));
    pipeline.param::<Vec<f64>>("normalize.mean")?.set(vec![0.1, 0.2, 0.3])?;
    assert_eq!(pipeline.param::<f64>("normalize.mean")?.get(), None, "it is a list now");
    pipeline.param::<String>("soft.border")?.set("wrap".to_owned())?;
    let refused = message(pipeline.param::<i64>("soft.kernel")?.set(4));
    assert!(
        refused.contains("'kernel' of 'gaussian_blur' is 4, but must be an odd whole number"),
        "{refused}"
    );
    assert_eq!(pipeline.param::<i64>("soft.kernel")?.get(), Some(7), "the old one stays");
    Ok(())
}

#[test]
fn another_device_and_other_settings_give_the_same() -> Result<()> {
    let photo = photo();
    let line = "resize width=32 ! sobel";
    let expected = Pipeline::parse(line)?.run(&photo)?;
    let config = PipelineConfig { fuse: false, num_streams: 1, ..PipelineConfig::default() };
    let mut other = Pipeline::parse(line)?.with_config(config);
    assert_eq!(other.run(&photo)?, expected);
    assert!(!other.config().fuse);
    let one_thread = Device::cpu_with(CpuConfig { threads: Some(1), ..CpuConfig::default() });
    let mut moved = other.on(one_thread);
    assert_eq!(moved.run(&photo)?, expected);
    assert!(!moved.config().fuse, "only the device is another");
    Ok(())
}

/// Ten mistakes that everybody makes once.
#[test]
fn mistakes_say_what_is_wrong_and_what_to_do() -> Result<()> {
    let photo = photo();
    let refused = |line: &str| message(Pipeline::parse(line).and_then(|mut p| p.run(&photo)));
    for (line, parts) in [
        ("", &["no tasks"][..]),
        ("resize widht=640", &["widht", "did you mean 'width'"]),
        ("gausian_blur", &["did you mean 'gaussian_blur'"]),
        ("gaussian_blur kernel=4", &["pipeline:1:22", "is 4", "an odd whole number"]),
        ("crop x=60 y=0 width=10 height=10", &["task 'crop'", "64x48"]),
        ("a:sobel ! b:sobel inputs=c", &["no task 'c'", "a, b"]),
        ("blend", &["'blend'", "not connected"]),
        ("sobel ! flip inputs=@input", &["run gives one output", "outputs=NAME"]),
        ("inputs=left,right ! blend inputs=@left,@right", &["@left, @right", "run_named"]),
    ] {
        let text = refused(line);
        assert!(parts.iter().all(|part| text.contains(part)), "{line}: {text}");
    }
    let mut pipeline = Pipeline::parse("soft:gaussian_blur")?;
    let text = message(pipeline.param::<f64>("soft.sigam"));
    assert!(text.contains("did you mean 'sigma'"), "{text}");
    let text = message(pipeline.set("sigma", 2.0));
    assert_eq!(text, "'sigma' names no parameter; write TASK.PARAMETER, for example soft.sigma");
    let chain = Pipeline::builder().then("a", Sobel::new()).join("b", Blend::new(0.5), ["a", "x"]);
    let text = message(chain.build());
    assert!(text.contains("no task 'x'"), "{text}");
    let twice = Pipeline::builder().then("a", Sobel::new()).then("a", Sobel::new());
    assert!(message(twice.build()).contains("names must be unique"));
    assert!(message(Pipeline::load("nowhere.toml")).starts_with("cannot read nowhere.toml: "));
    Ok(())
}

#[cfg(feature = "io")]
#[test]
fn files_that_cannot_be_read_or_written_say_why() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let missing = open(folder.path().join("none.jpg")).unwrap_err();
    assert!(missing.to_string().contains("cannot read"));
    assert_eq!(format!("{missing:?}"), missing.to_string(), "as a `main` prints it");
    let numbers = Pipeline::parse("cast to=f32")?.run(&photo())?;
    let error = save(&numbers, folder.path().join("photo.png")).unwrap_err();
    assert!(error.is_request() && matches!(error, Error::Io(_)));
    let remedy = error.details().remedy.unwrap();
    assert!(remedy.contains("cast to=u8"), "{remedy}");
    assert!(message(save(&photo(), folder.path().join("photo.xyz"))).contains(".xyz"));
    Ok(())
}

#[test]
fn details_are_what_the_text_says() {
    let error = Pipeline::parse("soft:gaussian_blur kernel=4 ! sobel").unwrap_err();
    let ErrorDetails { place, task, operator, parameter, given, allowed, remedy, .. } = error.details();
    let text = error.to_string();
    for part in [place, task, operator, parameter, given, allowed] {
        let part = part.unwrap();
        assert!(text.contains(&part), "{part}: {text}");
    }
    assert_eq!(remedy, None);
    let unknown = Pipeline::parse("resise").unwrap_err().details();
    assert_eq!(unknown.remedy.as_deref(), Some("did you mean 'resize'?"));
}
