//! JPEG files on the GPU: near the CPU's pixels, and the same whatever is decoded beside them.

use mini_image_pipe::{Device, DeviceJpegLane, Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_io::{ChromaSampling, FileFormat, Reader, WriteOptions};
use mip_runtime::device::DeviceKind;
use mip_testkit::images::SplitMix64;

use super::modes::text;
use super::{Outcome, Pending, Request};

/// Most that pixels may differ by on the average.
const MEAN: f64 = 1.0;
/// Most that one may differ by where chroma is not subsampled: roundings of the inverse transform and of the colours.
const MOST: u8 = 4;
/// The same where it is. Chroma of the pictures changes by up to 6 a pixel; interpolated or repeated it is by up to 3 off,
/// which blue makes 1.8 times as much, and quantisation the double of that.
const MOST_SUBSAMPLED: u8 = 12;

/// A way of writing JPEG files. Progressive ones are left to the CPU ([`mip_io::Loaded::plain_jpeg`]).
struct Kind {
    name: &'static str,
    /// Luma samples across and down for one of chroma; nothing for gray.
    sampling: Option<ChromaSampling>,
    restart: u16,
}

const fn kind(name: &'static str, sampling: Option<ChromaSampling>) -> Kind {
    Kind { name, sampling, restart: 0 }
}

static KINDS: [Kind; 7] = [
    kind("4:4:4", Some(ChromaSampling::Full)),
    kind("4:2:2", Some(ChromaSampling::HalfWidth)),
    kind("4:4:0", Some(ChromaSampling::HalfHeight)),
    kind("4:2:0", Some(ChromaSampling::Quarter)),
    kind("4:1:1", Some(ChromaSampling::QuarterWidth)),
    kind("gray", None),
    Kind { restart: 7, ..kind("4:2:0 with restart intervals", Some(ChromaSampling::Quarter)) },
];

/// A file, what the CPU decodes, and the way it was written.
struct File {
    kind: &'static Kind,
    bytes: Vec<u8>,
    expected: ImageBuffer,
}

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![
        ("jpeg: nvJPEG's pixels are near the CPU's".to_owned(), Box::new(near)),
        ("jpeg: batch = alone = again, and as input of a pipeline".to_owned(), Box::new(same)),
        ("jpeg: a file that is refused fails alone".to_owned(), Box::new(refusals)),
    ]
}

/// Runs a check where nvJPEG can be used.
fn with_lane(
    request: &Request,
    check: impl FnOnce(&mut DeviceJpegLane, &[File]) -> Result<Outcome, String>,
) -> Outcome {
    let kind = request.device.info().map(|info| info.kind);
    if kind.is_ok_and(|kind| kind != DeviceKind::CUDA) {
        return Outcome::skip("nvJPEG decodes on NVIDIA GPUs");
    }
    if let Err(missing) = mip_cuda::jpeg::probe_nvjpeg() {
        return Outcome::skip(missing.to_string());
    }
    let config = PipelineConfig { device: request.device.clone(), ..PipelineConfig::default() };
    let run = || {
        let mut lane = Pipeline::new(config).jpeg_decoder().and_then(|d| d.lane()).map_err(text)?;
        check(&mut lane, &files(request)?)
    };
    run().unwrap_or_else(|problem| Outcome::one(Err(problem)))
}

fn files(request: &Request) -> Result<Vec<File>, String> {
    let sizes: &[(u16, u16)] = if request.small {
        &[(1, 1), (37, 21)]
    } else {
        &[(1, 1), (8, 8), (37, 21), (64, 200), (322, 181), (1280, 720)]
    };
    let mut files = Vec::new();
    for (number, kind) in KINDS.iter().enumerate() {
        for size in sizes {
            let bytes = write(kind, *size, request.seed.wrapping_add(number as u64))?;
            let expected = Reader::default().read_bytes(&bytes, kind.name).map_err(|e| e.to_string())?;
            files.push(File { kind, bytes, expected });
        }
    }
    Ok(files)
}

/// A picture of slow changes, with noise in its luma.
fn write(kind: &Kind, (width, height): (u16, u16), seed: u64) -> Result<Vec<u8>, String> {
    let mut random = SplitMix64::new(seed);
    let channels = if kind.sampling.is_some() { 3 } else { 1 };
    let mut pixels = Vec::with_capacity(usize::from(width) * usize::from(height) * channels);
    for y in 0..height {
        for x in 0..width {
            let noise = (random.next_u64() % 32) as f64;
            for channel in 0..channels {
                let turn = f64::from(x) / (19.0 + 4.0 * channel as f64) + f64::from(y) / 23.0;
                pixels.push((112.0 + 70.0 * (turn + channel as f64).sin() + noise) as u8);
            }
        }
    }
    let format = if channels == 1 { PixelFormat::Gray } else { PixelFormat::Rgb };
    let desc = ImageDesc::new(width.into(), height.into(), format, DType::U8).map_err(|e| e.to_string())?;
    let image = ImageBuffer::from_bytes(desc, &pixels).map_err(|e| e.to_string())?;
    let options = WriteOptions {
        jpeg_quality: 92,
        jpeg_sampling: kind.sampling,
        jpeg_restart_interval: kind.restart,
        ..WriteOptions::default()
    };
    mip_io::encode(&image, FileFormat::Jpeg, &options).map_err(|e| e.to_string())
}

