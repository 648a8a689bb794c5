//! The time of each operator, against the device's own copy bandwidth.

use std::sync::Arc;

use mip_core::ImageBuffer;
use mip_cuda::CudaDevice;
use mip_runtime::device::{Device, DeviceError};

use crate::Options;
use crate::cases::samples::fill;
use crate::cases::{Case, Strides, operators, plan};
use crate::rig::Rig;

/// Bytes of inputs and outputs that rotate, so that caches do not serve repeated runs.
pub(crate) const ROTATE: usize = 256 << 20;
pub(crate) const SAMPLES: usize = 15;

pub(crate) fn median(times: &mut [f32]) -> f32 {
    times.sort_by(f32::total_cmp);
    times[times.len() / 2]
}

fn bytes_moved(case: &Case, batch: usize) -> usize {
    (case.inputs.iter().map(mip_core::ImageDesc::bytes).sum::<usize>() + case.output.bytes()) * batch
}

/// Microseconds of one launch.
fn time_case(device: &Arc<CudaDevice>, case: &Case, batch: usize) -> Result<f64, DeviceError> {
    let make = || plan(std::slice::from_ref(case), batch, Strides::Tight);
    let executable = device.load(&make(), 0)?;
    let stream = device.create_stream("timing")?;
    let sets = ROTATE.div_ceil(bytes_moved(case, batch)).clamp(1, 32);
    let mut rigs = Vec::new();
    for seed in 0..sets {
        let rig = Rig::new(&**device, make(), executable.clone(), stream.clone())?;
        for id in rig.plan.groups[0].reads() {
            let mut image = ImageBuffer::with_layout(rig.buffers[id].layout)
                .map_err(|e| DeviceError::Conflict(e.to_string()))?;
            let dtype = image.desc().dtype();
            fill(image.view_mut().data_mut(), dtype, seed as u64 * 16 + id as u64 + 1);
            rig.upload(id, image)?;
        }
        rigs.push(rig);
    }
    let launches = if batch == 1 { 32 } else { 4 };
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

/// Times all operators and prints a table.
pub(crate) fn time(device: &Arc<CudaDevice>, options: &Options) -> Result<(), DeviceError> {
    let copy = device.copy_bandwidth(512 << 20)?;
    println!("copy bandwidth {:.0} GB/s (read and written bytes, device to device)", copy / 1e9);
    let (w, h) = if options.sizes.len() == 1 { options.sizes[0] } else { (1920, 1080) };
    let batches = if options.batches.is_empty() { vec![1, 32] } else { options.batches.clone() };
    println!("{w}x{h}; GB/s: inputs read once and outputs written once\n");
    println!("{:34} {:>6} {:>10} {:>9} {:>8}", "operator", "batch", "us", "GB/s", "of copy");
    for case in operators(w, h).iter().filter(|c| c.name.contains(&options.filter)) {
        for &batch in &batches {
            match time_case(device, case, batch) {
                Ok(us) => {
                    let rate = bytes_moved(case, batch) as f64 / (us * 1e-6);
                    println!(
                        "{:34} {batch:6} {us:10.2} {:9.0} {:7.1}%",
                        case.name,
                        rate / 1e9,
                        rate / copy * 100.0
                    );
                }
                Err(error @ DeviceError::Lost(_)) => return Err(error),
                Err(error) => println!("{:34} {batch:6} {error}", case.name),
            }
        }
    }
    Ok(())
}
