//! Groups of several stages: one launch against unfused launches and against the CPU; and their times.

use std::sync::Arc;

use mip_core::{AlignedBytes, ImageBuffer, ImageView, ImageViewMut};
use mip_cpu::{CpuConfig, execute_group};
use mip_cuda::CudaDevice;
use mip_plan::Plan;
use mip_runtime::device::{Device, DeviceError};

use crate::Options;
use crate::cases::Strides;
use crate::cases::samples::fill;
use crate::compare::{difference, in_parallel};
use crate::group_cases::{GroupCase, groups, plan, split, workloads};
use crate::rig::Rig;
use crate::timing::{ROTATE, SAMPLES, median};

fn uploaded(device: &CudaDevice, plan: Plan, seed: u64) -> Result<Rig, DeviceError> {
    let executables = (0..plan.groups.len()).map(|g| device.load(&plan, g)).collect::<Result<_, _>>()?;
    let rig = Rig::of_groups(device, plan, executables, device.create_stream("groups")?)?;
    for (id, buffer) in rig.plan.buffers.iter().enumerate() {
        if matches!(buffer.place, mip_plan::Place::Input(_)) {
            let mut bytes = AlignedBytes::zeroed(buffer.layout.span());
            fill(bytes.as_mut_slice(), buffer.layout.desc.dtype(), seed + id as u64);
            let image = ImageBuffer::from_aligned(buffer.layout, bytes);
            rig.upload(id, image.map_err(|e| DeviceError::Conflict(e.to_string()))?)?;
        }
    }
    Ok(rig)
}

/// What the CPU makes of the group, by output.
fn on_cpu(plan: &Plan, seed: u64) -> Result<Vec<AlignedBytes>, DeviceError> {
    let group = &plan.groups[0];
    let layout = |id: usize| plan.buffers[id].layout;
    let filled = |id: usize| {
        let mut bytes = AlignedBytes::zeroed(layout(id).span());
        fill(bytes.as_mut_slice(), layout(id).desc.dtype(), seed + id as u64);
        bytes
    };
    let inputs: Vec<AlignedBytes> = group.reads().into_iter().map(filled).collect();
    let views = group.reads().into_iter().zip(&inputs);
    let views: Vec<ImageView<'_>> = views
        .map(|(id, bytes)| ImageView::new(layout(id), bytes.as_slice()).expect("of this layout"))
        .collect();
    let mut outputs: Vec<AlignedBytes> =
        group.writes().into_iter().map(|id| AlignedBytes::zeroed(layout(id).span())).collect();
    let written = group.writes().into_iter().zip(&mut outputs);
    let mut written: Vec<ImageViewMut<'_>> = written
        .map(|(id, bytes)| ImageViewMut::new(layout(id), bytes.as_mut_slice()).expect("of this layout"))
        .collect();
    execute_group(plan, 0, &views, &mut written, &CpuConfig::default())?;
    Ok(outputs)
}

/// The first difference between one kernel and the CPU (or, for large images, unfused launches).
fn check(
    device: &CudaDevice,
    case: &GroupCase,
    batch: usize,
    strides: Strides,
    with_cpu: bool,
) -> Result<Option<String>, DeviceError> {
    let seed = 7;
    let fused = uploaded(device, plan(case, batch, strides), seed)?;
    fused.launch()?;
    let ids = fused.plan.groups[0].writes();
    let wanted: Vec<Vec<u8>> = if with_cpu {
        on_cpu(&fused.plan, seed)?.iter().map(|bytes| bytes.as_slice().to_vec()).collect()
    } else {
        let staged = uploaded(device, split(case, batch, strides), seed)?;
        staged.launch()?;
        ids.iter().map(|&id| staged.download(device, id)).collect::<Result<_, _>>()?
    };
    for (&id, wanted) in ids.iter().zip(&wanted) {
        let got = fused.download(device, id)?;
        if let Some(text) = difference(&fused.buffers[id].layout, wanted, &got) {
            return Ok(Some(format!("{}: {text}", fused.plan.buffers[id].name)));
        }
    }
    Ok(None)
}

