//! One workload at one batch: all its modes measured in turns.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mini_image_pipe::{Device, PipelineConfig};
use mip_core::{ALIGNMENT, BatchLayout, DType, ImageBuffer, ImageDesc, ImageViewMut, f16};
use mip_cuda::CudaOptions;
use mip_io::TemporaryFolder;
use mip_runtime::device::DeviceKind;
use mip_runtime::{DeviceImage, MemoryManager, Session, pooled_image_with};

use super::Request;
use super::copy::{Copier, ROTATE};
use super::document::{Mode, Row};
use super::first_run::{FirstRun, first_run, manager_options, running};
use super::subject::{Subject, bytes_at_least};
use super::suite::Workload;
use crate::failure::Failure;

/// Rounds that the modes take turns at least.
const FEWEST_ROUNDS: usize = 5;
/// Rounds over which a given number of runs is spread.
const ROUNDS_OF_RUNS: usize = 10;
/// Inputs that take turns at most.
const MAX_INPUTS: usize = 64;

/// What a case found.
#[derive(Debug)]
pub(crate) struct CaseResult {
    pub(crate) rows: Vec<Row>,
    /// Why there is no copy bandwidth.
    pub(crate) copy_problem: Option<String>,
}

/// Measures a workload at a batch in all modes.
pub(crate) fn measure(request: &Request, workload: &Workload, batch: usize) -> Result<CaseResult, Failure> {
    let config = |fuse| PipelineConfig { fuse, num_streams: request.streams, ..PipelineConfig::default() };
    let images = host_images(&request.device, workload, batch)?;
    let groups = |fuse| -> Result<usize, Failure> {
        let config = PipelineConfig { device: request.device.clone(), ..config(fuse) };
        Ok(workload.pipeline(config)?.plan_for(&workload.inputs, batch)?.groups.len())
    };
    // Where nothing fuses, unfused modes would measure the same again.
    let fuses = groups(true)? != groups(false)?;
    let cache = ColdCache::new()?;
    let cold = |fuse| -> Result<FirstRun, Failure> {
        let device = with_cache(&request.device, cache.folder(fuse))?;
        Ok(first_run(&device, workload, &config(fuse), false, &images)?.first)
    };
    let cold_fused = cold(true)?;
    let cold_unfused = if fuses { cold(false)? } else { cold_fused };
    cache.gather()?;
    let device = with_cache(&request.device, cache.folder(true))?;
    let uploader = first_run(&device, workload, &config(true), false, &images)?;
    let bytes = bytes_at_least(&uploader.plan);
    let inputs = Arc::new(device_images(&uploader.session, &images, bytes, request.in_flight)?);
    let mut subjects = Vec::new();
    for mode in Mode::ALL.into_iter().filter(|mode| mode.fused || fuses) {
        let warm = first_run(&device, workload, &config(mode.fused), mode.replay, &images)?;
        let cold = if mode.fused { cold_fused } else { cold_unfused };
        subjects.push(Subject::new(mode, cold, warm, &images, inputs.clone(), request.in_flight)?);
    }
    let mut copier = Copier::new(device.open()?.info(), bytes)?;
    take_turns(request, &mut subjects, &mut copier, &images)?;
    let copy = copier.gb_per_s();
    let rows = subjects.iter().map(|subject| subject.row(&workload.name, copy)).collect();
    Ok(CaseResult { rows, copy_problem: copier.problem().map(str::to_owned) })
}

/// Warms all up, then lets them take turns until the time is over.
fn take_turns(
    request: &Request,
    subjects: &mut [Subject],
    copier: &mut Copier,
    images: &[ImageBuffer],
) -> Result<(), Failure> {
    subjects.iter_mut().try_for_each(Subject::warm_up)?;
    let start = Instant::now();
    let seconds = request.seconds * subjects.len() as f64;
    let mut rounds = 0;
    let done = |rounds: usize| match request.runs {
        Some(runs) => rounds >= ROUNDS_OF_RUNS.min(runs),
        None => rounds >= FEWEST_ROUNDS && start.elapsed().as_secs_f64() >= seconds,
    };
    while !done(rounds) {
        for turn in 0..subjects.len() {
            // Another begins each time, so that nobody always follows the same neighbour.
            let index = (turn + rounds) % subjects.len();
            let subject = &mut subjects[index];
            let max = request.runs.map_or(subject.per_round(), |runs| share(runs, rounds));
            subject.round(max, images)?;
        }
        copier.sample();
        rounds += 1;
    }
    Ok(())
}

