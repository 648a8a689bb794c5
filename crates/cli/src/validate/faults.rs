//! Tasks that fail: the others go on, the right one is named, the device can be used afterwards.

use std::sync::Arc;

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{ImageView, ImageViewMut};
use mip_graph::TaskHandle;
use mip_ops::{Custom, Flip};
use mip_plan::{CustomError, CustomKernel};
use mip_runtime::device::DeviceKind;

use super::operators::same;
use super::scenarios::{config, picture, text};
use super::{Outcome, Pending, Request};

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    vec![
        ("a failure leaves other branches alone".to_owned(), Box::new(failure)),
        ("a fault is put down to its task, and the GPU goes on".to_owned(), Box::new(fault)),
    ]
}

/// A kernel that fails: on the CPU when it runs, on a GPU by its source.
#[derive(Debug)]
struct Fails(&'static str);

/// No CUDA C++.
const BROKEN: &str = "this does not compile";

/// Writes where nothing is.
const STRAY: &str = "__device__ void pixel(const View*, const View&, int x, int, const float*) {
    *(volatile int*)16 = x;
}";

impl CustomKernel for Fails {
    fn name(&self) -> &'static str {
        "fails"
    }

    fn run(&self, _: &[ImageView<'_>], _: &[f32], _: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
        Err(CustomError("asked to fail".to_owned()))
    }

    fn cuda_source(&self) -> Option<&str> {
        Some(self.0)
    }
}

/// source -> bad -> after, source -> good.
fn fork(config: PipelineConfig, seed: u64, bad: Custom) -> Result<(Pipeline, [TaskHandle; 2]), Error> {
    let mut p = Pipeline::new(config);
    let source = p.add_operator("source", Flip::horizontal())?;
    let bad = p.add_operator("bad", bad)?;
    let after = p.add_operator("after", Flip::vertical())?;
    let good = p.add_operator("good", Flip::vertical())?;
    p.connect(source, bad)?;
    p.connect(bad, after)?;
    p.connect(source, good)?;
    p.set_input(source, &picture(seed))?;
    Ok((p, [after, good]))
}

fn failure(request: &Request) -> Outcome {
    match request.device.info() {
        Ok(info) if info.kind == DeviceKind::Null => Outcome::skip("the null device computes nothing"),
        Ok(_) => Outcome::one(isolated(request)),
        Err(error) => Outcome::one(Err(error.to_string())),
    }
}

fn isolated(request: &Request) -> Result<(), String> {
    let bad = Custom::new(Arc::new(Fails(BROKEN)));
    let (mut p, [after, good]) = fork(config(request), request.seed, bad).map_err(text)?;
    match p.execute() {
        Err(error) if error.to_string().contains("'bad'") => {}
        other => return Err(format!("the failing task was not reported: {other:?}")),
    }
    p.output(good).map_err(|e| format!("an independent branch was lost: {e}"))?;
    match p.output(after) {
        Err(_) => Ok(()),
        Ok(_) => Err("a result that depends on the failed task can be read".to_owned()),
    }
}

fn fault(request: &Request) -> Outcome {
    match request.device.info() {
        Ok(info) if info.kind == DeviceKind::Cuda => Outcome::one(recovered(request)),
        Ok(_) => Outcome::skip("only a GPU is lost to a fault"),
        Err(error) => Outcome::one(Err(error.to_string())),
    }
}

fn recovered(request: &Request) -> Result<(), String> {
    // Held across the fault: host memory outlives the device.
    let (good, held) = healthy(request, &request.device)?;
    let copy = held.to_bytes();
    let stray = Custom::new(Arc::new(Fails(STRAY)));
    let (mut p, _) = fork(config(request), request.seed, stray).map_err(text)?;
    let error = match p.execute() {
        Err(error) => error.to_string(),
        Ok(_) => return Err("a kernel that writes through a stray pointer was not noticed".to_owned()),
    };
    if !error.starts_with("task 'bad'") || !error.contains("can be used") {
        return Err(format!("the fault was not put down to task 'bad', or the GPU is lost: {error}"));
    }
    if held.to_bytes() != copy {
        return Err("a result from before the fault has changed".to_owned());
    }
    let (_, again) = healthy(request, &request.device)?;
    same(&again, &held)?;
    drop(good);
    let (_, expected) = healthy(request, &Device::cpu())?;
    same(&again, &expected)
}

/// A pipeline without faults, and its result.
fn healthy(request: &Request, device: &Device) -> Result<(Pipeline, mip_core::ImageBuffer), String> {
    let run = || -> Result<_, Error> {
        let mut p = Pipeline::new(PipelineConfig { device: device.clone(), ..PipelineConfig::default() });
        let flip = p.add_operator("flip", Flip::vertical())?;
        p.set_input(flip, &picture(request.seed))?;
        p.execute()?;
        let image = p.output(flip)?;
        Ok((p, image))
    };
    run().map_err(text)
}
