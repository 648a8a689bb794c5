//! nvJPEG without a GPU: a driver and an nvJPEG that are C files, built by the host's compiler. The library is loaded as a
//! real one is, so what needs it runs in a process of its own.

#![cfg(target_os = "linux")]

mod common;

use std::sync::Arc;

use mip_core::{BatchLayout, DType, ImageDesc, PixelFormat};
use mip_cuda::jpeg::{JpegEngine, JpegError, JpegTask, probe_nvjpeg};
use mip_cuda::{CudaDevice, CudaOptions};
use mip_runtime::device::{Device, DeviceError};
use mip_runtime::memory::{ManagerOptions, MemoryManager};
use mip_runtime::{DeviceImage, download_image};

/// Runs a test of this file in a process that finds the libraries; what the library was asked for.
fn run(test: &str, nvjpeg: Option<&str>, mode: &str) -> Vec<String> {
    common::run(test, ("libnvjpeg.so.13", "nvjpeg.c"), nvjpeg, ("FAKE_NVJPEG", mode))
}

/// A file as far as headers go; its comment is `comment`.
fn file(width: u16, height: u16, components: u8, progressive: bool, comment: &[u8]) -> Vec<u8> {
    let mut file = vec![0xFF, 0xD8, 0xFF, 0xFE];
    file.extend((comment.len() as u16 + 2).to_be_bytes());
    file.extend(comment);
    file.extend([0xFF, if progressive { 0xC2 } else { 0xC0 }, 0, 8 + 3 * components, 8]);
    file.extend(height.to_be_bytes());
    file.extend(width.to_be_bytes());
    file.push(components);
    (1..=components).for_each(|id| file.extend([id, 0x11, 0]));
    file.extend([0xFF, 0xDA, 0, 2, 0xFF, 0xD9]);
    file
}

fn desc(width: u16, height: u16, components: u8) -> ImageDesc {
    let format = if components == 1 { PixelFormat::Gray } else { PixelFormat::Rgb };
    ImageDesc::new(width.into(), height.into(), format, DType::U8).unwrap()
}

/// What the fake library decodes a file to.
fn expected(desc: &ImageDesc, length: usize) -> Vec<u8> {
    let row = desc.row_bytes();
    (0..desc.height() as usize).flat_map(|y| (0..row).map(move |x| (length + 3 * y + x) as u8)).collect()
}

/// The device, and a manager of its memory.
fn opened() -> (Arc<CudaDevice>, Arc<MemoryManager>) {
    let device = CudaDevice::open(0, CudaOptions::default()).unwrap();
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
    (device, manager)
}

fn task(manager: &MemoryManager, file: Vec<u8>, desc: ImageDesc) -> JpegTask {
    (file, DeviceImage::allocate(manager, BatchLayout::tight(desc, 1).unwrap()).unwrap())
}

