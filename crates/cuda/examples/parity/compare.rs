//! The comparison with the CPU device.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mip_core::{AlignedBytes, BatchLayout, ImageBuffer, ImageView, ImageViewMut, Layout};
use mip_cpu::{CpuConfig, execute_group};
use mip_cuda::CudaDevice;
use mip_plan::Plan;
use mip_runtime::device::{Device, DeviceError, Executable};

use crate::cases::samples::fill;
use crate::cases::{Case, Strides, plan};
use crate::rig::Rig;
use crate::{Options, chosen};

/// What loading a case gave, once it is done.
type Loaded = Mutex<Option<Result<Arc<dyn Executable>, DeviceError>>>;

/// What a kernel's name begins with: the row of the table.
fn family(case: &Case) -> String {
    format!("{} {}", case.kernel.name(), case.inputs[0].dtype())
}

/// Runs `work` on every item, on several threads.
pub(crate) fn in_parallel<T: Sync>(items: &[T], threads: usize, work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

/// Compiles every kernel of the comparison into the cache.
pub(crate) fn prepare(options: &Options, capability: (u32, u32)) -> Result<(), String> {
    let mut plans = Vec::new();
    for &size in &options.sizes {
        for strides in &options.strides {
            plans.extend(
                chosen(options, size).iter().map(|case| plan(std::slice::from_ref(case), 3, *strides)),
            );
        }
    }
    plans.extend(
        crate::cases::operators(1920, 1080)
            .iter()
            .map(|case| plan(std::slice::from_ref(case), 32, Strides::Tight)),
    );
    let failed = Mutex::new(None);
    let done = AtomicUsize::new(0);
    in_parallel(&plans, options.threads, |plan| {
        if let Err(error) = mip_cuda::check::prepare(plan, capability) {
            failed.lock().expect("no thread panics").get_or_insert(error);
        }
        let n = done.fetch_add(1, Ordering::Relaxed) + 1;
        if n.is_multiple_of(500) {
            println!("{n} of {} groups compiled or found", plans.len());
        }
    });
    failed.into_inner().expect("no thread panics").map_or(Ok(()), Err)
}

/// The inputs' bytes and what the CPU makes of them.
fn on_cpu(plan: &Plan) -> Result<(Vec<AlignedBytes>, AlignedBytes), DeviceError> {
    let group = &plan.groups[0];
    let layout = |id: usize| plan.buffers[id].layout;
    let inputs: Vec<AlignedBytes> = group
        .reads()
        .into_iter()
        .map(|id| {
            let mut bytes = AlignedBytes::zeroed(layout(id).span());
            fill(bytes.as_mut_slice(), layout(id).desc.dtype(), id as u64 + 1);
            bytes
        })
        .collect();
    let views: Vec<ImageView<'_>> = group
        .reads()
        .into_iter()
        .zip(&inputs)
        .map(|(id, bytes)| ImageView::new(layout(id), bytes.as_slice()).expect("made for this layout"))
        .collect();
    let output = layout(group.writes()[0]);
    let mut bytes = AlignedBytes::zeroed(output.span());
    let mut outputs = [ImageViewMut::new(output, bytes.as_mut_slice()).expect("made for this layout")];
    execute_group(plan, 0, &views, &mut outputs, &CpuConfig::default())?;
    Ok((inputs, bytes))
}

/// The first sample that differs, in words; `None` when all are equal.
pub(crate) fn difference(layout: &BatchLayout, cpu: &[u8], gpu: &[u8]) -> Option<String> {
    let desc = layout.desc;
    let size = desc.dtype().size();
    let mut first = None;
    let mut count = 0;
    for frame in 0..layout.batch_size {
        for plane in 0..desc.planes() {
            for y in 0..desc.height() as usize {
                let row = layout.row_range(frame, plane, y);
                for (i, (a, b)) in cpu[row.clone()].chunks(size).zip(gpu[row].chunks(size)).enumerate() {
                    if a != b {
                        count += 1;
                        let (x, c) = match desc.layout() {
                            Layout::Hwc => (i / desc.channels(), i % desc.channels()),
                            Layout::Chw => (i, plane),
                        };
                        first.get_or_insert_with(|| {
                            format!("frame {frame}, ({x}, {y}), channel {c}: cpu {a:?}, gpu {b:?}")
                        });
                    }
                }
            }
        }
    }
    first.map(|text| format!("{text}; {count} samples differ"))
}

fn run_one(
    device: &CudaDevice,
    case_plan: Plan,
    executable: Arc<dyn Executable>,
    stream: Arc<dyn mip_runtime::device::Stream>,
) -> Result<Option<String>, DeviceError> {
    let (inputs, cpu) = on_cpu(&case_plan)?;
    let rig = Rig::new(device, case_plan, executable, stream)?;
    let group = &rig.plan.groups[0];
    for (id, bytes) in group.reads().into_iter().zip(inputs) {
        let image = ImageBuffer::from_aligned(rig.buffers[id].layout, bytes)
            .map_err(|e| DeviceError::Conflict(e.to_string()))?;
        rig.upload(id, image)?;
    }
    rig.launch()?;
    let output = group.writes()[0];
    let gpu = rig.download(device, output)?;
    Ok(difference(&rig.buffers[output].layout, cpu.as_slice(), &gpu))
}

/// Compares everything; whether all was equal.
pub(crate) fn compare(device: &Arc<CudaDevice>, options: &Options) -> Result<bool, DeviceError> {
    let batches = if options.batches.is_empty() { vec![1, 3] } else { options.batches.clone() };
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut differing = Vec::new();
    let stream = device.create_stream("parity")?;
    for &size in &options.sizes {
        let start = std::time::Instant::now();
        let cases = chosen(options, size);
        let mut runs = 0;
        for &strides in &options.strides {
            for &batch in &batches {
                let plans: Vec<Plan> =
                    cases.iter().map(|case| plan(std::slice::from_ref(case), batch, strides)).collect();
                let loaded: Vec<Loaded> = plans.iter().map(|_| Mutex::default()).collect();
                let indices: Vec<usize> = (0..plans.len()).collect();
                in_parallel(&indices, options.threads, |&i| {
                    *loaded[i].lock().expect("no thread panics") = Some(device.load(&plans[i], 0));
                });
                for ((case, case_plan), executable) in cases.iter().zip(plans).zip(loaded) {
                    let executable =
                        executable.into_inner().expect("no thread panics").expect("loaded above");
                    let found = executable
                        .and_then(|executable| run_one(device, case_plan, executable, stream.clone()));
                    if let Err(DeviceError::Lost(why)) = &found {
                        return Err(DeviceError::Lost(format!(
                            "{why} (in {}, {strides:?}, batch {batch})",
                            case.name
                        )));
                    }
                    let row = table.entry(family(case)).or_default();
                    runs += 1;
                    match found {
                        Ok(None) => row.0 += 1,
                        Ok(Some(text)) => {
                            row.1 += 1;
                            differing.push(format!("{} ({strides:?}, batch {batch}): {text}", case.name));
                        }
                        Err(error) => {
                            row.1 += 1;
                            differing.push(format!("{} ({strides:?}, batch {batch}): {error}", case.name));
                        }
                    }
                }
            }
        }
        println!(
            "{}x{}: {runs} runs in {:.1} s, {} differ so far",
            size.0,
            size.1,
            start.elapsed().as_secs_f64(),
            differing.len()
        );
    }
    println!("\n{:28} {:>8} {:>8}", "kernel", "equal", "differ");
    for (name, (equal, differ)) in &table {
        println!("{name:28} {equal:8} {differ:8}");
    }
    for text in differing.iter().take(40) {
        println!("DIFFERS {text}");
    }
    if differing.len() > 40 {
        println!("... and {} more", differing.len() - 40);
    }
    Ok(differing.is_empty())
}
