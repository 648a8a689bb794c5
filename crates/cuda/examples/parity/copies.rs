//! The rate of uploads and downloads as the runtime makes them.

use std::sync::Arc;
use std::time::Instant;

use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_cuda::{CudaDevice, CudaOptions};
use mip_runtime::Block;
use mip_runtime::device::{BufferMemory, BufferRef, Command, Device, DeviceError, Stream};
use mip_runtime::memory::{ManagerOptions, MemoryManager};
use mip_runtime::pooled_image;

use crate::cases::samples::fill;

const SAMPLES: usize = 21;

/// Prints gigabytes a second for batches of 1080p RGB: from pinned memory and back to it, and from pageable
/// memory by each number of threads that fill the pinned ring.
pub(crate) fn copies(device: &Arc<CudaDevice>, index: usize) -> Result<(), DeviceError> {
    println!("\nhost time of a copy with its wait; 1920x1080 rgb u8, GB/s: bytes copied once\n");
    println!("{:44} {:>6} {:>10} {:>9}", "copy", "batch", "us", "GB/s");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<usize> = [1, 2, 4, 6, 8, 12, 16].into_iter().filter(|&n| n <= cores.max(2)).collect();
    for batch in [1, 8, 32] {
        let text = |e: mip_core::ImageError| DeviceError::Conflict(e.to_string());
        let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8).map_err(text)?;
        let layout = BatchLayout::tight(desc, batch).map_err(text)?;
        let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
        let (on_device, result) =
            (manager.allocate_device(layout.span())?, manager.allocate_pinned(layout.span())?);
        let pinned = pooled_image(layout, Arc::new(manager.allocate_pinned(layout.span())?))?;
        let (to, back) = (place(&on_device, layout), place(&result, layout));
        let upload = |image: &ImageBuffer| Command::Upload { from: image.clone(), to: to.clone() };
        let stream = device.create_stream("copies")?;
        row("upload from pinned memory", batch, layout, &*stream, || upload(&pinned))?;
        let download = || Command::Download { from: to.clone(), to: back.clone() };
        row("download to pinned memory", batch, layout, &*stream, download)?;
        // Written to, so that its pages are there.
        let mut pageable = ImageBuffer::with_layout(layout).map_err(text)?;
        fill(pageable.view_mut().data_mut(), DType::U8, 1);
        row("upload from pageable memory", batch, layout, &*stream, || upload(&pageable))?;
        for &threads in &threads {
            let options = CudaOptions { upload_threads: Some(threads), ..CudaOptions::default() };
            let device = CudaDevice::open(index, options)?;
            let stream = device.create_stream("copies")?;
            let name = format!("upload from pageable memory, {threads} threads");
            row(&name, batch, layout, &*stream, || upload(&pageable))?;
        }
    }
    Ok(())
}

fn place(block: &Block, layout: BatchLayout) -> BufferRef {
    BufferRef { memory: BufferMemory::Block(block.memory().clone()), offset: 0, layout }
}

fn row(
    name: &str,
    batch: usize,
    layout: BatchLayout,
    stream: &dyn Stream,
    command: impl Fn() -> Command,
) -> Result<(), DeviceError> {
    let mut times = Vec::new();
    for _ in 0..SAMPLES {
        let start = Instant::now();
        stream.submit(command())?;
        stream.synchronize()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let seconds = times[SAMPLES / 2];
    println!("{name:44} {batch:6} {:10.2} {:9.1}", seconds * 1e6, layout.span() as f64 / seconds / 1e9);
    Ok(())
}
