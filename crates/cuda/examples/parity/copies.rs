//! The rate of uploads and downloads as the runtime makes them.

use std::sync::Arc;
use std::time::Instant;

use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_cuda::CudaDevice;
use mip_runtime::Block;
use mip_runtime::device::{BufferMemory, BufferRef, Command, Device, DeviceError, Stream};
use mip_runtime::memory::{ManagerOptions, MemoryManager};
use mip_runtime::pooled_image;

const SAMPLES: usize = 11;

/// Prints gigabytes a second for batches of 1080p RGB: from pageable and pinned memory, and back to pinned.
pub(crate) fn copies(device: &Arc<CudaDevice>) -> Result<(), DeviceError> {
    let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
    let stream = device.create_stream("copies")?;
    println!("\nhost time of a copy with its wait; 1920x1080 rgb u8, GB/s: bytes copied once\n");
    println!("{:34} {:>6} {:>10} {:>9}", "copy", "batch", "us", "GB/s");
    for batch in [1, 8] {
        let text = |e: mip_core::ImageError| DeviceError::Conflict(e.to_string());
        let desc = ImageDesc::new(1920, 1080, PixelFormat::Rgb, DType::U8).map_err(text)?;
        let layout = BatchLayout::tight(desc, batch).map_err(text)?;
        let pageable = ImageBuffer::with_layout(layout).map_err(text)?;
        let block = manager.allocate_pinned(layout.span())?;
        let result = manager.allocate_pinned(layout.span())?;
        let pinned = pooled_image(layout, Arc::new(block))?;
        let on_device = manager.allocate_device(layout.span())?;
        let to = place(&on_device, layout);
        let back = place(&result, layout);
        let upload = |image: &ImageBuffer| Command::Upload { from: image.clone(), to: to.clone() };
        let download = || Command::Download { from: to.clone(), to: back.clone() };
        row("upload from pageable memory", batch, layout, &*stream, || upload(&pageable))?;
        row("upload from pinned memory", batch, layout, &*stream, || upload(&pinned))?;
        row("download to pinned memory", batch, layout, &*stream, download)?;
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
    println!("{name:34} {batch:6} {:10.2} {:9.1}", seconds * 1e6, layout.span() as f64 / seconds / 1e9);
    Ok(())
}
