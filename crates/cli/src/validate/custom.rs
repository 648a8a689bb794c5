//! An operator of the user's own, with a CPU side and a CUDA side: the same bytes in every way of running.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, ImageView, ImageViewMut, Layout, PixelFormat, f16};
use mip_ops::{Custom, Flip, GaussianBlur};
use mip_plan::{CustomError, CustomKernel};
use mip_runtime::device::DeviceKind;
use mip_runtime::{DirtyReason, GraphStats};
use mip_testkit::images::Pattern;

use super::modes::{all_same, results, text};
use super::{Outcome, Pending, Request, cases, counters, if_replayed};

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![
        ("custom kernels".to_owned(), Box::new(kernels)),
        (
            "an operator that asks for a new capture".to_owned(),
            Box::new(|r| if_replayed(r, |r| Outcome::one(asking(r)))),
        ),
    ]
}

/// How far two images are apart, scaled: |a - b| * gain, at most full scale.
#[derive(Debug)]
struct Difference {
    wants_recapture: Arc<AtomicBool>,
}

impl CustomKernel for Difference {
    fn name(&self) -> &'static str {
        "difference"
    }

    fn input_count(&self) -> usize {
        2
    }

    fn run(
        &self,
        inputs: &[ImageView<'_>],
        uniforms: &[f32],
        output: &mut ImageViewMut<'_>,
    ) -> Result<(), CustomError> {
        let layout = *output.layout();
        for frame in 0..layout.batch_size {
            for y in 0..layout.desc.height() as usize {
                for x in 0..layout.desc.width() as usize {
                    for c in 0..layout.desc.channels() {
                        let [a, b] = [0, 1].map(|i| inputs[i].sample(frame, x, y, c) as f32);
                        let value = ((a - b).abs() * uniforms[0]).min(uniforms[1]);
                        store(output, (frame, x, y, c), value);
                    }
                }
            }
        }
        Ok(())
    }

    fn wants_recapture(&self) -> bool {
        self.wants_recapture.load(Ordering::Relaxed)
    }

    fn cuda_source(&self) -> Option<&str> {
        Some(
            "__device__ void pixel(const View* in, const View& out, int x, int y, const float* uniform) {
                for (int c = 0; c < out.channels; c++) {
                    float d = (float)*in[0].at<In0>(x, y, c) - (float)*in[1].at<In1>(x, y, c);
                    float v = (d < 0.0f ? -d : d) * uniform[0];
                    *out.at<Out>(x, y, c) = (Out)(v > uniform[1] ? uniform[1] : v);
                }
            }",
        )
    }
}

/// As a conversion in C++: to integers cut off below the point, to f16 the nearest.
fn store(to: &mut ImageViewMut<'_>, (frame, x, y, c): (usize, usize, usize, usize), value: f32) {
    let desc = to.layout().desc;
    let (plane, at) = if desc.planes() > 1 { (c, x) } else { (0, x * desc.channels() + c) };
    let bytes = match desc.dtype() {
        DType::U8 => vec![value as u8],
        DType::U16 => (value as u16).to_ne_bytes().to_vec(),
        DType::I16 => (value as i16).to_ne_bytes().to_vec(),
        DType::I32 => (value as i32).to_ne_bytes().to_vec(),
        DType::F16 => f16::from_f32(value).to_ne_bytes().to_vec(),
        DType::F32 => value.to_ne_bytes().to_vec(),
    };
    to.row_mut(frame, plane, y)[at * bytes.len()..][..bytes.len()].copy_from_slice(&bytes);
}

/// input -> flip -> difference(input, .) -> blur.
fn pipeline(
    config: PipelineConfig,
    full_scale: f32,
    wants_recapture: Arc<AtomicBool>,
) -> Result<Pipeline, Error> {
    let mut p = Pipeline::new(config);
    let kernel = Custom::new(Arc::new(Difference { wants_recapture })).uniforms([1.75, full_scale]);
    let source = p.add_operator("source", Flip::vertical())?;
    let flip = p.add_operator("flip", Flip::horizontal())?;
    let difference = p.add_operator("difference", kernel)?;
    let soft = p.add_operator("soft", GaussianBlur::new(3))?;
    p.connect(source, flip)?;
    p.connect_slot(source, difference, "a")?;
    p.connect_slot(flip, difference, "b")?;
    p.connect(difference, soft)?;
    Ok(p)
}

