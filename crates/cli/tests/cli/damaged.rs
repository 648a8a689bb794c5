use mip_core::{DType, PixelFormat};

use crate::support::Place;

/// Six pictures, the fourth of which is cut in half.
fn with_a_bad_one() -> Place {
    let place = Place::new();
    for i in 0..6 {
        place.rgb(&format!("in/{i}.jpg"), (64, 48), i);
    }
    let whole = place.bytes("in/3.jpg");
    std::fs::write(place.path("in/3.jpg"), &whole[..whole.len() / 2]).unwrap();
    place
}

#[test]
fn a_truncated_file_fails_the_run_and_keeps_what_was_written() {
    let place = with_a_bad_one();
    let ran = place.mip(&["run", "-e", "color_convert to=gray", "in", "-o", "out", "--batch", "2"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("in/3.jpg is truncated"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--keep-going"), "{}", ran.stderr);
    assert_eq!(ran.lines(), ["out/0.png", "out/1.png", "out/2.png"]);
    assert_eq!(place.list("out"), ["0.png", "1.png", "2.png"]);
}

/// A file without its end marker, though nothing else is missing.
fn with_a_lost_end() -> Place {
    let place = Place::new();
    place.rgb("whole.jpg", (64, 48), 1);
    let whole = place.bytes("whole.jpg");
    std::fs::write(place.path("lost.jpg"), &whole[..whole.len() - 2]).unwrap();
    place
}

#[test]
fn a_lost_end_marker_is_a_warning_on_stderr() {
    let place = with_a_lost_end();
    let ran = place.ok(&["run", "-e", "flip", "whole.jpg", "lost.jpg", "-o", "out"]);
    assert_eq!(ran.stderr.matches("warning: ").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: lost.jpg: it has no end marker"), "{}", ran.stderr);
    assert_eq!(place.read("out/whole.png"), place.read("out/lost.png"));
    let named = place.ok(&["run", "-e", "flip", "--input", "input=lost.jpg", "-o", "named.png"]);
    assert!(named.stderr.contains("warning: lost.jpg: it has no end marker"), "{}", named.stderr);
}

#[test]
fn strict_refuses_a_lost_end_marker() {
    let place = with_a_lost_end();
    for inputs in [&["lost.jpg"][..], &["--input", "input=lost.jpg"]] {
        let ran = place.mip(&[&["run", "--strict", "-e", "flip", "-o", "out.png"], inputs].concat());
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("strict reading refuses lost.jpg, a JPEG file"), "{}", ran.stderr);
        assert!(!place.path("out.png").exists());
    }
    place.ok(&["run", "--strict", "-e", "flip", "whole.jpg", "-o", "out.png"]);
}

#[test]
fn keep_going_does_the_others_and_still_fails_at_the_end() {
    let place = with_a_bad_one();
    let ran = place.mip(&[
        "run",
        "-e",
        "color_convert to=gray",
        "in",
        "-o",
        "out",
        "--batch",
        "4",
        "--keep-going",
        "--json",
    ]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(place.list("out"), ["0.png", "1.png", "2.png", "4.png", "5.png"]);
    let document = ran.json();
    assert_eq!((&document["frames"], &document["failed"]), (&5.into(), &1.into()));
    assert_eq!(document["outputs"].as_array().unwrap().len(), 5);
    assert_eq!(document["errors"][0]["input"], "in/3.jpg");
    assert!(document["errors"][0]["error"].as_str().unwrap().contains("truncated"));
}

#[test]
fn a_picture_that_does_not_fit_the_pipeline_is_named() {
    let place = Place::new();
    place.rgb("in/0.png", (40, 40), 0);
    place.rgb("in/1.png", (10, 10), 1);
    place.rgb("in/2.png", (40, 40), 2);
    let crop = "crop x=0 y=0 width=20 height=20";
    let ran = place.mip(&["run", "-e", crop, "in", "-o", "out"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("in/1.png") && ran.stderr.contains("crop"), "{}", ran.stderr);
    let ran = place.mip(&["run", "-e", crop, "in", "-o", "all", "--keep-going"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(place.list("all"), ["0.png", "2.png"]);
}

#[test]
fn what_a_file_cannot_hold_is_refused_before_it_is_computed() {
    let place = Place::new();
    place.rgb("a.png", (8, 8), 0);
    place.picture("clear.png", (8, 8), PixelFormat::Rgba, DType::U8, 0);
    place.picture("deep.png", (8, 8), PixelFormat::Rgb, DType::U16, 0);
    place.refused(&["run", "-e", "cast to=f32", "a.png"], &["a.png", "task 'cast'", "add `cast to=u8`"]);
    let jpeg = |file: &'static str| ["run", "-e", "flip", file, "--format", "jpg"];
    place.refused(&jpeg("clear.png"), &["add `color_convert to=rgb`"]);
    place.refused(&jpeg("deep.png"), &["add `cast to=u8`"]);
    assert_eq!(place.list("out"), [""; 0]);
}

#[test]
fn an_output_folder_that_cannot_be_made_is_a_failure_while_running() {
    let place = Place::new();
    place.rgb("a.png", (8, 8), 0);
    place.write("taken", "a file");
    let ran = place.mip(&["run", "-e", "sobel", "a.png", "-o", "taken/out"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("taken/out"), "{}", ran.stderr);
}
