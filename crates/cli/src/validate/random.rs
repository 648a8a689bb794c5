//! Random graphs of all operators, so that every edge is valid.

use std::fmt::Write as _;

use mip_core::{DType, ImageDesc};
use mip_graph::{PipelineSpec, check_report};
use mip_testkit::images::SplitMix64;

/// Longest side of a result.
const LONGEST: u32 = 80;

/// A pipeline in one line for images like `input`, with up to `tasks` tasks that fork and join at random; every result
/// that nothing consumes is an output.
///
/// # Errors
/// When what was drawn is no pipeline: a defect.
pub(super) fn line(random: &mut SplitMix64, tasks: u32, input: &ImageDesc) -> Result<String, String> {
    let count = 1 + random.below(tasks);
    let mut text = String::new();
    let mut images = vec![("@input".to_owned(), *input)];
    for task in 0..count {
        let (a, desc) = images[random.below(images.len() as u32) as usize].clone();
        let equals: Vec<&String> = images.iter().filter(|(_, d)| *d == desc).map(|(name, _)| name).collect();
        let b = equals[random.below(equals.len() as u32) as usize];
        let call = call(random, &desc, &a, b);
        let separator = if task == 0 { "" } else { " ! " };
        let _ = write!(text, "{separator}t{task}:{call}");
        images.push((format!("t{task}"), output(&text, task, input)?));
    }
    Ok(text)
}

/// A call of an operator on the image `a`, or on `a` and `b`, which are alike: what depends on the image, and as often one of
/// the registry's examples.
fn call(random: &mut SplitMix64, desc: &ImageDesc, a: &str, b: &str) -> String {
    let one_of =
        |random: &mut SplitMix64, words: &[&str]| words[random.below(words.len() as u32) as usize].to_owned();
    // Sums are taken by few.
    if desc.dtype() == DType::I32 {
        return registered(random, desc, a, b);
    }
    let call = match random.below(14) {
        0 => return format!("blend alpha=0.{} inputs={a},{b}", 1 + random.below(8)),
        1 => format!("gaussian_blur kernel={}", 1 + 2 * random.below(5)),
        2 => format!("gaussian_blur kernel=3 border=wrap sigma=0.{}", 5 + random.below(4)),
        3 => {
            let border = one_of(random, &["reflect", "replicate", "constant"]);
            format!("gaussian_blur kernel={} border={border}", 3 + 2 * random.below(3))
        }
        // It makes gray, which colour spaces have no way to but over rgb.
        4 if !desc.format().is_color_space() => {
            format!("sobel border={}", one_of(random, &["reflect101", "replicate", "constant", "wrap"]))
        }
        5 => {
            let (w, h) = (1 + random.below(desc.width()), 1 + random.below(desc.height()));
            let (x, y) = (random.below(desc.width() - w + 1), random.below(desc.height() - h + 1));
            format!("crop x={x} y={y} width={w} height={h}")
        }
        6 => {
            let (w, h) = match random.below(3) {
                0 => (desc.width().div_ceil(2), desc.height().div_ceil(2)),
                1 => ((2 * desc.width()).div_ceil(3), (2 * desc.height()).div_ceil(3)),
                _ => (1 + random.below(LONGEST), 1 + random.below(LONGEST)),
            };
            let how = one_of(random, &["", "", " filter=nearest", " filter=area", " antialias=true"]);
            format!("resize width={w} height={h}{how}")
        }
        _ => return registered(random, desc, a, b),
    };
    format!("{call} inputs={a}")
}

/// An example of the registry that fits the image.
fn registered(random: &mut SplitMix64, desc: &ImageDesc, a: &str, b: &str) -> String {
    let all = mip_ops::operators();
    loop {
        let spec = all[random.below(all.len() as u32) as usize];
        // Without negative values: a mean of colours by their alphas must stay one.
        let examples = if spec.name == "normalize" { &["std=0.5"] } else { spec.examples };
        let example = examples[random.below(examples.len() as u32) as usize];
        let more = format!(",{b}").repeat(spec.inputs.len() - 1);
        let call = format!("{} {example} inputs={a}{more}", spec.name);
        let sources = format!("inputs=@input{}", ",@input".repeat(spec.inputs.len() - 1));
        let alone = format!("t0:{} {example} {sources}", spec.name);
        // A histogram is wide but has few rows.
        let small = |made: ImageDesc| {
            made.width().max(made.height()) <= LONGEST || (made.width() <= 256 && made.height() <= 3)
        };
        if output(&alone, 0, desc).is_ok_and(small) {
            return call;
        }
    }
}

/// What the last task of a pipeline makes.
fn output(line: &str, task: u32, input: &ImageDesc) -> Result<ImageDesc, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{line}: {error}");
    let graph = PipelineSpec::parse_line(line).and_then(|spec| spec.build()).map_err(|e| wrong(&e))?;
    let report = check_report(&graph, &[*input]).map_err(|e| wrong(&e))?;
    let own = report.iter().find(|report| report.name == format!("t{task}"));
    own.map(|report| report.output).ok_or_else(|| wrong(&"the task is missing"))
}

#[cfg(test)]
mod tests {
    use mip_core::PixelFormat;

    use super::*;

    #[test]
    fn random_graphs_are_valid_and_have_every_operator() {
        let known: Vec<&str> = mip_ops::operators().iter().map(|s| s.name).collect();
        let mut seen = std::collections::BTreeSet::new();
        // Some want images that few tasks make.
        for seed in 0..24_000 {
            let mut random = SplitMix64::new(seed);
            let format = PixelFormat::PICTURES[random.below(5) as usize];
            let desc = ImageDesc::new(1 + random.below(70), 1 + random.below(50), format, DType::U8).unwrap();
            let line = line(&mut random, 12, &desc).unwrap();
            let calls = line.split(" ! ").map(|task| task.split([':', ' ']).nth(1).unwrap().to_owned());
            seen.extend(calls);
            if seen.len() == known.len() {
                break;
            }
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), known);
    }
}
