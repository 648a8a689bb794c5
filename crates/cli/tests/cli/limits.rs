//! Memory, threads and decoders that cannot be had or fail: one bad file is one failure, and nothing aborts.

use std::process::Stdio;
use std::time::{Duration, Instant};

use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_io::{WriteOptions, write_image};

use crate::support::{Place, Ran};

/// Runs a script; also says the most memory that it had at once, in bytes.
fn run(place: &Place, script: &str) -> (Ran, u64) {
    let mut child = place
        .shell(script)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        peak = kilobytes.map_or(peak, |now| peak.max(now << 10));
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let code = code.unwrap_or_else(|| panic!("killed: {:?} {stdout} {stderr}", output.status));
    (Ran { code, stdout, stderr }, peak)
}

/// Zeroes, which compress to nearly nothing.
fn bomb(place: &Place, name: &str, (width, height): (u32, u32), dtype: DType) {
    let desc = ImageDesc::new(width, height, PixelFormat::Gray, dtype).unwrap();
    let path = place.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write_image(path, &ImageBuffer::new(desc).unwrap(), &WriteOptions::default()).unwrap();
}

/// The beginning of a PNG of this size; checksums do not matter to what is refused before it is decoded.
fn png_head(width: u32, height: u32, color: u8, more: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, color, 0, 0, 0]].concat();
    for (kind, body) in [(b"IHDR", &header[..])].iter().chain(more) {
        file.extend((body.len() as u32).to_be_bytes());
        file.extend(*kind);
        file.extend(*body);
        file.extend([0; 4]);
    }
    file
}

