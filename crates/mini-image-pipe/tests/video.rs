//! YUV video as an input: every format against the definition, whatever the strides and however it runs.

use mini_image_pipe::prelude::*;
use mip_core::video::{ChromaSampling, Packing, Plane};
use mip_testkit::reference::yuv_to_rgb;
use mip_testkit::{Real, check_contract};

/// A plane of noise that stays within what so many bits hold, with padding behind each row.
fn plane(plane: &Plane, format: VideoFormat, seed: u64) -> ImageBuffer {
    let layout = BatchLayout::pitched(plane.desc, 1, 32).unwrap();
    let mut image = ImageBuffer::with_layout(layout).unwrap();
    let mut state = seed | 1;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    for y in 0..plane.desc.height as usize {
        let mut view = image.view_mut();
        if plane.desc.dtype == DType::U8 {
            view.row_mut(0, 0, y).iter_mut().for_each(|v| *v = noise() as u8);
        } else {
            let mask = (1_u64 << format.bits) - 1;
            let row = view.row_as_mut::<u16>(0, 0, y).iter_mut();
            row.for_each(|v| *v = ((noise() & mask) << format.shift) as u16);
        }
    }
    image
}

fn frame(format: VideoFormat, width: u32, height: u32) -> VideoFrame {
    let planes = format.planes(width, height).unwrap();
    let planes = planes.iter().zip(1..).map(|(p, n)| plane(p, format, n * 77 + u64::from(width))).collect();
    VideoFrame::new(format, width, height, planes).unwrap()
}

/// The planes in the order Y, U, V, those that share one repeated.
fn slots(frame: &VideoFrame) -> [Real; 3] {
    let real = |index: usize| Real::from_buffer(&frame.planes()[index]);
    match (frame.format().packing, frame.planes().len()) {
        (_, 1) => [real(0), real(0), real(0)],
        (_, 2) => [real(0), real(1), real(1)],
        _ if frame.format().v_first => [real(0), real(2), real(1)],
        _ => [real(0), real(1), real(2)],
    }
}

fn pipeline(line: &str, fuse: bool) -> Pipeline {
    let spec = PipelineSpec::parse_line(line).unwrap();
    let config = PipelineConfig { device: Device::cpu(), fuse, ..PipelineConfig::default() };
    Pipeline::from_spec(&spec, config).unwrap()
}

#[test]
fn every_format_has_the_colors_of_the_definition() {
    for (name, format) in VideoFormat::KNOWN {
        for (width, height) in [(1_u32, 1), (2, 1), (1, 2), (5, 3), (16, 4), (67, 9)] {
            let width = if format.packing.is_packed() { width.next_multiple_of(2) } else { width };
            for (matrix, range) in [
                (Matrix::Bt601, Range::Full),
                (Matrix::Bt709, Range::Limited),
                (Matrix::Bt2020, Range::Limited),
            ] {
                let frame = frame(format, width, height);
                // Twice mirrored: nothing but the conversion is left.
                let mut pipeline = pipeline("flip ! flip", width % 2 == 0);
                pipeline.read_video("input", format, Some((matrix, range))).unwrap();
                pipeline.set_video_frame("input", &frame).unwrap();
                pipeline.execute().unwrap();
                let (_, made) = pipeline.outputs().next().unwrap();
                let gray = format.sampling == ChromaSampling::C400;
                let to = if gray { "gray" } else { "rgb" };
                let (bits, shift) = (f64::from(format.bits), f64::from(format.shift));
                let white = format.dtype().full_scale();
                let arrangement = (format.sampling, format.packing);
                let exact = yuv_to_rgb(&slots(&frame), matrix, range, arrangement, (bits, shift, white), to);
                let found = check_contract(&made[0], &exact, format.dtype());
                assert!(found.is_ok(), "{name} {width}x{height} {matrix} {range}: {found:?}");
            }
        }
    }
}

