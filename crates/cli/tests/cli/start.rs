//! `--device auto` where there is a driver: nothing waits for a GPU to be opened. The driver is a C file, and takes its time.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::libraries::fake_driver;
use crate::support::{Place, Ran};

fn place() -> Place {
    let place = Place::new();
    fake_driver(&place, &[]);
    place
}

fn command(place: &Place, arguments: &[&str], start_ms: &str) -> Command {
    let mut command = place.command();
    for variable in ["CUDA_HOME", "CUDA_PATH", "MIP_NVRTC_LIB", "MIP_NVJPEG_LIB"] {
        command.env_remove(variable);
    }
    command
        .args(arguments)
        .env("FAKE_START_MS", start_ms)
        .env("LD_LIBRARY_PATH", place.path("driver"))
        .env("MIP_CACHE_DIR", place.path("cache"));
    command
}

#[test]
fn pictures_do_not_wait_for_a_gpu() {
    let place = place();
    for n in 0..3 {
        place.rgb(&format!("in/{n}.png"), (40, 30), n);
    }
    let expected = place.ok(&["run", "-e", "sobel", "in", "-o", "cpu", "--device", "cpu"]);
    assert_eq!(expected.code, 0, "{expected:?}");
    let start = Instant::now();
    let ran = Ran::of(&mut command(&place, &["run", "-e", "sobel", "in", "-o", "out", "--json"], "60000"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(start.elapsed() < Duration::from_secs(30), "{ran:?}");
    for name in place.list("cpu") {
        assert_eq!(place.bytes(&format!("out/{name}")), place.bytes(&format!("cpu/{name}")), "{name}");
    }
    let report = ran.json();
    assert_eq!((&report["device"], &report["frames"]), (&"cpu".into(), &3.into()));
    let devices = report["devices"].as_array().unwrap();
    assert_eq!((&devices[0]["device"], &devices[0]["frames"]), (&"cuda:0".into(), &0.into()));
    assert_eq!((&devices[0]["starting"], &devices[1]["frames"]), (&true.into(), &3.into()));
    assert!(
        ran.stderr.contains("frames by device: cuda:0 0 (it was still being made ready), cpu 3"),
        "{ran:?}"
    );
}

#[test]
fn a_stream_does_not_wait_for_a_gpu() {
    let place = place();
    let frames: Vec<u8> = (0..20 * 64 * 48).map(|i: u32| (i * 7 % 251) as u8).collect();
    std::fs::write(place.path("in.raw"), &frames).unwrap();
    let arguments =
        |out| ["stream", "-e", "flip", "-i", "in.raw", "--raw", "gray:64x48", "--range", "full", "-o", out];
    let expected = place.ok(&[&arguments("cpu.y4m")[..], &["--device", "cpu"]].concat());
    assert_eq!(expected.code, 0, "{expected:?}");
    let start = Instant::now();
    let ran = Ran::of(&mut command(&place, &arguments("auto.y4m"), "60000"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(start.elapsed() < Duration::from_secs(30), "{ran:?}");
    assert_eq!(place.bytes("auto.y4m"), place.bytes("cpu.y4m"));
}

#[test]
fn a_gpu_that_cannot_be_used_is_said() {
    let place = place();
    // Without the compiler.
    std::fs::remove_file(place.path("driver/libnvrtc.so")).unwrap();
    // Enough to do that it is found out before the end.
    for n in 0..40 {
        place.rgb(&format!("in/{n}.png"), (400, 300), n);
    }
    let ran = Ran::of(&mut command(&place, &["run", "-e", "sobel", "in", "-o", "out"], "0"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("(no GPU; `mip devices` says why)"), "{ran:?}");
}