fn near(request: &Request) -> Outcome {
    with_lane(request, |lane, files| {
        let decoded = decoded(lane, &request.device, files)?;
        let mut outcome = Outcome { cases: files.len(), ..Outcome::default() };
        for kind in &KINDS {
            let (mut worst_mean, mut worst) = (0.0_f64, 0);
            for (file, image) in files.iter().zip(&decoded).filter(|(file, _)| std::ptr::eq(file.kind, kind))
            {
                let (mean, most) = difference(&file.expected, image);
                (worst_mean, worst) = (worst_mean.max(mean), worst.max(most));
                let allowed = match kind.sampling {
                    None | Some(ChromaSampling::Full) => MOST,
                    Some(_) => MOST_SUBSAMPLED,
                };
                if mean > MEAN || most > allowed {
                    outcome.failures.push(format!(
                        "{} {}: differs by {mean:.3} on the average ({MEAN} allowed) and by up to {most} ({allowed})",
                        kind.name,
                        file.expected.desc()
                    ));
                }
            }
            let text = format!("{}: mean difference up to {worst_mean:.3}, largest {worst}", kind.name);
            outcome.notes.push(text);
        }
        Ok(outcome)
    })
}

/// Mean and largest difference of two pictures of one shape.
fn difference(a: &ImageBuffer, b: &ImageBuffer) -> (f64, u8) {
    let (a, b) = (a.to_bytes(), b.to_bytes());
    let apart = || a.iter().zip(b.iter()).map(|(a, b)| a.abs_diff(*b));
    let sum: u64 = apart().map(u64::from).sum();
    (sum as f64 / a.len().max(1) as f64, apart().max().unwrap_or(0))
}

fn same(request: &Request) -> Outcome {
    with_lane(request, |lane, files| {
        let device = &request.device;
        let first = decoded(lane, device, files)?;
        let again = decoded(lane, device, files)?;
        let mut failures = Vec::new();
        let mut expect = |index: usize, image: &ImageBuffer, what: &str| {
            if image != &first[index] {
                let name = files[index].kind.name;
                failures.push(format!("{name} {}: {what}", first[index].desc()));
            }
        };
        for (index, file) in files.iter().enumerate() {
            expect(index, &again[index], "other pixels when it was decoded again");
            let alone = decoded(lane, device, std::slice::from_ref(file))?;
            expect(index, &alone[0], "other pixels alone than in a batch");
        }
        for (index, file) in files.iter().enumerate() {
            let what = "another result of a pipeline than from the host";
            let mut run = || -> Result<bool, Error> {
                let spec = PipelineSpec::parse_line("resize width=23 height=17 ! invert")?;
                let config = PipelineConfig { device: device.clone(), ..PipelineConfig::default() };
                let mut pipeline = Pipeline::from_spec(&spec, config)?;
                let expected = pipeline.run(&first[index])?;
                let image = lane.decode(vec![(file.bytes.clone(), *file.expected.desc())]).remove(0)?;
                let on_device = pipeline.run_on_device(&[("input", &image)], &[])?;
                let result = on_device.outputs()[0].1.clone();
                on_device.wait()?;
                Ok(device.download(&result)? == expected)
            };
            if !run().map_err(text)? {
                failures.push(format!("{} {}: {what}", file.kind.name, file.expected.desc()));
            }
        }
        Ok(Outcome { cases: 3 * files.len(), failures, ..Outcome::default() })
    })
}

fn refusals(request: &Request) -> Outcome {
    with_lane(request, |lane, files| {
        let desc = |file: &File| *file.expected.desc();
        let other = ImageDesc::new(5, 5, PixelFormat::Rgb, DType::U8).map_err(|e| e.to_string())?;
        let mut batch: Vec<_> = files.iter().map(|file| (file.bytes.clone(), desc(file))).collect();
        // No JPEG file, one that ends in its header, and one of another size than is expected.
        let bad = [1, 4, 8];
        batch[bad[0]].0 = b"no JPEG file at all".to_vec();
        batch[bad[1]].0.truncate(30);
        batch[bad[2]].1 = other;
        let mut failures = Vec::new();
        for (index, result) in lane.decode(batch).into_iter().enumerate() {
            let what = match (result, bad.contains(&index)) {
                (Ok(_), true) => "was decoded".to_owned(),
                (Err(error), true) if error.to_string().contains("--decode cpu") => continue,
                (Err(error), _) => error.to_string(),
                (Ok(image), false) => {
                    let image = request.device.download(&image).map_err(text)?;
                    let (mean, _) = difference(&files[index].expected, &image);
                    if mean <= MEAN {
                        continue;
                    }
                    format!("differs by {mean:.3} on the average")
                }
            };
            failures.push(format!("file {index}: {what}"));
        }
        Ok(Outcome { cases: files.len(), failures, ..Outcome::default() })
    })
}

/// All files decoded at once, on the host.
fn decoded(lane: &mut DeviceJpegLane, device: &Device, files: &[File]) -> Result<Vec<ImageBuffer>, String> {
    let batch = files.iter().map(|file| (file.bytes.clone(), *file.expected.desc())).collect();
    let images = lane.decode(batch).into_iter().zip(files);
    let images = images.map(|(image, file)| {
        let image = image.and_then(|image| device.download(&image));
        image.map_err(|error| format!("{} {}: {error}", file.kind.name, file.expected.desc()))
    });
    images.collect()
}
