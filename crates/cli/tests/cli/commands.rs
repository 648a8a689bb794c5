use crate::support::Place;

#[test]
fn demo_writes_every_step_and_a_sheet() {
    let place = Place::new();
    let ran = place.ok(&["demo", "-o", "here"]);
    let expected = [
        "demo.toml",
        "edges.png",
        "gray.png",
        "input.png",
        "mask.png",
        "mirror.png",
        "mix.png",
        "sheet.png",
        "small.png",
        "soft.png",
    ];
    assert_eq!(place.list("here"), expected);
    assert_eq!(ran.lines().len(), expected.len());
    assert!(
        ran.stderr.contains("Try next") && ran.stderr.contains("mip run here/demo.toml"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.read("here/input.png").desc().to_string(), "1920x1080 rgb u8");
    assert_eq!(place.read("here/mask.png").desc().to_string(), "960x540 gray u8");
    assert!(place.read("here/sheet.png").desc().width() > 1000);
    // What demo wrote is a pipeline that runs.
    place.ok(&["check", "here/demo.toml", "--size", "640x480"]);
}

#[test]
fn check_prints_the_shape_of_every_task() {
    let place = Place::new();
    let line = "resize width=640 height=360 ! color_convert to=gray ! sobel";
    let ran = place.ok(&["check", "-e", line, "--size", "1920x1080"]);
    insta::assert_snapshot!(ran.stdout.trim_end(), @r"
    @input         1920x1080 rgb u8  input
    resize         640x360 rgb u8    resize of @input
    color_convert  640x360 gray u8   color_convert of resize
    sobel          640x360 gray u8   sobel of color_convert, an output
    ");
    place.refused(&["check", "-e", "crop x=0 y=0 width=20 height=20", "--size", "10x10"], &["crop", "10"]);
    place.refused(&["check", "-e", "blend", "--size", "10x10"], &["blend"]);
}

#[test]
fn ops_prints_the_schema_of_pipeline_files() {
    let text = Place::new().ok(&["ops", "--schema"]).stdout;
    let schema: serde_json::Value = serde_json::from_str(&text).expect("one JSON document");
    assert_eq!(schema, mip_graph::json_schema());
}

#[test]
fn ops_lists_and_describes_operators() {
    let place = Place::new();
    let list = place.ok(&["ops"]).stdout;
    for op in ["resize", "color_convert", "gaussian_blur", "sobel", "blend"] {
        assert!(list.lines().any(|l| l.starts_with(op)), "{op} is missing:\n{list}");
    }
    let one = place.ok(&["ops", "gaussian_blur"]).stdout;
    assert!(one.contains("kernel") && one.contains("sigma") && one.contains("default 5"), "{one}");
    let all = place.ok(&["ops", "--json"]).json();
    assert!(
        all["operators"].as_array().unwrap().iter().any(|o| o["name"] == "resize" && o["params"].is_array())
    );
    assert_eq!(place.ok(&["ops", "resize", "--json"]).json()["name"], "resize");
    place.refused(&["ops", "resise"], &["did you mean 'resize'"]);
}

#[test]
fn devices_lists_the_cpu_and_for_cuda_what_is_there_or_why_not() {
    let place = Place::new();
    let text = place.ok(&["devices"]).stdout;
    assert!(text.lines().any(|l| l.starts_with("cpu")), "{text}");
    assert!(text.lines().any(|l| l.starts_with("cuda")), "{text}");
    let document = place.ok(&["devices", "--json"]).json()["devices"].clone();
    assert_eq!((&document[0]["device"], &document[0]["available"]), (&"cpu".into(), &true.into()));
    assert!(document[0]["cores"].as_u64().unwrap() >= 1);
    let cuda = &document[1];
    assert!(cuda["device"].as_str().unwrap().starts_with("cuda"));
    // Either it is there, or there is a reason; never both, never neither.
    assert_ne!(cuda["available"].as_bool().unwrap(), cuda["reason"].is_string(), "{cuda}");
}

#[test]
fn several_devices_are_named_in_a_list() {
    let place = Place::new();
    place.rgb("in.png", (64, 48), 1);
    let run = |devices| ["run", "-e", "sobel", "in.png", "-o", "out.png", "--json", "--device", devices];
    for (devices, why) in
        [("cpu,cpu", "cpu is named twice"), ("all,cpu", "stands alone"), ("cpu,gpu", "expected auto, cpu")]
    {
        place.refused(&["run", "-e", "sobel", "in.png", "-o", "out.png", "--device", devices], &[why]);
    }
    let missing =
        place.mip(&["stream", "-e", "sobel", "--device", "cpu,cuda:4000", "-i", "in.y4m", "-o", "out.y4m"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("--device cpu,cuda:4000"), "{}", missing.stderr);
    // Every GPU there is, and the CPU.
    let ran = place.ok(&run("all")).json();
    assert!(ran["device"].as_str().unwrap().ends_with("cpu"), "{ran}");
    assert_eq!(ran["frames"], 1);
    place.refused(
        &["profile", "-e", "sobel", "in.png", "--device", "cuda,cpu"],
        &["mip profile looks at one device"],
    );
}

#[test]
fn warm_makes_a_pipeline_ready() {
    let place = Place::new();
    let warm = ["warm", "-e", "color_convert to=gray ! sobel", "--size", "64x48", "--device", "cpu"];
    let text = place.ok(&warm).stdout;
    assert!(text.starts_with("cpu: 1 launch ready in ") && text.contains("nothing is compiled"), "{text}");
    let document = place.ok(&[&warm[..], &["--json", "--no-fuse"]].concat()).json();
    assert_eq!(
        (&document["devices"][0]["device"], &document["devices"][0]["launches"]),
        (&"cpu".into(), &2.into())
    );
    place.refused(&["warm", "-e", "crop x=60 width=9 height=4", "--size", "64x48"], &["crop"]);
}

#[test]
fn plan_prints_text_and_json() {
    let place = Place::new();
    let line = "color_convert to=gray ! gaussian_blur ! sobel";
    let text = place.ok(&["plan", "-e", line, "--size", "64x48"]).stdout;
    for task in ["color_convert", "gaussian_blur", "sobel"] {
        assert!(text.contains(task), "{text}");
    }
    let document =
        place.ok(&["plan", "-e", line, "--size", "64x48", "--batch", "3", "--format", "json"]).json();
    for list in ["launches", "tasks", "waits"] {
        assert!(document[list].is_array(), "{list}: {document}");
    }
    for number in ["streams", "arena_bytes", "sum_of_buffers"] {
        assert!(document[number].is_u64(), "{number}: {document}");
    }
    assert_eq!(document["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(document["launches"].as_array().unwrap().len(), 1);
    assert_eq!(document["fusion"][0]["fused"], true);
    assert_eq!(document["fusion_summary"]["unfused_launches"], 3);
    let apart = place.ok(&["plan", "-e", line, "--size", "64x48", "--no-fuse"]).stdout;
    assert!(text.contains("1 launch,") && apart.contains("3 launches,") && apart.contains("fusion is off"));
    let single = place.ok(&["plan", "-e", line, "--size", "64x48", "--format", "json"]).json();
    assert!(document["sum_of_buffers"].as_u64() > single["sum_of_buffers"].as_u64());
}

#[test]
fn help_and_version_go_to_stdout() {
    let place = Place::new();
    assert!(place.ok(&["--help"]).stdout.contains("mip demo"));
    assert!(place.ok(&["run", "--help"]).stdout.contains("mip run edges.toml photo.jpg"));
    assert!(place.ok(&["--version"]).stdout.starts_with("mip "));
}