#[test]
fn a_palette_of_four_bytes_is_one_failed_file() {
    let place = Place::new();
    (0..8).for_each(|i| drop(place.rgb(&format!("in/{i}.png"), (24, 16), i)));
    for (name, bytes) in [("in/2.png", 4), ("in/5.png", 5)] {
        let file =
            png_head(4, 4, 3, &[(b"PLTE", &[1, 2, 3, 4, 5][..bytes]), (b"IDAT", &[0; 30]), (b"IEND", &[])]);
        std::fs::write(place.path(name), file).unwrap();
    }
    let ran =
        place.mip(&["run", "-e", "flip", "in", "-o", "out", "--keep-going", "--json", "--device", "cpu"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let document = ran.json();
    assert_eq!((&document["frames"], &document["failed"]), (&6.into(), &2.into()));
    assert!(document["errors"][0]["error"].as_str().unwrap().contains("palette has 4 bytes"), "{document}");
    assert_eq!(place.list("out").len(), 6);
}

#[test]
fn bombs_go_one_after_the_other_and_good_pictures_with_them() {
    let place = Place::new();
    for i in 0..6 {
        bomb(&place, &format!("in/{i}-bomb.png"), (8192, 8192), DType::U8);
        place.rgb(&format!("in/{i}-good.png"), (40, 30), i);
    }
    // Alone too large: 1.5 GiB of pixels.
    std::fs::write(place.path("in/7.png"), png_head(23000, 23000, 2, &[(b"IDAT", &vec![0; 65000])])).unwrap();
    let script = "exec $MIP run -e 'crop width=20 height=20' in -o out --memory-limit 160MiB --keep-going --json --device cpu";
    let (ran, peak) = run(&place, script);
    let document = ran.json();
    assert_eq!((ran.code, &document["frames"], &document["failed"]), (1, &12.into(), &1.into()), "{ran:?}");
    assert_eq!(document["memory"]["limit_bytes"], 160 << 20);
    let error = document["errors"][0]["error"].as_str().unwrap();
    assert!(error.contains("in/7.png: 1.4") && error.contains("--memory-limit"), "{error}");
    assert!(peak > 64 << 20 && peak < 220 << 20, "{} MiB", peak >> 20);
    let (ran, peak) = run(&place, &script.replace("--keep-going", "--keep-going --batch 4"));
    assert_eq!((ran.code, &ran.json()["frames"]), (1, &12.into()), "{ran:?}");
    assert!(peak < 220 << 20, "{} MiB", peak >> 20);
}

#[test]
fn results_larger_than_the_limit_fail_alone_and_batches_get_smaller() {
    let place = Place::new();
    place.rgb("in/0.png", (30, 20), 0);
    // 5.4 MB, and 7.2 as rgba.
    place.rgb("in/1.png", (1500, 1200), 1);
    place.rgb("in/2.png", (30, 20), 2);
    let run = |pipeline: &'static str, input: &'static str, more: &[&str]| {
        let fixed = ["run", "-e", pipeline, input, "--memory-limit", "12MiB", "--device", "cpu"];
        place.mip(&[&fixed[..], more].concat())
    };
    let ran = run("color_convert to=rgba", "in", &["-o", "out", "--keep-going"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("in/1.png") && ran.stderr.contains("the limit is 12582912"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.list("out"), ["0.png", "2.png"]);
    // Four of 0.9 MB do not fit beside their batch and their results.
    (0..4).for_each(|i| drop(place.rgb(&format!("four/{i}.png"), (600, 500), i)));
    let ran = run("flip", "four", &["-o", "flipped", "--batch", "4"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.list("flipped").len(), 4);
}

#[test]
fn limits_are_checked_and_pixels_are_limited() {
    let place = Place::new();
    place.rgb("a.png", (40, 30), 1);
    place.refused(
        &["run", "-e", "flip", "a.png", "--memory-limit", "lots"],
        &["'lots' is neither a size", "50%"],
    );
    let ran = place.mip(&["run", "-e", "flip", "a.png", "--max-pixels", "1199"]);
    assert!(ran.code == 1 && ran.stderr.contains("40x30 pixels, more than the 1199 allowed"), "{ran:?}");
    assert!(ran.stderr.contains("--max-pixels"), "{ran:?}");
    let usual = place.ok(&["run", "-e", "flip", "a.png", "--max-pixels", "1200", "--json"]).json();
    assert!(usual["memory"]["limit_bytes"].as_u64().unwrap() > 1 << 20, "{usual}");
    std::fs::write(place.path("a.y4m"), b"YUV4MPEG2 W40 H30 F25:1 Cmono\n").unwrap();
    let ran = place.mip(&["stream", "-e", "flip", "-i", "a.y4m", "-o", "b.y4m", "--max-pixels", "100"]);
    assert!(ran.code == 1 && ran.stderr.contains("40x30 pixels, more than the 100 allowed"), "{ran:?}");
}

#[test]
fn junk_of_gigabytes_is_not_read() {
    let place = Place::new();
    std::fs::File::create(place.path("junk.png")).unwrap().set_len(3 << 30).unwrap();
    let start = Instant::now();
    let (ran, peak) = run(&place, "exec $MIP run -e flip junk.png -o out --device cpu");
    assert!(ran.code == 1 && ran.stderr.contains("no image format known here"), "{ran:?}");
    assert!(peak < 150 << 20 && start.elapsed() < Duration::from_secs(20), "{} MiB", peak >> 20);
}

#[test]
fn memory_that_a_video_cannot_have_is_an_error() {
    let place = Place::new();
    let frame = |w: usize, h: usize, there: usize| {
        [format!("YUV4MPEG2 W{w} H{h} F25:1 Cmono\nFRAME\n").into_bytes(), vec![7; there]].concat()
    };
    std::fs::write(place.path("small.y4m"), frame(4, 4, 16)).unwrap();
    std::fs::write(place.path("large.y4m"), frame(23170, 23170, 100)).unwrap();
    let scripts = [
        "exec $MIP stream -e 'resize width=200000 height=200000' -i small.y4m -o out.y4m --device cpu",
        "ulimit -v 2000000; exec $MIP stream -e 'resize width=200000 height=200000' -i small.y4m -o out.y4m --device cpu",
        "ulimit -v 500000; exec $MIP stream -e flip -i large.y4m -o out.y4m --device cpu",
        // Without a budget's help.
        "ulimit -v 500000; exec $MIP stream -e flip -i large.y4m -o out.y4m --device cpu --memory-limit 100TiB",
    ];
    for script in scripts {
        let (ran, _) = run(&place, script);
        assert!(ran.code == 1 || ran.code == 2, "{script}: {ran:?}");
        let said =
            ["of memory are needed", "no memory: ", "out of pinned memory", "limit", "cannot start a thread"];
        assert!(said.iter().any(|text| ran.stderr.contains(text)), "{script}: {ran:?}");
        assert!(!ran.stderr.contains("panicked") && !place.path("out.y4m").exists(), "{script}: {ran:?}");
    }
}

#[test]
fn a_picture_that_there_is_no_memory_for_fails_alone() {
    let place = Place::new();
    place.rgb("in/0.png", (40, 30), 0);
    // 894 MiB of pixels, of 879 that there are for everything.
    bomb(&place, "in/1.png", (35_000, 13_400), DType::U16);
    place.rgb("in/2.png", (40, 30), 2);
    for limit in ["", "--memory-limit 100TiB"] {
        let script = format!(
            "ulimit -v 900000; exec $MIP run -e 'crop width=9 height=9 ! sobel' in -o out --keep-going --json --device cpu {limit}"
        );
        let (ran, _) = run(&place, &script);
        let document = ran.json();
        assert_eq!(
            (ran.code, &document["frames"], &document["failed"]),
            (1, &2.into(), &1.into()),
            "{ran:?}"
        );
        let error = document["errors"][0]["error"].as_str().unwrap();
        assert!(error.contains("in/1.png") && error.contains("memory"), "{error}");
    }
}

#[test]
fn no_thread_to_be_had_is_an_error_with_the_remedy() {
    let place = Place::new();
    place.rgb("a.png", (40, 30), 1);
    std::fs::write(place.path("a.y4m"), b"YUV4MPEG2 W2 H1 F25:1 Cmono\nFRAME\nab").unwrap();
    // No address space holds such a stack, so that no thread can be started.
    let without = "export RUST_MIN_STACK=281474976710656; exec $MIP";
    let (ran, _) = run(&place, &format!("{without} run -e flip a.png -o out --device cpu --json"));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.json()["error"].as_str().unwrap().contains("cannot start a thread to"), "{ran:?}");
    for command in
        ["stream -e flip -i a.y4m -o b.y4m --device cpu", "profile -e flip a.png --device cpu --repeat 1"]
    {
        let (ran, _) = run(&place, &format!("{without} {command}"));
        assert!(ran.code == 1 && ran.stderr.contains("cannot start a thread to"), "{command}: {ran:?}");
        assert!(ran.stderr.contains("ulimit -u") && !ran.stderr.contains("panicked"), "{command}: {ran:?}");
    }
    for command in
        ["check -e flip --size 4x4", "plan -e flip --size 4x4 --device cpu", "devices", "ops resize"]
    {
        let (ran, _) = run(&place, &format!("{without} {command}"));
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
}

#[test]
fn plans_of_tall_images_take_no_time() {
    let place = Place::new();
    let tall = "64x2000000000,gray";
    let plans = [
        format!("plan -e 'gaussian_blur kernel=5 ! sobel' --size {tall} --device cpu"),
        format!(
            "plan -e 'flip direction=vertical ! gaussian_blur kernel=31 border=wrap' --size {tall} --device cpu"
        ),
        format!("plan -e 'sobel ! resize width=64 height=2000000 filter=nearest' --size {tall} --device cpu"),
        "plan -e 'resize width=64 height=2097152 ! sobel' --size 64x64 --device cpu".to_owned(),
        "plan -e 'sobel ! resize width=64 height=1 filter=area' --size 64x4000000,gray --device cpu"
            .to_owned(),
        format!("check -e 'gaussian_blur kernel=5 ! sobel' --size {tall}"),
    ];
    for plan in plans {
        let start = Instant::now();
        let (ran, peak) = run(&place, &format!("exec $MIP {plan}"));
        assert_eq!(ran.code, 0, "{plan}: {ran:?}");
        assert!(start.elapsed() < Duration::from_mins(1), "{plan}: {:?}", start.elapsed());
        assert!(peak < 600 << 20, "{plan}: {} MiB", peak >> 20);
    }
    place.refused(
        &["plan", "-e", "resize width=64 height=2000000000", "--size", "64x64"],
        &["2000000000", "2097152"],
    );
    place.refused(
        &["plan", "-e", "sobel", "--size", tall, "--memory-limit", "1GiB", "--device", "cpu"],
        &["the limit is 1073741824"],
    );
}
