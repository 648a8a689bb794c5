//! NVDEC without a GPU: a driver and its library for video that are C files, built by the host's compiler. They are loaded as real
//! ones are, so what needs them runs in a process of its own.

#![cfg(target_os = "linux")]

mod common;

use std::sync::Arc;

use mip_cuda::video::{DecodedPicture, VideoCodec, VideoDecoder, VideoError, probe_nvdec};
use mip_cuda::{CudaDevice, CudaOptions};
use mip_runtime::device::{Device, DeviceError};
use mip_runtime::download_image;
use mip_runtime::memory::{ManagerOptions, MemoryManager};

/// Runs a test of this file in a process that finds the libraries; what the library was asked for.
fn run(test: &str, nvcuvid: Option<&str>, mode: &str) -> Vec<String> {
    common::run(test, ("libnvcuvid.so.1", "nvcuvid.c"), nvcuvid, ("FAKE_NVDEC", mode))
}

/// A packet of the fake stream.
fn packet((width, height): (u16, u16), bits: u8, value: u8, mode: u8) -> Vec<u8> {
    let mut packet = b"FAKE".to_vec();
    packet.extend(width.to_le_bytes());
    packet.extend(height.to_le_bytes());
    packet.extend([bits, value, mode]);
    packet
}

fn opened(codec: VideoCodec) -> (Arc<MemoryManager>, Result<VideoDecoder, DeviceError>) {
    let device = CudaDevice::open(0, CudaOptions::default()).unwrap();
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
    let decoder = device.video_decoder(codec, &manager);
    (manager, decoder)
}

/// The samples of a picture that the fake library makes of a value: planes, rows, bytes.
fn expected((width, height): (usize, usize), bits: u8, value: usize) -> [Vec<u8>; 2] {
    let even = height.next_multiple_of(2);
    let sample = |x: usize, y: usize| -> Vec<u8> {
        let sample = (value + x + 2 * y) as u8;
        if bits == 8 { vec![sample] } else { vec![0, sample] }
    };
    let plane = |rows: std::ops::Range<usize>, width: usize| {
        rows.flat_map(|y| (0..width).flat_map(move |x| sample(x, y))).collect()
    };
    [plane(0..height, width), plane(even..even + height.div_ceil(2), width.next_multiple_of(2))]
}

fn bytes(manager: &MemoryManager, picture: &DecodedPicture) -> Vec<Vec<u8>> {
    picture.planes.iter().map(|plane| download_image(manager, plane).unwrap().to_bytes()).collect()
}

