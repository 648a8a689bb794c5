//! Groups that read parts of an image by something else than a resize.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_plan::{AxisMap, Border, Point};

use super::{GroupCase, IN, MIRROR};

/// crop -> Gaussian 5 -> darker, for several places, each a branch of its own.
pub fn blurred_pieces(
    name: &str,
    input: ImageDesc,
    places: &[(u32, u32)],
    (w, h): (u32, u32),
    border: Border,
) -> GroupCase {
    let mut case = GroupCase::new(name, &[input]);
    for (n, &(left, top)) in places.iter().enumerate() {
        let (x, y) = (AxisMap::Offset { first: left }, AxisMap::Offset { first: top });
        let cropped = case.gather(IN, x, y, w, h);
        let soft = case.gaussian(cropped, 2, border);
        let output = case.desc(soft);
        let factors = [0.5 + n as f32 / 16.0, 1.0].repeat(output.channels());
        case.point(Point::affine(output.format()), &factors, &[soft], output);
        case.stored.push(case.stages.len() - 1);
    }
    case
}

/// Parts of an image that are read by something else than a resize.
pub(super) fn parts(of: &dyn Fn(&str) -> String, rgb: ImageDesc) -> Vec<GroupCase> {
    let (w, h) = (rgb.width(), rgb.height());
    let size = (w.div_ceil(2), h.div_ceil(2));
    let mut all = Vec::new();
    let u16s = rgb.with_dtype(DType::U16).unwrap().with_format(PixelFormat::Gray).unwrap();
    let planes = rgb.with_layout(Layout::Chw);
    let alpha = rgb.with_dtype(DType::F32).unwrap().with_format(PixelFormat::Bgra).unwrap();
    for (name, desc, place, border) in [
        ("part blur", rgb, (w / 3, h / 4), MIRROR),
        ("part blur aligned", rgb, (w / 8 * 4, h / 2), Border::Replicate),
        ("part blur u16", u16s, (w / 2, h / 2), Border::Constant(0.5)),
        ("part blur planes", planes, (w / 3, 0), MIRROR),
        ("part blur alpha", alpha, (w / 8 * 4, h / 3), Border::Reflect),
    ] {
        all.push(blurred_pieces(&of(name), desc, &[place], size, border));
    }
    // A part of a part, and the part itself, which is stored as well: blurred, mixed, and by every second pixel.
    let mut case = GroupCase::new(&of("part of a part"), &[rgb]);
    let offset = |first| AxisMap::Offset { first };
    let outer = case.gather(IN, offset(w / 4), offset(h / 5), size.0, size.1);
    let (ow, oh) = (size.0.div_ceil(2), size.1.div_ceil(2));
    let inner = case.gather(outer, offset(size.0 / 2), offset(size.1 / 3), ow, oh);
    let x = AxisMap::Nearest { input: size.0, output: ow };
    let every = case.gather(outer, x, AxisMap::Nearest { input: size.1, output: oh }, ow, oh);
    let soft = case.gaussian(inner, 1, MIRROR);
    case.point(Point::blend(rgb.format()), &[0.25, 0.75], &[soft, every], rgb.with_size(ow, oh).unwrap());
    all.push(case.storing(&[1, 4]));
    all
}
