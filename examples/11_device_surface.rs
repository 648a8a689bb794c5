//! Frames that are on the GPU already, as a decoder or another library leaves them there: read in place, with results that
//! stay on the GPU for whoever reads them next.
//!
//! `cargo run --release --example 11_device_surface`

#![allow(clippy::print_stdout, reason = "an example prints what it found")]
#![allow(unsafe_code, reason = "memory of another library is taken at its word")]

use std::sync::Arc;

use mini_image_pipe::cuda::{BorrowedMemory, CudaDevice};
use mini_image_pipe::prelude::*;
use mini_image_pipe::video::{DeviceFrame, Matrix, Range, VideoColor, VideoFormat};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 360;

/// What a decoder hands over: where its surface lies, and what gives it back when it is dropped.
struct Surface {
    address: u64,
    bytes: usize,
    keeper: DeviceImage,
}

/// Stands for a decoder: noise in memory of the GPU, luma above chroma, rows of 1024 bytes.
fn decode(device: &Device) -> Result<Surface, Box<dyn std::error::Error>> {
    let config = PipelineConfig { device: device.clone(), ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line("flip ! flip")?, config)?;
    let whole = ImageDesc::new(1024, HEIGHT / 2 * 3, PixelFormat::Gray, DType::U8)?;
    let mut noise = 1_u32;
    let pixels = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    });
    let image = ImageBuffer::from_bytes(whole, &pixels.take(whole.bytes()).collect::<Vec<_>>())?;
    let options = StreamOptions { keep_on_device: true, ..StreamOptions::default() };
    let mut stream = pipeline.stream(&options)?;
    let mut done: Vec<_> = stream.push(image).into_iter().collect();
    done.extend(stream);
    let keeper = done.remove(0)?.device_outputs.remove(0).1;
    let address = CudaDevice::address(&keeper).ok_or("the image is not on a CUDA device")?;
    Ok(Surface { address, bytes: keeper.layout().span(), keeper })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::auto()?;
    if device.open()?.info().unified_memory {
        println!("no NVIDIA GPU here (`mip devices` says why): there is no surface to borrow");
        return Ok(());
    }
    let surface = decode(&device)?;
    // SAFETY: the surface is memory of this GPU, filled before `decode` returned, and nobody writes there; it is kept as long as
    // its keeper lives.
    let memory = unsafe { BorrowedMemory::new(surface.address, surface.bytes, Arc::new(surface.keeper)) };
    let plane = |width, height| -> Result<BatchLayout, Box<dyn std::error::Error>> {
        let desc = ImageDesc::new(width, height, PixelFormat::Gray, DType::U8)?;
        Ok(BatchLayout { row_stride: 1024, ..BatchLayout::tight(desc, 1)? })
    };
    let chroma_at = 1024 * HEIGHT as usize;
    let planes =
        device.borrow_cuda(&memory, [(plane(WIDTH, HEIGHT)?, 0), (plane(WIDTH, HEIGHT / 2)?, chroma_at)])?;
    let frame = DeviceFrame::new(VideoFormat::NV12, WIDTH, HEIGHT, planes.into())?;

    // What a network reads, made of the surface in one kernel.
    let line = "resize width=224 height=224 ! normalize mean=0.5 std=0.25 to=f16 ! layout to=chw";
    let config = PipelineConfig { device: device.clone(), ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(line)?, config)?;
    pipeline.read_video("input", VideoFormat::NV12, Some(VideoColor::new(Matrix::Bt709, Range::Limited)))?;
    let options = StreamOptions { keep_on_device: true, ..StreamOptions::default() };
    let mut stream = pipeline.stream(&options)?;
    let mut done: Vec<_> = stream.push_device_video(frame).into_iter().collect();
    done.extend(stream);
    for result in done {
        for (task, tensor) in result?.device_outputs {
            let address = CudaDevice::address(&tensor).ok_or("the tensor is not on a CUDA device")?;
            println!("{task}: {} at {address:#x} on {}", tensor.desc(), device.info()?.name);
        }
    }
    Ok(())
}
