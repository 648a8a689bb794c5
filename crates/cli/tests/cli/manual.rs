//! Completions and man pages: what other programs read of `mip`.

use std::process::Command;

use crate::support::{Place, Ran};

/// The commands that `mip --help` lists.
fn commands(place: &Place) -> Vec<String> {
    let help = place.ok(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    // What goes on from the line above is further in.
    let begun = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    let names = begun.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_shell_gets_a_script_with_every_command_and_an_option_of_each() {
    let place = Place::new();
    let commands = commands(&place);
    assert!(commands.len() >= 12, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = place.ok(&["completions", shell]).stdout;
        for word in commands.iter().map(String::as_str).chain(["keep-going", "suite", "markdown"]) {
            assert!(script.contains(word), "{shell}: no {word}");
        }
        place.write("script", &script);
        let parsed = Command::new(shell).args(["-n", "script"]).current_dir(place.path("")).output();
        match parsed {
            Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}"),
            // Not every machine has every shell.
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{shell}: {error}"),
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_commands_options_and_values() {
    let place = Place::new();
    let complete = |words: &str, at: usize| {
        let script = format!(
            "eval \"$($MIP completions bash)\"; COMP_WORDS=({words}); COMP_CWORD={at}; _mip mip \
             \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{}]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            at - 1
        );
        let ran = Ran::of(place.shell("exec bash -c \"$SCRIPT\"").env("SCRIPT", script));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words}: {ran:?}");
        ran.lines()
    };
    if Command::new("bash").arg("--version").output().is_err() {
        return; // No bash, nobody to complete for.
    }
    assert_eq!(complete("mip va", 1), ["validate"]);
    assert_eq!(complete("mip ops --mark", 2), ["--markdown"]);
    assert_eq!(complete("mip completions z", 2), ["zsh"]);
}

#[test]
fn a_shell_that_is_not_known_is_refused_with_those_that_are() {
    let place = Place::new();
    place.refused(&["completions", "bahs"], &["bahs", "bash", "zsh", "fish"]);
    place.refused(&["completions"], &["SHELL"]);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let place = Place::new();
    let ran = place.ok(&["man", "man/man1"]);
    let mut expected: Vec<String> = commands(&place).iter().map(|name| format!("mip-{name}.1")).collect();
    expected.push("mip.1".into());
    expected.sort();
    assert_eq!(place.list("man/man1"), expected);
    assert_eq!(ran.lines().len(), expected.len());
    for name in &expected {
        let page = String::from_utf8(place.bytes(&format!("man/man1/{name}"))).unwrap();
        let title = format!(".TH {} 1", name.trim_end_matches(".1"));
        assert!(page.contains(&title) && page.contains(".SH SYNOPSIS"), "{name}: {page}");
        assert!(page.contains(concat!("\"mip ", env!("CARGO_PKG_VERSION"), "\"")), "{name}: {page}");
    }
    let run = String::from_utf8(place.bytes("man/man1/mip-run.1")).unwrap();
    for word in ["keep\\-going", "mip run edges.toml photo.jpg"] {
        assert!(run.contains(word), "{word}: {run}");
    }
    // Again over what is there, as an update does; without a folder the first page is printed.
    let again = place.ok(&["man", "man/man1"]);
    assert_eq!(again.stdout, ran.stdout);
    let printed = place.ok(&["man"]).stdout;
    assert_eq!(printed.trim_end().as_bytes(), place.bytes("man/man1/mip.1").trim_ascii_end());
}

#[cfg(feature = "profiling")]
#[test]
fn the_manual_lists_these_pages() {
    let place = Place::new();
    insta::assert_snapshot!(place.ok(&["man", "pages"]).stdout.replace('\\', "/").trim_end(), @r"
    pages/mip.1
    pages/mip-demo.1
    pages/mip-run.1
    pages/mip-stream.1
    pages/mip-check.1
    pages/mip-plan.1
    pages/mip-ops.1
    pages/mip-formats.1
    pages/mip-devices.1
    pages/mip-warm.1
    pages/mip-bench.1
    pages/mip-validate.1
    pages/mip-profile.1
    pages/mip-completions.1
    pages/mip-man.1
    ");
}

#[test]
fn pages_cannot_go_where_a_file_is() {
    let place = Place::new();
    place.write("file", "kept");
    let ran = place.mip(&["man", "file"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("cannot create the folder file"), "{}", ran.stderr);
    assert_eq!(place.bytes("file"), b"kept");
}
