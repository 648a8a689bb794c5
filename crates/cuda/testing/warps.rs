//! Warps among the cases.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_plan::{
    AxisMap, Border, Coordinates, CropFilter, Crops, Interpolation, Kernel, MapUnit, Sampled, Warp,
};

use super::{Case, same};

/// Columns that become rows.
pub(super) fn transposed(cases: &mut Vec<Case>, image: ImageDesc) {
    let (w, h) = (image.width(), image.height());
    let flip = |n: u32| AxisMap::Flip { last: n - 1 };
    let whole = AxisMap::Offset { first: 0 };
    let mut add = |name: &str, x, y, (ow, oh)| {
        let output = image.with_size(ow, oh).unwrap();
        cases.push(Case { output, ..same(name, Kernel::Warp(Warp::Transposed { x, y }), &[], image) });
    };
    add("transpose", whole, whole, (h, w));
    add("turn cw", whole, flip(h), (h, w));
    add("turn ccw", flip(w), whole, (h, w));
    let (left, top) = (AxisMap::Offset { first: w / 3 }, AxisMap::Offset { first: h / 4 });
    add("transpose part", left, top, ((h - h / 4).div_ceil(2), (w - w / 3).div_ceil(2)));
    let (ow, oh) = (h + h / 2 + 1, w.div_ceil(2));
    let x = AxisMap::Nearest { input: w, output: oh };
    add("transpose nearest", x, AxisMap::Nearest { input: h, output: ow }, (ow, oh));
}

/// Turned and enlarged, and with a horizon; far outside and between pixels.
pub(super) fn sampled(cases: &mut Vec<Case>, image: ImageDesc) {
    const AFFINE: [f32; 6] = [0.87, -0.5, 4.3, 0.5, 0.87, -2.1];
    const PROJECTIVE: [f32; 9] = [1.1, 0.2, -1.0, 0.1, 0.9, 0.5, 0.05, -0.04, 0.8];
    const CAMERAS: [f32; 8] = [0.07, -0.9, 0.09, -0.8, 15.0, 12.5, 12.0, 9.25];
    const BROWN: [f32; 12] = [-0.3, 0.1, 0.01, -0.02, 0.03, 0.2, -0.05, 0.01, 0.02, -0.01, 0.03, 0.005];
    let (affine, projective) = (Coordinates::Affine, Coordinates::Projective);
    let output = image.with_size(image.width().div_ceil(2) + 3, image.height() + 1).unwrap();
    let full = image.dtype().full_scale() as f32;
    for (coordinates, interpolation, border) in [
        (affine, Interpolation::Bilinear, Border::Constant(0.0)),
        (affine, Interpolation::Nearest, Border::Reflect101),
        (affine, Interpolation::Bilinear, Border::Reflect),
        (projective, Interpolation::Bilinear, Border::Wrap),
        (projective, Interpolation::Bilinear, Border::Replicate),
        (projective, Interpolation::Nearest, Border::Constant(full * 0.3 + 0.25)),
        (affine, Interpolation::Bicubic, Border::Constant(full * 0.3 + 0.25)),
        (Coordinates::Brown, Interpolation::Bilinear, Border::Reflect101),
        (Coordinates::Fisheye, Interpolation::Bicubic, Border::Wrap),
        (Coordinates::Map(MapUnit::Absolute), Interpolation::Bilinear, Border::Constant(full)),
        (Coordinates::Map(MapUnit::Normalized), Interpolation::Bicubic, Border::Replicate),
        (Coordinates::Map(MapUnit::Relative), Interpolation::Nearest, Border::Reflect),
    ] {
        let kernel = Kernel::Warp(Warp::Sampled(Sampled { coordinates, interpolation, border }));
        let values = match coordinates {
            Coordinates::Affine => AFFINE.to_vec(),
            Coordinates::Projective => PROJECTIVE.to_vec(),
            Coordinates::Brown => [&CAMERAS[..], &BROWN].concat(),
            Coordinates::Fisheye => [&CAMERAS[..], &BROWN[..4]].concat(),
            Coordinates::Map(_) => Vec::new(),
        };
        let name = format!("warp {coordinates:?} {interpolation:?} {border:?}");
        let map = output.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F32).unwrap();
        let maps = [map, map.with_layout(Layout::Chw)];
        let mut case = Case { output, ..same(&name, kernel, &values, image) };
        case.inputs.extend(&maps[..coordinates.map_count()]);
        cases.push(case);
    }
}

/// Two boxes in cells of other sizes, whose numbers are as random as all others. (Where they are not, boxes lie in the image.)
pub(super) fn crops(cases: &mut Vec<Case>, image: ImageDesc) {
    let boxes = ImageDesc::new(5, 3, PixelFormat::Gray, DType::F32).unwrap();
    for (filter, width, rows) in [(CropFilter::Nearest, 9, 4), (CropFilter::Bilinear, 35, 7)] {
        let output = image.with_size(width, 2 * rows).unwrap();
        let kernel = Kernel::Warp(Warp::Crops(Crops { rows, filter }));
        let mut case = Case { output, ..same(&format!("crops {filter:?}"), kernel, &[], image) };
        case.inputs.push(boxes);
        cases.push(case);
    }
}
