use crate::support::Place;

const LINE: &str = "color_convert to=gray ! gaussian_blur ! sobel";

#[test]
fn plan_draws_in_every_format() {
    let place = Place::new();
    let plan = |more: &[&str]| place.ok(&[&["plan", "-e", LINE, "--size", "64x48"], more].concat()).stdout;
    for (format, begins, holds) in [
        ("dot", "digraph plan {", "subgraph cluster_0"),
        ("mermaid", "%% batch 1: 1 kernel", "subgraph g0"),
        ("svg", "<svg xmlns=", "kernel #0"),
    ] {
        let text = plan(&["--format", format]);
        assert!(text.starts_with(begins) && text.contains(holds), "{format}: {text}");
    }
    let memory = plan(&["--format", "svg", "--memory", "--no-fuse"]);
    assert!(memory.starts_with("<svg") && memory.contains("gaussian_blur"), "{memory}");
    place.refused(&["plan", "-e", LINE, "--size", "64x48", "--memory"], &["--format svg"]);
}

#[test]
fn plan_tells_what_each_kernel_moves_and_how_long_that_takes_at_least() {
    let place = Place::new();
    let plan =
        |more: &[&str]| place.ok(&[&["plan", "-e", LINE, "--size", "64x48", "--batch", "2"], more].concat());
    let text = plan(&["--bandwidth", "0.001"]).stdout;
    // 64 x 48 x 2 frames: three channels in, one out; a byte a microsecond.
    assert!(text.contains("reads 18432 bytes") && text.contains("writes 6144 bytes"), "{text}");
    assert!(text.contains("24576.00 us"), "{text}");
    let json = plan(&["--format", "json"]).json();
    assert_eq!(json["traffic"]["floor_bytes"], 24576);
    assert_eq!(json["traffic"]["kernels"][0]["bytes_read"], 18432);
    assert!(json["traffic"]["floor_us"].is_null());
    place.refused(&["plan", "-e", LINE, "--size", "64x48", "--bandwidth", "0"], &["no rate"]);
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
