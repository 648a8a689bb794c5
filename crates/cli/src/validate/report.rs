use mip_core::text::padded;
use mip_runtime::device::DeviceInfo;
use serde::Serialize;

/// A check that has run.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) section: &'static str,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
    pub(crate) elapsed_ms: f64,
}

/// What a check found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// Comparisons made.
    pub(crate) cases: usize,
    /// One text for each that failed.
    pub(crate) failures: Vec<String>,
    /// Why nothing was compared, where that is so.
    pub(crate) skipped: Option<String>,
    /// What was measured, where not all that counts is right or wrong.
    pub(crate) notes: Vec<String>,
}

/// The whole result.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// As `--device` takes it.
    pub(crate) device: String,
    pub(crate) device_name: String,
    pub(crate) version: &'static str,
    pub(crate) seed: u64,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) cases: usize,
    pub(crate) checks: Vec<Check>,
}

impl Outcome {
    /// One comparison.
    pub(crate) fn one(result: Result<(), String>) -> Self {
        Self { cases: 1, failures: result.err().into_iter().collect(), ..Self::default() }
    }

    /// Nothing compared, and why.
    pub(crate) fn skip(reason: impl Into<String>) -> Self {
        Self { skipped: Some(reason.into()), ..Self::default() }
    }
}

impl Check {
    const fn status(&self) -> &'static str {
        match (&self.outcome.skipped, self.outcome.failures.is_empty()) {
            (Some(_), _) => "skipped",
            (None, true) => "passed",
            (None, false) => "FAILED",
        }
    }
}

impl Report {
    pub(crate) fn new(info: &DeviceInfo, seed: u64, checks: Vec<Check>) -> Self {
        let count = |status: &str| checks.iter().filter(|c| c.status() == status).count();
        let (passed, failed, skipped) = (count("passed"), count("FAILED"), count("skipped"));
        let cases = checks.iter().map(|c| c.outcome.cases).sum();
        Self {
            device: info.id(),
            device_name: info.name.clone(),
            version: env!("CARGO_PKG_VERSION"),
            seed,
            passed,
            failed,
            skipped,
            cases,
            checks,
        }
    }

    /// The table, a line a check, with the first few failures under it.
    pub(crate) fn lines(&self) -> Vec<String> {
        const SHOWN: usize = 3;
        let width = self.checks.iter().map(|c| c.name.len()).max().unwrap_or(0);
        let mut lines = Vec::new();
        for check in &self.checks {
            let Check { section, name, outcome, elapsed_ms } = check;
            let (status, cases) = (check.status(), outcome.cases);
            lines.push(format!(
                "{section:10} {}  {cases:6} cases  {elapsed_ms:9.1} ms  {status}",
                padded(name, width)
            ));
            lines.extend(outcome.skipped.iter().map(|reason| format!("    {reason}")));
            lines.extend(outcome.notes.iter().map(|text| format!("    {text}")));
            lines.extend(outcome.failures.iter().take(SHOWN).map(|text| format!("    {text}")));
            if outcome.failures.len() > SHOWN {
                lines.push(format!("    ... and {} more", outcome.failures.len() - SHOWN));
            }
        }
        lines.push(format!(
            "{} checks passed, {} failed, {} skipped; {} cases on {}; seed {}",
            self.passed, self.failed, self.skipped, self.cases, self.device_name, self.seed
        ));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_skips_show_and_count() {
        let check = |name: &str, outcome| Check { section: "s", name: name.into(), outcome, elapsed_ms: 1.0 };
        let info = mini_image_pipe::Device::cpu().info().unwrap();
        let checks = vec![
            check("good", Outcome::one(Ok(()))),
            check("bad", Outcome::one(Err("pixel 3,4".into()))),
            check("left out", Outcome::skip("no such thing")),
        ];
        let report = Report::new(&info, 7, checks);
        assert_eq!((report.passed, report.failed, report.skipped, report.cases), (1, 1, 1, 2));
        let text = report.lines().join("\n");
        assert!(
            text.contains("pixel 3,4") && text.contains("no such thing") && text.contains("FAILED"),
            "{text}"
        );
    }
}
