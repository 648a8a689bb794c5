//! Video on the GPU: pictures that are coded as samples come out as they went in.

use mini_image_pipe::{DecodedFrame, DeviceVideoDecoder, Error, Pipeline, PipelineConfig};
use mip_core::video::{Matrix, Range, VideoColor, VideoFormat, VideoFrame};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_cuda::video::VideoCodec;
use mip_graph::PipelineSpec;
use mip_runtime::device::DeviceKind;
use mip_testkit::h264::pcm_stream;
use mip_testkit::images::SplitMix64;

use super::modes::text;
use super::{Outcome, Pending, Request};

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![
        (
            "video: NVDEC's samples are those of the stream, again and on two engines".to_owned(),
            Box::new(exact),
        ),
        ("video: frames of NVDEC as input of a pipeline".to_owned(), Box::new(as_input)),
        ("video: what is no stream is refused, and what follows decoded".to_owned(), Box::new(refusals)),
    ]
}

/// Runs a check where NVDEC can be used.
fn with_decoder(
    request: &Request,
    check: impl FnOnce(&mut DeviceVideoDecoder) -> Result<Outcome, String>,
) -> Outcome {
    let kind = request.device.info().map(|info| info.kind);
    if kind.is_ok_and(|kind| kind != DeviceKind::CUDA) {
        return Outcome::skip("NVDEC decodes on NVIDIA GPUs");
    }
    if let Err(missing) = mip_cuda::video::probe_nvdec() {
        return Outcome::skip(missing.to_string());
    }
    let config = PipelineConfig { device: request.device.clone(), ..PipelineConfig::default() };
    let run = || {
        let mut decoder = Pipeline::new(config).video_decoder(VideoCodec::H264).map_err(text)?;
        check(&mut decoder)
    };
    run().unwrap_or_else(|problem| Outcome::one(Err(problem)))
}

/// Pictures of noise, some of it zeros, which streams have to escape.
fn pictures((width, height): (usize, usize), count: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = SplitMix64::new(seed);
    let mut sample = |i: usize| if i.is_multiple_of(7) { 0 } else { random.next_u64() as u8 };
    (0..count).map(|_| (0..width * height * 3 / 2).map(&mut sample).collect()).collect()
}

fn decoded(decoder: &mut DeviceVideoDecoder, packets: &[Vec<u8>]) -> Result<Vec<DecodedFrame>, Error> {
    let mut frames = Vec::new();
    for (number, packet) in packets.iter().enumerate() {
        decoder.push(packet, number as i64)?;
        while let Some(frame) = decoder.next_frame()? {
            frames.push(frame);
        }
    }
    decoder.finish()?;
    while let Some(frame) = decoder.next_frame()? {
        frames.push(frame);
    }
    Ok(frames)
}

/// A picture as NV12 has it: luma, and U and V taking turns.
fn nv12(picture: &[u8], (width, height): (usize, usize)) -> [Vec<u8>; 2] {
    let (luma, chroma) = picture.split_at(width * height);
    let (u, v) = chroma.split_at(chroma.len() / 2);
    [luma.to_vec(), u.iter().zip(v).flat_map(|(u, v)| [*u, *v]).collect()]
}

fn exact(request: &Request) -> Outcome {
    let sizes: &[(usize, usize)] =
        if request.small { &[(64, 48), (98, 62)] } else { &[(64, 48), (98, 62), (322, 242), (1920, 1080)] };
    with_decoder(request, |first| {
        let mut outcome = Outcome::default();
        outcome.notes.push(format!("{} engine(s)", first.engines().map_err(text)?));
        for &size in sizes {
            let pictures = pictures(size, 5, request.seed);
            let packets = pcm_stream(size.0, size.1, &pictures);
            let (mut one, mut other) = (first.another().map_err(text)?, first.another().map_err(text)?);
            for decoder in [&mut one, &mut other] {
                for round in ["", " again"] {
                    outcome.cases += 1;
                    let frames = decoded(decoder, &packets).map_err(text)?;
                    let right = frames.len() == pictures.len()
                        && frames.iter().zip(&pictures).enumerate().all(|(number, (frame, picture))| {
                            let planes =
                                frame.frame.planes().iter().map(|plane| request.device.download(plane));
                            let planes: Result<Vec<_>, Error> = planes.collect();
                            let planes =
                                planes.map(|p| p.iter().map(ImageBuffer::to_bytes).collect::<Vec<_>>());
                            frame.timestamp == number as i64
                                && planes.is_ok_and(|planes| planes == nv12(picture, size))
                        });
                    if !right {
                        let (width, height) = size;
                        outcome
                            .failures
                            .push(format!("{width}x{height}{round}: other frames than were coded"));
                    }
                }
            }
        }
        Ok(outcome)
    })
}

