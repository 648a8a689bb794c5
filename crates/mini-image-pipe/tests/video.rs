//! YUV video as an input: every format against the definition, whatever the strides and however it runs.

use mini_image_pipe::prelude::*;
use mini_image_pipe::video::{
    ChromaSampling, DeviceFrame, Matrix, Range, Siting, VideoColor, VideoFormat, VideoFrame,
};
use mip_core::video::{Packing, Plane};
use mip_testkit::images::Pattern;
use mip_testkit::reference::{rgb_to_yuv, yuv_planes, yuv_to_rgb};
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
    for y in 0..plane.desc.height() as usize {
        let mut view = image.view_mut();
        if plane.desc.dtype() == DType::U8 {
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
                pipeline.read_video("input", format, Some(VideoColor::new(matrix, range))).unwrap();
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
fn chroma_between_samples_is_that_of_the_definition() {
    let color = VideoColor::new(Matrix::Bt709, Range::Limited);
    for (name, format) in VideoFormat::KNOWN {
        for (width, height) in [(1_u32, 1), (2, 2), (5, 3), (34, 7)] {
            let width = if format.packing.is_packed() { width.next_multiple_of(2) } else { width };
            for siting in Siting::ALL {
                let frame = frame(format, width, height);
                let mut pipeline = pipeline("flip ! flip", width > 4);
                pipeline.read_video("input", format, Some(color.bilinear(siting))).unwrap();
                pipeline.set_video_frame("input", &frame).unwrap();
                pipeline.execute().unwrap();
                let (_, made) = pipeline.outputs().next().unwrap();
                let mono = format.sampling == ChromaSampling::C400;
                let (to, full) =
                    if mono { ("gray", ChromaSampling::C400) } else { ("rgb", ChromaSampling::C444) };
                let (bits, shift) = (f64::from(format.bits), f64::from(format.shift));
                let arrangement = (format.sampling, format.packing);
                let whole = yuv_planes(&slots(&frame), arrangement, siting, (bits, shift));
                let samples = (bits, shift, format.dtype().full_scale());
                let (matrix, range) = (color.matrix, color.range);
                let exact = yuv_to_rgb(&whole, matrix, range, (full, Packing::Planar), samples, to);
                let found = check_contract(&made[0], &exact, format.dtype());
                assert!(found.is_ok(), "{name} {width}x{height} {siting}: {found:?}");
            }
        }
    }
}

#[test]
fn frames_that_are_made_have_the_samples_of_the_definition() {
    let sizes = [(1, 1), (2, 1), (1, 2), (5, 3), (16, 4), (67, 9)];
    let samplings = |size| ChromaSampling::ALL.map(|sampling| (size, sampling));
    for (format, dtype, bits) in [
        (PixelFormat::Rgb, DType::U8, 8),
        (PixelFormat::Bgra, DType::U16, 10),
        (PixelFormat::Gray, DType::U8, 8),
        (PixelFormat::Bgr, DType::U8, 12),
    ] {
        for ((width, height), sampling) in sizes.into_iter().flat_map(samplings) {
            for (matrix, range) in [(Matrix::Bt601, Range::Full), (Matrix::Bt2020, Range::Limited)] {
                let desc = ImageDesc::new(width, height, format, dtype).unwrap();
                let image = Pattern::Noise.draw(desc, u64::from(width) + 7);
                let mut pipeline = pipeline("flip ! flip", width % 2 == 0);
                let last = pipeline.task_graph().outputs()[0];
                let video = pipeline.write_video(last, (sampling, bits), (matrix, range)).unwrap();
                pipeline.set_named_input("input", &image).unwrap();
                pipeline.execute().unwrap();
                let frame = pipeline.video_frame(&video).unwrap();
                assert_eq!(*frame.format(), VideoFormat::planar(sampling, bits));
                let order = format.rgb_indices().unwrap_or([0; 3]);
                let colors = (&Real::from_buffer(&image), order, dtype.full_scale());
                for (plane, name) in frame.planes().iter().zip(["y", "u", "v"]) {
                    let exact = rgb_to_yuv(colors, name, matrix, range, sampling, f64::from(bits));
                    let found = check_contract(plane, &exact, plane.desc().dtype());
                    assert!(found.is_ok(), "{desc} {sampling} {matrix} {range} {name}: {found:?}");
                }
            }
        }
    }
}

/// What a pipeline leaves alone comes out as it went in, but for rounding.
#[test]
fn colors_survive_both_ways() {
    let (matrix, range) = (Matrix::Bt709, Range::Full);
    let desc = ImageDesc::new(24, 10, PixelFormat::Rgb, DType::U8).unwrap();
    let samples = || (0..10).flat_map(|y| (0..72).map(move |x| (y, x)));
    let mut image = Pattern::Noise.draw(desc, 5);
    // Pairs of rows and columns of one colour, as 4:2:0 has them.
    for (y, x) in samples() {
        let value = image.view().row(0, 0, y / 2 * 2)[x / 6 * 6 + x % 3];
        image.view_mut().row_mut(0, 0, y)[x] = value;
    }
    let mut write = pipeline("flip ! flip", true);
    let last = write.task_graph().outputs()[0];
    let video = write.write_video(last, (ChromaSampling::C420, 8), (matrix, range)).unwrap();
    write.set_named_input("input", &image).unwrap();
    write.execute().unwrap();
    let frame = write.video_frame(&video).unwrap();
    let mut read = pipeline("flip ! flip", true);
    read.read_video("input", video.format, Some(VideoColor::new(matrix, range))).unwrap();
    read.set_video_frame("input", &frame).unwrap();
    read.execute().unwrap();
    let again = read.outputs().next().unwrap().1[0].clone();
    for (y, x) in samples() {
        let [a, b] = [&image, &again].map(|image| i32::from(image.view().row(0, 0, y)[x]));
        assert!((a - b).abs() <= 2, "row {y}, sample {x}: {a} became {b}");
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
                    if plane.desc.dtype() == DType::U8 {
                        view.row_mut(0, 0, 0)[x as usize] = value(x) as u8;
                    } else {
                        view.row_as_mut::<u16>(0, 0, 0)[x as usize] = value(x) as u16;
                    }
                }
                image
            };
            let frame = VideoFrame::new(format, levels, 1, planes.iter().map(image).collect()).unwrap();
            let mut pipeline = pipeline("flip", true);
            pipeline.read_video("input", format, Some(VideoColor::new(matrix, range))).unwrap();
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
    let color = Some(VideoColor::new(Matrix::Bt709, Range::Limited));
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

/// A frame of which every plane is the result of a stream that keeps it on the device.
fn on_device(frame: &VideoFrame) -> Vec<DeviceImage> {
    let plane = |plane: &ImageBuffer| {
        let mut pipeline = pipeline("flip ! flip", true);
        let options = StreamOptions { keep_on_device: true, ..StreamOptions::default() };
        let mut stream = pipeline.stream(&options).unwrap();
        assert!(stream.push(plane.clone()).is_none());
        let mut result = stream.next().unwrap().unwrap();
        assert_eq!((result.outputs.len(), result.device_outputs.len()), (0, 1));
        result.device_outputs.remove(0).1
    };
    frame.planes().iter().map(plane).collect()
}

#[test]
fn frames_on_the_device_are_read_in_place() {
    let (format, line) = (VideoFormat::NV12, "resize width=20 height=12 ! gaussian_blur kernel=3");
    let frame = frame(format, 40, 24);
    let planes = on_device(&frame);
    let color = Some(VideoColor::new(Matrix::Bt709, Range::Limited));
    let mut p = pipeline(line, true);
    p.read_video("input", format, color).unwrap();
    p.set_video_frame("input", &frame).unwrap();
    p.execute().unwrap();
    let expected = p.outputs().next().unwrap().1[0].clone();
    let device_frame = DeviceFrame::new(format, 40, 24, planes.clone()).unwrap();
    p.set_device_frame("input", &device_frame).unwrap();
    p.execute().unwrap();
    assert_eq!(p.outputs().next().unwrap().1[0], expected);
    let mut stream = p.stream(&StreamOptions::default()).unwrap();
    assert!(stream.push_device_video(device_frame.clone()).is_none());
    assert_eq!(stream.next().unwrap().unwrap().outputs[0].1, expected);
    drop(stream);
    // A plane alone, by its name.
    let mut luma = pipeline("flip inputs=@input-y ! flip", true);
    luma.set_device_input("input-y", &planes[0]).unwrap();
    luma.execute().unwrap();
    assert_eq!(luma.outputs().next().unwrap().1[0].to_bytes(), frame.planes()[0].to_bytes());
    // What is no such frame, or no such input.
    let error = DeviceFrame::new(format, 40, 26, planes).unwrap_err().to_string();
    assert!(error.contains("40x26 nv12"), "{error}");
    assert!(p.set_device_frame("film", &device_frame).is_err());
    let mut other = pipeline(line, true);
    other.read_video("input", "nv21".parse().unwrap(), color).unwrap();
    let error = other.set_device_frame("input", &device_frame).unwrap_err().to_string();
    assert!(error.contains("nv21") && error.contains("nv12"), "{error}");
}

#[test]
fn what_does_not_fit_is_named() {
    let mut pipeline = pipeline("flip", true);
    let error = pipeline.read_video("input", VideoFormat::NV12, None).unwrap_err().to_string();
    assert!(error.contains("matrix") && error.contains("range"), "{error}");
    let color = Some(VideoColor::new(Matrix::Bt601, Range::Full));
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