/// Executions of round `round` where `runs` are spread evenly.
const fn share(runs: usize, round: usize) -> usize {
    let rounds = if runs < ROUNDS_OF_RUNS { runs } else { ROUNDS_OF_RUNS };
    runs / rounds + (round < runs % rounds) as usize
}

/// Folders for a GPU's compiled kernels that nothing has been compiled into yet.
struct ColdCache {
    fused: TemporaryFolder,
    unfused: TemporaryFolder,
}

impl ColdCache {
    fn new() -> Result<Self, Failure> {
        let folder = || TemporaryFolder::new().map_err(|error| unwritable(&error));
        Ok(Self { fused: folder()?, unfused: folder()? })
    }

    fn folder(&self, fused: bool) -> &Path {
        if fused { self.fused.path() } else { self.unfused.path() }
    }

    /// Brings what both hold into the folder of the fused.
    fn gather(&self) -> Result<(), Failure> {
        for entry in std::fs::read_dir(self.unfused.path()).map_err(|error| unwritable(&error))? {
            let entry = entry.map_err(|error| unwritable(&error))?;
            std::fs::copy(entry.path(), self.fused.path().join(entry.file_name()))
                .map_err(|error| unwritable(&error))?;
        }
        Ok(())
    }
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::Running(format!("temporary folder for compiled kernels: {error}"))
}

/// The same device with compiled kernels in `folder`.
fn with_cache(device: &Device, folder: &Path) -> Result<Device, Failure> {
    let info = device.info()?;
    match info.kind {
        DeviceKind::CUDA => {
            let cache_folder = Some(folder.to_owned());
            let device =
                Device::cuda_with(info.index, CudaOptions { cache_folder, ..CudaOptions::default() });
            device.open()?;
            Ok(device)
        }
        _ => Ok(device.clone()),
    }
}

/// A batch of noise for each input, in pinned memory.
fn host_images(device: &Device, workload: &Workload, batch: usize) -> Result<Vec<ImageBuffer>, Failure> {
    let manager = MemoryManager::new(device.open()?, manager_options());
    let noise = |desc: &ImageDesc| {
        let layout = BatchLayout::pitched(*desc, batch, ALIGNMENT).map_err(mini_image_pipe::Error::from)?;
        let image = pooled_image_with(&manager, layout, |view| fill(layout, view));
        image.map_err(mini_image_pipe::Error::from)
    };
    Ok(workload.inputs.iter().map(noise).collect::<Result<_, _>>()?)
}

/// As many uploads of the images as it takes to leave the caches.
fn device_images(
    session: &Session,
    images: &[ImageBuffer],
    bytes: u64,
    in_flight: usize,
) -> Result<Vec<Vec<DeviceImage>>, Failure> {
    let sets = (ROTATE as u64).div_ceil(bytes.max(1)).clamp(in_flight as u64, MAX_INPUTS as u64);
    let upload = || images.iter().map(|image| session.upload(image)).collect::<Result<Vec<_>, _>>();
    (0..sets).map(|_| upload().map_err(running)).collect()
}

/// Noise: the hardest picture for branches. The first frame is made, the others are turned copies of it.
fn fill(layout: BatchLayout, view: &mut ImageViewMut<'_>) {
    let desc = layout.desc;
    let (frames, planes, rows) = (layout.batch_size, desc.planes(), desc.height() as usize);
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    for plane in 0..planes {
        for y in 0..rows {
            match desc.dtype() {
                DType::F32 => {
                    let row = view.row_as_mut::<f32>(0, plane, y);
                    row.fill_with(|| next() as f32 / (1 << 24) as f32);
                }
                DType::F16 => {
                    let row = view.row_as_mut::<f16>(0, plane, y);
                    row.fill_with(|| f16::from_f32(next() as f32 / (1 << 24) as f32));
                }
                DType::U8 | DType::U16 | DType::I16 | DType::I32 => {
                    view.row_mut(0, plane, y).fill_with(|| (next() >> 16) as u8);
                }
            }
        }
    }
    for frame in 1..frames {
        for plane in 0..planes {
            for y in 0..rows {
                let row = view.row_mut(0, plane, (y + frame) % rows).to_vec();
                view.row_mut(frame, plane, y).copy_from_slice(&row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_spread_over_rounds_without_losing_any() {
        for runs in [1, 3, 10, 11, 99, 1000] {
            let sum: usize = (0..ROUNDS_OF_RUNS.min(runs)).map(|round| share(runs, round)).sum();
            assert_eq!(sum, runs);
        }
    }
}
