use std::fmt;

/// Something about a file that could be read but that a user wants to know. Shows as `NAME: TEXT`.
///
/// [`Reader::take_warnings`](super::Reader::take_warnings) hands them out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadWarning {
    /// The file.
    pub name: String,
    /// What kind of thing it is.
    pub kind: WarningKind,
    /// What was found, and what was done about it.
    pub text: String,
}

/// Kinds of [`ReadWarning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// The file is not quite as its format demands, though its pixels are all there.
    /// [`ReadOptions::strict`](super::ReadOptions::strict) makes it an error.
    Damage,
    /// The pixels are right, but something that came with them was left behind, such as a color profile.
    Loss,
    /// The file holds further pictures: pages, or frames of an animation. The first is read.
    /// [`ReadOptions::strict`](super::ReadOptions::strict) makes it an error.
    Further,
}

impl WarningKind {
    /// Whether strict reading refuses a file for it.
    pub(super) const fn is_refused(self) -> bool {
        match self {
            Self::Damage | Self::Further => true,
            Self::Loss => false,
        }
    }
}

impl fmt::Display for ReadWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.text)
    }
}
