//! `mip`: image pipelines from the command line.
//!
//! Each command is one file in `commands`. Results go to stdout, everything else to stderr; exit code 0 is
//! done, 1 something failed while running, 2 the request itself is wrong, 128 + n signal n ended it.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod commands;
mod console;
mod demo;
mod devices;
mod failure;
mod ffmpeg;
mod files;
mod interrupt;
mod machine;
mod plan;
#[cfg(feature = "profiling")]
mod profile;
mod stages;
mod validate;
mod video;
mod work;

use std::process::ExitCode;

use clap::Parser as _;
use failure::Failure;

fn main() -> ExitCode {
    interrupt::listen();
    let (json, result) = match commands::Cli::try_parse() {
        Ok(cli) => (cli.command.prints_json(), cli.command.run()),
        Err(error) => args::refused(&error),
    };
    let result = result.and_then(|()| console::finish());
    let Err(failure) = result else { return ended(0) };
    if let Some(message) = failure.message() {
        // When stdout cannot be written to, neither can this; stderr says so.
        if json && !matches!(failure, Failure::Stdout(_)) {
            let _ = console::json_error(message, failure.code()).and_then(|()| console::finish());
        }
        console::note(format_args!("error: {message}"));
    }
    ended(failure.code())
}

/// The end of the program, without waiting for a GPU that is still being opened or compiled for: all is done, and what C's
/// `exit` runs would take the driver away from that thread.
fn ended(code: u8) -> ExitCode {
    if mini_image_pipe::devices_starting() > 0 {
        signal_hook::low_level::exit(code.into());
    }
    ExitCode::from(code)
}
