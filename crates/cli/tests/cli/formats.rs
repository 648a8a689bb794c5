//! Picture formats as a user meets them.

use std::path::Path;

use mip_core::{DType, PixelFormat};
use mip_io::FileFormat;

use crate::support::Place;

#[test]
fn formats_are_listed_for_people_and_for_programs() {
    let place = Place::new();
    let text = place.ok(&["formats"]).stdout;
    let line = |name: &str| {
        let words = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap_or_else(|| panic!("{text}"));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("PNG"), "PNG .png u8 u16 gray rgb rgba; --compression");
    assert_eq!(line("JPEG"), "JPEG .jpg .jpeg u8 gray rgb; lossy; --quality");
    assert_eq!(line("GIF"), "GIF .gif u8 rgb rgba; only read");
    assert_eq!(line("TIFF"), "TIFF .tif .tiff u8 u16 f16 f32 gray rgb rgba; --compression");
    assert_eq!(text.lines().count(), FileFormat::ALL.len());
    let lacks = |format: FileFormat| {
        let lacks =
            |feature| format!("; not in this program, which was built without the feature `{feature}`");
        format.missing_feature().map(lacks).unwrap_or_default()
    };
    let jxl = format!("JXL .jxl u8 u16 f16 f32 gray rgb rgba; only read{}", lacks(FileFormat::Jxl));
    assert_eq!(line("JXL"), jxl);
    let avif = format!("AVIF .avif u8 u16 gray rgb rgba; only read{}", lacks(FileFormat::Avif));
    assert_eq!(line("AVIF"), avif);
    let all = place.ok(&["formats", "--json"]).json();
    let formats = all["formats"].as_array().unwrap();
    assert_eq!(formats.len(), FileFormat::ALL.len());
    let exr = formats.iter().find(|format| format["name"] == "EXR").unwrap();
    assert_eq!(exr["extensions"], serde_json::json!(["exr"]));
    let any = ["gray", "rgb", "rgba"];
    assert_eq!(exr["missing_feature"], serde_json::Value::Null);
    let jxl = formats.iter().find(|format| format["name"] == "JXL").unwrap();
    assert_eq!(jxl["missing_feature"], serde_json::json!(FileFormat::Jxl.missing_feature()));
    let writes = serde_json::json!([{ "dtype": "f16", "formats": any }, { "dtype": "f32", "formats": any }]);
    assert_eq!(exr["writes"], writes);
}

#[test]
fn a_format_that_was_not_built_is_refused_with_its_feature() {
    let place = Place::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../io/tests");
    for (format, file, desc) in [
        (FileFormat::Jxl, "jxl/lossy.jxl", "25x13 rgb u8"),
        (FileFormat::Avif, "avif/alpha.avif", "10x9 rgba u8"),
    ] {
        let file = files.join(file);
        let ran = place.mip(&["run", "-e", "flip", file.to_str().unwrap(), "-o", "a.png"]);
        if let Some(feature) = format.missing_feature() {
            let text = format!(
                "is a {format} file, which needs the feature `{feature}`; this program was built without"
            );
            assert!(ran.code == 1 && ran.stderr.contains(&text), "{ran:?}");
        } else {
            assert_eq!(ran.code, 0, "{ran:?}");
            assert_eq!(place.read("a.png").desc().to_string(), desc);
        }
    }
    // Of a folder the files of formats that this program reads are its inputs.
    std::fs::create_dir(place.path("in")).unwrap();
    std::fs::copy(files.join("jxl/lossy.jxl"), place.path("in/a.jxl")).unwrap();
    place.picture("in/b.png", (8, 8), PixelFormat::Rgb, DType::U8, 1);
    place.ok(&["run", "-e", "flip", "in", "-o", "out"]);
    let read = FileFormat::Jxl.missing_feature().is_none();
    assert_eq!((place.path("out/a.png").exists(), place.path("out/b.png").exists()), (read, true));
    place.picture("b.png", (8, 8), PixelFormat::Rgb, DType::U8, 1);
    place.refused(
        &["run", "-e", "flip", "b.png", "-o", "b.jxl"],
        &["b.jxl has extension '.jxl', and JXL is only read; images are written as"],
    );
}

