use clap::Args;
use mip_io::{ReadOptions, ReadWarning, Reader};

use crate::console;

/// How image files are read, for commands that read some.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadArgs {
    /// Refuse images that are not quite whole (a JPEG without its end marker), and files of several pictures, instead
    /// of warning
    #[arg(long)]
    strict: bool,
}

impl ReadArgs {
    pub(crate) const fn is_strict(self) -> bool {
        self.strict
    }

    /// These limits, and how strict to be.
    pub(crate) const fn options(self, limits: ReadOptions) -> ReadOptions {
        ReadOptions { strict: self.strict, ..limits }
    }
}

/// Puts what a reader has to warn of on stderr.
pub(crate) fn note_warnings(reader: &mut Reader) {
    reader.take_warnings().iter().for_each(|warning| console::note(warning_line(warning)));
}

/// A warning as stderr shows it.
pub(crate) fn warning_line(warning: &ReadWarning) -> String {
    format!("warning: {warning}")
}
