//! Pages of TIFF and frames of GIF as inputs of a run.

use serde_json::json;

use crate::support::Place;

fn picture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../io/tests/pictures/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

/// A folder `in` with an animation, a scan of several pages, and a single picture.
fn place() -> Place {
    let place = Place::new();
    place.rgb("in/single.png", (8, 6), 1);
    std::fs::write(place.path("in/moved.gif"), picture("moved.gif")).unwrap();
    std::fs::write(place.path("in/pages.tif"), picture("pages.tif")).unwrap();
    place
}

#[test]
fn every_page_has_a_result_of_its_own() {
    let place = place();
    let ran = place.ok(&["run", "-e", "flip ! flip", "in", "-o", "out", "--pages", "all", "--strict"]);
    let numbered =
        |name: &str, count: u32| (0..count).map(move |n| format!("{name}-{n:05}.png")).collect::<Vec<_>>();
    let names = [numbered("moved", 5), numbered("pages", 3), vec!["single.png".to_owned()]].concat();
    assert_eq!(place.list("out"), names);
    assert_eq!(ran.lines(), names.iter().map(|name| format!("out/{name}")).collect::<Vec<_>>());
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let shown = picture("moved.gif.pages.raw");
    let frame = shown.len() / 5;
    for number in 0..5 {
        let image = place.read(&format!("out/moved-{number:05}.png"));
        assert_eq!(image.to_bytes(), shown[number * frame..][..frame], "frame {number}");
    }
    let other = place.read("out/pages-00001.png").to_bytes();
    assert_ne!(other, place.read("out/pages-00000.png").to_bytes());
    assert_eq!(place.read("out/pages-00002.png"), place.read("out/pages-00000.png"));
}

#[test]
fn pages_are_picked_and_named_in_reports() {
    let place = place();
    let run = ["run", "-e", "flip", "in/moved.gif", "--json", "--batch", "3"];
    let document = place.ok(&[&run[..], &["-o", "out", "--pages", "1..3"]].concat()).json();
    assert_eq!(document["outputs"], json!(["out/moved-00001.png", "out/moved-00002.png"]));
    let delays =
        json!([{ "input": "in/moved.gif[1]", "ms": 70.0 }, { "input": "in/moved.gif[2]", "ms": 0.0 }]);
    assert_eq!(document["delays"], delays);
    place.ok(&[&run[..], &["-o", "t.npy", "--pages", "all"]].concat());
    let index: serde_json::Value = serde_json::from_slice(&place.bytes("t.index.json")).unwrap();
    assert_eq!(index["rows"][4], "in/moved.gif[4]");
    assert_eq!(index["delays_ms"], json!([30.0, 70.0, 0.0, 110.0, 250.0]));
    assert_eq!(index["arrays"][0]["shape"], json!([5, 16, 20, 3]));
    // One page is still one of several.
    place.ok(&["run", "-e", "flip", "in/pages.tif", "-o", "last.png", "--pages", "2"]);
    assert_eq!(place.read("last.png").desc().to_string(), "6x7 rgb u8".replace("6x7", "7x6"));
}

#[test]
fn what_is_wrong_with_pages_is_said() {
    let place = place();
    let ran = place.mip(&["run", "-e", "flip", "in", "-o", "out", "--pages", "3", "--keep-going"]);
    assert_eq!(ran.code, 1);
    for (name, pages) in [("pages.tif", 3), ("single.png", 1)] {
        let text = format!("in/{name} holds {pages} picture(s), counted from 0, and not picture 3 (--pages)");
        assert!(ran.stderr.contains(&text), "{}", ran.stderr);
    }
    assert_eq!(place.list("out"), ["moved-00003.png"]);
    // Of a damaged animation the frames in front of the damage.
    let whole = picture("moved.gif");
    std::fs::write(place.path("in/cut.gif"), &whole[..whole.len() * 7 / 10]).unwrap();
    let ran = place.mip(&["run", "-e", "flip", "in/cut.gif", "-o", "cut", "--pages", "all", "--keep-going"]);
    assert_eq!(ran.code, 1);
    assert!(!place.list("cut").is_empty() && ran.stderr.contains("in/cut.gif"), "{}", ran.stderr);
    let run = ["run", "-e", "flip", "in/moved.gif", "-o", "o"];
    place.refused(&[&run[..], &["--pages", "5..2"]].concat(), &["5..2"]);
    place.refused(&[&run[..], &["--pages", "some"]].concat(), &["`all`", "A..B"]);
    place.refused(&["run", "-e", "flip", "-", "-o", "o", "--pages", "all"], &["stdin", "name a file"]);
    place.refused(
        &["run", "-e", "flip", "in/moved.gif", "-o", "o.png", "--pages", "all"],
        &["5 pictures will be written", "give a folder"],
    );
    // Without it the first is read, and stderr says how to have all.
    let ran = place.ok(&["run", "-e", "flip", "in/moved.gif", "-o", "o.png"]);
    assert!(ran.stderr.contains("--pages all"), "{}", ran.stderr);
}
