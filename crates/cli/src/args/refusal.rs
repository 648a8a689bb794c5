use std::ffi::OsString;
use std::io::{IsTerminal as _, stdout};

use clap::error::ErrorKind;

use crate::console;
use crate::failure::Failure;

/// What to do when the command line is not a command to run: prints the help or version that was asked for, or
/// tells what is wrong. Also whether the answer is to be JSON.
pub(crate) fn refused(error: &clap::Error) -> (bool, Result<(), Failure>) {
    if !error.use_stderr() {
        // Help and version are our own text: colours do no harm.
        let text = error.render();
        let printed = if stdout().is_terminal() {
            error.print().map_err(Failure::from)
        } else {
            console::line(text.to_string().trim_end())
        };
        return (false, printed);
    }
    let text = error.render().to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        console::note(text.trim_end());
        return (false, Err(Failure::Reported(2)));
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned();
    (asks_for_json(std::env::args_os().skip(1)), Err(Failure::Request(text)))
}

/// Whether a command line that could not be understood asks for JSON all the same.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let options: Vec<OsString> = arguments.take_while(|argument| argument != "--").collect();
    let format = |pair: &[OsString]| pair[0] == "--format" && pair[1] == "json";
    options.iter().any(|option| option == "--json" || option == "--format=json")
        || options.windows(2).any(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_asked_for_in_two_ways() {
        let asks = |line: &str| asks_for_json(line.split(' ').map(OsString::from));
        assert!(asks("run --json --bad") && asks("plan --format json") && asks("plan --format=json"));
        assert!(!asks("run -- --json") && !asks("run json --format png") && !asks("plan --format"));
    }
}
