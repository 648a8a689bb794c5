//! Results go to stdout, everything else to stderr; nothing else in this program prints.
//!
//! What people read is made harmless here, once for all: names and contents of files may hold control characters, and
//! other programs' messages may be of any length. JSON is for programs and keeps every character.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{Write as _, stderr, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use mip_core::text::{self, printable};
use serde::Serialize;

use crate::failure::Failure;

/// Version of all JSON documents. It grows when a key changes its meaning or goes.
pub(crate) const SCHEMA: u32 = 1;

/// Bytes of a note; messages of compilers and drivers may be longer than anybody reads.
const LONGEST_NOTE: usize = 8000;

/// A JSON document as printed.
#[derive(Serialize)]
struct Document<'a, T: ?Sized> {
    schema: u32,
    #[serde(flatten)]
    contents: &'a T,
}

/// What `--json` prints when there is nothing but a failure.
#[derive(Serialize)]
struct Error<'a> {
    error: &'a str,
    exit_code: u8,
}

/// One or more lines of result.
pub(crate) fn line(text: impl Display) -> Result<(), Failure> {
    print(&printable(&text.to_string()))
}

/// The name of a file as a line of result.
pub(crate) fn path(name: &Path) -> Result<(), Failure> {
    print(&text::one_line(&text::path(name)))
}

/// Whether the JSON document has been begun.
static DOCUMENT: AtomicBool = AtomicBool::new(false);

/// The command's one JSON document, an object, with the number `schema` in front. A second one (a signal comes while the
/// result is printed, or the other way round) is not printed.
pub(crate) fn json(contents: &(impl Serialize + ?Sized)) -> Result<(), Failure> {
    if DOCUMENT.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    foreign_json(&Document { schema: SCHEMA, contents })
}

/// JSON whose form others have defined.
pub(crate) fn foreign_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|e| Failure::Running(format!("cannot print the result as JSON: {e}")))?;
    print(&text)
}

/// The document of a command that failed before it had another one to print.
pub(crate) fn json_error(error: &str, exit_code: u8) -> Result<(), Failure> {
    json(&Error { error, exit_code })
}

/// What was printed has arrived. To be called before the program ends: what is lost after that, nobody hears of.
pub(crate) fn finish() -> Result<(), Failure> {
    Ok(stdout().lock().flush()?)
}

/// One line for the person watching. If stderr is gone there is nobody to tell.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(stderr().lock(), "{}", shortened(&printable(&text.to_string())));
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout().lock(), "{text}")?)
}

/// Beginning and end of a text that is too long.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_NOTE {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(LONGEST_NOTE * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - LONGEST_NOTE / 8);
    Cow::Owned(format!("{}\n... ({} bytes left out)\n{}", &text[..head], tail - head, &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_notes_keep_their_ends() {
        assert_eq!(shortened("short"), "short");
        let long = format!("begin{}end", "é".repeat(20_000));
        let note = shortened(&long);
        assert!(note.len() < LONGEST_NOTE, "{}", note.len());
        assert!(note.starts_with("begin") && note.ends_with("end") && note.contains("bytes left out"));
    }
}
