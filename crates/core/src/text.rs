//! Foreign text on its way to a person: names, files' contents and messages of other programs, of any length and
//! with any characters.
//!
//! By where the text goes: [`quoted`] for a piece inside a message and [`quoted_path`] for a file's name there,
//! [`path`] for a file's name as data, [`printable`] for a whole message that is finished.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Characters of a piece of foreign text that a message repeats.
pub const LONGEST_QUOTE: usize = 160;

/// Characters of a file's name that a message repeats: whole for nearly every file there is.
const LONGEST_PATH: usize = 1000;

/// Blanks that [`padded`] adds at most.
const WIDEST_COLUMN: usize = 400;

/// Whether a terminal or a reader's eye could be led astray by a character: control characters (C0, DEL, C1), marks of
/// writing direction (bidi controls of Unicode's UAX #9), separators of lines and paragraphs, and the byte order mark.
const fn is_unprintable(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let harmless = |c: char| keep(c) || !is_unprintable(c);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if harmless(c) { out.push(c) } else { out.extend(c.escape_default()) }
    }
    Cow::Owned(out)
}

/// A whole text for a terminal: lines and tabs stay, every other control character and mark of writing direction is
/// escaped as in Rust (`\u{1b}`), so that no file's name or contents can move the cursor or hide what is printed.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// A piece of foreign text inside a message: control characters escaped, ends of lines too, and no more than
/// [`LONGEST_QUOTE`] characters, with `...` where some are left out.
pub fn quoted(text: &str) -> Cow<'_, str> {
    cut(text, LONGEST_QUOTE)
}

/// A text on one line: [`printable`], and ends of lines and tabs are escaped as well.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

fn cut(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        None => one_line(text),
        Some((end, _)) => Cow::Owned(format!("{}...", one_line(&text[..end]))),
    }
}

/// A file's name inside a message: [`path`] on one line, and no longer than any name that a file system takes.
pub fn quoted_path(name: &Path) -> String {
    cut(&path(name), LONGEST_PATH).into_owned()
}

/// A file's name as text. Names that are UTF-8 stay as they are. A byte that is not is written `\xNN`, and so is a
/// backslash that would look like the beginning of one: names that differ are texts that differ.
pub fn path(path: &Path) -> Cow<'_, str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let looks_escaped = |rest: &[u8]| matches!(rest, [b'\\', b'x', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
    match path.to_str() {
        Some(text) if !bytes.windows(4).any(looks_escaped) => Cow::Borrowed(text),
        _ => {
            let mut out = String::with_capacity(bytes.len() + 16);
            let mut done = 0;
            for chunk in bytes.utf8_chunks() {
                for (at, c) in chunk.valid().char_indices() {
                    if looks_escaped(&bytes[done + at..]) { out.push_str("\\x5C") } else { out.push(c) }
                }
                for byte in chunk.invalid() {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\x{byte:02X}");
                }
                done += chunk.valid().len() + chunk.invalid().len();
            }
            Cow::Owned(out)
        }
    }
}

/// A cell of a column `width` characters wide: blanks behind the text. Text that is longer stays whole. Unlike a
/// width given to `format!`, which panics above 65,535, any width will do; beyond a few hundred blanks the column is
/// not aligned.
pub fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.chars().count()).min(WIDEST_COLUMN);
    format!("{text}{}", " ".repeat(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_cursor_is_escaped_and_everything_else_stays() {
        assert_eq!(printable("a\x1b[31mb\tc\nd\r\x07\x7f"), "a\\u{1b}[31mb\tc\nd\\r\\u{7}\\u{7f}");
        assert_eq!(printable("\u{9b}2J\u{202e}gnp.exe\u{2066}"), "\\u{9b}2J\\u{202e}gnp.exe\\u{2066}");
        for plain in ["", "übung 日本 שלום \\ 'x' é", "two\nlines\n"] {
            assert!(matches!(printable(plain), Cow::Borrowed(text) if text == plain), "{plain}");
        }
    }

    #[test]
    fn quotes_are_one_line_and_short() {
        assert_eq!(quoted("a\nb"), "a\\nb");
        let long = "é".repeat(LONGEST_QUOTE + 1);
        let shown = quoted(&long);
        assert_eq!(shown.chars().count(), LONGEST_QUOTE + 3);
        assert!(shown.ends_with("é..."));
        assert_eq!(quoted(&"é".repeat(LONGEST_QUOTE)), "é".repeat(LONGEST_QUOTE));
    }

    #[cfg(unix)]
    #[test]
    fn names_that_differ_are_texts_that_differ() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        let text = |bytes: &[u8]| path(Path::new(OsStr::from_bytes(bytes))).into_owned();
        assert_eq!(text("dir/ü.png".as_bytes()), "dir/ü.png");
        assert_eq!(text(b"a\\b\\x.png"), "a\\b\\x.png");
        assert_eq!(text(b"a\xff.png"), "a\\xFF.png");
        assert_eq!(text(b"a\\xFF.png"), "a\\x5CxFF.png");
        assert_eq!(text(b"\xff\\xFF\xfe\xc3"), "\\xFF\\x5CxFF\\xFE\\xC3");
    }

    #[test]
    fn columns_of_any_width() {
        assert_eq!(padded("ab", 4), "ab  ");
        assert_eq!(padded("abcdef", 4), "abcdef");
        assert_eq!(padded("a", 1 << 20).len(), 1 + WIDEST_COLUMN);
    }
}
