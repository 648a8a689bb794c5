use std::fmt;
use std::ops::Deref;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Position {
    /// The position of a byte offset. Offsets beyond the text or inside a character count as just before.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        Self { line, column: before[line_start..].chars().count() + 1 }
    }
}

/// A value and where it stands in the text it was read from, if it was. The place does not count for equality.
#[derive(Debug, Clone, Copy)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub at: Option<Position>,
}

impl<T> Located<T> {
    pub(super) const fn new(value: T, at: Position) -> Self {
        Self { value, at: Some(at) }
    }
}

impl<T: PartialEq> PartialEq for Located<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> From<T> for Located<T> {
    fn from(value: T) -> Self {
        Self { value, at: None }
    }
}

impl From<&str> for Located<String> {
    fn from(value: &str) -> Self {
        value.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_start_anew() {
        let text = "ab\nü=x\n";
        let at = |offset| Position::of(text, offset).to_string();
        assert_eq!([at(0), at(2), at(3), at(4), at(5), at(99)], ["1:1", "1:3", "2:1", "2:1", "2:2", "3:1"]);
    }
}
