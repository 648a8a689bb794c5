//! Files that are not plain: links, pipes, devices, modes, mounts; and files that must not be replaced.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use crate::support::Place;

const FLIP: [&str; 5] = ["run", "-e", "flip", "--device", "cpu"];

fn flip(more: &[&'static str]) -> Vec<&'static str> {
    [&FLIP[..], more].concat()
}

/// A picture `a.png`, and what flipping it writes.
fn place() -> (Place, Vec<u8>) {
    let place = Place::new();
    place.rgb("a.png", (20, 10), 1);
    place.ok(&flip(&["a.png", "-o", "flipped.png"]));
    let flipped = place.bytes("flipped.png");
    (place, flipped)
}

fn video(place: &Place) -> Vec<u8> {
    let video = [&b"YUV4MPEG2 W5 H3 F25:1 Ip A1:1 Cmono\nFRAME\n"[..], &[7; 15]].concat();
    std::fs::write(place.path("in.y4m"), &video).unwrap();
    video
}

#[test]
fn no_command_replaces_what_it_reads() {
    let (place, _) = place();
    let (picture, video) = (place.bytes("a.png"), video(&place));
    symlink("in.y4m", place.path("soft.y4m")).unwrap();
    std::fs::hard_link(place.path("in.y4m"), place.path("hard.y4m")).unwrap();
    place.write("p.toml", "[[task]]\nname = \"f\"\nop = \"flip\"\n");
    let pipeline = place.bytes("p.toml");
    let because = ["would replace the input", "choose another"];
    for out in ["in.y4m", "./in.y4m", "soft.y4m", "hard.y4m"] {
        place.refused(&["stream", "-e", "flip", "-i", "in.y4m", "-o", out], &because);
        place.refused(&["stream", "-e", "flip", "-i", out, "-o", "in.y4m"], &because);
    }
    let ran = place.sh(r#""$MIP" stream -e flip -o in.y4m < in.y4m"#);
    assert!(ran.code == 2 && ran.stderr.contains("the input stdin"), "{ran:?}");
    let ran = place.sh(r#""$MIP" stream -e flip -i in.y4m >> in.y4m"#);
    assert!(ran.code == 2 && ran.stderr.contains("in.y4m"), "{ran:?}");
    place.refused(&["stream", "p.toml", "-i", "in.y4m", "-o", "./p.toml"], &[".y4m"]);
    place.refused(&["bench", "p.toml", "--size", "8x8", "--device", "cpu", "--html", "p.toml"], &because);
    place.refused(&flip(&["-", "-o", "-", "--json"]), &["--json", "-o"]);
    if cfg!(feature = "profiling") {
        place.refused(&["profile", "-e", "flip", "a.png", "--trace", "a.png"], &because);
        place.refused(&["profile", "p.toml", "a.png", "--trace", "p.toml"], &because);
        place.refused(&["profile", "-e", "flip", "a.png", "--trace", "-"], &["name a file"]);
    }
    assert_eq!((place.bytes("in.y4m"), place.bytes("hard.y4m")), (video.clone(), video));
    assert_eq!((place.bytes("a.png"), place.bytes("p.toml")), (picture, pipeline));
}

#[test]
fn reports_are_refused_before_the_work_and_appear_whole() {
    let place = Place::new();
    let ran = place.mip(&["validate", "--device", "cpu", "--junit", "none/x.xml"]);
    assert!(ran.code == 1 && ran.stderr.contains("none/x.xml") && !ran.stderr.contains("..."), "{ran:?}");
    place.refused(&["validate", "--device", "cpu", "--junit", "/dev/stdout"], &["--junit", "name a file"]);
    let ran =
        place.mip(&["bench", "-e", "flip", "--size", "8x8", "--device", "cpu", "--html", "none/x.html"]);
    assert!(ran.code == 1 && ran.stderr.contains("none/x.html"), "{ran:?}");
    assert_eq!(place.list("."), [""; 0]);
}

#[test]
fn the_demo_replaces_nothing_but_what_it_wrote() {
    let place = Place::new();
    place.ok(&["demo", "-o", "d"]);
    place.ok(&["demo", "-o", "d"]);
    for (name, text) in [("d/demo.toml", "# mine\n"), ("d/sheet.png", "mine")] {
        let drawn = place.bytes(name);
        place.write(name, text);
        place.refused(&["demo", "-o", "d"], &[name, "choose another folder"]);
        assert_eq!(place.bytes(name), text.as_bytes());
        std::fs::write(place.path(name), drawn).unwrap();
    }
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode() {
    let (place, flipped) = place();
    for mode in [0o600, 0o640, 0o644] {
        place.write("b.png", "old");
        std::fs::set_permissions(place.path("b.png"), std::fs::Permissions::from_mode(mode)).unwrap();
        place.ok(&flip(&["a.png", "-o", "b.png"]));
        let written = std::fs::metadata(place.path("b.png")).unwrap();
        assert_eq!(written.mode() & 0o777, mode);
        assert_eq!(place.bytes("b.png"), flipped);
    }
    let ran = place.sh(r#"umask 027; "$MIP" run -e flip --device cpu a.png -o new.png"#);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(std::fs::metadata(place.path("new.png")).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn a_result_goes_where_a_link_leads() {
    let (place, flipped) = place();
    std::fs::create_dir(place.path("there")).unwrap();
    symlink("there/real.png", place.path("link.png")).unwrap();
    for _ in ["the file is new", "the file is there"] {
        place.ok(&flip(&["a.png", "-o", "link.png"]));
        assert!(std::fs::symlink_metadata(place.path("link.png")).unwrap().is_symlink());
        assert_eq!(place.bytes("there/real.png"), flipped);
    }
    assert_eq!(place.list("there"), ["real.png"]);
}

#[test]
fn two_names_of_a_picture_are_two_results_and_one_name_twice_is_one() {
    let (place, flipped) = place();
    for name in ["x.png", "y.png"] {
        symlink("a.png", place.path(name)).unwrap();
    }
    let ran = place.ok(&flip(&["x.png", "y.png", "./x.png", "a.png", "a.png"]));
    assert_eq!(ran.lines(), ["out/x.png", "out/y.png", "out/a.png"]);
    assert_eq!((place.bytes("out/x.png"), place.bytes("out/y.png")), (flipped.clone(), flipped));
}

#[test]
fn pipes_and_devices_are_written_into() {
    let (place, flipped) = place();
    for name in ["pipe.png", "pipe"] {
        place.sh(&format!("mkfifo {name}"));
        let ran =
            place.sh(&format!(r#"cat {name} > got & "$MIP" run -e flip --device cpu a.png -o {name}; wait"#));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(place.bytes("got"), flipped);
        let pipe = std::fs::metadata(place.path(name)).unwrap().file_type();
        assert!(std::os::unix::fs::FileTypeExt::is_fifo(&pipe), "{name}");
    }
    place.ok(&flip(&["a.png", "-o", "/dev/null"]));
    assert!(!Path::new("/dev/null").is_file());
    let ran = place.mip(&flip(&["a.png", "-o", "/dev/full"]));
    assert!(ran.code == 1 && ran.stderr.contains("/dev/full"), "{ran:?}");
}

#[test]
fn pictures_come_from_stdin_and_go_to_stdout() {
    let (place, flipped) = place();
    place.ok(&flip(&["a.png", "-o", "flipped.jpg"]));
    let line = |line: &str, file: &str, expected: &[u8]| {
        let ran = place.sh(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        assert_eq!(place.bytes(file), expected, "{line}");
    };
    for (input, out) in [("-", "-"), ("/dev/stdin", "/dev/stdout"), ("/dev/fd/0", "/dev/fd/1")] {
        let command = format!(r#"cat a.png | "$MIP" run -e flip --device cpu {input} -o {out}"#);
        line(&format!("{command} > got"), "got", &flipped);
        line(&format!("{command} | cat > got"), "got", &flipped);
        line(&format!("{command} --format jpg > got"), "got", &place.bytes("flipped.jpg"));
        line(&format!("printf x > got; {command} >> got"), "got", &[b"x", &flipped[..]].concat());
    }
    line(r#""$MIP" run -e flip --device cpu - < a.png"#, "out/stdin.png", &flipped);
    line(r#""$MIP" run -e flip --device cpu /dev/fd/3 -o /dev/fd/4 3< a.png 4> got"#, "got", &flipped);
    place.refused(
        &flip(&["a.png", "flipped.png", "-o", "-"]),
        &["one picture", "2 will be written", "give a folder"],
    );
    let ran = place.sh(r#"printf junk | "$MIP" run -e flip --device cpu -"#);
    assert!(ran.code == 1 && ran.stderr.contains("stdin"), "{ran:?}");
}

/// The way that it takes, writing in place where a rename fails, has unit tests that need no rights.
#[test]
#[ignore = "mounts a file, which takes root: cargo test -p mip-cli --test cli mounted -- --ignored"]
fn a_mounted_file_is_written_in_place() {
    let (place, flipped) = place();
    place.write("behind.png", &"old".repeat(10_000));
    place.write("mounted.png", "");
    let ran = place.sh(r#"mount --bind behind.png mounted.png || exit 9
        "$MIP" run -e flip --device cpu a.png -o mounted.png; code=$?
        umount mounted.png; exit $code"#);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.bytes("behind.png"), flipped);
    assert_eq!(place.list("."), ["a.png", "behind.png", "flipped.png", "mounted.png"]);
}