#[test]
fn pictures_come_in_the_order_of_display() {
    let log = run("decode_through_the_fake_library", Some(""), "");
    let expected = [
        "parser 4",
        "decoder 7",
        "parser gone 0",
        "decoder gone with surfaces 0",
        "parser 8",
        "decoder 7",
        "parser gone 0",
        "decoder gone with surfaces 0",
    ];
    assert_eq!(log, expected);
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn decode_through_the_fake_library() {
    assert_eq!(probe_nvdec(), Ok(()));
    for (codec, bits, format, size) in
        [(VideoCodec::H264, 8, "nv12", (33, 17)), (VideoCodec::Hevc, 10, "p010", (64, 48))]
    {
        let (manager, decoder) = opened(codec);
        let mut decoder = decoder.unwrap();
        let times = [100, 400, 200, 300, 500];
        let mut shown = Vec::new();
        for (value, time) in times.into_iter().enumerate() {
            let mode = if value == 2 { b'd' } else { b' ' };
            decoder.push(&packet(size, bits, value as u8 * 10, mode), time).unwrap();
            shown.extend(std::iter::from_fn(|| decoder.next_picture()));
        }
        assert_eq!(shown.len(), 3, "two are held back");
        decoder.finish().unwrap();
        shown.extend(std::iter::from_fn(|| decoder.next_picture()));
        let order: Vec<i64> = shown.iter().map(|picture| picture.timestamp).collect();
        assert_eq!(order, [100, 200, 300, 400, 500]);
        let (wide, high) = (usize::from(size.0), usize::from(size.1));
        for picture in &shown {
            let value = times.iter().position(|time| *time == picture.timestamp).unwrap();
            assert_eq!(picture.format.to_string(), format);
            assert_eq!((picture.width, picture.height), (size.0.into(), size.1.into()));
            assert_eq!(picture.damaged, value == 2);
            assert_eq!(bytes(&manager, picture), expected((wide, high), bits, 10 * value));
        }
        // Another stream of the same kind may follow.
        decoder.push(&packet(size, bits, 7, b' '), 1).unwrap();
        decoder.finish().unwrap();
        assert_eq!(decoder.next_picture().unwrap().timestamp, 1);
        assert!(decoder.next_picture().is_none());
    }
}

#[test]
fn streams_that_are_not_decoded_are_refused_with_the_reason() {
    let log = run("refused_through_the_fake_library", Some(""), "small");
    assert!(
        log.iter().filter(|line| line.starts_with("decoder gone")).all(|line| line.ends_with(" 0")),
        "{log:?}"
    );
}

#[test]
#[ignore = "run by the test above with the libraries that it builds"]
fn refused_through_the_fake_library() {
    let refused = |codec, packets: &[Vec<u8>]| {
        let (_, decoder) = opened(codec);
        let mut decoder = decoder.unwrap();
        let pushed: Result<(), VideoError> = packets.iter().try_for_each(|packet| decoder.push(packet, 0));
        let error = pushed.unwrap_err();
        assert!(matches!(error, VideoError::Stream(_)), "{error}");
        error.to_string()
    };
    let good = packet((16, 16), 8, 0, b' ');
    for (codec, packets, text) in [
        (VideoCodec::Av1, vec![good.clone()], "this GPU does not decode av1 of 8 bits; decode it on the CPU"),
        (VideoCodec::H264, vec![packet((16, 16), 8, 0, b'4')], "its pictures are 4:4:4; 4:2:0 is decoded"),
        (
            VideoCodec::H264,
            vec![packet((80, 16), 8, 0, b' ')],
            "h264 of 8 bits up to 64x64 pixels, not 80x16",
        ),
        (
            VideoCodec::Vp9,
            vec![good.clone(), packet((16, 32), 8, 0, b' ')],
            "its pictures change from 16x16 of 8 bits to 16x32 of 8 bits",
        ),
        (
            VideoCodec::H264,
            vec![b"something else".to_vec()],
            "cuvidParseVideoData failed: CUDA_ERROR_INVALID_VALUE (1)",
        ),
        (
            VideoCodec::H264,
            vec![packet((16, 16), 8, 0, b'y')],
            "cuvidDecodePicture failed: CUDA_ERROR_INVALID_VALUE (1)",
        ),
        (VideoCodec::H264, vec![packet((0, 16), 8, 0, b' ')], "no picture that can be shown"),
    ] {
        let found = refused(codec, &packets);
        assert!(found.starts_with("NVDEC: ") && found.contains(text), "{found}");
    }
    // After a refusal the decoder takes what is right.
    let (_, decoder) = opened(VideoCodec::H264);
    let mut decoder = decoder.unwrap();
    decoder.push(&packet((16, 16), 8, 0, b'x'), 0).unwrap_err();
    decoder.push(&good, 5).unwrap();
    decoder.finish().unwrap();
    assert_eq!(decoder.next_picture().unwrap().timestamp, 5);
    // A stream without pictures has none.
    decoder.push(&packet((16, 16), 8, 0, b'n'), 5).unwrap();
    decoder.finish().unwrap();
    assert!(decoder.next_picture().is_none());
}

#[test]
fn what_is_missing_is_said() {
    run("no_library_for_video", None, "");
    run("a_library_without_functions", Some("int nothing;"), "");
}

#[test]
#[ignore = "run by the test above without a library for video"]
fn no_library_for_video() {
    let missing = probe_nvdec().unwrap_err().to_string();
    assert!(
        missing.contains("(libnvcuvid) is not installed") && missing.contains("utility,video"),
        "{missing}"
    );
    let refused = opened(VideoCodec::H264).1.unwrap_err();
    assert!(matches!(refused, DeviceError::Unsupported(_)), "{refused}");
}

#[test]
#[ignore = "run by the test above with an empty library"]
fn a_library_without_functions() {
    let missing = probe_nvdec().unwrap_err().to_string();
    assert!(missing.contains("has no function cuvidGetDecoderCaps"), "{missing}");
}
