//! Tasks that fail: the others go on, the right one is named, and a GPU that is lost is said to be.
//!
//! A fault costs the process its GPU. So this command starts itself again, with [`STRAY_VARIABLE`] set, for a check
//! that has one.

use std::process::Command;
use std::sync::Arc;

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{ImageView, ImageViewMut};
use mip_graph::TaskHandle;
use mip_ops::{Custom, Flip};
use mip_plan::{CustomError, CustomKernel};
use mip_runtime::device::DeviceKind;

use super::operators::same;
use super::scenarios::{config, test_image, text};
use super::{Outcome, Pending, Request};

/// Set in the process that runs into a fault, to how it does: one of [`CASES`].
const STRAY_VARIABLE: &str = "MIP_VALIDATE_STRAY";

/// How a process runs into a fault, and `MIP_CUDA_SYNC` there: in a chain of tasks, beside an independent one, and in
/// a graph that is replayed.
const CASES: [(&str, &str); 4] = [("chain", "0"), ("fork", "0"), ("fork", "1"), ("replay", "0")];

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    if let Ok(case) = std::env::var(STRAY_VARIABLE) {
        return vec![("a stray write".to_owned(), Box::new(move |r| Outcome::one(stray(r, &case))))];
    }
    vec![
        ("a failure leaves other branches alone".to_owned(), Box::new(failure)),
        ("a fault is attributed to its task".to_owned(), Box::new(fault)),
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
    p.set_input(source, &test_image(seed))?;
    Ok((p, [after, good]))
}

fn failure(request: &Request) -> Outcome {
    match request.device.info() {
        Ok(info) if info.kind == DeviceKind::NULL => Outcome::skip("the null device computes nothing"),
        Ok(_) => Outcome::one(isolated(request)),
        Err(error) => Outcome::one(Err(error.to_string())),
    }
}

fn isolated(request: &Request) -> Result<(), String> {
    let bad = Custom::new(Arc::new(Fails(BROKEN)));
    let (mut p, [after, good]) = fork(config(request), request.seed, bad).map_err(text)?;
    match p.execute() {
        Err(error) if error.to_string().contains("'bad'") => {}
        Err(error) => return Err(format!("the failing task is not named: {error}")),
        Ok(_) => return Err("the failing task was not reported".to_owned()),
    }
    p.output(good).map_err(|e| format!("an independent branch was lost: {e}"))?;
    match p.output(after) {
        Err(_) => Ok(()),
        Ok(_) => Err("a result that depends on the failed task can be read".to_owned()),
    }
}

fn fault(request: &Request) -> Outcome {
    match request.device.info() {
        Ok(info) if info.kind == DeviceKind::CUDA => {
            let all = CASES.map(|(case, wait)| in_another_process(info.index, case, wait));
            let cases = all.len();
            let failures = all.into_iter().filter_map(Result::err).collect();
            Outcome { cases, failures, ..Outcome::default() }
        }
        Ok(_) => Outcome::skip("only a GPU is lost to a fault"),
        Err(error) => Outcome::one(Err(error.to_string())),
    }
}

fn in_another_process(index: usize, case: &str, wait: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(text)?;
    let child = Command::new(program)
        .args(["validate", "--device", &format!("cuda:{index}"), "--only", "a stray write"])
        .envs([(STRAY_VARIABLE, case), ("MIP_CUDA_SYNC", wait)])
        .output()
        .map_err(text)?;
    if child.status.success() {
        return Ok(());
    }
    let output = [child.stdout, child.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Err(format!("{case}, MIP_CUDA_SYNC={wait}: {}", output.join(" ")))
}

/// source -> bad -> after, replayed or not.
fn chain(config: PipelineConfig, seed: u64, bad: Custom) -> Result<Pipeline, Error> {
    let mut p = Pipeline::new(config);
    let source = p.add_operator("source", Flip::horizontal())?;
    let bad = p.add_operator("bad", bad)?;
    let after = p.add_operator("after", Flip::vertical())?;
    p.connect(source, bad)?;
    p.connect(bad, after)?;
    p.set_input(source, &test_image(seed))?;
    Ok(p)
}

/// Runs into a fault. In a chain it is its task's, and everywhere with a wait after each launch; else either it was
/// found out all the same, or the kernels that may have done it and the way to find out are given. Results
/// from before stay what they were.
fn stray(request: &Request, case: &str) -> Result<(), String> {
    let (_good, held) = healthy(request, &request.device)?;
    let copy = held.to_bytes();
    let stray = Custom::new(Arc::new(Fails(STRAY)));
    let config = PipelineConfig { enable_graph_replay: case == "replay", ..config(request) };
    let pipeline = match case {
        "fork" => fork(config, request.seed, stray).map(|(p, _)| p),
        _ => chain(config, request.seed, stray),
    };
    let error = match pipeline.map_err(text)?.execute() {
        Err(error) => error.to_string(),
        Ok(_) => return Err("a kernel that writes through a stray pointer was not noticed".to_owned()),
    };
    if held.to_bytes() != copy {
        return Err("a result from before the fault has changed".to_owned());
    }
    let sure = case == "chain" || std::env::var("MIP_CUDA_SYNC").is_ok_and(|wait| wait == "1");
    let named = error.starts_with("task 'bad'");
    let listed = error.contains("'fails'") && error.contains("MIP_CUDA_SYNC=1");
    let candidates = error.starts_with("the run failed") && listed;
    if !named && (sure || !candidates) {
        return Err(format!("the fault was not attributed to task 'bad': {error}"));
    }
    // Whichever of the two it says has to be true.
    match (error.contains("can be used"), healthy(request, &request.device)) {
        (true, again) => again.and_then(|(_, again)| same(&again, &held)),
        (false, Ok(_)) => Err(format!("the GPU can still be used, but was said to be lost: {error}")),
        (false, Err(_)) if error.contains("restart the process") => Ok(()),
        (false, Err(_)) => Err(format!("the GPU is lost, but that was not said: {error}")),
    }
}

/// A pipeline without faults, and its result.
fn healthy(request: &Request, device: &Device) -> Result<(Pipeline, mip_core::ImageBuffer), String> {
    let run = || -> Result<_, Error> {
        let mut p = Pipeline::new(PipelineConfig { device: device.clone(), ..PipelineConfig::default() });
        let flip = p.add_operator("flip", Flip::vertical())?;
        p.set_input(flip, &test_image(request.seed))?;
        p.execute()?;
        let image = p.output(flip)?;
        Ok((p, image))
    };
    run().map_err(text)
}
