//! `mip run ... -o NAME.npy`: the results of many images as rows of one array.

use mip_core::{DType, PixelFormat};
use serde_json::{Value, json};

use crate::support::Place;

const TENSORS: &str = "resize width=6 height=4 ! normalize mean=127.5 std=50 ! layout to=chw";

/// A folder `in` of pictures in this order, of one size each.
fn place(names: &[&str]) -> Place {
    let place = Place::new();
    for (seed, name) in names.iter().enumerate() {
        place.rgb(&format!("in/{name}"), (9 + seed as u32, 7), seed as u32 + 1);
    }
    place
}

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "-e", TENSORS, "in", "--device", "cpu"], more].concat()
}

/// The shape that the header of an array says, and the values behind it.
fn array(place: &Place, name: &str) -> (String, Vec<u8>) {
    let file = place.bytes(name);
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8(file[10..10 + length].to_vec()).unwrap();
    let shape = header.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    (shape.to_owned(), file[10 + length..].to_vec())
}

fn index(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&place.bytes(name)).unwrap()
}

/// The values of results written one by one, behind each other.
fn one_by_one(place: &Place, names: &[&str]) -> Vec<u8> {
    names
        .iter()
        .flat_map(|name| {
            place.ok(&["run", "-e", TENSORS, &format!("in/{name}"), "-o", "single.npy", "--device", "cpu"]);
            array(place, "single.npy").1
        })
        .collect()
}

#[test]
fn rows_are_the_results_in_the_order_of_the_inputs() {
    let names = ["a1.png", "a2.jpg", "a10.bmp", "b.png"];
    let place = place(&names);
    for batch in ["1", "3"] {
        let ran = place.ok(&run(&["-o", "new/t.npy", "--batch", batch]));
        assert_eq!(ran.lines(), ["new/t.npy", "new/t.index.json"]);
        assert!(ran.stderr.contains("4 images -> 2 files"), "{}", ran.stderr);
        let (shape, values) = array(&place, "new/t.npy");
        assert_eq!(shape, "4, 3, 4, 6");
        assert_eq!(values, one_by_one(&place, &names));
    }
    let expected = json!({
        "schema": 1,
        "complete": true,
        "arrays": [{
            "file": "t.npy", "task": "layout", "first_row": 0, "rows": 4, "shape": [4, 3, 4, 6],
            "dtype": "float32", "format": "rgb", "layout": "chw",
        }],
        "rows": names.map(|name| format!("in/{name}")),
        "failed": [],
    });
    assert_eq!(index(&place, "new/t.index.json"), expected);
    assert_eq!(place.list("new"), ["t.index.json", "t.npy"]);
}

#[test]
fn a_bad_file_is_left_out_and_named() {
    let place = place(&["a.png", "c.png", "d.png"]);
    place.write("in/b.png", "no picture");
    let ran = place.mip(&run(&["-o", "t.npy", "--keep-going", "--batch", "2", "--json"]));
    assert_eq!(ran.code, 1, "{ran:?}");
    let document = ran.json();
    assert_eq!(
        (&document["frames"], &document["failed"], &document["not_tried"]),
        (&3.into(), &1.into(), &0.into())
    );
    assert_eq!(document["outputs"], json!(["t.npy", "t.index.json"]));
    assert_eq!(document["arrays"][0]["shape"], json!([3, 3, 4, 6]));
    let (shape, values) = array(&place, "t.npy");
    assert_eq!((shape.as_str(), values), ("3, 3, 4, 6", one_by_one(&place, &["a.png", "c.png", "d.png"])));
    let index = index(&place, "t.index.json");
    assert_eq!(index["rows"], json!(["in/a.png", "in/c.png", "in/d.png"]));
    assert_eq!(index["failed"][0]["input"], "in/b.png");
    assert!(index["failed"][0]["error"].as_str().unwrap().contains("in/b.png is no image format"), "{index}");
}

