//! The commands, one file each. To add one: its file, and its lines here.

mod bench;
mod check;
mod completions;
mod demo;
mod devices;
mod formats;
mod man;
mod ops;
mod plan;
#[cfg(feature = "profiling")]
mod profile;
mod run;
mod stream;
mod validate;
mod warm;

use clap::{Parser, Subcommand};

use crate::failure::Failure;
#[cfg(feature = "profiling")]
pub(crate) use run::{Decoded, Way};
pub(crate) use stream::{FormatArg, interrupted};

/// Runs image-processing pipelines: describe a graph of operators once, run it over any number of images.
///
/// Results go to stdout, everything else to stderr. Exit code 0: done; 1: something failed while running;
/// 2: the request itself is wrong; 128 + n: signal n ended it.
#[derive(Debug, Parser)]
#[command(name = "mip", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Start here:\n  mip demo\n  mip run -e 'color_convert to=gray ! sobel' photo.jpg -o edges.png"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    Run(run::Args),
    Stream(stream::Args),
    Check(check::Args),
    Plan(plan::Args),
    Ops(ops::Args),
    Formats(formats::Args),
    Devices(devices::Args),
    Warm(warm::Args),
    Bench(bench::Args),
    Validate(validate::Args),
    #[cfg(feature = "profiling")]
    Profile(profile::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Whether stdout is to hold a JSON document, whatever happens.
    pub(crate) const fn prints_json(&self) -> bool {
        match self {
            Self::Demo(_) | Self::Check(_) | Self::Completions(_) | Self::Man(_) => false,
            Self::Run(args) => args.json,
            Self::Stream(args) => args.json,
            Self::Plan(args) => args.prints_json(),
            Self::Ops(args) => args.json,
            Self::Formats(args) => args.json,
            Self::Devices(args) => args.json,
            Self::Warm(args) => args.json,
            Self::Bench(args) => args.json,
            Self::Validate(args) => args.json,
            #[cfg(feature = "profiling")]
            Self::Profile(args) => args.json,
        }
    }

    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Demo(args) => demo::run(&args),
            Self::Run(args) => run::run(&args),
            Self::Stream(args) => stream::run(&args),
            Self::Check(args) => check::run(&args),
            Self::Plan(args) => plan::run(&args),
            Self::Ops(args) => ops::run(&args),
            Self::Formats(args) => formats::run(&args),
            Self::Devices(args) => devices::run(&args),
            Self::Warm(args) => warm::run(&args),
            Self::Bench(args) => bench::run(&args),
            Self::Validate(args) => validate::run(&args),
            #[cfg(feature = "profiling")]
            Self::Profile(args) => profile::run(&args),
            Self::Completions(args) => completions::run(&args),
            Self::Man(args) => man::run(&args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_argument_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        let mut cli = Cli::command();
        for command in cli.get_subcommands_mut() {
            let name = command.get_name().to_owned();
            let help = command.render_long_help().to_string();
            let example = format!("  mip {name}");
            assert!(help.contains("Example") && help.contains(&example), "{name} has no example:\n{help}");
        }
    }
}
