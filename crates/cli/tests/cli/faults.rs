//! Whatever the system refuses, once or from then on: memory, threads, reads, new files, writes, names. Nothing is lost,
//! nothing is left, and exit codes and reports are right.
//!
//! Builds with debug assertions have the hook, `MIP_FAULT` (see `mip_core::faults`); others must not have it.

/// A release has no switch that lets it fail: `cargo test --release -p mip-cli --test cli faults`.
#[cfg(not(debug_assertions))]
#[test]
fn a_release_does_not_listen() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_mip")).unwrap();
    assert!(!binary.windows(9).any(|text| text == b"MIP_FAULT"));
}

#[cfg(debug_assertions)]
mod swept {
    use std::collections::BTreeMap;

    use mip_core::{DType, PixelFormat};
    use serde_json::Value;

    use crate::support::{Place, Ran};

    const KINDS: [&str; 6] = ["alloc", "thread", "read", "create", "write", "rename"];

    type Files = BTreeMap<String, Vec<u8>>;

    /// Has `run` meet each fault of each kind in turn, alone and for good, until one is not reached any more; gives how
    /// often each kind struck.
    fn sweep(run: impl FnMut(&str) -> Ran) -> BTreeMap<&'static str, u32> {
        sweep_by(|number| number + 1, run)
    }

    /// [`sweep`] that goes from one number to the `next`.
    fn sweep_by(next: impl Fn(u32) -> u32, mut run: impl FnMut(&str) -> Ran) -> BTreeMap<&'static str, u32> {
        let mut struck = BTreeMap::new();
        for (kind, lasting) in KINDS.into_iter().flat_map(|kind| [(kind, ""), (kind, "..")]) {
            for number in std::iter::successors(Some(1), |&number| Some(next(number))) {
                assert!(number < 1000, "{kind}: there is no end");
                let fault = format!("{kind}:{number}{lasting}");
                let ran = run(&fault);
                if !ran.stderr.contains("MIP_FAULT: ") {
                    assert_eq!(ran.code, 0, "{fault} did not strike: {ran:?}");
                    break;
                }
                *struck.entry(kind).or_insert(0) += 1;
                assert!(ran.code <= 2, "{fault}: {ran:?}");
                let bad = ["panicked", "internal error"].iter().find(|text| ran.stderr.contains(**text));
                assert_eq!(bad, None, "{fault}: {ran:?}");
            }
        }
        struck
    }

    /// All that is directly in a folder.
    fn files(place: &Place, folder: &str) -> Files {
        let names = place.list(folder).into_iter();
        let plain = names.filter(|name| place.path(folder).join(name).is_file());
        plain.map(|name| (name.clone(), place.bytes(&format!("{folder}/{name}")))).collect()
    }

    /// The document of a command that failed as a whole.
    fn check_error(fault: &str, ran: &Ran, document: &Value) {
        assert_eq!(document["exit_code"], ran.code, "{fault}: {ran:?}");
        let error = document["error"].as_str().unwrap();
        // A pipeline that cannot be read is a wrong request; everything else is a failure.
        let code = if error.starts_with("cannot read the pipeline") { 2 } else { 1 };
        assert_eq!(ran.code, code, "{fault}: {ran:?}");
    }

    /// Four pictures of three kinds, and a pipeline of two results that blurs.
    fn pictures() -> Place {
        let place = Place::new();
        place.rgb("in/0.png", (24, 16), 0);
        place.rgb("in/1.jpg", (24, 16), 1);
        place.picture("in/2.png", (20, 18), PixelFormat::Gray, DType::U16, 2);
        place.rgb("in/3.png", (24, 16), 3);
        place.write(
            "p.toml",
            "outputs = [\"soft\", \"edges\"]\n[[task]]\nname = \"soft\"\nop = \"gaussian_blur\"\nkernel = 3\n\
             [[task]]\nname = \"edges\"\nop = \"sobel\"\n",
        );
        place
    }

    const STEMS: [&str; 4] = ["0", "1", "2", "3"];

    /// Runs the pictures with a fault; `old` files stand where results go.
    fn run(place: &Place, old: &Files, more: &[&str], fault: &str) -> Ran {
        let _ = std::fs::remove_dir_all(place.path("out"));
        for (name, bytes) in old {
            std::fs::create_dir_all(place.path("out")).unwrap();
            std::fs::write(place.path("out").join(name), bytes).unwrap();
        }
        let fixed = ["run", "p.toml", "in", "-o", "out", "--json", "--device", "cpu", "--batch", "2"];
        Ran::of(place.command().args(fixed).args(more).env("MIP_FAULT", fault))
    }

    /// What there is of the results is right, and what there is not is said.
    fn check(fault: &str, ran: &Ran, place: &Place, (right, old): (&Files, &Files), keep_going: bool) {
        let document = ran.json();
        let found = files(place, "out");
        for (name, bytes) in &found {
            let whole = right.get(name) == Some(bytes) || old.get(name) == Some(bytes);
            assert!(whole, "{fault}: {name} is neither the result nor what was there: {ran:?}");
        }
        assert!(old.keys().all(|name| found.contains_key(name)), "{fault}: something is lost: {ran:?}");
        assert_eq!(
            place.list("."),
            if found.is_empty() && !place.path("out").exists() {
                vec!["in", "p.toml"]
            } else {
                vec!["in", "out", "p.toml"]
            }
        );
        let new = |name: &str| found.get(name).is_some_and(|bytes| right[name] == *bytes);
        if document["frames"].is_null() {
            check_error(fault, ran, &document);
            return;
        }
        let listed: Vec<&str> =
            document["outputs"].as_array().unwrap().iter().map(|o| &o.as_str().unwrap()[4..]).collect();
        assert!(listed.iter().all(|name| new(name)), "{fault}: {ran:?}");
        assert!(right.keys().all(|name| new(name) == listed.contains(&name.as_str())), "{fault}: {ran:?}");
        let errors: Vec<String> =
            document["errors"].as_array().unwrap().iter().map(|e| e["input"].to_string()).collect();
        let done = |stem: &str| {
            ["edges", "soft"].iter().all(|task| listed.contains(&&*format!("{stem}.{task}.png")))
        };
        let named = |stem: &str| errors.iter().any(|input| input.starts_with(&format!("\"in/{stem}.")));
        let frames = STEMS.iter().filter(|stem| done(stem) && !named(stem)).count();
        let count = |key: &str| document[key].as_u64().unwrap() as usize;
        assert_eq!((count("frames"), count("failed")), (frames, errors.len()), "{fault}: {ran:?}");
        assert_eq!(count("frames") + count("failed") + count("not_tried"), 4, "{fault}: {ran:?}");
        if keep_going {
            assert!(STEMS.iter().all(|stem| done(stem) || named(stem)), "{fault}: {ran:?}");
            assert_eq!(count("not_tried"), 0, "{fault}: {ran:?}");
        }
        assert_eq!(ran.code, i32::from(!errors.is_empty()), "{fault}: {ran:?}");
    }

    fn sweep_run(old: bool, more: &[&str]) {
        let place = pictures();
        let inputs = files(&place, "in");
        assert_eq!(run(&place, &Files::new(), more, "").code, 0);
        let right = files(&place, "out");
        assert_eq!(right.len(), 8);
        let old: Files = if old {
            right.keys().map(|name| (name.clone(), b"what was there before".repeat(500))).collect()
        } else {
            Files::new()
        };
        let struck = sweep(|fault| {
            let ran = run(&place, &old, more, fault);
            check(fault, &ran, &place, (&right, &old), more.contains(&"--keep-going"));
            assert!(files(&place, "in") == inputs, "{fault}: inputs are as they were");
            ran
        });
        assert!(KINDS.iter().all(|kind| struck[kind] >= 3), "{struck:?}");
    }

    #[test]
    fn a_run_that_goes_on_loses_what_failed_and_nothing_else() {
        sweep_run(false, &["--keep-going"]);
    }

    #[test]
    fn a_run_that_stops_at_a_failure_keeps_what_is_whole() {
        sweep_run(false, &[]);
    }

    #[test]
    fn results_replace_files_or_leave_them_as_they_were() {
        sweep_run(true, &["--keep-going"]);
    }

    #[test]
    fn a_stream_is_there_as_a_whole_or_not_at_all() {
        let place = Place::new();
        let frame = |number: u8| [&b"FRAME\n"[..], &[number; 12 * 10]].concat();
        let video: Vec<u8> = (0..6).flat_map(frame).collect();
        let head = b"YUV4MPEG2 W12 H10 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL\n";
        std::fs::write(place.path("in.y4m"), [&head[..], &video].concat()).unwrap();
        let stream = |fault: &str| {
            let arguments = [
                "stream",
                "-e",
                "gaussian_blur ! flip",
                "-i",
                "in.y4m",
                "-o",
                "out.y4m",
                "--device",
                "cpu",
                "--json",
            ];
            Ran::of(place.command().args(arguments).env("MIP_FAULT", fault))
        };
        assert_eq!(stream("").code, 0);
        let (right, input) = (place.bytes("out.y4m"), place.bytes("in.y4m"));
        for old in [&b""[..], b"what was there before"] {
            let struck = sweep(|fault| {
                let _ = std::fs::remove_file(place.path("out.y4m"));
                if !old.is_empty() {
                    std::fs::write(place.path("out.y4m"), old).unwrap();
                }
                let ran = stream(fault);
                let document = ran.json();
                if ran.code == 0 {
                    assert_eq!(document["frames"], 6, "{fault}: {ran:?}");
                    assert!(place.bytes("out.y4m") == right, "{fault}: {ran:?}");
                } else {
                    check_error(fault, &ran, &document);
                    let found = files(&place, ".");
                    assert!(found.get("out.y4m").map_or(&b""[..], |bytes| bytes) == old, "{fault}: {ran:?}");
                }
                let names = place.list(".");
                assert!(
                    names.iter().all(|name| name.ends_with("n.y4m") || name == "out.y4m"),
                    "{fault}: {names:?}"
                );
                assert!(place.bytes("in.y4m") == input, "{fault}");
                ran
            });
            assert!(KINDS.iter().all(|kind| struck[kind] >= 2), "{struck:?}");
        }
    }

    #[test]
    fn the_demo_draws_whole_files_only() {
        let place = Place::new();
        let demo = |fault: &str| {
            let _ = std::fs::remove_dir_all(place.path("d"));
            Ran::of(place.command().args(["demo", "-o", "d"]).env("MIP_FAULT", fault))
        };
        assert_eq!(demo("").code, 0);
        let right = files(&place, "d");
        // It draws large pictures, and many: not every single allocation.
        let struck = sweep_by(
            |number| number * 2 + 1,
            |fault| {
                let ran = demo(fault);
                let found = files(&place, "d");
                assert!(found.iter().all(|(name, bytes)| right.get(name) == Some(bytes)), "{fault}: {ran:?}");
                let listed: Vec<String> = ran.lines();
                assert!(found.keys().all(|name| listed.contains(&format!("d/{name}"))), "{fault}: {ran:?}");
                assert_eq!(ran.code, i32::from(found.len() < right.len()), "{fault}: {ran:?}");
                ran
            },
        );
        assert!(["alloc", "create", "write", "rename"].iter().all(|kind| struck[kind] >= 2), "{struck:?}");
    }

    #[cfg(feature = "profiling")]
    #[test]
    fn a_profile_has_its_trace_or_says_why_not() {
        let place = Place::new();
        place.rgb("a.png", (24, 16), 0);
        sweep(|fault| {
            let _ = std::fs::remove_file(place.path("t.json"));
            let arguments = [
                "profile", "-e", "sobel", "a.png", "--trace", "t.json", "--repeat", "1", "--device", "cpu",
                "--json",
            ];
            let ran = Ran::of(place.command().args(arguments).env("MIP_FAULT", fault));
            let document = ran.json();
            if ran.code == 0 {
                serde_json::from_slice::<Value>(&place.bytes("t.json")).unwrap();
                assert_eq!(place.list("."), ["a.png", "t.json"], "{fault}");
            } else {
                check_error(fault, &ran, &document);
                assert_eq!(place.list("."), ["a.png"], "{fault}");
            }
            ran
        });
    }
}
