//! Every JSON document, and what becomes of results that cannot be printed.

use crate::support::{Place, Ran};

const VIDEO: &str = "YUV4MPEG2 W2 H2 F25:1 Ip Cmono\nFRAME\nabcdFRAME\nefgh";

fn place() -> Place {
    let place = Place::new();
    place.rgb("a.png", (8, 6), 1);
    place.write("v.y4m", VIDEO);
    place
}

/// Every command that has `--json`, with what it needs to succeed, and whether its document is of a device.
const COMMANDS: [(&[&str], bool); 10] = [
    (&["run", "-e", "flip", "a.png", "--device", "cpu", "-o", "out"], true),
    (&["stream", "-e", "flip", "-i", "v.y4m", "-o", "out.y4m", "--device", "cpu"], true),
    (&["plan", "-e", "flip", "--size", "8x6", "--device", "cpu"], true),
    (&["ops"], false),
    (&["ops", "resize"], false),
    (&["formats"], false),
    (&["devices"], false),
    (&["bench", "-e", "flip", "--size", "8x6", "--device", "cpu", "--runs", "2"], true),
    (&["validate", "--device", "cpu", "--only", "flip", "--small"], true),
    (&["profile", "-e", "flip", "a.png", "--device", "cpu", "--repeat", "2"], true),
];

#[test]
fn every_document_carries_its_schema_and_the_id_and_name_of_its_device() {
    let place = place();
    for (command, of_a_device) in COMMANDS {
        let document = place.ok(&[command, &["--json"]].concat()).json();
        assert_eq!(document["schema"], 1, "{command:?}");
        if of_a_device {
            assert_eq!(document["device"], "cpu", "{command:?}");
            let name = document["device_name"].as_str().unwrap_or_else(|| panic!("{command:?}: {document}"));
            assert!(name.len() > "cpu".len(), "{command:?}: {name}");
        }
    }
    let plan = place.ok(&["plan", "-e", "flip", "--size", "8x6", "--json"]);
    assert_eq!(plan.stdout, place.ok(&["plan", "-e", "flip", "--size", "8x6", "--format", "json"]).stdout);
}

fn error(ran: &Ran, code: i32, command: &[&str]) {
    assert_eq!(ran.code, code, "{command:?}: {ran:?}");
    let document = ran.json();
    assert_eq!((&document["schema"], &document["exit_code"]), (&1.into(), &code.into()), "{command:?}");
    let message = document["error"].as_str().unwrap();
    assert!(!message.is_empty() && !message.starts_with("error"), "{message}");
    assert!(ran.stderr.starts_with("error: "), "{command:?}: {ran:?}");
}

#[test]
fn a_wrong_request_is_a_document_too() {
    let place = place();
    for (command, _) in COMMANDS {
        let wrong = [command, &["--json", "--no-such-option"]].concat();
        error(&place.mip(&wrong), 2, &wrong);
    }
    for wrong in [
        &["run", "-e", "flop", "a.png", "--json"][..],
        &["run", "-e", "flip", "--json"],
        &["run", "-e", "flip", "a.png", "--batch", "0", "--json"],
        &["stream", "-e", "flip", "-i", "v.y4m", "--json"],
        &["plan", "-e", "flop", "--size", "8x6", "--json"],
        &["plan", "-e", "flip", "--format", "json"],
        &["plan", "-e", "flip", "--size", "8x6", "--json", "--memory"],
        &["ops", "resise", "--json"],
        &["bench", "--suite", "edgs", "--json"],
        &["validate", "--device", "cpu", "--only", "nothing of that name", "--json"],
        &["profile", "-e", "flip", "--json"],
    ] {
        error(&place.mip(wrong), 2, wrong);
    }
    let no_device = ["run", "-e", "flip", "a.png", "--device", "cuda:4000", "--json"];
    error(&place.mip(&no_device), 1, &no_device);
}

#[test]
fn one_bad_picture_leaves_one_document() {
    let place = place();
    place.write("bad.png", "no picture");
    let ran = place.mip(&["run", "-e", "flip", "a.png", "bad.png", "--keep-going", "--json"]);
    let document = ran.json();
    assert_eq!((ran.code, &document["schema"], &document["failed"]), (1, &1.into(), &1.into()));
    assert_eq!(document["errors"][0]["input"], "bad.png");
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_a_failure() {
    let place = place();
    place.write("p.toml", "[[task]]\nop = 'flip'\n");
    let commands: [&[&str]; 11] = [
        &["--help"],
        &["run", "--help"],
        &["--version"],
        &["ops"],
        &["ops", "--schema"],
        &["ops", "--json"],
        &["devices", "--json"],
        &["check", "p.toml", "--size", "8x6"],
        &["plan", "p.toml", "--size", "8x6", "--format", "svg"],
        &["run", "p.toml", "a.png"],
        &["run", "p.toml", "gone.png", "--json"],
    ];
    for command in commands {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut mip = place.command();
        let ran = Ran::of(mip.args(command).stdout(full));
        let wrong = command.contains(&"gone.png");
        assert_eq!(ran.code, if wrong { 2 } else { 1 }, "{command:?}: {ran:?}");
        assert!(ran.stderr.contains(if wrong { "gone.png" } else { "stdout" }), "{command:?}: {ran:?}");
    }
}

#[test]
fn results_of_before_documents_had_a_schema_can_be_compared_with() {
    let place = place();
    let tiny = ["bench", "-e", "flip", "--size", "8x6", "--device", "cpu", "--runs", "2", "--json"];
    let mut old = place.ok(&tiny).json();
    let keys = old.as_object_mut().unwrap();
    keys.remove("schema");
    let (id, name) = (keys.remove("device").unwrap(), keys.remove("device_name").unwrap());
    keys.insert("device".into(), name);
    keys.insert("device_id".into(), id);
    place.write("old.json", &old.to_string());
    let compared = place.ok(&[&tiny[..], &["--compare", "old.json"]].concat()).json();
    assert_eq!(compared["comparison"]["warnings"], serde_json::json!([]));
}
