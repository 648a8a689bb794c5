//! Random graphs of operators that take any image and keep its shape, so that every edge is valid.

use std::fmt::Write as _;

use mip_testkit::images::SplitMix64;

/// A pipeline in one line with up to `tasks` tasks that fork and join at random; every result that nothing
/// consumes is an output.
pub(super) fn line(random: &mut SplitMix64, tasks: u32) -> String {
    let count = 1 + random.below(tasks);
    let mut text = String::new();
    for task in 0..count {
        let source = |random: &mut SplitMix64| match random.below(task + 1) {
            0 => "@input".to_owned(),
            n => format!("t{}", n - 1),
        };
        let (a, b) = (source(random), source(random));
        let call = match random.below(7) {
            0 => format!("blend alpha=0.{} inputs={a},{b}", 1 + random.below(8)),
            1 => format!("gaussian_blur kernel={} inputs={a}", 1 + 2 * random.below(5)),
            2 => format!("gaussian_blur kernel=3 border=wrap sigma=0.{} inputs={a}", 5 + random.below(4)),
            3 => format!("flip direction=both inputs={a}"),
            4 => format!("flip direction=vertical inputs={a}"),
            5 => format!("threshold threshold={} inputs={a}", 20 + random.below(200)),
            _ => format!("flip inputs={a}"),
        };
        let separator = if task == 0 { "" } else { " ! " };
        let _ = write!(text, "{separator}t{task}:{call}");
    }
    text
}