/// Compares small groups with the CPU, and the workloads with unfused launches.
pub(crate) fn compare(device: &Arc<CudaDevice>, options: &Options) -> Result<bool, DeviceError> {
    let mut work = Vec::new();
    for &(w, h) in &options.sizes {
        let chosen = groups(w, h).into_iter().filter(|c| c.name.contains(&options.filter));
        work.extend(chosen.flat_map(|c| options.strides.iter().map(move |&s| (c.clone(), 3, s, true))));
    }
    let large = workloads().into_iter().filter(|(c, _)| c.name.contains(&options.filter));
    work.extend(
        large.flat_map(|(c, batches)| batches.iter().map(move |&b| (c.clone(), b, Strides::Tight, false))),
    );
    // Compiling takes the time: in parallel, into the cache. Failures show again below.
    in_parallel(&work, options.threads, |(case, batch, strides, _)| {
        let _ = device.load(&plan(case, *batch, *strides), 0);
    });
    let mut wrong = 0;
    for (case, batch, strides, with_cpu) in &work {
        match check(device, case, *batch, *strides, *with_cpu) {
            Ok(None) => {}
            Ok(Some(text)) => {
                wrong += 1;
                println!("DIFFERS {} {strides:?} batch {batch}: {text}", case.name);
            }
            Err(error @ DeviceError::Lost(_)) => return Err(error),
            Err(error) => {
                wrong += 1;
                println!("FAILED {} {strides:?} batch {batch}: {error}", case.name);
            }
        }
    }
    println!("{} groups compared, {wrong} wrong", work.len());
    Ok(wrong == 0)
}

/// Microseconds of one execution of a plan.
fn time_plan(device: &Arc<CudaDevice>, bytes: usize, make: impl Fn() -> Plan) -> Result<f64, DeviceError> {
    let stream = device.create_stream("timing")?;
    let sets = ROTATE.div_ceil(bytes).clamp(1, 32);
    let plan = make();
    let executables: Vec<_> =
        (0..plan.groups.len()).map(|g| device.load(&plan, g)).collect::<Result<_, _>>()?;
    let mut rigs = Vec::new();
    for seed in 0..sets as u64 {
        let rig = Rig::of_groups(&**device, make(), executables.clone(), stream.clone())?;
        for (id, buffer) in rig.plan.buffers.iter().enumerate() {
            if matches!(buffer.place, mip_plan::Place::Input(_)) {
                let mut bytes = AlignedBytes::zeroed(buffer.layout.span());
                fill(bytes.as_mut_slice(), buffer.layout.desc.dtype(), seed * 16 + id as u64 + 1);
                let image = ImageBuffer::from_aligned(buffer.layout, bytes);
                rig.upload(id, image.map_err(|e| DeviceError::Conflict(e.to_string()))?)?;
            }
        }
        rigs.push(rig);
    }
    let launches = if bytes < 16 << 20 { 64 } else { 4 };
    let mut times = Vec::new();
    for sample in 0..SAMPLES + 3 {
        let milliseconds =
            device.time(&*stream, || (0..launches).try_for_each(|i| rigs[i % sets].launch()))?;
        stream.synchronize()?;
        if sample >= 3 {
            times.push(milliseconds);
        }
    }
    rigs.iter().try_for_each(|rig| rig.watch.result())?;
    Ok(f64::from(median(&mut times)) * 1e3 / launches as f64)
}

/// Times the workloads: one launch, and unfused launches.
pub(crate) fn time(device: &Arc<CudaDevice>, options: &Options) -> Result<(), DeviceError> {
    let copy = device.copy_bandwidth(512 << 20)?;
    println!("copy bandwidth {:.0} GB/s (read and written bytes, device to device)", copy / 1e9);
    println!(
        "{:10} {:>6} {:>10} {:>9} {:>8} {:>12}",
        "group", "batch", "us", "GB/s", "of copy", "by stage, us"
    );
    for (case, batches) in workloads().iter().filter(|(c, _)| c.name.contains(&options.filter)) {
        let wanted = |b: &&usize| options.batches.is_empty() || options.batches.contains(b);
        for &batch in batches.iter().filter(wanted) {
            let bytes = case.bytes() * batch;
            let us = time_plan(device, bytes, || plan(case, batch, Strides::Tight))?;
            let staged = time_plan(device, bytes, || split(case, batch, Strides::Tight))?;
            let rate = bytes as f64 / (us * 1e-6);
            println!(
                "{:10} {batch:6} {us:10.2} {:9.0} {:7.1}% {staged:12.2}",
                case.name,
                rate / 1e9,
                rate / copy * 100.0
            );
        }
    }
    Ok(())
}
