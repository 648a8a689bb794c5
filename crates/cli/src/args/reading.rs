use std::path::Path;

use clap::Args;
use mip_core::ImageBuffer;
use mip_io::{IoError, ReadOptions, ReadWarning, Reader};

use crate::console;

/// How image files are read, for commands that read some.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadArgs {
    /// Refuse images that are not quite whole (such as a JPEG without its end marker) instead of warning
    #[arg(long)]
    strict: bool,
}

impl ReadArgs {
    pub(crate) fn options(self) -> ReadOptions {
        ReadOptions { strict: self.strict, ..ReadOptions::default() }
    }

    /// Reads one image; warnings go to stderr.
    pub(crate) fn read(self, path: &Path) -> Result<ImageBuffer, IoError> {
        let mut reader = Reader::new(self.options());
        let image = reader.read(path);
        reader.take_warnings().iter().for_each(|warning| console::note(warning_line(warning)));
        image
    }
}

/// A warning as stderr shows it.
pub(crate) fn warning_line(warning: &ReadWarning) -> String {
    format!("warning: {warning}")
}
