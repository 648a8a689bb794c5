use std::path::{Path, PathBuf};

use mip_core::text::quoted_path;

use crate::failure::Failure;

/// Names of numbered files: `frames/%05d.png`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbered {
    folder: PathBuf,
    before: String,
    digits: usize,
    after: String,
}

impl Numbered {
    /// What a path with `%d` or `%05d` in its name stands for; `None` for others.
    pub(crate) fn parse(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (before, rest) = name.split_once('%')?;
        let (digits, after) = rest.split_once('d')?;
        let digits = match digits {
            "" => 0,
            digits => digits.strip_prefix('0')?.parse().ok().filter(|digits| (1..=18).contains(digits))?,
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Some(Self { folder, before: before.to_owned(), digits, after: after.to_owned() })
    }

    /// Names of numbers and nothing else: `00000.png`.
    pub(crate) fn within(folder: &Path, extension: &str) -> Self {
        Self { folder: folder.to_owned(), before: String::new(), digits: 5, after: format!(".{extension}") }
    }

    /// The name of a number; of one of several results with the name of its task before the extension.
    pub(crate) fn path(&self, number: u64, task: Option<&str>) -> PathBuf {
        let Self { folder, before, digits, after } = self;
        let (after, extension) = after.rsplit_once('.').map_or((after.as_str(), ""), |(a, b)| (a, b));
        let task = task.map_or_else(String::new, |task| format!(".{task}"));
        folder.join(format!("{before}{number:0digits$}{after}{task}.{extension}"))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of such names, in the order of their numbers, whichever numbers there are.
    ///
    /// # Errors
    /// When there are none, or the folder cannot be read.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let unreadable = |error: std::io::Error| {
            Failure::Request(format!("the folder {} cannot be read: {error}", quoted_path(folder)))
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            if let Some(number) = name.to_str().and_then(|name| self.number(name)) {
                files.push((number, self.folder.join(name)));
            }
        }
        files.sort();
        if files.is_empty() {
            let name =
                quoted_path(&self.folder.join(format!("{}%0{}d{}", self.before, self.digits, self.after)));
            return Err(Failure::Request(format!("no file has a name like {name}")));
        }
        Ok(files.into_iter().map(|(_, path)| path).collect())
    }

    fn number(&self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        // As they are written: no more zeros in front than asked for.
        let right =
            digits.len() == self.digits.max(1) || digits.len() > self.digits && !digits.starts_with('0');
        if whole && right { digits.parse().ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_place_of_the_pattern() {
        let parse = |text: &str| Numbered::parse(Path::new(text));
        let numbered = parse("a/x-%03d.png").unwrap();
        assert_eq!(numbered.path(7, None), Path::new("a/x-007.png"));
        assert_eq!(numbered.path(12_345, Some("t")), Path::new("a/x-12345.t.png"));
        assert_eq!(Numbered::within(Path::new("o"), "jpg").path(3, None), Path::new("o/00003.jpg"));
        assert_eq!(
            ["x-007.png", "x-07.png", "x-1234.png", "x-0123.png", "x-a.png"].map(|n| numbered.number(n)),
            [Some(7), None, Some(1234), None, None]
        );
        let plain = parse("%d.png").unwrap();
        assert_eq!(
            ["0.png", "10.png", "01.png", ".png"].map(|n| plain.number(n)),
            [Some(0), Some(10), None, None]
        );
        assert!(["a.png", "a%5d.png", "a%x.png", "100%.png"].iter().all(|text| parse(text).is_none()));
    }

    #[test]
    fn files_come_in_the_order_of_their_numbers() {
        let place = tempfile::tempdir().unwrap();
        for name in ["10.png", "9.png", "x.png"] {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let numbered = Numbered::parse(&place.path().join("%d.png")).unwrap();
        let names: Vec<_> =
            numbered.files().unwrap().iter().map(|f| f.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["9.png", "10.png"]);
        let none = Numbered::parse(&place.path().join("y%02d.png")).unwrap().files().unwrap_err();
        assert!(none.message().unwrap().contains("y%02d.png"), "{none:?}");
    }
}
