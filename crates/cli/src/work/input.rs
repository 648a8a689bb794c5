use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use mip_io::{input_name, is_stdin};

use super::Limits;
use crate::failure::Failure;

/// A picture that a run works on: a file, or one of its pages or frames.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// Where pages were asked for.
    pub(crate) page: Option<PageOf>,
    /// Inputs of one number are decoded by one thread, for they are one file.
    pub(super) lane: usize,
}

/// A page among those of its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOf {
    /// Counted from 0.
    pub(crate) number: u64,
    /// Whether the file has others.
    several: bool,
    /// How long it is shown, where the file says so.
    pub(crate) delay: Option<Duration>,
}

/// `--pages`: from the first to before the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PagesArg {
    from: u64,
    to: Option<u64>,
}

impl FromStr for PagesArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is neither `all`, a number from 0 on, nor A..B, A.. or ..B");
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        if text == "all" {
            return Ok(Self { from: 0, to: None });
        }
        let Some((from, to)) = text.split_once("..") else {
            let page = number(text)?;
            return Ok(Self { from: page, to: Some(page.checked_add(1).ok_or_else(wrong)?) });
        };
        if from.is_empty() && to.is_empty() {
            return Err(wrong());
        }
        let from = if from.is_empty() { 0 } else { number(from)? };
        let to = if to.is_empty() { None } else { Some(number(to)?) };
        match to {
            Some(to) if to <= from => Err(format!("'{text}' is no page: the end is not among them")),
            _ => Ok(Self { from, to }),
        }
    }
}

impl Input {
    /// Files as they are, of which the first picture is read.
    pub(crate) fn whole(files: &[PathBuf]) -> Vec<Self> {
        let whole = |(lane, path): (usize, &PathBuf)| Self { path: path.clone(), page: None, lane };
        files.iter().enumerate().map(whole).collect()
    }

    /// The pages of files, in their order. A file that cannot be looked at stays an input, which then fails.
    pub(crate) fn pages(files: &[PathBuf], pages: PagesArg, limits: &Limits) -> Result<Vec<Self>, Failure> {
        if files.iter().any(|file| is_stdin(file)) {
            let text = "--pages looks at a file twice, which stdin cannot be; name a file";
            return Err(Failure::Request(text.to_owned()));
        }
        let mut reader = limits.reader();
        let mut inputs = Vec::new();
        for (lane, path) in files.iter().enumerate() {
            let all = reader.pages(path).unwrap_or_default();
            let page = |number: u64, delay| {
                let page = Some(PageOf { number, several: all.len() > 1, delay });
                Self { path: path.clone(), page, lane }
            };
            let picked = (0_u64..)
                .zip(&all)
                .filter(|(number, _)| *number >= pages.from && pages.to.is_none_or(|to| *number < to));
            let before = inputs.len();
            inputs.extend(picked.map(|(number, found)| page(number, found.delay)));
            if inputs.len() == before {
                inputs.push(page(pages.from, None));
            }
        }
        Ok(inputs)
    }

    /// How it is called in messages and reports: `scan.tif[3]`.
    pub(crate) fn name(&self) -> String {
        let file = input_name(&self.path);
        match self.page {
            Some(PageOf { number, several: true, .. }) => format!("{file}[{number}]"),
            _ => file,
        }
    }

    /// What is added to the names of its results: `-00003`.
    pub(super) fn suffix(&self) -> Option<String> {
        self.page.filter(|page| page.several).map(|page| format!("-{:05}", page.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_their_names() {
        assert_eq!("all".parse(), Ok(PagesArg { from: 0, to: None }));
        assert_eq!("3".parse(), Ok(PagesArg { from: 3, to: Some(4) }));
        assert_eq!("2..5".parse(), Ok(PagesArg { from: 2, to: Some(5) }));
        assert_eq!("..5".parse(), Ok(PagesArg { from: 0, to: Some(5) }));
        for wrong in ["", "..", "-1", "x", "3..3", "18446744073709551615", "1...2"] {
            assert!(wrong.parse::<PagesArg>().is_err(), "{wrong}");
        }
        let page = |several| PageOf { number: 7, several, delay: None };
        let input = |page| Input { path: "a/scan.tif".into(), page, lane: 0 };
        assert_eq!(input(Some(page(true))).name(), "a/scan.tif[7]");
        assert_eq!(input(Some(page(true))).suffix().unwrap(), "-00007");
        assert_eq!(input(Some(page(false))).name(), "a/scan.tif");
        assert_eq!(input(None).suffix(), None);
    }
}