#[test]
fn no_chroma_is_gray_exactly() {
    for (name, format) in VideoFormat::KNOWN {
        if format.packing != Packing::Planar || format.sampling != ChromaSampling::C444 {
            continue;
        }
        for (matrix, range) in Matrix::ALL.into_iter().flat_map(|m| Range::ALL.map(|r| (m, r))) {
            let levels = 1_u32 << format.bits.min(12);
            let planes = format.planes(levels, 1).unwrap();
            let image = |plane: &Plane| {
                let ramp = plane.name == "y";
                let value = |x: u32| {
                    if ramp { x << (format.bits - format.bits.min(12)) } else { 128 << (format.bits - 8) }
                };
                let mut image = ImageBuffer::new(plane.desc).unwrap();
                for x in 0..levels {
                    let mut view = image.view_mut();
                    if plane.desc.dtype == DType::U8 {
                        view.row_mut(0, 0, 0)[x as usize] = value(x) as u8;
                    } else {
                        view.row_as_mut::<u16>(0, 0, 0)[x as usize] = value(x) as u16;
                    }
                }
                image
            };
            let frame = VideoFrame::new(format, levels, 1, planes.iter().map(image).collect()).unwrap();
            let mut pipeline = pipeline("flip", true);
            pipeline.read_video("input", format, Some((matrix, range))).unwrap();
            pipeline.set_video_frame("input", &frame).unwrap();
            pipeline.execute().unwrap();
            let made = pipeline.outputs().next().unwrap().1[0].clone();
            for x in 0..levels as usize {
                let [r, g, b] = [0, 1, 2].map(|c| made.view().sample(0, x, 0, c));
                assert!(r == g && g == b, "{name} {matrix} {range} at {x}: {r} {g} {b}");
            }
        }
    }
}

#[test]
fn a_stream_of_frames_gives_what_single_executions_give() {
    let format = VideoFormat::NV12;
    let line = "resize width=20 height=12 ! gaussian_blur kernel=3";
    let color = Some((Matrix::Bt709, Range::Limited));
    let mut single = pipeline(line, true);
    single.read_video("input", format, color).unwrap();
    let mut streaming = pipeline(line, true);
    streaming.read_video("input", format, color).unwrap();
    let frames: Vec<VideoFrame> = (0..5).map(|n| frame(format, 40 + n, 24)).collect();
    let mut stream = streaming.stream(&StreamOptions::default()).unwrap();
    let mut done = Vec::new();
    for frame in &frames {
        done.extend(stream.push_video(frame.clone()));
    }
    done.extend(stream);
    assert_eq!(done.len(), frames.len());
    for (frame, result) in frames.iter().zip(done) {
        single.set_video_frame("input", frame).unwrap();
        single.execute().unwrap();
        assert_eq!(single.outputs().next().unwrap().1[0], result.unwrap().outputs[0].1);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let mut pipeline = pipeline("flip", true);
    let error = pipeline.read_video("input", VideoFormat::NV12, None).unwrap_err().to_string();
    assert!(error.contains("matrix") && error.contains("range"), "{error}");
    let color = Some((Matrix::Bt601, Range::Full));
    assert!(pipeline.read_video("film", VideoFormat::NV12, color).is_err());
    pipeline.read_video("input", VideoFormat::NV12, color).unwrap();
    assert!(
        pipeline.read_video("input", VideoFormat::NV12, color).unwrap_err().to_string().contains("already")
    );
    let i420 = frame("i420".parse().unwrap(), 4, 4);
    let error = pipeline.set_video_frame("input", &i420).unwrap_err().to_string();
    assert!(error.contains("nv12") && error.contains("i420"), "{error}");
    let mut stream = pipeline.stream(&StreamOptions::default()).unwrap();
    let image = ImageBuffer::new(ImageDesc::new(4, 4, PixelFormat::Rgb, DType::U8).unwrap()).unwrap();
    assert!(stream.push(image).is_none());
    let result = stream.next().unwrap().unwrap_err().to_string();
    assert!(result.contains("push_video"), "{result}");
}
