//! Names and contents of files on their way to a terminal.

use crate::support::{Place, Ran};

/// Moves the cursor, rings, turns the writing direction: what must never come out as it is.
const EVIL: &str = "\x1b[2J\x07\u{9b}1m\u{202e}\r\x7f";

/// Asserts that what a person sees is harmless and short, and that the escaped text is there.
fn harmless(ran: &Ran) {
    for (stream, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        let raw = text.chars().find(|&c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}');
        assert_eq!(raw, None, "{stream}: {ran:?}");
    }
    assert!(ran.stderr.len() < 8_200, "{} bytes: {}", ran.stderr.len(), &ran.stderr[..400]);
}

#[cfg(unix)]
#[test]
fn control_characters_of_names_are_escaped() {
    let place = Place::new();
    let name = format!("a{EVIL}.png");
    place.rgb(&name, (6, 5), 1);
    let ran = place.ok(&["run", "-e", "flip", &name, "-o", "out"]);
    harmless(&ran);
    assert!(ran.stdout.contains("a\\u{1b}[2J\\u{7}"), "{ran:?}");
    // JSON keeps the name as it is.
    let document = place.ok(&["run", "-e", "flip", &name, "-o", "out", "--json"]).json();
    assert_eq!(document["outputs"][0], format!("out/{name}"));
    place.write(&name, "no picture");
    let missing = format!("missing{EVIL}\nerror: forged");
    for arguments in [
        &["run", "-e", "flip", name.as_str()][..],
        &["run", "-e", "flip", &missing],
        &["run", &missing, "x.png"],
        &["stream", "-e", "flip", "-i", &name, "-o", "out.y4m"],
        &["bench", "-e", "flip", "--size", "8x8", "--compare", &missing],
        &["profile", "-e", "flip", &missing],
    ] {
        let ran = place.mip(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        harmless(&ran);
        assert!(ran.stderr.contains("\\u{1b}[2J"), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.contains("\nerror: forged"), "{ran:?}");
    }
}

#[test]
fn control_characters_of_arguments_and_contents_are_escaped() {
    let place = Place::new();
    place.rgb("a.png", (6, 5), 1);
    let (op, option, value) = (format!("fl{EVIL}ip"), format!("--op{EVIL}tion"), format!("1{EVIL}x1"));
    place.write("p.toml", &format!("name = 'x'\n[[task]]\nop = '{}'\n", op.replace('\r', "")));
    place.write("bad.toml", "\x1b[2J\u{9b} = = 3\n");
    place.write("v.y4m", &format!("YUV4MPEG2 W{EVIL} H4 F25:1\n"));
    place.write("w.y4m", &format!("YUV4MPEG2 W4 H4 F25:1 Z{EVIL}\n"));
    for arguments in [
        &["check", "-e", &op, "--size", "8x8"][..],
        &["check", "-e", &format!("flip {op}=1"), "--size", "8x8"],
        &["check", "p.toml", "--size", "8x8"],
        &["check", "bad.toml", "--size", "8x8"],
        &["check", &option],
        &["check", "-e", "flip", "--size", &value],
        &["ops", &op],
        &["bench", "--suite", &op],
        &["run", "-e", "flip", "a.png", "--set", &format!("{op}.x=1")],
        &["run", "-e", "flip", "a.png", "--set", &format!("flip.direction={op}")],
        &["validate", "--only", &op],
        &["stream", "-e", "flip", "-i", "v.y4m", "-o", "out.y4m"],
        &["stream", "-e", "flip", "-i", "w.y4m", "-o", "out.y4m"],
    ] {
        let ran = place.mip(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}: {ran:?}");
        harmless(&ran);
    }
}

#[test]
fn messages_are_short_however_long_what_they_speak_of() {
    let place = Place::new();
    place.rgb("a.png", (6, 5), 1);
    let long = "x".repeat(100_000);
    place.write("p.toml", &format!("[[task]]\nop = '{long}'\n"));
    let many: Vec<String> = (0..3000).map(|i| format!("task{i}:flip")).collect();
    let many = many.join(" ! ");
    for arguments in [
        &["check", "-e", long.as_str(), "--size", "8x8"][..],
        &["check", "-e", &format!("flip direction={long}"), "--size", "8x8"],
        &["check", "-e", &format!("flip {long}=1"), "--size", "8x8"],
        &["check", "p.toml", "--size", "8x8"],
        &["check", "-e", &format!("{many} ! blend inputs=gone,task1"), "--size", "8x8"],
        &["check", "-e", "flip", "--size", &long],
        &["check", &format!("--{long}")],
        &["run", "-e", "flip", &long],
        &["run", "-e", "flip", "a.png", "--format", &long],
        &["run", "-e", "flip", "a.png", "--set", &format!("{long}.x=1")],
        &["ops", &long],
    ] {
        let ran = place.mip(arguments);
        assert_eq!(ran.code, 2, "{}: {:.400}", arguments.join(" ").get(..40).unwrap_or_default(), ran.stderr);
        harmless(&ran);
    }
}

#[test]
fn a_task_name_of_any_length_is_an_error_or_printed() {
    let place = Place::new();
    let (long, longest) = ("n".repeat(65_536), "n".repeat(200));
    for command in ["check", "plan"] {
        let of = |name: &str| place.mip(&[command, "-e", &format!("{name}:flip"), "--size", "8x8"]);
        let ran = of(&long);
        assert_eq!(ran.code, 2, "{:.300}", ran.stderr);
        assert!(
            ran.stderr.contains("65536 bytes") && ran.stderr.contains("at most 200"),
            "{:.300}",
            ran.stderr
        );
        harmless(&ran);
        let ran = of(&longest);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains(&longest));
    }
    // A table's cell may be longer than any name.
    let tasks: Vec<String> = (0..400).map(|i| format!("{}{i}:flip inputs=@input", "n".repeat(190))).collect();
    assert_eq!(place.mip(&["plan", "-e", &tasks.join(" ! "), "--size", "8x8"]).code, 0);
    let name = format!("name={long} ! flip");
    place.refused(&["check", "-e", &name, "--size", "8x8"], &["the pipeline", "at most 200"]);
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_work_and_are_told_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    place.rgb("in/a.png", (6, 5), 1);
    for name in [&b"in/b\xff.png"[..], b"in/b\xfe.png", b"in/\xc3.png"] {
        std::fs::copy(place.path("in/a.png"), place.path("").join(OsStr::from_bytes(name))).unwrap();
    }
    for input in ["in/*.png", "in", "i[n]/?*.png"] {
        let ran = place.ok(&["run", "-e", "flip", input, "-o", "out", "--json"]);
        let mut outputs: Vec<String> = serde_json::from_value(ran.json()["outputs"].clone()).unwrap();
        outputs.sort();
        let expected = ["out/\\xC3.png", "out/a.png", "out/b\\xFE.png", "out/b\\xFF.png"];
        assert_eq!(outputs, expected, "{input}");
    }
    let ran = Ran::of(
        place.command().args(["run", "-e", "flip", "-o", "other"]).arg(OsStr::from_bytes(b"in/b\xff*")),
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "other/b\\xFF.png\n"), "{ran:?}");
    let gone = Ran::of(place.command().args(["run", "-e", "flip"]).arg(OsStr::from_bytes(b"gone\xff.png")));
    assert_eq!(gone.code, 2);
    assert!(gone.stderr.contains("'gone\\xFF.png' does not exist"), "{gone:?}");
}
