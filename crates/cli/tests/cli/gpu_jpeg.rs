//! `--decode gpu`: what it refuses; and, with a driver and an nvJPEG that are C files, which files go where. Kernels do not
//! run there, so that results are looked at for their number and names alone.

use std::process::Command;

use crate::libraries::fake_driver;
use crate::support::{Place, Ran};
use mip_core::{DType, PixelFormat};

/// A place with the libraries; `nvjpeg` is whether nvJPEG is among them.
fn place(nvjpeg: bool) -> Place {
    let place = Place::new();
    fake_driver(&place, if nvjpeg { &[("libnvjpeg.so.13", "nvjpeg.c")] } else { &[] });
    place
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command();
    for variable in ["CUDA_HOME", "CUDA_PATH", "MIP_NVRTC_LIB", "MIP_NVJPEG_LIB"] {
        command.env_remove(variable);
    }
    command
        .args(arguments)
        .env("LD_LIBRARY_PATH", place.path("driver"))
        .env("MIP_CACHE_DIR", place.path("cache"));
    command
}

fn run(place: &Place, arguments: &[&str]) -> Ran {
    Ran::of(&mut command(place, arguments))
}

/// A JPEG file with a comment, by which the library tells files that it refuses.
fn jpeg(place: &Place, name: &str, comment: &str) {
    place.rgb("whole.jpg", (40, 30), 7);
    let mut file = place.bytes("whole.jpg");
    std::fs::remove_file(place.path("whole.jpg")).unwrap();
    let segment: Vec<u8> = [&[0xFF, 0xFE, 0, comment.len() as u8 + 2], comment.as_bytes()].concat();
    file.splice(2..2, segment);
    std::fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
    std::fs::write(place.path(name), file).unwrap();
}

const ON_GPU: [&str; 4] = ["--device", "cuda", "--decode", "gpu"];