/// Through every format that holds an 8-bit rgb picture without loss, one after another.
#[test]
fn a_picture_goes_through_every_format_unchanged() {
    let place = Place::new();
    let picture = place.rgb("a.png", (19, 11), 3);
    let mut last = "a.png".to_owned();
    for format in FileFormat::ALL {
        let facts = format.facts();
        if facts.lossy || !facts.holds(picture.desc()) {
            continue;
        }
        let next = format!("b.{}", format.extension());
        place.ok(&["run", "-e", "flip ! flip", &last, "-o", &next]);
        assert_eq!(place.read(&next), picture, "{format}");
        last = next;
    }
    assert_eq!(last, "b.npy");
}

#[test]
fn floats_go_into_formats_that_hold_them() {
    let place = Place::new();
    place.rgb("a.png", (9, 7), 3);
    for name in ["a.tif", "a.exr", "a.npy", "a.hdr"] {
        place.ok(&["run", "-e", "cast to=f32", "a.png", "-o", name]);
        assert_eq!(place.read(name).desc().to_string(), "9x7 rgb f32", "{name}");
    }
    assert_eq!(place.read("a.exr"), place.read("a.npy"));
    for name in ["h.tif", "h.exr", "h.npy"] {
        place.ok(&["run", "-e", "color_convert to=gray ! cast to=f16", "a.png", "-o", name]);
        assert_eq!(place.read(name).desc().to_string(), "9x7 gray f16", "{name}");
        assert_eq!(place.read(name), place.read("h.tif"), "{name}");
    }
    place.ok(&["run", "-e", "cast to=u8", "a.exr", "-o", "back.png"]);
    assert_eq!(place.read("back.png"), place.read("a.png"));
    place.refused(
        &["run", "-e", "cast to=f32", "a.png", "-o", "f.png"],
        &[
            "the result of task 'cast'",
            "f32 samples do not fit PNG",
            "add `cast to=u8` at the end",
            "TIFF, HDR, NPY or EXR",
        ],
    );
    place.refused(
        &["run", "-e", "sobel", "a.png", "-o", "e.webp"],
        &["WebP has no gray", "color_convert to=rgb"],
    );
    assert!(!place.path("f.png").exists() && !place.path("e.webp").exists());
}

#[test]
fn quality_and_compression_are_for_formats_that_have_them() {
    let place = Place::new();
    place.picture("a.png", (64, 48), PixelFormat::Rgb, DType::U8, 1);
    let size = |name: &str, option: &str, value: &str| {
        place.ok(&["run", "-e", "gaussian_blur", "a.png", "-o", name, option, value]);
        place.bytes(name).len()
    };
    assert!(size("low.jpg", "--quality", "20") < size("high.jpg", "--quality", "95"));
    assert!(size("best.tif", "--compression", "best") <= size("fast.tif", "--compression", "fast"));
    assert_eq!(size("usual.png", "--compression", "default"), size("fast.png", "--compression", "fast"));
    size("best.png", "--compression", "best");
    assert_eq!(place.read("best.png"), place.read("best.tif"));
    let run = |name: &'static str, option: &'static str, value: &'static str| {
        ["run", "-e", "flip", "a.png", "-o", name, option, value]
    };
    place.refused(
        &run("b.png", "--quality", "80"),
        &["--quality is for JPEG, but results are PNG", "leave it out"],
    );
    place.refused(
        &run("b.jpg", "--compression", "best"),
        &["--compression is for PNG and TIFF, but results are JPEG"],
    );
    place.refused(&run("b.jpg", "--quality", "0"), &["1..=100"]);
    place.refused(&run("b.png", "--compression", "most"), &["fast, balanced, best"]);
    assert!(!place.path("b.png").exists());
}

#[test]
fn further_pictures_of_a_file_are_a_warning_or_refused() {
    let place = Place::new();
    let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/../io/tests/pictures/pages.tif");
    let ran = place.ok(&["run", "-e", "flip", pages, "-o", "a.png"]);
    assert!(ran.stderr.contains("warning: ") && ran.stderr.contains("only the first is read"), "{ran:?}");
    let ran = place.mip(&["run", "-e", "flip", pages, "-o", "b.png", "--strict"]);
    assert!(ran.code == 1 && ran.stderr.contains("only the first is read"), "{ran:?}");
}
