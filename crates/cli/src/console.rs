//! Results go to stdout, everything else to stderr; nothing else in this program prints.

use std::fmt::Display;
use std::io::{Write as _, stderr, stdout};

use serde::Serialize;

use crate::failure::Failure;

/// One line of result.
pub(crate) fn line(text: impl Display) -> Result<(), Failure> {
    Ok(writeln!(stdout().lock(), "{text}")?)
}

/// The command's one JSON document.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|e| Failure::Running(format!("cannot print the result as JSON: {e}")))?;
    line(text)
}

/// One line for the person watching. If stderr is gone there is nobody to tell.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(stderr().lock(), "{text}");
}
