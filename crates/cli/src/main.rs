//! `mip`: image pipelines from the command line.
//!
//! Each command is one file in `commands`. Results go to stdout, everything else to stderr; exit code 0 is
//! done, 1 something failed while running, 2 the request itself is wrong.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod commands;
mod console;
mod demo;
mod failure;
mod machine;
mod plan;
#[cfg(feature = "profiling")]
mod profile;
mod validate;
mod video;
mod work;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = commands::Cli::parse();
    match cli.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                console::note(format_args!("error: {message}"));
            }
            failure.exit_code()
        }
    }
}
