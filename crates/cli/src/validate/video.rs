//! YUV video: the bytes of the CPU, for every format, with planes that have strides of their own.

use mini_image_pipe::{Device, DeviceFrame, Error, Pipeline, PipelineConfig, StreamOptions};
use mip_core::video::{Matrix, Plane, Range, VideoColor, VideoFormat, VideoFrame};
use mip_core::{BatchLayout, DType, ImageBuffer};
use mip_graph::PipelineSpec;
use mip_runtime::DeviceImage;
use mip_testkit::images::SplitMix64;

use super::modes::{Results, all_same, results, text};
use super::{Outcome, Pending, Request, cases};

/// What reads colours: alone, mirrored, resized and what a network takes, with a window behind it.
const READERS: [&str; 4] = [
    "flip",
    "resize width=23 height=17 ! normalize mean=0.5 std=0.25 ! layout to=chw",
    "resize width=31 height=40 filter=nearest",
    "gaussian_blur kernel=3 ! sobel",
];
/// What reads a plane as it is.
const LUMA: &str = "gaussian_blur kernel=5 inputs=@input-y";
const FRAMES: u64 = 3;

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![("YUV video of every format, alone and in a stream".to_owned(), Box::new(formats))]
}

fn formats(request: &Request) -> Outcome {
    let sizes: &[(u32, u32)] =
        if request.small { &[(1, 1), (37, 21)] } else { &[(1, 1), (2, 2), (37, 21), (322, 180)] };
    let runs: Vec<_> = VideoFormat::KNOWN
        .iter()
        .flat_map(|known| sizes.iter().map(move |size| (known, size)))
        .flat_map(|run| READERS.into_iter().chain([LUMA]).map(move |line| (run, line)))
        .filter(|((known, _), line)| *line != LUMA || !known.1.packing.is_packed())
        .collect();
    cases(request.jobs, &runs, |&(((name, format), &(width, height)), line)| {
        let width = if format.packing.is_packed() { width.next_multiple_of(2) } else { width };
        let run = || -> Result<(), String> {
            let frame =
                |number| frame(*format, width, height, request.seed.wrapping_add(number)).map_err(text);
            let frames: Vec<VideoFrame> = (0..FRAMES).map(frame).collect::<Result<_, String>>()?;
            let expected = executed(line, *format, &Device::cpu(), &frames).map_err(text)?;
            let actual = executed(line, *format, &request.device, &frames).map_err(text)?;
            expected.iter().zip(&actual).try_for_each(|(expected, actual)| all_same(actual, expected))?;
            let mut pipeline = pipeline(line, *format, &request.device).map_err(text)?;
            let mut stream = pipeline.stream(&StreamOptions::default()).map_err(text)?;
            let mut done: Vec<_> =
                frames.iter().filter_map(|frame| stream.push_video(frame.clone())).collect();
            done.extend(stream);
            let outputs = |outputs: Vec<(String, ImageBuffer)>| -> Results {
                outputs.into_iter().map(|(name, image)| (name, vec![image])).collect()
            };
            done.into_iter().zip(&expected).try_for_each(|(result, expected)| {
                all_same(&outputs(result.map_err(text)?.outputs), expected)
            })?;
            // The first frame once more, from the device's own memory.
            pipeline.set_device_frame("input", &on_device(&frames[0], &request.device)?).map_err(text)?;
            pipeline.execute().map_err(text)?;
            all_same(&results(&pipeline), &expected[0])
        };
        run().map_err(|text| format!("{name} {width}x{height}, {line}: {text}"))
    })
}

fn pipeline(line: &str, format: VideoFormat, device: &Device) -> Result<Pipeline, Error> {
    let config = PipelineConfig { device: device.clone(), poison: true, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(line)?, config)?;
    pipeline.read_video("input", format, Some(VideoColor::new(Matrix::Bt709, Range::Limited)))?;
    Ok(pipeline)
}

/// A frame in the memory of the device.
fn on_device(frame: &VideoFrame, device: &Device) -> Result<DeviceFrame, String> {
    let config = PipelineConfig { device: device.clone(), ..PipelineConfig::default() };
    let upload = |plane: &ImageBuffer| -> Result<DeviceImage, Error> {
        let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line("flip ! flip")?, config.clone())?;
        let options = StreamOptions { keep_on_device: true, ..StreamOptions::default() };
        let mut stream = pipeline.stream(&options)?;
        let early = stream.push(plane.clone());
        let result = early.or_else(|| stream.next()).ok_or_else(|| Error::Usage("no result".to_owned()))?;
        let mut kept = result?.device_outputs;
        Ok(kept.pop().ok_or_else(|| Error::Usage("nothing stayed on the device".to_owned()))?.1)
    };
    let planes = frame.planes().iter().map(upload).collect::<Result<Vec<_>, _>>().map_err(text)?;
    let luma = planes[0].desc();
    let width = if frame.format().packing.is_packed() { luma.width() / 2 } else { luma.width() };
    DeviceFrame::new(*frame.format(), width, luma.height(), planes).map_err(text)
}

fn executed(
    line: &str,
    format: VideoFormat,
    device: &Device,
    frames: &[VideoFrame],
) -> Result<Vec<Results>, Error> {
    let mut pipeline = pipeline(line, format, device)?;
    let run = |frame: &VideoFrame| {
        pipeline.set_video_frame("input", frame)?;
        pipeline.execute()?;
        Ok(results(&pipeline))
    };
    frames.iter().map(run).collect()
}

/// A frame of noise whose planes are padded differently.
fn frame(
    format: VideoFormat,
    width: u32,
    height: u32,
    seed: u64,
) -> Result<VideoFrame, mip_core::ImageError> {
    let mut random = SplitMix64::new(seed);
    let mut noise = |(number, plane): (usize, &Plane)| {
        let mut image = ImageBuffer::with_layout(BatchLayout::pitched(plane.desc, 1, 2 << number)?)?;
        for y in 0..plane.desc.height() as usize {
            let mut view = image.view_mut();
            if plane.desc.dtype() == DType::U8 {
                view.row_mut(0, 0, y).iter_mut().for_each(|v| *v = random.next_u64() as u8);
            } else {
                let sample = |bits: u64| ((bits & ((1 << format.bits) - 1)) << format.shift) as u16;
                view.row_as_mut(0, 0, y).iter_mut().for_each(|v| *v = sample(random.next_u64()));
            }
        }
        Ok(image)
    };
    let planes = format.planes(width, height)?;
    let planes =
        planes.iter().enumerate().map(&mut noise).collect::<Result<Vec<_>, mip_core::ImageError>>()?;
    VideoFrame::new(format, width, height, planes)
}