#[test]
fn files_are_decoded_in_batches_and_alone() {
    let log = run("decode_through_the_fake_library", Some(""), "");
    let expected = [
        "create 3",
        "create 0", // The engines, and the cores for what those do not know.
        "single 5",
        "batch 2",
        "batch 3", // Progressive; gray; rgb.
        "batch 3",
        "batch 1",
        "batch 1",
        "batch 1", // One of three is refused.
        "batch 2", // The state is as good as before.
        "destroyed with states 0",
        "destroyed with states 0",
    ];
    assert_eq!(log, expected);
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn decode_through_the_fake_library() {
    let (device, manager) = opened();
    let decoder = device.jpeg_decoder().unwrap();
    assert_eq!((decoder.version().to_string().as_str(), decoder.engine()), ("13.3.2", JpegEngine::Hardware));
    let mut lane = decoder.lane().unwrap();
    let shapes = [(9, 4, 3), (5, 7, 1), (33, 17, 3), (1, 1, 1), (640, 3, 3), (8, 8, 3)];
    let made = |(index, (w, h, c)): (usize, &(u16, u16, u8))| {
        task(&manager, file(*w, *h, *c, index == 2, &vec![b'x'; index]), desc(*w, *h, *c))
    };
    let tasks: Vec<JpegTask> = shapes.iter().enumerate().map(made).collect();
    assert!(lane.decode(tasks.clone()).iter().all(Result::is_ok));
    lane.finish().unwrap();
    for (file, image) in &tasks {
        let pixels = download_image(&manager, image).unwrap();
        assert_eq!(pixels.to_bytes(), expected(image.desc(), file.len()));
    }

    let mut three: Vec<JpegTask> =
        (0..3).map(|_| task(&manager, file(9, 4, 3, false, b""), desc(9, 4, 3))).collect();
    three[1].0 = file(9, 4, 3, false, b"bad");
    let results = lane.decode(three.clone());
    let Err(JpegError::File { index: 1, .. }) = &results[1] else { panic!("{results:?}") };
    let text = results[1].as_ref().unwrap_err().to_string();
    assert_eq!(
        text,
        "file 1 of the batch: nvjpegDecodeBatched failed: NVJPEG_STATUS_BAD_JPEG (3); decode it on the CPU (--decode cpu)"
    );
    assert!(results[0].is_ok() && results[2].is_ok());
    lane.finish().unwrap();
    assert_eq!(
        download_image(&manager, &three[2].1).unwrap().to_bytes(),
        expected(three[2].1.desc(), three[2].0.len())
    );
    three.remove(1);
    assert!(lane.decode(three).iter().all(Result::is_ok));
}

#[test]
fn a_gpu_without_engines_decodes_one_by_one() {
    let log = run("decode_without_engines", Some(""), "no-hardware");
    assert_eq!(log, ["create 3", "create 0", "single 5", "single 2", "single 5", "destroyed with states 0"]);
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn decode_without_engines() {
    let (device, manager) = opened();
    let decoder = device.jpeg_decoder().unwrap();
    assert_eq!(decoder.engine(), JpegEngine::Cores);
    let (mut lane, mut other) = (decoder.lane().unwrap(), decoder.lane().unwrap());
    let tasks = |c: u8| task(&manager, file(6, 5, c, false, b""), desc(6, 5, c));
    assert!(lane.decode(vec![tasks(3), tasks(1)]).iter().all(Result::is_ok));
    let last = tasks(3);
    assert_eq!(other.decode(vec![last.clone()]), [Ok(())]);
    // What is queued is kept.
    drop((decoder, lane, other));
    assert_eq!(download_image(&manager, &last.1).unwrap().to_bytes(), expected(last.1.desc(), last.0.len()));
}

#[test]
fn what_does_not_fit_is_refused_before_it_is_decoded() {
    let log = run("refuse_what_does_not_fit", Some(""), "");
    assert!(!log.iter().any(|line| line.starts_with("single") || line.starts_with("batch")), "{log:?}");
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn refuse_what_does_not_fit() {
    let (device, manager) = opened();
    let mut lane = device.jpeg_decoder().unwrap().lane().unwrap();
    let whole = file(9, 4, 3, false, b"");
    let cases = [
        (b"no JPEG file".to_vec(), desc(9, 4, 3), "NVJPEG_STATUS_BAD_JPEG"),
        (whole[..9].to_vec(), desc(9, 4, 3), "NVJPEG_STATUS_INCOMPLETE_BITSTREAM"),
        (Vec::new(), desc(9, 4, 3), "NVJPEG_STATUS_BAD_JPEG"),
        (whole.clone(), desc(9, 3, 3), "nvJPEG reads 9x4 pixels of 3 component(s)"),
        (whole.clone(), desc(9, 4, 1), "where 9x4 gray u8 was expected"),
        (whole, desc(9, 4, 3).with_dtype(DType::U16).unwrap(), "not to 9x4 rgb u16"),
    ];
    let tasks = cases.iter().map(|(file, desc, _)| task(&manager, file.clone(), *desc)).collect();
    for (index, (result, (.., part))) in lane.decode(tasks).into_iter().zip(cases).enumerate() {
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with(&format!("file {index} ")) && text.contains(part), "{text}");
    }
    assert!(lane.decode(Vec::new()).is_empty());
}

#[test]
fn a_library_that_is_missing_broken_or_refuses_is_a_reason() {
    run("find_no_library", None, "");
    run(
        "find_a_library_without_functions",
        Some("int nvjpegGetProperty(int w, int *v) { *v = 13; return 0; }"),
        "",
    );
    run("find_a_library_that_refuses", Some(""), "refuses");
}

fn reason() -> String {
    let Err(DeviceError::Unsupported(text)) = opened().0.jpeg_decoder() else { panic!("it is there") };
    assert_eq!(probe_nvjpeg().unwrap_err().to_string(), text);
    assert!(text.contains("pip install 'nvidia-nvjpeg==13.*'") && text.contains("MIP_NVJPEG_LIB"), "{text}");
    text
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn find_no_library() {
    assert!(reason().contains("(libnvjpeg) is not installed"));
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn find_a_library_without_functions() {
    let text = reason();
    assert!(text.contains("has no function nvjpegCreateEx"), "{text}");
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn find_a_library_that_refuses() {
    let Err(error) = opened().0.jpeg_decoder() else { panic!("it refuses") };
    assert_eq!(
        error.to_string(),
        "nvjpegCreateEx failed: NVJPEG_STATUS_INTERNAL_ERROR (8); decode on the CPU (--decode cpu)"
    );
}
