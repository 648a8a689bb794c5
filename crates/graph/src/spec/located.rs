use std::cell::Cell;
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

/// Finds positions in a text. Each costs as much as its distance from the one asked for before, so that reading
/// a long text from one end to the other stays linear.
pub(super) struct Places<'t> {
    text: &'t str,
    last: Cell<(usize, Position)>,
}

impl<'t> Places<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, last: Cell::new((0, Position { line: 1, column: 1 })) }
    }

    /// The position of a byte offset. Offsets beyond the text or inside a character count as just before.
    pub(super) fn of(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let (known, Position { line, column }) = self.last.get();
        let between = &self.text[offset.min(known)..offset.max(known)];
        let lines = between.bytes().filter(|&b| b == b'\n').count();
        let position = if lines == 0 {
            let characters = between.chars().count();
            Position { line, column: if offset >= known { column + characters } else { column - characters } }
        } else {
            let before = &self.text[..offset];
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            let line = if offset >= known { line + lines } else { line - lines };
            Position { line, column: before[line_start..].chars().count() + 1 }
        };
        self.last.set((offset, position));
        position
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
        let expected = [(0, "1:1"), (2, "1:3"), (3, "2:1"), (4, "2:1"), (5, "2:2"), (99, "3:1")];
        // From every place to every other, forwards and backwards.
        for from in expected {
            for to in expected {
                let places = Places::new(text);
                assert_eq!([from, to].map(|(offset, _)| places.of(offset).to_string()), [from.1, to.1]);
            }
        }
    }
}
