use std::path::PathBuf;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use mip_core::faults::{self, Fault};
use mip_core::text::quoted_path;

use super::Cli;
use crate::console;
use crate::failure::Failure;
use crate::files::Files;

/// Writes the manual: a page for `mip` and one for each command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip man ~/.local/share/man/man1    # then: man mip-run
  mip man | man -l -")]
pub(crate) struct Args {
    /// Folder for the pages, made if it is not there; without it the page for `mip` goes to stdout
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // `help` says what the pages say.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(dir) = &args.dir else {
        return console::line(page(command)?.1.trim_end());
    };
    let pages = std::iter::once(command.clone()).chain(command.get_subcommands().cloned()).map(page);
    let pages = pages.collect::<Result<Vec<_>, _>>()?;
    faults::check(Fault::Create).and_then(|()| std::fs::create_dir_all(dir)).map_err(|error| {
        let dir = quoted_path(dir);
        Failure::Running(format!(
            "cannot create the folder {dir}: {error}; give another one, as in mip man man1"
        ))
    })?;
    let mut files = Files::default();
    for (name, text) in pages {
        let path = dir.join(name);
        files.create(&path, "DIR")?.write_and_keep(text.as_bytes())?;
        console::path(&path)?;
    }
    Ok(())
}

/// The name of a command's page (`mip-run.1`) and its text in roff.
fn page(command: Command) -> Result<(String, String), Failure> {
    let man = Man::new(command).source(concat!("mip ", env!("CARGO_PKG_VERSION"))).manual("Mini-ImagePipe");
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| Failure::Running(format!("cannot make a page: {error}")))?;
    Ok((man.get_filename(), String::from_utf8_lossy(&text).into_owned()))
}
