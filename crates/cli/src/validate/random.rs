//! Random graphs of all operators, so that every edge is valid.

use std::fmt::Write as _;

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
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

/// A call of an operator on the image `a`, or on `a` and `b`, which are alike.
fn call(random: &mut SplitMix64, desc: &ImageDesc, a: &str, b: &str) -> String {
    let one_of =
        |random: &mut SplitMix64, words: &[&str]| words[random.below(words.len() as u32) as usize].to_owned();
    let call = match random.below(19) {
        0 | 1 => return format!("blend alpha=0.{} inputs={a},{b}", 1 + random.below(8)),
        2 => format!("gaussian_blur kernel={}", 1 + 2 * random.below(5)),
        3 => format!("gaussian_blur kernel=3 border=wrap sigma=0.{}", 5 + random.below(4)),
        4 => {
            let border = one_of(random, &["reflect", "replicate", "constant"]);
            format!("gaussian_blur kernel={} border={border}", 3 + 2 * random.below(3))
        }
        5 => format!("flip direction={}", one_of(random, &["horizontal", "vertical", "both"])),
        6 => {
            let tenths = 1 + random.below(9);
            let scale = if desc.dtype == DType::F32 { 0.1 } else { 23.0 };
            format!("threshold threshold={}", f64::from(tenths) * scale)
        }
        7 => format!("sobel border={}", one_of(random, &["reflect101", "replicate", "constant", "wrap"])),
        8 => format!("color_convert to={}", PixelFormat::ALL[random.below(5) as usize]),
        9 => {
            let (w, h) = (1 + random.below(desc.width), 1 + random.below(desc.height));
            let (x, y) = (random.below(desc.width - w + 1), random.below(desc.height - h + 1));
            format!("crop x={x} y={y} width={w} height={h}")
        }
        10 | 11 => {
            let (w, h) = match random.below(3) {
                0 => (desc.width.div_ceil(2), desc.height.div_ceil(2)),
                1 => ((2 * desc.width).div_ceil(3), (2 * desc.height).div_ceil(3)),
                _ => (1 + random.below(LONGEST), 1 + random.below(LONGEST)),
            };
            let how = one_of(random, &["", "", " filter=nearest", " filter=area", " antialias=true"]);
            format!("resize width={w} height={h}{how}")
        }
        // Without negative values: a mean of colours by their alphas must stay one.
        12 if random.below(2) == 0 => "normalize std=0.5".to_owned(),
        12 => format!("cast to={}", DType::ALL[random.below(3) as usize]),
        14 => {
            let texts = ["v * 0.75 + 2", "x = v / 2; x > 40 ? x : v", "min(v, 200) / 3"];
            format!("point expr=\"{}\"", one_of(random, &texts))
        }
        15 => format!("rotate90 direction={}", one_of(random, &["cw", "ccw", "180"])),
        16 => "transpose".to_owned(),
        17 => {
            let matrix = one_of(random, &["[0.8,-0.6,3,0.6,0.8,-2]", "[1,0.25,0,0,1.5,0.5]"]);
            let border = one_of(random, &["reflect101", "wrap", "constant"]);
            format!("warp_affine matrix={matrix} border={border}")
        }
        18 => {
            let filter = one_of(random, &["nearest", "bilinear"]);
            format!("rotate angle={} filter={filter}", random.below(360))
        }
        _ => format!("layout to={}", Layout::ALL[random.below(2) as usize]),
    };
    format!("{call} inputs={a}")
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
    use super::*;

    #[test]
    fn random_graphs_are_valid_and_have_every_operator() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let format = PixelFormat::ALL[random.below(5) as usize];
            let desc = ImageDesc::new(1 + random.below(70), 1 + random.below(50), format, DType::U8).unwrap();
            let line = line(&mut random, 12, &desc).unwrap();
            let calls = line.split(" ! ").map(|task| task.split([':', ' ']).nth(1).unwrap().to_owned());
            seen.extend(calls);
        }
        let known: Vec<&str> = mip_ops::operators().iter().map(|s| s.name).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), known);
    }
}
