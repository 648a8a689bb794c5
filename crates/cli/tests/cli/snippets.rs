//! Every block between fences is of a kind that something tests: a new chapter cannot have commands that nobody runs.

use crate::book::CHAPTERS;
use crate::markdown::{self, Block, documents, root, text_of};
use crate::shell;
use crate::support::Place;

/// Blocks that nothing tests, each with its reason.
const UNTESTED: &[(&str, &str, &str)] = &[
    ("docs/tensors.md", "text", "times of one run on one machine"),
    ("docs/devices.md", "text", "what a machine with a GPU says"),
    ("docs/devices.md", "python", "it takes Daft, with which crates/python/tests/test_daft.py runs the same"),
];

/// Programs in lines of shell that are not ours, so that only their names are looked at.
const OTHERS: &[&str] = &["cp", "done", "ffmpeg", "for", "mkdir"];

#[test]
fn every_block_is_of_a_kind_that_is_tested() {
    let mip = Mip::new();
    let (mut blocks, mut wrong) = (0, Vec::new());
    for name in documents() {
        for block in markdown::read(&text_of(&name)).blocks {
            blocks += 1;
            if let Err(error) = tested(&mip, &name, &block) {
                wrong.push(format!("{name}:{}: block marked '{}': {error}", block.line, block.mark));
            }
        }
    }
    assert!(blocks > 60, "{blocks} blocks");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether something tests a block, or what is missing.
fn tested(mip: &Mip, name: &str, block: &Block) -> Result<(), String> {
    let listed = |file: &str, how: &str| {
        let how = how.replace("NAME", name);
        if text_of(file).contains(&how) { Ok(()) } else { Err(format!("{file} has no {how}")) }
    };
    if UNTESTED.iter().any(|(document, mark, _)| (*document, *mark) == (name, block.mark.as_str())) {
        return Ok(());
    }
    // The tests build and run what lies there.
    let include =
        block.text.trim().strip_prefix("{{#include ../examples/").and_then(|rest| rest.strip_suffix("}}"));
    if include.is_some_and(|file| root().join("examples").join(file).is_file()) {
        return Ok(());
    }
    let chapter = name.strip_prefix("docs/").is_some_and(|file| CHAPTERS.contains(&file));
    match block.mark.as_str() {
        "console" if chapter => Ok(()),
        // What the command in front of it writes is compared.
        "json" if name == "docs/tensors.md" => Ok(()),
        "toml" if chapter && block.text.starts_with("# file: ") => Ok(()),
        "toml" => mip.check_file(&block.text),
        "rust" | "rust,no_run" => {
            match name.strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/README.md")) {
                Some(own) => listed(&format!("crates/{own}/src/lib.rs"), "include_str!(\"../README.md\")"),
                // Through the links in the package, which holds what they lead to.
                None => listed("crates/mini-image-pipe/src/lib.rs", "include_str!(\"../NAME\")"),
            }
        }
        "python" => listed("crates/python/tests/test_readme.py", "\"NAME\""),
        "sh" => shell::commands(&block.text)
            .iter()
            .try_for_each(|command| mip.can_be_run(shell::program(command))),
        "console" | "json" => Err("this is no chapter whose commands tests/cli/book.rs runs".to_owned()),
        _ => Err("nothing tests this kind: console, toml, rust, python and sh are".to_owned()),
    }
}

/// `mip`, to be asked what it takes.
struct Mip {
    place: Place,
}

impl Mip {
    fn new() -> Self {
        Self { place: Place::new() }
    }

    /// What a run prints, or why it is refused.
    fn says(&self, arguments: &[&str]) -> Result<String, String> {
        let ran = self.place.mip(arguments);
        if ran.code == 0 { Ok(ran.stdout) } else { Err(ran.stderr) }
    }

    fn check_file(&self, text: &str) -> Result<(), String> {
        self.place.write("pipeline.toml", text);
        self.says(&["check", "pipeline.toml", "--size", "1920x1080"]).map(drop)
    }

