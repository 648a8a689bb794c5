//! Tells the program which commit it was built from: `MIP_COMMIT` if that is set, else what git says.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=MIP_COMMIT");
    // The log of HEAD is written by every commit and every switch of branches.
    let log = Path::new("../../.git/logs/HEAD");
    println!("cargo::rerun-if-changed={}", if log.exists() { "../../.git/logs/HEAD" } else { "build.rs" });
    let commit = std::env::var("MIP_COMMIT").ok().or_else(commit);
    if let Some(commit) = commit {
        println!("cargo::rustc-env=MIP_COMMIT={commit}");
    }
}

fn commit() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
