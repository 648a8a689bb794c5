use crate::support::Place;

const LINE: &str = "color_convert to=gray ! gaussian_blur ! sobel";

#[test]
fn plan_draws_in_every_format() {
    let place = Place::new();
    let plan = |more: &[&str]| place.ok(&[&["plan", "-e", LINE, "--size", "64x48"], more].concat()).stdout;
    for (format, begins, holds) in [
        ("dot", "digraph plan {", "subgraph cluster_0"),
        ("mermaid", "%% batch 1: 1 launch", "subgraph g0"),
        ("svg", "<svg xmlns=", "launch #0"),
    ] {
        let text = plan(&["--format", format]);
        assert!(text.starts_with(begins) && text.contains(holds), "{format}: {text}");
    }
    let memory = plan(&["--format", "svg", "--memory", "--no-fuse"]);
    assert!(memory.starts_with("<svg") && memory.contains("gaussian_blur"), "{memory}");
    place.refused(&["plan", "-e", LINE, "--size", "64x48", "--memory"], &["--format svg"]);
}

#[test]
fn plan_tells_what_each_launch_moves_and_how_long_that_takes_at_least() {
    let place = Place::new();
    let plan =
        |more: &[&str]| place.ok(&[&["plan", "-e", LINE, "--size", "64x48", "--batch", "2"], more].concat());
    let text = plan(&["--bandwidth", "0.001"]).stdout;
    // 64 x 48 x 2 frames: three channels in, one out; a byte a microsecond.
    assert!(text.contains("reads 18432 bytes") && text.contains("writes 6144 bytes"), "{text}");
    assert!(text.contains("24576.00 us"), "{text}");
    let json = plan(&["--format", "json"]).json();
    assert_eq!(json["traffic"]["floor_bytes"], 24576);
    assert_eq!(json["traffic"]["launches"][0]["bytes_read"], 18432);
    assert!(json["traffic"]["floor_us"].is_null() && json["traffic"]["times_floor"] == 1.0);
    let rate = plan(&["--format", "json", "--device", "cpu", "--bandwidth", "measure"]).json();
    assert!(rate["traffic"]["gb_per_s"].as_f64() > Some(0.0), "{rate}");
    place.refused(&["plan", "-e", LINE, "--size", "64x48", "--bandwidth", "0"], &["no rate"]);
}

#[test]
fn plan_tells_tiles_of_the_cpu_and_of_a_gpu_whether_there_is_one_or_not() {
    let place = Place::new();
    let plan = |more: &[&str]| place.ok(&[&["plan", "-e", LINE, "--size", "640x480"], more].concat());
    for (device, threads) in [("cpu", 1), ("cuda", 128)] {
        let json = plan(&["--device", device, "--format", "json"]).json();
        let tiles = &json["launches"][0]["tiling"]["kernels"][0];
        assert_eq!(tiles["threads"], threads, "{json}");
        let [width, height] = [0, 1].map(|axis| tiles["size"][axis].as_u64().unwrap());
        let [across, down] = [0, 1].map(|axis| tiles["frame"][axis].as_u64().unwrap());
        assert!(width * across >= 640 && height * down >= 480 && tiles["halo"].as_f64() >= Some(1.0));
        let text = plan(&["--device", device]).stdout;
        let line = format!("{width}x{height}  {across} x {down} a frame");
        assert!(text.contains("\ntiles on ") && text.contains(&line), "{text}");
        assert!(text.contains("no times: give the rate"), "{text}");
    }
    let wrapped = ["plan", "-e", "gaussian_blur border=wrap ! sobel", "--size", "64x48", "--device", "cuda"];
    let text = place.ok(&wrapped).stdout;
    assert!(text.contains("a launch for each stage: a wrapped border"), "{text}");
    // No machine has that many.
    let ran = place.mip(&["plan", "-e", LINE, "--size", "64x48", "--device", "cuda:4000"]);
    assert!(ran.code == 1 && ran.stderr.contains("--device cuda:4000: "), "{ran:?}");
}

#[test]
fn validate_writes_junit_beside_its_table() {
    let place = Place::new();
    let only = ["validate", "--device", "cpu", "--small", "--repeat", "1", "--graphs", "1", "--only"];
    let ran = place.ok(&[&only[..], &["memory", "--junit", "validate.xml"]].concat());
    assert!(ran.stdout.contains("checks passed"), "{}", ran.stdout);
    let xml = String::from_utf8(place.bytes("validate.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase")).count();
    let lines = ran.stdout.lines().filter(|line| line.contains(" cases  ")).count();
    assert!(cases > 0 && cases == lines, "{cases} of {lines}: {xml}");
}
