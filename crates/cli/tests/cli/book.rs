//! The book's commands, run one after another in a folder of their own for each chapter.
//!
//! In a block marked `console`, `$ ` begins a command of `mip`; `? N` after it tells its exit code, 0 if left out; what
//! follows is its stdout, or with another exit code its stderr, where `[..]` stands for anything on a line and `...` for any lines.
//! A block marked `toml` that begins with `# file: NAME` is written to that file.

use std::path::Path;

use mip_core::{DType, PixelFormat};
use snapbox::IntoData;

use crate::markdown::{self, root, text_of};
use crate::support::Place;

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
    let place = place();
    let mut ran = 0;
    let document = markdown::read(&text_of(&format!("docs/{name}")));
    for block in &document.blocks {
        match (block.mark.as_str(), block.text.lines().next().and_then(|line| line.strip_prefix("# file: ")))
        {
            ("toml", Some(file)) => place.write(file, &block.text),
            ("console", _) => ran += console(name, &place, &block.text.lines().collect::<Vec<_>>()),
            _ => {}
        }
    }
    assert!(ran >= commands, "{name} has {ran} commands, fewer than it had");
    for (link, _) in &document.links {
        if let Some(file) = link.strip_prefix("images/gallery/") {
            let kept = root().join("docs").join(link);
            let off = mean_difference(&place.path(file), &kept);
            // Encoders of other processors may round otherwise.
            assert!(
                off < 0.5,
                "{file} is {off} off: copy what the command above it in {name} writes to docs/{link}"
            );
        }
    }
}

/// How far the samples of two pictures are from each other, on average.
fn mean_difference(a: &Path, b: &Path) -> f64 {
    let [a, b] = [a, b].map(|path| mip_io::read_image(path).unwrap());
    assert_eq!(a.desc(), b.desc());
    let (a, b) = (a.to_bytes(), b.to_bytes());
    let sum: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    sum / a.len() as f64
}

macro_rules! chapters {
    ($($test:ident: $file:literal, $commands:literal;)*) => {
        /// The chapters whose commands are run.
        pub(crate) const CHAPTERS: &[&str] = &[$($file),*];

        $(#[test]
        fn $test() {
            chapter($file, $commands);
        })*
    };
}

// A test for each, and how many commands there are at least.
chapters! {
    getting_started: "getting-started.md", 7;
    concepts: "concepts.md", 3;
    execution_model: "execution-model.md", 3;
    memory: "memory.md", 2;
    graph_replay: "graph-replay.md", 1;
    expressions: "expressions.md", 8;
    tensors: "tensors.md", 2;
    own_operators: "own-operators.md", 1;
    performance: "performance.md", 4;
    pipeline_files: "pipeline-files.md", 6;
    gallery: "gallery.md", 7;
}

#[test]
fn the_index_of_an_array_is_what_the_chapter_shows() {
    let blocks = markdown::read(&text_of("docs/tensors.md")).blocks;
    let marked = |mark: &str| blocks.iter().find(|block| block.mark == mark).expect("the chapter has one");
    let place = place();
    console("tensors.md", &place, &marked("console").text.lines().collect::<Vec<_>>());
    let written = std::fs::read_to_string(place.path("tensors.index.json")).unwrap();
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(json(&marked("json").text), json(&written));
}

/// A picture of a plan without the size of its arena, where scratch depends on the number of cores.
fn without_arena(svg: &str) -> String {
    let part = |part: &str| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    svg.split("arena ").map(part).collect()
}

#[test]
fn pictures_of_plans_are_what_mip_draws() {
    let blocks = markdown::read(&text_of("docs/concepts.md")).blocks;
    let place = place();
    place.write(
        "fork.toml",
        &blocks.iter().find(|block| block.mark == "toml").expect("the chapter has one").text,
    );
    let draw = ["plan", "fork.toml", "--size", "1920x1080", "--device", "cpu", "--format", "svg"];
    for (file, more) in [("plan-fork.svg", Some("--no-fuse")), ("plan-fork-fused.svg", None)] {
        let arguments: Vec<&str> = draw.into_iter().chain(more).collect();
        let (drawn, kept) = (place.ok(&arguments).stdout, text_of(&format!("docs/images/{file}")));
        assert!(
            without_arena(&drawn) == without_arena(&kept),
            "draw it anew: mip {} > docs/images/{file}",
            arguments.join(" ")
        );
    }
}

#[test]
fn the_chapter_on_operators_is_what_the_registry_says() {
    let path = root().join("docs/operators.md");
    let generated = place().ok(&["ops", "--markdown"]).stdout;
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written == generated, "write it anew: mip ops --markdown > docs/operators.md");
}
