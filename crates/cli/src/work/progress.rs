use indicatif::{ProgressBar, ProgressStyle};

/// A bar on stderr when that is a terminal; nothing otherwise.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(total: usize) -> Self {
        // A single picture is done before a bar could be read. `ProgressBar::new` itself hides when stderr
        // is not a terminal.
        let bar = if total > 1 { ProgressBar::new(total as u64) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} images  {per_sec}  {eta} left");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    pub(crate) fn advance(&self) {
        self.0.inc(1);
    }

    /// A line above the bar.
    pub(crate) fn note(&self, text: &str) {
        self.0.suspend(|| crate::console::note(text));
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
