use clap::{Args, ValueEnum};
use mip_io::{ReadOptions, ReadWarning, Reader};

use crate::console;
use crate::work::PagesArg;

/// How image files are read, for commands that read some.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadArgs {
    /// Refuse images that are not quite whole (a JPEG without its end marker), and files of several pictures, instead
    /// of warning
    #[arg(long)]
    strict: bool,
}

/// `--decode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecodeArg {
    /// The pixels of libjpeg.
    Cpu,
    /// By nvJPEG; files that it is not for are decoded by the CPU, and counted.
    Gpu,
}

/// [`ReadArgs`] where files may be read picture by picture.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PageArgs {
    /// Pages of TIFF and frames of GIF to read: `all`, one (3), or from A to before B (A..B), counted from 0; results are numbered
    /// [default: the first]
    #[arg(long, value_name = "PAGES")]
    pages: Option<PagesArg>,
    #[command(flatten)]
    read: ReadArgs,
}

impl PageArgs {
    pub(crate) const fn pages(self) -> Option<PagesArg> {
        self.pages
    }

    pub(crate) const fn is_strict(self) -> bool {
        self.read.is_strict()
    }

    pub(crate) const fn options(self, limits: ReadOptions) -> ReadOptions {
        self.read.options(limits)
    }
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
