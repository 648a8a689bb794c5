//! Every seed and everything that the fuzzer found, through the functions that it calls.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use mip_fuzzing::{Outcome, PeakAlloc, TARGETS, measured};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn folder(kind: &str, target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(kind).join(target)
}

/// The files of a folder by name; none where there is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// One test for all: what they take is measured in the whole process.
#[test]
fn seeds_and_found_inputs_keep_what_must_hold() {
    let mut wrong = Vec::new();
    for (name, target) in TARGETS {
        let mut accepted = 0;
        let seeds = files(&folder("seeds", name));
        assert!(seeds.len() >= 10, "{name} has {} seeds", seeds.len());
        for (index, path) in seeds.iter().chain(&files(&folder("found", name))).enumerate() {
            let bytes = fs::read(path).unwrap();
            match catch_unwind(|| measured(&MEMORY, target, &bytes)) {
                Ok(outcome) => accepted += usize::from(outcome == Outcome::Accepted && index < seeds.len()),
                Err(_) => wrong.push(format!("{}: panics, as printed above", path.display())),
            }
        }
        assert!(
            accepted >= seeds.len() / 3,
            "{name}: only {accepted} of {} seeds reach anything",
            seeds.len()
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_target_has_its_files() {
    for (name, _) in TARGETS {
        let body = fs::read_to_string(folder("fuzz_targets", &format!("{name}.rs"))).unwrap();
        assert!(body.contains(&format!("mip_fuzzing::{name},")), "{name}");
        assert!(
            fs::read_to_string(folder("", "Cargo.toml")).unwrap().contains(&format!("\"{name}\"")),
            "{name}"
        );
    }
    assert_eq!(files(&folder("fuzz_targets", "")).len(), TARGETS.len());
    for kind in ["seeds", "found"] {
        for path in files(&folder(kind, "")) {
            let known = TARGETS.iter().any(|(name, _)| path.ends_with(name)) || path.ends_with(".gitkeep");
            assert!(known, "{} belongs to no target", path.display());
        }
    }
}

#[test]
fn the_dictionaries_know_every_operator() {
    for target in ["pipeline_toml", "pipeline_line"] {
        let text = fs::read_to_string(folder("dictionaries", &format!("{target}.dict"))).unwrap();
        for spec in mip_ops::operators() {
            let words = spec.params.iter().map(|p| p.name).chain([spec.name]);
            for word in words {
                assert!(
                    text.contains(&format!("\"{word}\"")),
                    "{target}.dict lacks '{word}'; run `cargo run -p mip-fuzzing --example seeds`"
                );
            }
        }
    }
}
