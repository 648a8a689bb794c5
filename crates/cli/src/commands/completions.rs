use clap::{CommandFactory as _, ValueEnum};
use clap_complete::{generate, shells};

use super::Cli;
use crate::console;
use crate::failure::Failure;

/// Prints what makes a shell complete commands, options and their values
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip completions bash > ~/.local/share/bash-completion/completions/mip
  mip completions zsh > ~/.zfunc/_mip        # with fpath+=~/.zfunc before compinit in .zshrc
  mip completions fish > ~/.config/fish/completions/mip.fish")]
pub(crate) struct Args {
    /// Shell to complete in
    shell: Shell,
}

/// Those whose scripts the tests read; each more makes the program larger.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // Into memory first: what writes to stdout must tell a reader that has gone from a disk that is full.
    let mut script = Vec::new();
    let command = &mut Cli::command();
    match args.shell {
        Shell::Bash => generate(shells::Bash, command, "mip", &mut script),
        Shell::Zsh => generate(shells::Zsh, command, "mip", &mut script),
        Shell::Fish => generate(shells::Fish, command, "mip", &mut script),
    }
    console::line(String::from_utf8_lossy(&script).trim_end())
}
