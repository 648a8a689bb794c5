//! The book's commands, run one after another in a folder of their own for each chapter.
//!
//! In a block marked `console`, `$ ` begins a command of `mip`; `? N` after it tells its exit code, 0 if left out; what
//! follows is its stdout, or with another exit code its stderr, where `[..]` stands for anything on a line and `...` for any lines.
//! A block marked `toml` that begins with `# file: NAME` is written to that file.

use std::path::{Path, PathBuf};

use mip_core::{DType, PixelFormat};
use snapbox::IntoData;

use crate::support::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A block between fences: what it is marked as, and its lines.
fn blocks(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(mark), None) => open = Some((mark.to_owned(), Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block that does not end");
    blocks
}

/// Words as a shell sees them: quotes keep spaces.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn place() -> Place {
    let place = Place::new();
    place.picture("photo.jpg", (320, 240), PixelFormat::Rgb, DType::U8, 1);
    place.picture("second.png", (320, 240), PixelFormat::Rgb, DType::U8, 2);
    for entry in std::fs::read_dir(root().join("examples/pipelines")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        place.write(name, &std::fs::read_to_string(&path).unwrap());
    }
    place
}

/// Runs the commands of a block and compares what they print. The number of them.
fn console(chapter: &str, place: &Place, lines: &[&str]) -> usize {
    let starts: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with("$ ")).collect();
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(lines.len());
        let command = lines[start].trim_start_matches("$ ");
        let mut expected = &lines[start + 1..end];
        let mut code = 0;
        if let Some(given) = expected.first().and_then(|line| line.strip_prefix("? ")) {
            code = given.parse().unwrap();
            expected = &expected[1..];
        }
        let words = words(command);
        assert_eq!(words[0], "mip", "{chapter}: only mip is run: {command}");
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let ran = place.mip(&arguments);
        assert_eq!(ran.code, code, "{chapter}: {command}: {ran:?}");
        let actual = if code == 0 { ran.stdout } else { ran.stderr };
        let expected = format!("{}\n", expected.join("\n"));
        let same = snapbox::Assert::new().try_eq(None, actual.into_data(), expected.into_data());
        assert!(same.is_ok(), "{chapter}: {command}\n{}", same.unwrap_err());
    }
    starts.len()
}

fn chapter(name: &str, commands: usize) {
    let text = std::fs::read_to_string(root().join("docs").join(name)).unwrap();
    let place = place();
    let mut ran = 0;
    for (mark, lines) in blocks(&text) {
        match (mark.as_str(), lines.first().and_then(|line| line.strip_prefix("# file: "))) {
            ("toml", Some(file)) => place.write(file, &lines.join("\n")),
            ("console", _) => ran += console(name, &place, &lines),
            _ => {}
        }
    }
    assert!(ran >= commands, "{name} has {ran} commands, fewer than it had");
}

#[test]
fn getting_started() {
    chapter("getting-started.md", 4);
}

#[test]
fn pipeline_files() {
    chapter("pipeline-files.md", 6);
}

#[test]
fn execution_model() {
    chapter("execution-model.md", 2);
}

#[test]
fn memory() {
    chapter("memory.md", 2);
}

#[test]
fn graph_replay() {
    chapter("graph-replay.md", 1);
}

#[test]
fn performance() {
    chapter("performance.md", 3);
}

#[test]
fn the_chapter_on_operators_is_what_the_registry_says() {
    let path = root().join("docs/operators.md");
    let generated = place().ok(&["ops", "--markdown"]).stdout;
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written == generated, "write it anew: mip ops --markdown > docs/operators.md");
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut looked_at = 0;
    let documents = ["docs", "docs/adr", "docs/performance", "examples", "."];
    let of_folder = |folder: &str| std::fs::read_dir(root().join(folder)).unwrap();
    for entry in documents.into_iter().flat_map(of_folder) {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") || file.contains(' ') {
                continue;
            }
            looked_at += 1;
            assert!(path.parent().unwrap().join(file).exists(), "{}: {target}", path.display());
        }
    }
    assert!(looked_at > 40, "{looked_at} links");
}