fn as_input(request: &Request) -> Outcome {
    let size @ (width, height) = (322, 242);
    with_decoder(request, |decoder| {
        let pictures = pictures(size, 4, request.seed);
        let frames = decoded(decoder, &pcm_stream(width, height, &pictures)).map_err(text)?;
        let format = VideoFormat::NV12;
        let run = || -> Result<Vec<bool>, Error> {
            let spec = PipelineSpec::parse_line("resize width=200 height=150 ! gaussian_blur kernel=5")?;
            let config = PipelineConfig { device: request.device.clone(), ..PipelineConfig::default() };
            let mut pipeline = Pipeline::from_spec(&spec, config)?;
            pipeline.read_video("input", format, Some(VideoColor::new(Matrix::Bt709, Range::Limited)))?;
            let result = pipeline.task("gaussian_blur")?;
            let mut same = Vec::new();
            for (frame, picture) in frames.iter().zip(&pictures) {
                let bytes = nv12(picture, size).concat();
                let whole = ImageDesc::new(bytes.len() as u32, 1, PixelFormat::Gray, DType::U8)
                    .and_then(|desc| ImageBuffer::from_bytes(desc, &bytes))?;
                let (width, height) = (width as u32, height as u32);
                pipeline
                    .set_video_frame("input", &VideoFrame::in_one_piece(format, width, height, &whole)?)?;
                pipeline.execute()?;
                let wanted = pipeline.output(result)?;
                pipeline.set_device_frame("input", &frame.frame)?;
                pipeline.execute()?;
                same.push(pipeline.output(result)? == wanted);
            }
            Ok(same)
        };
        let same = run().map_err(text)?;
        let mut outcome = Outcome { cases: same.len(), ..Outcome::default() };
        if same.len() < pictures.len() || same.contains(&false) {
            outcome.failures.push("another result than of the frames from the host".to_owned());
        }
        Ok(outcome)
    })
}

fn refusals(request: &Request) -> Outcome {
    let size = (64, 48);
    with_decoder(request, |decoder| {
        let pictures = pictures(size, 2, request.seed);
        let packets = pcm_stream(size.0, size.1, &pictures);
        let mut failures = Vec::new();
        // Bytes without a picture give none, and break nothing.
        for nothing in [&b"no stream at all"[..], &packets[0][..20], &[0; 40]] {
            match decoded(decoder, &[nothing.to_vec()]) {
                Ok(frames) if frames.is_empty() => {}
                Ok(frames) => failures.push(format!("{} frames of what is no stream", frames.len())),
                Err(error) if error.to_string().contains("--decode cpu") => {}
                Err(error) => failures.push(error.to_string()),
            }
        }
        let frames = decoded(decoder, &packets).map_err(text)?;
        let luma = frames.first().map(|frame| request.device.download(&frame.frame.planes()[0]));
        if !luma.is_some_and(|luma| luma.is_ok_and(|luma| luma.to_bytes() == pictures[0][..size.0 * size.1]))
        {
            failures.push("other samples after something that was no stream".to_owned());
        }
        // Another size in mid-stream.
        let larger = self::pictures((98, 62), 1, request.seed);
        let larger = pcm_stream(98, 62, &larger);
        match decoded(decoder, &[packets[0].clone(), larger[0].clone()]) {
            Err(error) if error.to_string().contains("its pictures change from 64x48") => {}
            other => failures.push(format!("a change of size gave {other:?}")),
        }
        Ok(Outcome { cases: 5, failures, ..Outcome::default() })
    })
}