    /// Whether a command of the shell names what there is: files, examples, packages, options.
    fn can_be_run(&self, command: &[String]) -> Result<(), String> {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        match words[..] {
            // `do` alone on its line.
            [] => Ok(()),
            ["mip" | "target/release/mip", ref arguments @ ..] => self.arguments(arguments),
            // It runs the program behind its own options.
            ["compute-sanitizer", ref words @ ..] => {
                let at = words.iter().position(|word| word.ends_with("/mip")).ok_or("it runs no mip")?;
                self.arguments(&words[at + 1..])
            }
            ["cargo", ref arguments @ ..] => self.cargo(arguments),
            ["bash" | "python3", script, ..] => there_is(script),
            ["pip", "install", ref packages @ ..] => {
                packages.iter().filter(|p| p.starts_with("./")).try_for_each(|p| there_is(p))
            }
            [script, ..] if script.contains('/') => there_is(script),
            [program, ..] if OTHERS.contains(&program) => Ok(()),
            _ => Err(format!("what is {words:?}? neither ours nor in OTHERS")),
        }
    }

    /// Arguments of `mip`: a command there is, options it has, an expression that it takes.
    fn arguments(&self, arguments: &[&str]) -> Result<(), String> {
        let command = arguments.first().copied().unwrap_or_default();
        let help = self.says(&[command, "--help"])?;
        let known: Vec<&str> = help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
        for (index, argument) in arguments.iter().enumerate() {
            if argument.starts_with("--") && !known.contains(argument) {
                return Err(format!("mip {command} has no option {argument}"));
            }
            if *argument == "-e" {
                self.says(&["check", "-e", arguments[index + 1], "--size", "1920x1080"])?;
            }
        }
        Ok(())
    }

    fn cargo(&self, arguments: &[&str]) -> Result<(), String> {
        let folders = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
        let crates: Vec<_> = folders.collect();
        let is_named = |name: &str| {
            let line = format!("name = \"{name}\"");
            let manifests =
                crates.iter().map(|folder| std::fs::read_to_string(folder.join("Cargo.toml")).unwrap());
            manifests.into_iter().any(|manifest| manifest.lines().any(|found| found == line))
        };
        let is_example = |name: &str| {
            let file = format!("examples/{name}.rs");
            there_is(&file).is_ok()
                || crates.iter().any(|folder| folder.join(&file).is_file())
                || is_named(name)
        };
        if let Some(at) = arguments.iter().position(|argument| *argument == "--") {
            // Without a package it is `mip` that gets what follows.
            if arguments[0] == "run" && !arguments.contains(&"-p") {
                self.arguments(&arguments[at + 1..])?;
            }
        }
        for pair in arguments.windows(2) {
            let found = match pair[0] {
                "--path" | "--manifest-path" => there_is(pair[1]).is_ok(),
                "--example" => is_example(pair[1]),
                "-p" => is_named(pair[1]),
                _ => true,
            };
            if !found {
                return Err(format!("cargo: there is no {} {}", pair[0], pair[1]));
            }
        }
        Ok(())
    }
}

fn there_is(path: &str) -> Result<(), String> {
    if root().join(path).exists() { Ok(()) } else { Err(format!("there is no {path}")) }
}

#[test]
fn what_is_not_tested_is_found() {
    let mip = Mip::new();
    let check = |name: &str, mark: &str, text: &str| {
        tested(&mip, name, &Block { mark: mark.to_owned(), text: text.to_owned(), line: 1 })
    };
    assert!(check("docs/memory.md", "console", "$ mip devices\n").is_ok());
    for (name, mark, text) in [
        ("docs/new.md", "console", "$ mip devices\n"),
        ("docs/new.md", "rust", "fn main() {}\n"),
        ("docs/new.md", "python", "import mini_image_pipe\n"),
        ("docs/new.md", "toml", "[[task]]\nop = \"nothing\"\n"),
        ("docs/new.md", "yaml", "a: 1\n"),
        ("docs/memory.md", "rust,ignore", "fn main() {}\n"),
        ("docs/new.md", "sh", "mip run --speed 3\n"),
        ("docs/new.md", "sh", "mip run -e 'gaussian_blur kernel=4' a.png\n"),
        ("docs/new.md", "sh", "mip fly\n"),
        ("docs/new.md", "sh", "cargo run --example nothing\n"),
        ("docs/new.md", "sh", "cargo build -p nothing\n"),
        ("docs/new.md", "sh", "cargo run -- demo --speed 3\n"),
        ("docs/new.md", "sh", "bash nothing.sh\n"),
        ("docs/new.md", "sh", "curl -O x\n"),
    ] {
        assert!(check(name, mark, text).is_err(), "{name} {mark} {text}");
    }
}
