use mip_core::{DType, PixelFormat};

use crate::support::Place;

const EDGES: &str = r#"
name = "edges"

[[task]]
name = "small"
op = "resize"
width = 24

[[task]]
name = "gray"
op = "color_convert"
to = "gray"

[[task]]
name = "edges"
op = "sobel"
"#;

const FORK: &str = r#"
outputs = ["gray", "soft", "mix"]

[[task]]
name = "gray"
op = "color_convert"
to = "gray"

[[task]]
name = "soft"
op = "gaussian_blur"
kernel = 7

[[task]]
name = "edges"
op = "sobel"
inputs = ["gray"]

[[task]]
name = "mix"
op = "blend"
inputs = ["soft", "edges"]
"#;

#[test]
fn a_picture_goes_through_a_pipeline_file() {
    let place = Place::new();
    place.write("edges.toml", EDGES);
    place.rgb("photo.png", (48, 30), 1);
    let ran = place.ok(&["run", "edges.toml", "photo.png", "-o", "out"]);
    assert_eq!(ran.lines(), ["out/photo.png"]);
    assert!(ran.stderr.contains("1 image -> 1 file"), "{}", ran.stderr);
    assert_eq!(place.read("out/photo.png").desc().to_string(), "24x15 gray u8");
}

#[test]
fn jpeg_in_and_out_by_format_or_file_name() {
    let place = Place::new();
    place.rgb("photo.jpg", (40, 30), 1);
    place.ok(&["run", "-e", "gaussian_blur kernel=3", "photo.jpg", "-o", "soft.jpg"]);
    place.ok(&["run", "-e", "gaussian_blur kernel=3", "photo.jpg", "-o", "out", "--format", "jpg"]);
    assert_eq!(place.bytes("soft.jpg"), place.bytes("out/photo.jpg"));
    assert_eq!(place.read("soft.jpg").desc().to_string(), "40x30 rgb u8");
    assert_eq!(place.list("out"), ["photo.jpg"]);
}

#[test]
fn several_outputs_are_named_after_their_tasks() {
    let place = Place::new();
    place.write("fork.toml", FORK);
    place.rgb("a.png", (20, 10), 1);
    let ran = place.ok(&["run", "fork.toml", "a.png", "-o", "out"]);
    assert_eq!(ran.lines(), ["out/a.gray.png", "out/a.soft.png", "out/a.mix.png"]);
    assert_eq!(place.list("out"), ["a.gray.png", "a.mix.png", "a.soft.png"]);
}

#[test]
fn sixteen_bits_go_through_exactly() {
    let place = Place::new();
    let image = place.picture("deep.png", (9, 4), PixelFormat::Gray, DType::U16, 3);
    place.ok(&["run", "-e", "flip direction=horizontal", "deep.png", "-o", "out"]);
    let flipped = place.read("out/deep.png");
    assert_eq!(flipped.desc(), image.desc());
    for y in 0..4 {
        let mut row = flipped.view().row_as::<u16>(0, 0, y).to_vec();
        row.reverse();
        assert_eq!(row, image.view().row_as::<u16>(0, 0, y));
    }
}

#[test]
fn every_way_of_running_gives_the_same_files() {
    let place = Place::new();
    place.write("fork.toml", FORK);
    for i in 0..5 {
        place.rgb(&format!("in/{i}.png"), (37, 23), i);
    }
    place.ok(&["run", "fork.toml", "in", "-o", "plain"]);
    let names = place.list("plain");
    assert_eq!(names.len(), 15);
    let variants: [&[&str]; 6] = [
        &["--batch", "3"],
        &["--streams", "1"],
        &["--no-fuse"],
        &["--graph"],
        &["--allocator", "stream-ordered"],
        &["--device", "cpu"],
    ];
    for variant in variants {
        let arguments = [&["run", "fork.toml", "in", "-o", "other"], variant].concat();
        place.ok(&arguments);
        for name in &names {
            let (plain, other) = (format!("plain/{name}"), format!("other/{name}"));
            assert_eq!(place.bytes(&plain), place.bytes(&other), "{variant:?} {name}");
        }
    }
}

#[test]
fn consecutive_pictures_of_one_shape_make_a_batch() {
    let place = Place::new();
    for (i, width) in [30, 30, 30, 20, 20, 30].into_iter().enumerate() {
        place.rgb(&format!("in/{i}.png"), (width, 16), i as u32);
    }
    let document =
        place.ok(&["run", "-e", "color_convert to=gray", "in", "-o", "out", "--batch", "2", "--json"]).json();
    // 30 30 | 30 | 20 20 | 30
    assert_eq!(document["tasks"][0]["invocations"], 4);
    assert_eq!(document["frames"], 6);
    assert_eq!(place.list("out").len(), 6);
}

#[test]
fn the_json_report_holds_what_is_promised() {
    let place = Place::new();
    place.write("edges.toml", EDGES);
    place.rgb("photo.png", (48, 30), 1);
    let ran =
        place.ok(&["run", "edges.toml", "photo.png", "-o", "out", "--json", "--allocator", "stream-ordered"]);
    let document = ran.json();
    assert!(document["device"].is_string());
    assert_eq!((&document["frames"], &document["failed"]), (&1.into(), &0.into()));
    assert_eq!(document["outputs"], serde_json::json!(["out/photo.png"]));
    assert!(document["elapsed_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(document["allocator"]["requested"], "stream-ordered");
    assert!(document["allocator"]["effective"].is_string());
    assert!(document["allocator"].get("reason").is_some());
    for counter in ["captures", "replays", "direct_runs"] {
        assert!(document["graph"][counter].is_u64(), "{counter}");
    }
    assert!(document["graph"]["invalidations"].is_object());
    for counter in ["driver_allocations", "peak_device_bytes", "pinned_bytes"] {
        assert!(document["memory"][counter].is_u64(), "{counter}");
    }
    let names: Vec<&str> =
        document["tasks"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["small", "gray", "edges"]);
    assert_eq!(document["tasks"][0]["op"], "resize");
    for task in document["tasks"].as_array().unwrap() {
        assert_eq!((&task["invocations"], &task["state"]), (&1.into(), &"completed".into()));
    }
}

#[test]
fn parameters_can_be_set_over_the_file() {
    let place = Place::new();
    place.write("edges.toml", EDGES);
    place.rgb("photo.png", (48, 30), 1);
    place.ok(&["run", "edges.toml", "photo.png", "-o", "out", "--set", "small.width=12"]);
    assert_eq!(place.read("out/photo.png").desc().width(), 12);
    let set = |value: &'static str| ["run", "edges.toml", "photo.png", "--set", value];
    place.refused(&set("smal.width=12"), &["smal", "did you mean 'small'"]);
    place.refused(&set("small.widht=12"), &["widht", "did you mean 'width'"]);
    place.refused(&set("small.width=0"), &["small", "width", "0", "must be"]);
    place.refused(&set("width=12"), &["TASK.PARAMETER=VALUE"]);
}