fn kernels(request: &Request) -> Outcome {
    match request.device.info() {
        Ok(info) if info.kind == DeviceKind::NULL => {
            return Outcome::skip("the null device computes nothing");
        }
        Ok(_) => {}
        Err(error) => return Outcome::one(Err(error.to_string())),
    }
    // A blur of i32 is refused.
    let list: Vec<_> = DType::PICTURES
        .into_iter()
        .flat_map(|dtype| [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Rgba].map(|f| (dtype, f)))
        .flat_map(|image| [Layout::Hwc, Layout::Chw].map(|layout| (image, layout)))
        .flat_map(|image| [(image, false), (image, true)])
        .collect();
    cases(request.jobs, &list, |&(((dtype, format), layout), replay)| {
        let desc = ImageDesc::new(67, 43, format, dtype).map_err(text)?.with_layout(layout);
        let frames: Vec<ImageBuffer> =
            (0..3).map(|i| Pattern::Noise.draw(desc, request.seed.wrapping_add(i))).collect();
        let run = |device: &Device, replay: bool, wants_recapture: bool| -> Result<_, Error> {
            let config = PipelineConfig {
                device: device.clone(),
                enable_graph_replay: replay,
                poison: true,
                ..PipelineConfig::default()
            };
            let wish = Arc::new(AtomicBool::new(wants_recapture));
            let mut p = pipeline(config, dtype.full_scale() as f32, wish)?;
            let source = p.task("source")?;
            p.set_input(source, &frames[0])?;
            for _ in 0..3 {
                p.execute_batch(&frames)?;
            }
            Ok((results(&p), p.scheduler().graph_stats()))
        };
        let what = |text: String| format!("{desc}, replay {replay}: {text}");
        let (expected, _) = run(&Device::cpu(), false, false).map_err(text)?;
        for wants_recapture in [false, true] {
            let (actual, stats) =
                run(&request.device, replay, wants_recapture).map_err(|e| what(e.to_string()))?;
            all_same(&actual, &expected).map_err(what)?;
            let replays = replay && request.device.info().map_err(text)?.graph_replay.is_ok();
            if (stats.replays > 0) != (replays && !wants_recapture) {
                return Err(what(format!(
                    "asks for a new capture: {wants_recapture}; counted {}",
                    counters(&stats)
                )));
            }
        }
        Ok(())
    })
}

/// Asks only once there is a graph: that is given up, and as long as it asks none is made.
fn asking(request: &Request) -> Result<(), String> {
    let run = |device: &Device, replay: bool| -> Result<_, Error> {
        let config = PipelineConfig {
            device: device.clone(),
            enable_graph_replay: replay,
            poison: true,
            ..PipelineConfig::default()
        };
        let wish = Arc::<AtomicBool>::default();
        let mut p = pipeline(config, 255.0, wish.clone())?;
        p.set_input(p.task("source")?, &super::modes::test_image(67, 43, request.seed))?;
        let mut all = Vec::new();
        for asks in [false, false, true, true, false, false] {
            wish.store(asks, Ordering::Relaxed);
            p.execute()?;
            all.push(results(&p));
        }
        Ok((all, p.scheduler().graph_stats()))
    };
    let (expected, _) = run(&Device::cpu(), false).map_err(text)?;
    let (actual, stats) = run(&request.device, true).map_err(text)?;
    for (actual, expected) in actual.iter().zip(&expected) {
        all_same(actual, expected)?;
    }
    let promised = GraphStats {
        captures: 2,
        replays: 2,
        direct_runs: 2,
        invalidations: [(DirtyReason::OperatorRequest, 1)].into(),
        ..GraphStats::default()
    };
    if stats == promised { Ok(()) } else { Err(format!("counted {}", counters(&stats))) }
}
