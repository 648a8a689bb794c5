//! Parameters that an operator accepts for an image.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_ops::{OperatorSpec, ParamKind};
use mip_testkit::images::SplitMix64;
use mip_testkit::{Param, Params};

/// Largest side that an operator of a graph may make: pictures stay small, graphs many.
const MAX_SIDE: u32 = 40;

/// Parameters for the image, one set for each `way`. An operator that is not known here gets what it requires, from
/// what its schema says.
pub(crate) fn fitting(spec: &OperatorSpec, way: u32, desc: &ImageDesc) -> Params {
    let mut random = SplitMix64::new(way.into());
    if let Some(line) = known(spec.name, &mut random, desc) {
        return Params::line(&line);
    }
    let required = spec.params.iter().filter(|p| p.required);
    required.fold(Params::new(), |params, p| params.with(p.name, within(p.kind, &mut random)))
}

fn known(op: &str, random: &mut SplitMix64, desc: &ImageDesc) -> Option<String> {
    let mut of = |words: &[&str]| words[random.below(words.len() as u32) as usize].to_owned();
    let middle = desc.dtype.full_scale() * 0.4;
    let borders = ["'reflect101'", "'reflect'", "'replicate'", "'wrap'", "'constant'"];
    Some(match op {
        "resize" => {
            let filter = of(&["'nearest'", "'bilinear'", "'area'", "'bilinear', antialias = true"]);
            let (w, h) = (random.below(MAX_SIDE) + 1, random.below(MAX_SIDE) + 1);
            format!("width = {w}, height = {h}, filter = {filter}")
        }
        "crop" => {
            let (w, h) = (random.below(desc.width) + 1, random.below(desc.height) + 1);
            format!("width = {w}, height = {h}, center = true")
        }
        "color_convert" => format!("to = '{}'", of(&PixelFormat::ALL.map(PixelFormat::name))),
        "gaussian_blur" => {
            let kernel = of(&["3", "5, sigma = 1.1", "9"]);
            format!("kernel = {kernel}, border = {}", of(&borders))
        }
        "sobel" => format!("border = {}", of(&borders)),
        "flip" => format!("direction = {}", of(&["'horizontal'", "'vertical'", "'both'"])),
        "rotate90" => format!("direction = {}", of(&["'cw'", "'ccw'", "'180'"])),
        "warp_affine" => {
            let matrix =
                of(&["[1, 0, 0.5, 0, 1, -2]", "[0.8, -0.6, 3, 0.6, 0.8, -1]", "[3, 0, 0, 1, -2, 9]"]);
            let filter = of(&["'nearest'", "'bilinear'"]);
            format!("matrix = {matrix}, filter = {filter}, border = {}, width = 9", of(&borders))
        }
        "rotate" => {
            let (angle, filter) = (of(&["-90", "12.5", "200"]), of(&["'nearest'", "'bilinear'"]));
            format!("angle = {angle}, filter = {filter}, border = {}", of(&borders))
        }
        "threshold" => format!("threshold = {middle:?}"),
        "normalize" => of(&["", "mean = 0.4, std = 0.25", "scale = 0.5, mean = 1, std = 3"]),
        "cast" => format!("to = '{}'", of(&DType::ALL.map(DType::name))),
        "layout" => format!("to = '{}'", of(&Layout::ALL.map(Layout::name))),
        "point" => format!(
            "expr = '{}'",
            of(&["v * 0.75 + 3", "x = 200 - v; max(x, v / 2)", "v > 90 ? v : sqrt(v)", "clamp(v, 3, 100)"])
        ),
        "blend" => format!("alpha = {}", of(&["0.5", "0.3", "0.875"])),
        _ => return None,
    })
}

/// A small value of that kind.
fn within(kind: ParamKind, random: &mut SplitMix64) -> Param {
    match kind {
        ParamKind::Int { min, max, odd } => {
            let value = max.min(min + i64::from(random.below(8)));
            Param::Int(if odd { value | 1 } else { value })
        }
        ParamKind::Float { min, max, .. } => Param::Float((min + 0.1 + random.next_unit()).min(max)),
        ParamKind::Numbers { count, max } => {
            Param::List((0..count).map(|_| (4.0 * random.next_unit() - 2.0).clamp(-max, max)).collect())
        }
        ParamKind::PerChannel { min, max, .. } => {
            Param::List(vec![(min.max(0.0) + 0.1 + random.next_unit()).min(max)])
        }
        ParamKind::Bool => Param::Bool(random.below(2) == 1),
        ParamKind::Text { .. } => Param::Text("v".to_owned()),
        ParamKind::Choice { words } => {
            Param::Text(words[random.below(words.len() as u32) as usize].to_owned())
        }
    }
}
