//! Results as JUnit XML, which CI systems show.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use super::{Check, Report};

impl Report {
    /// A suite for each section, a test case for each check.
    ///
    /// # Errors
    /// When it cannot be written as XML, in words.
    pub(crate) fn junit(&self) -> Result<String, String> {
        let mut junit = Junit::new(format!("mip validate on {}", self.device_name));
        for checks in self.checks.chunk_by(|a, b| a.section == b.section) {
            let mut suite = TestSuite::new(checks[0].section);
            suite.add_property(("device", self.device_name.as_str()));
            suite.add_property(("version", self.version));
            suite.add_property(("seed", self.seed.to_string().as_str()));
            suite.add_test_cases(checks.iter().map(test_case));
            junit.add_test_suite(suite);
        }
        junit.to_string().map_err(|error| error.to_string())
    }
}

fn test_case(check: &Check) -> TestCase {
    let status = match (&check.outcome.skipped, check.outcome.failures.as_slice()) {
        (_, [first, ..]) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let count = check.outcome.failures.len();
            status.set_message(format!("{count} of {} cases: {first}", check.outcome.cases));
            status.set_description(check.outcome.failures.join("\n"));
            status
        }
        (Some(reason), []) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(reason.as_str());
            status
        }
        (None, []) => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(check.name.as_str(), status);
    case.set_classname(format!("mip.validate.{}", check.section));
    case.set_time(Duration::from_secs_f64(check.elapsed_ms.max(0.0) / 1e3));
    case.set_system_out(format!("{} cases", check.outcome.cases));
    case
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;

    #[test]
    fn a_parser_finds_suites_failures_and_skips() {
        let check =
            |section, name: &str, outcome| Check { section, name: name.into(), outcome, elapsed_ms: 1500.0 };
        let failed = Outcome {
            cases: 3,
            failures: vec!["pixel <3> & \"4\"".to_owned(), "another".to_owned()],
            ..Outcome::default()
        };
        let checks = vec![
            check("operators", "good", Outcome::one(Ok(()))),
            check("operators", "bad", failed),
            check("faults", "left out", Outcome::skip("no such thing")),
        ];
        let info = mini_image_pipe::Device::cpu().info().unwrap();
        let xml = Report::new(&info, 7, checks).junit().unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "testsuites");
        assert_eq!((root.attribute("tests"), root.attribute("failures")), (Some("3"), Some("1")));
        let all = |name: &'static str| root.descendants().filter(move |node| node.has_tag_name(name));
        let suites: Vec<_> = all("testsuite").filter_map(|suite| suite.attribute("name")).collect();
        assert_eq!(suites, ["operators", "faults"]);
        let failure = all("failure").next().unwrap();
        assert_eq!(failure.attribute("message"), Some("2 of 3 cases: pixel <3> & \"4\""));
        assert!(failure.text().unwrap().contains("another"));
        assert_eq!(failure.parent().unwrap().attribute("name"), Some("bad"));
        assert_eq!(failure.parent().unwrap().attribute("time"), Some("1.500"));
        assert_eq!(all("skipped").next().unwrap().attribute("message"), Some("no such thing"));
    }
}