#[test]
fn an_array_with_rows_missing_is_not_written() {
    let place = place(&["a.png", "c.png"]);
    place.write("in/b.png", "no picture");
    place.write("t.npy", "what stood there");
    let ran = place.mip(&run(&["-o", "t.npy"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("results of 1 image were not written"), "{}", ran.stderr);
    assert_eq!(place.bytes("t.npy"), b"what stood there");
    assert_eq!(place.list("."), ["in", "t.npy"], "no index and nothing unfinished");
    // Every image fails: there is no shape for an array.
    std::fs::create_dir(place.path("bad")).unwrap();
    place.write("bad/x.png", "");
    let ran = place.mip(&["run", "-e", TENSORS, "bad", "-o", "u.npy", "--keep-going"]);
    assert_eq!((ran.code, place.list(".").contains(&"u.npy".to_owned())), (1, false));
}

#[test]
fn shards_hold_so_many_rows_each_and_stay_when_a_later_one_fails() {
    let names = ["a.png", "b.png", "c.png", "d.png", "e.png"];
    let place = place(&names);
    let ran = place.ok(&run(&["-o", "s/t.npy", "--shard", "2"]));
    let files = ["s/t-00000.npy", "s/t-00001.npy", "s/t-00002.npy", "s/t.index.json"];
    assert_eq!(ran.lines(), files);
    let (shapes, values): (Vec<_>, Vec<_>) = files[..3].iter().map(|file| array(&place, file)).unzip();
    assert_eq!(shapes, ["2, 3, 4, 6", "2, 3, 4, 6", "1, 3, 4, 6"]);
    assert_eq!(values.concat(), one_by_one(&place, &names));
    let whole = index(&place, "s/t.index.json");
    assert_eq!(whole["rows"].as_array().unwrap().len(), 5);
    let first: Vec<_> = whole["arrays"].as_array().unwrap().iter().map(|a| a["first_row"].clone()).collect();
    assert_eq!(first, [0, 2, 4]);

    place.write("in/d.png", "no picture");
    let ran = place.mip(&run(&["-o", "r/t.npy", "--shard", "2"]));
    assert_eq!(ran.code, 1);
    assert_eq!(place.list("r"), ["t-00000.npy", "t.index.json"]);
    let part = index(&place, "r/t.index.json");
    assert_eq!((&part["complete"], &part["rows"]), (&false.into(), &json!(["in/a.png", "in/b.png"])));
}

#[test]
fn several_outputs_have_an_array_each() {
    let place = place(&["a.png", "b.png"]);
    let fork = "small:resize width=6 height=4 ! gray:color_convert to=gray";
    place.write(
        "p.toml",
        "name = 'p'\noutputs = ['small', 'gray']\n[[task]]\nname = 'small'\nop = 'resize'\nwidth = 6\nheight = 4\n\
         [[task]]\nname = 'gray'\nop = 'color_convert'\nto = 'gray'\n",
    );
    let ran = place.ok(&["run", "p.toml", "in", "-o", "t.npy", "--device", "cpu"]);
    assert_eq!(ran.lines(), ["t.small.npy", "t.gray.npy", "t.index.json"]);
    assert_eq!(array(&place, "t.small.npy").0, "2, 4, 6, 3");
    let (shape, values) = array(&place, "t.gray.npy");
    place.ok(&["run", "-e", fork, "in", "-o", "u.npy", "--device", "cpu"]);
    assert_eq!((shape.as_str(), values), ("2, 4, 6", array(&place, "u.npy").1));
}

#[test]
fn a_result_of_another_shape_is_refused_with_its_file_and_a_remedy() {
    let place = place(&["a.png"]);
    place.picture("in/b.png", (9, 7), PixelFormat::Gray, DType::U8, 2);
    place.refused(
        &["run", "-e", "flip", "in", "-o", "t.npy"],
        &["in/b.png: the result of task 'flip' is 9x7 gray u8", "9x7 rgb u8", "add `color_convert to=rgb`"],
    );
    assert_eq!(place.list("."), ["in"]);
    let ran = place.mip(&["run", "-e", "flip", "in", "-o", "t.npy", "--keep-going"]);
    assert_eq!((ran.code, array(&place, "t.npy").0.as_str()), (1, "1, 7, 9, 3"));
}

#[test]
fn one_named_image_is_one_image_unless_a_stack_is_asked_for() {
    let place = place(&["a.png"]);
    for (input, more, shape) in [
        ("in/a.png", &[][..], "3, 4, 6"),
        ("in/a.png", &["--stack"], "1, 3, 4, 6"),
        ("in", &[], "1, 3, 4, 6"),
        ("in/*.png", &[], "1, 3, 4, 6"),
    ] {
        place.ok(&[&["run", "-e", TENSORS, input, "-o", "t.npy"], more].concat());
        assert_eq!(array(&place, "t.npy").0, shape, "{input} {more:?}");
    }
    place.refused(&run(&["-o", "out", "--stack"]), &["--stack", "-o NAME.npy"]);
    place.refused(&run(&["-o", "t.png", "--shard", "3"]), &["--shard", "-o NAME.npy"]);
    place.refused(&run(&["-o", "t.npy", "--quality", "3"]), &["--quality"]);
    place.refused(&run(&["-o", "t.npy", "--format", "png"]), &["--format asks for PNG"]);
    // Once there, it is one of the folder's pictures.
    place.ok(&run(&["-o", "in/t.npy"]));
    place.refused(&run(&["-o", "in/t.npy"]), &["would replace the input in/t.npy"]);
}

#[test]
fn a_disk_that_is_full_leaves_nothing() {
    let place = place(&["a.png", "b.png", "c.png"]);
    for write in ["write:1..", "write:2..", "write:4..", "create:1..", "rename:1.."] {
        let ran =
            crate::support::Ran::of(place.command().args(run(&["-o", "t.npy"])).env("MIP_FAULT", write));
        assert_eq!(ran.code, 1, "{write}: {ran:?}");
        assert!(
            ran.stderr.contains("cannot write t.npy") || ran.stderr.contains("cannot create"),
            "{write}: {ran:?}"
        );
        assert_eq!(place.list("."), ["in"], "{write}");
    }
}

#[test]
fn the_report_has_the_rate_of_each_stage() {
    let place = place(&["a.png", "b.jpg", "c.png"]);
    let names = |document: &Value| -> Vec<String> {
        let stages = document["stages"].as_array().unwrap();
        assert!(stages.iter().all(|stage| stage["frames_per_second"].as_f64() > Some(0.0)), "{document}");
        stages.iter().map(|stage| stage["stage"].as_str().unwrap().to_owned()).collect()
    };
    let document = place.ok(&run(&["-o", "out", "--format", "npy", "--json"])).json();
    assert_eq!(names(&document), ["read", "decode", "compute", "encode", "write"]);
    assert!(document.get("bottleneck").is_some());
    let document = place.ok(&run(&["-o", "t.npy", "--json"])).json();
    assert_eq!(names(&document), ["read", "decode", "compute", "write"]);
    let ran = place.ok(&run(&["-o", "out", "--format", "npy"]));
    assert!(ran.stderr.contains(" images/s alone; "), "{}", ran.stderr);
}

#[test]
fn a_letterbox_tells_scale_and_place_of_each_image() {
    let place = Place::new();
    place.rgb("a.png", (40, 30), 1);
    place.rgb("b.png", (10, 20), 2);
    let report = place
        .ok(&["run", "-e", "letterbox width=64 height=64", "a.png", "b.png", "-o", "x.npy", "--json"])
        .json();
    let expected = json!([
        { "input": "a.png", "task": "letterbox", "values": { "scale": 1.6, "left": 0.0, "top": 8.0 } },
        { "input": "b.png", "task": "letterbox", "values": { "scale": 3.2, "left": 16.0, "top": 0.0 } },
    ]);
    assert_eq!(report["derived"], expected);
    let report = place.ok(&["run", "-e", "flip", "a.png", "-o", "y.png", "--json"]).json();
    assert_eq!(report["derived"], json!([]));
}

#[test]
fn results_that_are_a_few_numbers_stand_in_the_report() {
    let place = place(&["a.png", "b.png"]);
    let report = place.ok(&["run", "-e", "stats", "in", "-o", "s.npy", "--device", "cpu", "--json"]).json();
    let numbers = report["numbers"].as_array().unwrap();
    assert_eq!(numbers.len(), 2);
    let (_, values) = array(&place, "s.npy");
    let floats = values.as_chunks::<4>().0.iter().map(|v| f32::from_le_bytes(*v));
    let told = |entry: &Value| {
        let rows: Vec<Value> = entry["rows"].as_array().unwrap().clone();
        assert_eq!(rows.len(), 3, "a row for each channel");
        rows.iter()
            .flat_map(|row| row.as_array().unwrap().clone())
            .map(|v| v.as_f64().unwrap() as f32)
            .collect()
    };
    let all: Vec<f32> = numbers.iter().flat_map(|entry| -> Vec<f32> { told(entry) }).collect();
    assert_eq!(all, floats.collect::<Vec<f32>>());
    assert_eq!((&numbers[1]["task"], all[5] > 0.0), (&json!("stats"), true));
    // Pictures are not numbers.
    let report = place
        .ok(&["run", "-e", "equalize_hist", "in/a.png", "-o", "e.png", "--device", "cpu", "--json"])
        .json();
    assert_eq!(report["numbers"], json!([]));
}