#[test]
fn a_folder_is_decoded_by_both_and_counted() {
    let place = place(true);
    for n in 0..40 {
        jpeg(&place, &format!("photos/{n:02}.jpg"), "fine");
    }
    place.rgb("photos/17a.png", (40, 30), 1);
    jpeg(&place, "photos/20a.jpg", "bad");
    place.write("photos/30a.jpg", "no picture");
    // Cut behind its header: the CPU's decoder says what is wrong.
    let file = place.bytes("photos/00.jpg");
    std::fs::write(place.path("photos/35a.jpg"), &file[..file.len() - 30]).unwrap();
    let arguments = ["run", "-e", "flip", "photos", "-o", "out", "--keep-going", "--json"];
    let ran = run(&place, &[arguments.as_slice(), &ON_GPU].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = ran.json();
    let expected = serde_json::json!([
        { "decoder": "nvJPEG 13.3.2 (hardware engines)", "images": 40 },
        { "decoder": "cpu", "images": 1 },
    ]);
    assert_eq!(report["decoders"], expected);
    assert!(report["images_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!((&report["frames"], &report["failed"]), (&41.into(), &3.into()));
    assert_eq!(place.list("out").len(), 41);
    let errors: Vec<_> =
        report["errors"].as_array().unwrap().iter().map(|e| e["error"].as_str().unwrap()).collect();
    assert_eq!(
        errors[0],
        "photos/20a.jpg: nvjpegDecodeBatched failed: NVJPEG_STATUS_BAD_JPEG (3); decode it on the CPU (--decode cpu)"
    );
    assert!(errors[1].contains("30a.jpg is no image format"), "{errors:?}");
    assert!(errors[2].contains("35a.jpg is truncated"), "{errors:?}");

    let ran = run(&place, &[&["run", "-e", "flip", "photos/1*", "-o", "all.npy"][..], &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let note =
        "decoded by nvJPEG 13.3.2 (hardware engines): 10 images; by the CPU: 1 image (no JPEG file: 1); ";
    assert!(ran.stderr.contains(note) && ran.stderr.contains(" images/s\n"), "{}", ran.stderr);
    let index: serde_json::Value = serde_json::from_slice(&place.bytes("all.index.json")).unwrap();
    assert_eq!(index["rows"][8], "photos/17a.png", "{index}");

    // Without --keep-going the first failure ends the run.
    let stopped = run(&place, &[&["run", "-e", "flip", "photos", "-o", "other"][..], &ON_GPU].concat());
    assert_eq!(stopped.code, 1, "{stopped:?}");
    assert!(stopped.stderr.contains("20a.jpg: nvjpegDecode"), "{}", stopped.stderr);
}

/// A JPEG file with so many zeros behind it, which takes no room on a disk.
fn long_jpeg(place: &Place, name: &str, bytes: u64) {
    jpeg(place, name, "fine");
    let file = std::fs::OpenOptions::new().append(true).open(place.path(name)).unwrap();
    file.set_len(bytes).unwrap();
}

#[test]
fn auto_takes_the_gpu_for_many_jpegs_and_the_cpu_for_few() {
    let place = place(true);
    jpeg(&place, "few/a.jpg", "fine");
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    long_jpeg(&place, "many/a.jpg", cores * 24_000_000);
    jpeg(&place, "many/b.jpg", "fine");
    let base = ["run", "-e", "flip", "-o", "out", "--json", "--decode", "auto"];
    let shares = |ran: &Ran| {
        assert_eq!(ran.code, 0, "{ran:?}");
        let report = ran.json();
        let decoders = report["decoders"].as_array().unwrap().iter();
        decoders.map(|share| share["decoder"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let few = run(&place, &[&base[..], &["few", "--device", "cuda"]].concat());
    assert_eq!(shares(&few), ["cpu"]);
    let enough = format!(
        "1 MB of JPEG files are decoded by the CPU; the GPU is sooner done from {} MB on",
        cores * 24
    );
    assert!(few.stderr.contains(&enough), "{}", few.stderr);
    let many = run(&place, &[&base[..], &["many", "--device", "cuda"]].concat());
    assert_eq!(shares(&many)[0], "nvJPEG 13.3.2 (hardware engines)");
    // Without a GPU there is nothing to choose; neither are pixels that only the CPU makes.
    let on_cpu = run(&place, &[&base[..], &["many", "--device", "cpu"]].concat());
    assert_eq!(shares(&on_cpu), ["cpu"]);
    assert!(!on_cpu.stderr.contains("--decode"), "{}", on_cpu.stderr);
    let scaled = run(&place, &[&base[..], &["many", "--device", "cuda", "--jpeg-scale", "1/2"]].concat());
    assert_eq!(shares(&scaled), ["cpu"]);
    let several = run(&place, &[&base[..], &["many", "--device", "cuda:0,cpu"]].concat());
    assert_eq!(shares(&several), ["cpu"]);

    let place = self::place(false);
    long_jpeg(&place, "many/a.jpg", cores * 24_000_000);
    let missing = run(&place, &[&base[..], &["many", "--device", "cuda"]].concat());
    assert_eq!(shares(&missing), ["cpu"]);
    let note = "(libnvjpeg) is not installed";
    assert!(
        missing.stderr.contains("--decode auto: ") && missing.stderr.contains(note),
        "{}",
        missing.stderr
    );
}

#[test]
fn little_memory_makes_smaller_batches_and_no_failure() {
    let place = place(true);
    for n in 0..40 {
        jpeg(&place, &format!("photos/{n:02}.jpg"), "fine");
    }
    let arguments = ["run", "-e", "flip", "photos", "-o", "out", "--json", "--memory-limit", "4MiB"];
    let ran = run(&place, &[arguments.as_slice(), &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["frames"], 40);
}

#[test]
fn what_is_turned_coloured_or_gray_goes_to_the_decoder_that_knows_it() {
    let place = place(true);
    place.picture("gray.jpg", (9, 7), PixelFormat::Gray, DType::U8, 1);
    place.rgb("rgb.jpg", (9, 7), 1);
    let mut turned = place.bytes("rgb.jpg");
    let exif = b"\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    turned.splice(2..2, exif.iter().copied());
    std::fs::write(place.path("turned.jpg"), turned).unwrap();
    let arguments = ["run", "-e", "flip", "gray.jpg", "rgb.jpg", "turned.jpg", "-o", "out"];
    let ran = run(&place, &[arguments.as_slice(), &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let note = "hardware engines): 2 images; by the CPU: 1 image (EXIF orientation: 1)";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let sizes = ["gray", "rgb", "turned"].map(|name| {
        let desc = *place.read(&format!("out/{name}.png")).desc();
        (desc.width(), desc.height(), desc.channels())
    });
    assert_eq!(sizes, [(9, 7, 1), (9, 7, 3), (7, 9, 3)]);
}

#[test]
fn devices_say_whether_nvjpeg_is_there() {
    let there = run(&place(true), &["devices"]);
    assert!(there.stdout.contains(", NVRTC 13.0, nvJPEG 13.3.2, "), "{there:?}");
    let place = place(false);
    let missing = run(&place, &["devices", "--json"]);
    let cuda = &missing.json()["devices"][1];
    assert_eq!((&cuda["available"], &cuda["nvjpeg"]), (&true.into(), &serde_json::Value::Null), "{cuda}");
    assert!(cuda["nvjpeg_reason"].as_str().unwrap().contains("pip install 'nvidia-nvjpeg==13.*'"), "{cuda}");

    // Where it is not asked for, nothing is missed; where it is, the reason is said before any work.
    place.rgb("a.jpg", (9, 7), 1);
    let ran = run(&place, &[&["run", "-e", "flip", "a.jpg", "-o", "out"][..], &ON_GPU].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("--decode gpu: ") && ran.stderr.contains("(libnvjpeg) is not installed"),
        "{ran:?}"
    );
    let ran = run(&place, &["run", "-e", "flip", "a.jpg", "-o", "out", "--device", "cuda"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let validate = run(&place, &["validate", "--device", "cuda", "--only", "jpeg"]);
    assert!(validate.stdout.contains("3 skipped") && validate.stdout.contains("libnvjpeg"), "{validate:?}");
}

#[test]
fn the_gpu_decodes_pictures_after_the_pipeline_alone() {
    let place = Place::new();
    place.rgb("a.jpg", (9, 7), 1);
    let base = ["run", "-e", "flip", "--decode", "gpu"];
    let refused = |rest: &[&str], because: &[&str]| place.refused(&[&base, rest].concat(), because);
    refused(
        &["a.jpg", "--device", "cpu"],
        &["--decode gpu needs a GPU", "cpu", "--device cuda", "--decode cpu"],
    );
    refused(&["a.jpg", "--device", "cpu", "--pages", "all"], &["--pages", "leave it out"]);
    refused(&["--input", "input=a.jpg", "--device", "cpu"], &["images after the pipeline"]);
    place.refused(&["run", "-e", "flip", "a.jpg", "--decode", "gpus"], &["gpus", "cpu", "gpu"]);
    // The CPU's decoder is what there is without being asked for.
    place.ok(&["run", "-e", "flip", "a.jpg", "-o", "out", "--decode", "cpu"]);
    let auto = place.mip(&["run", "-e", "flip", "a.jpg", "-o", "out", "--decode", "gpu"]);
    let gpu = mip_cuda::probe().usable(0).is_ok();
    assert!(gpu || auto.code == 1 && auto.stderr.contains("--decode gpu: cuda: "), "{auto:?}");
    let validated = place.ok(&["validate", "--device", "cpu", "--only", "jpeg"]);
    assert!(validated.stdout.contains("nvJPEG decodes on NVIDIA GPUs"), "{validated:?}");
}
