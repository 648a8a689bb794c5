//! Every kernel, dtype, format, layout and awkward size: portable = native = reference.

use std::sync::Arc;

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_cpu::SimdLevel;
use mip_ops::Operator as _;
use mip_plan::{
    AxisMap, AxisTaps, Border, Coordinates, Gather, Interpolation, Kernel, MapUnit, Operand, Point, Resample,
    Sampled, Separable, Stencil, Warp,
};

use crate::images::{Random, TestImage};
use crate::plans::{config, plan, run, stage};
use crate::reference::{self, area, bilinear};

const SIZES: [(u32, u32); 11] =
    [(1, 1), (1, 9), (9, 1), (2, 2), (3, 5), (5, 2), (15, 4), (16, 3), (17, 33), (31, 6), (33, 7)];

const BORDERS: [Border; 6] = [
    Border::Reflect101,
    Border::Reflect,
    Border::Replicate,
    Border::Wrap,
    Border::Constant(7.0),
    Border::Constant(0.3),
];

/// Runs `f` for every size, format, dtype of pictures and layout.
fn each_image(f: impl FnMut(ImageDesc)) {
    each_image_of(&DType::PICTURES, f);
}

/// The same for i32 too.
fn each_image_or_sums(f: impl FnMut(ImageDesc)) {
    each_image_of(&DType::ALL, f);
}

fn each_image_of(dtypes: &[DType], mut f: impl FnMut(ImageDesc)) {
    for (width, height) in SIZES {
        for format in PixelFormat::PICTURES {
            for &dtype in dtypes {
                for layout in Layout::ALL {
                    f(ImageDesc::new(width, height, format, dtype).unwrap().with_layout(layout));
                }
            }
        }
    }
}

/// Runs one kernel on random images and compares with the reference at each level.
pub(crate) fn check(kernel: &Kernel, uniforms: &[f32], inputs: &[ImageDesc], output: ImageDesc) {
    let operands: Vec<Operand> = (0..inputs.len()).map(Operand::Buffer).collect();
    let plan = plan(inputs, vec![stage(kernel.clone(), uniforms, &operands, output)], &[0]);
    for not_finite in [false, true] {
        if not_finite && inputs.iter().all(|desc| !desc.dtype().is_float()) {
            continue;
        }
        let image = |(i, &desc): (usize, &ImageDesc)| {
            let seed = u64::from(desc.width()) * 31 + i as u64;
            let image = TestImage::random(desc, 1, true, seed);
            if not_finite { image.not_finite(seed) } else { image }
        };
        let images: Vec<TestImage> = inputs.iter().enumerate().map(image).collect();
        let images: Vec<&TestImage> = images.iter().collect();
        let expected = &reference::run(&plan, &images)[0];
        for simd in [SimdLevel::Portable, SimdLevel::Native] {
            let result = &run(&plan, &images, &config(1, simd))[0];
            assert!(
                if not_finite { result.is(expected) } else { result.bytes() == expected.bytes() },
                "{kernel:?} {uniforms:?} of {inputs:?} to {output} on {simd:?}, not finite: {not_finite}"
            );
        }
    }
}

#[test]
fn copy_and_color_convert() {
    each_image_or_sums(|input| {
        for layout in Layout::ALL {
            check(&Kernel::Point(Point::copy()), &[], &[input], input.with_layout(layout));
            for format in PixelFormat::PICTURES {
                let output = input.with_layout(layout).with_format(format).unwrap();
                let convert = Point::convert(input.format(), format, input.dtype());
                check(&Kernel::Point(convert), &[], &[input], output);
            }
        }
    });
}

#[test]
fn affine_between_all_types_and_orders() {
    each_image_or_sums(|input| {
        let c = input.channels();
        for dtype in DType::ALL {
            let full = (dtype.full_scale() / input.dtype().full_scale()) as f32;
            let pair = |i: usize| [full * (1.0 + 0.37 * i as f32), full * (3.0 - 5.1 * i as f32)];
            let pairs: Vec<f32> = (0..c).flat_map(pair).collect();
            for layout in Layout::ALL {
                let output = input.with_layout(layout).with_dtype(dtype).unwrap();
                check(&Kernel::Point(Point::affine(input.format())), &pairs, &[input], output);
            }
        }
    });
}

#[test]
fn threshold_and_blend() {
    each_image_or_sums(|input| {
        let full = input.dtype().full_scale() as f32;
        for layout in Layout::ALL {
            let output = input.with_layout(layout);
            let threshold = [full * 0.4, full * 0.9];
            check(&Kernel::Point(Point::threshold()), &threshold, &[input], output);
            let other = input.with_layout(if input.width() % 2 == 0 { layout } else { input.layout() });
            let blend = Kernel::Point(Point::blend(input.format()));
            check(&blend, &[0.7, 0.3], &[input, other], output);
            check(&blend, &[-0.7, 1.5], &[input, input], output);
        }
    });
}

#[test]
fn gather() {
    each_image_or_sums(|input| {
        let (w, h) = (input.width(), input.height());
        let cropped = input.with_size(w.div_ceil(2), h.div_ceil(2)).unwrap();
        let offset = |first| AxisMap::Offset { first };
        let flip = |last| AxisMap::Flip { last };
        check(&Kernel::Gather(Gather { x: offset(w / 2), y: offset(h / 2) }), &[], &[input], cropped);
        check(&Kernel::Gather(Gather { x: flip(w - 1), y: flip(h - 1) }), &[], &[input], input);
        check(&Kernel::Gather(Gather { x: flip(w - 1), y: offset(0) }), &[], &[input], cropped);
        for (ow, oh) in [(1, 2), (w * 2 + 1, h * 3), (w.div_ceil(3), h.div_ceil(2))] {
            let x = AxisMap::Nearest { input: w, output: ow };
            let y = AxisMap::Nearest { input: h, output: oh };
            check(&Kernel::Gather(Gather { x, y }), &[], &[input], input.with_size(ow, oh).unwrap());
        }
    });
}

#[test]
fn transposed() {
    let offset = |first| AxisMap::Offset { first };
    let flip = |n: u32| AxisMap::Flip { last: n - 1 };
    let check = |input: ImageDesc, x, y, (w, h)| {
        check(&Kernel::Warp(Warp::Transposed { x, y }), &[], &[input], input.with_size(w, h).unwrap());
    };
    each_image_or_sums(|input| {
        let (w, h) = (input.width(), input.height());
        check(input, offset(0), offset(0), (h, w));
        check(input, offset(0), flip(h), (h, w));
        check(input, flip(w), offset(0), (h, w));
        check(input, flip(w), flip(h), (h, w.div_ceil(2)));
        check(input, offset(w / 2), offset(h / 3), (h.div_ceil(2), w.div_ceil(2)));
        for (ow, oh) in [(1, 2), (h * 2 + 1, w * 3), (h.div_ceil(3), w.div_ceil(2))] {
            let x = AxisMap::Nearest { input: w, output: oh };
            check(input, x, AxisMap::Nearest { input: h, output: ow }, (ow, oh));
        }
    });
    // Whole blocks and parts of them.
    for format in [PixelFormat::Gray, PixelFormat::Rgb] {
        let input = ImageDesc::new(70, 101, format, DType::U8).unwrap();
        check(input, flip(70), offset(0), (101, 70));
    }
}

/// Identity, between pixels, turned, enlarged and mirrored, far away, nowhere; and with a horizon.
#[test]
fn sampled() {
    const AFFINE: [[f32; 6]; 6] = [
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.5, 0.0, 1.0, -0.5],
        [0.87, -0.5, 1.3, 0.5, 0.87, -2.1],
        [-1.7, 0.3, 9.0, 0.0, 2.5, -3.25],
        [1e9, 0.0, -5e8, 0.0, 3e38, f32::NEG_INFINITY],
        [f32::NAN, 0.0, 0.0, 0.0, 1.0, 0.0],
    ];
    const PROJECTIVE: [[f32; 9]; 3] = [
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        [1.1, 0.2, -1.0, 0.1, 0.9, 0.5, 0.05, -0.04, 0.8],
        [1.0, 0.0, 0.25, 0.0, 1.0, 0.0, 0.1, 0.02, -0.3],
    ];
    const BROWN: [f32; 20] = [
        0.3, -0.9, 0.35, -0.8, 5.0, 2.5, 6.0, 1.25, -0.3, 0.1, 0.01, -0.02, 0.03, 0.2, -0.05, 0.01, 0.02,
        -0.01, 0.03, 0.005,
    ];
    const FISHEYE: [f32; 12] = [0.3, -0.9, 0.35, -0.7, 5.0, 2.5, 6.0, 1.25, -0.3, 0.1, 0.01, -0.02];
    let affine = AFFINE.iter().map(|m| (Coordinates::Affine, &m[..]));
    let projective = PROJECTIVE.iter().map(|m| (Coordinates::Projective, &m[..]));
    let lenses = [(Coordinates::Brown, &BROWN[..]), (Coordinates::Fisheye, &FISHEYE[..])];
    let all: Vec<_> = affine.chain(projective).chain(lenses).collect();
    let mut borders = BORDERS.into_iter().cycle();
    each_image(|input| {
        let output = input.with_size(input.width().div_ceil(2) + 2, input.height()).unwrap();
        for &(coordinates, uniforms) in &all {
            for interpolation in [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic] {
                let border = borders.next().unwrap();
                let kernel = Warp::Sampled(Sampled { coordinates, interpolation, border });
                check(&Kernel::Warp(kernel), uniforms, &[input], output);
            }
        }
        // As many as there are, so that kinds of images and borders do not keep in step.
        borders.next();
    });
}

/// Coordinates that images hold; wider than what is computed at a time.
#[test]
fn mapped() {
    let mut borders = BORDERS.into_iter().cycle();
    each_image(|input| {
        let output = input.with_size(input.width() + 67, input.height().div_ceil(2)).unwrap();
        let map = output.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F32).unwrap();
        for unit in [MapUnit::Absolute, MapUnit::Normalized, MapUnit::Relative] {
            for interpolation in [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic] {
                let (coordinates, border) = (Coordinates::Map(unit), borders.next().unwrap());
                let kernel = Warp::Sampled(Sampled { coordinates, interpolation, border });
                let inputs = [input, map, map.with_layout(Layout::Chw)];
                check(&Kernel::Warp(kernel), &[], &inputs, output);
            }
        }
        borders.next();
    });
}

#[test]
fn resample() {
    each_image(|input| {
        let (w, h) = (input.width(), input.height());
        let outputs =
            [(1, 1), (w * 2, h * 2), (w.div_ceil(2), h.div_ceil(2)), (w * 2 / 3 + 1, h * 2 / 3 + 1)];
        for (ow, oh) in outputs.into_iter().chain([(w + 4, h.div_ceil(3)), (w, h)]) {
            let output = input.with_size(ow, oh).unwrap();
            let bilinear = Resample { x: bilinear(w, ow), y: bilinear(h, oh) };
            check(&Kernel::Resample(bilinear), &[], &[input], output);
            let area = Resample { x: area(w, ow), y: area(h, oh) };
            check(&Kernel::Resample(area), &[], &[input], output);
        }
    });
}

/// Sums on both sides of the longest chain in binary32, along each axis and both.
#[test]
fn resample_long_sums() {
    for format in [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgra] {
        for dtype in DType::PICTURES {
            for layout in Layout::ALL {
                let desc = ImageDesc::new(1, 1, format, dtype).unwrap().with_layout(layout);
                let chain = Resample::longest_chain(&desc, false) as u32;
                for (w, h) in
                    [(chain, 3), (chain + 1, 3), (3, chain), (3, chain + 1), (2 * chain + 3, chain + 2)]
                {
                    let input = desc.with_size(w, h).unwrap();
                    for (ow, oh) in [(1, 1), (2, 1), (1, 2)] {
                        let kernel = Resample { x: area(w, ow), y: area(h, oh) };
                        check(&Kernel::Resample(kernel), &[], &[input], input.with_size(ow, oh).unwrap());
                    }
                }
            }
        }
    }
}

/// Horizontal ratios in registers with vertical weights of 4 to 7 bits, whose products stop fitting into bytes.
#[test]
fn resample_bytes_with_fine_vertical_weights() {
    for (from, to) in [(3, 2), (2, 1)] {
        let input = ImageDesc::new(from * 24, 7, PixelFormat::Rgb, DType::U8).unwrap();
        for times in [8, 16, 32, 64] {
            let (ow, oh) = (to * 24, 7 * times);
            let kernel = Resample { x: bilinear(input.width(), ow), y: bilinear(7, oh) };
            check(&Kernel::Resample(kernel), &[], &[input], input.with_size(ow, oh).unwrap());
        }
    }
}

/// Ratios for which bytes take shorter ways, and some that just miss them, in rows long enough for all of them.
#[test]
fn resample_bytes_by_ratio() {
    let ratios = [(3, 2), (2, 1), (4, 1), (5, 4), (1, 2), (1, 4), (1, 1), (7, 3), (3, 4), (9, 1), (8, 5)];
    for format in [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgra] {
        for layout in Layout::ALL {
            for (from, to) in ratios {
                // Multiples of the ratio, whole blocks and odd remainders.
                for repeat in [1, 5, 16, 24, 37] {
                    let (w, ow) = (from * repeat, to * repeat);
                    let input = ImageDesc::new(w, 7, format, DType::U8).unwrap().with_layout(layout);
                    for oh in [7, 14, 5] {
                        let kernel = Resample { x: bilinear(w, ow), y: bilinear(7, oh) };
                        check(&Kernel::Resample(kernel), &[], &[input], input.with_size(ow, oh).unwrap());
                    }
                    let kernel = Resample { x: area(w, ow), y: area(7, 2) };
                    check(&Kernel::Resample(kernel), &[], &[input], input.with_size(ow, 2).unwrap());
                }
            }
        }
    }
}

/// Sums of weights above 1 saturate; negative weights and exact ones mix.
#[test]
fn resample_by_any_weights() {
    let table = |weights: &[f64], input: u32, output: u32| {
        let taps = |o: u32| {
            let start = i64::from(o * (input - weights.len() as u32) / output.max(1));
            weights.iter().zip(start..).map(|(&w, i)| (i, w)).collect::<Vec<_>>()
        };
        AxisTaps::from_contributions(input, (0..output).map(taps))
    };
    let input = ImageDesc::new(60, 9, PixelFormat::Rgb, DType::U8).unwrap();
    for weights in [&[1.0, 1.0][..], &[0.5, 0.75], &[1.25], &[-0.25, 1.25], &[0.25, 0.5, 0.25], &[0.0, 1.0]] {
        for other in [&[0.5, 0.5][..], &[1.0], &[0.75, 0.75]] {
            let kernel = Resample { x: table(weights, 60, 40), y: table(other, 9, 6) };
            check(&Kernel::Resample(kernel), &[], &[input], input.with_size(40, 6).unwrap());
        }
    }
}

/// Weights of a filter that sum to 1, or (odd seeds) do not, with a negative one.
fn weights(radius: u32, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut w: Vec<f32> = (0..=radius).map(|_| 0.1 + random.unit()).collect();
    let sum = 2.0 * w.iter().sum::<f32>() - w[0];
    for w in &mut w {
        *w /= sum;
    }
    if seed % 2 == 1 {
        w[0] = -1.5;
    }
    w
}

#[test]
fn separable() {
    let mut seed = 0;
    each_image(|input| {
        for (n, (radius_x, radius_y)) in
            [(2, 2), (1, 1), (3, 3), (0, 1), (1, 0), (5, 4), (15, 2), (2, 15)].into_iter().enumerate()
        {
            seed += 1;
            // All borders for the usual radius; one for each of the others.
            for border in
                BORDERS.into_iter().skip(if n == 0 { 0 } else { seed as usize % 6 }).take(6 - 5 * n.min(1))
            {
                let kernel = Kernel::Separable(Separable { radius_x, radius_y, border });
                let uniforms = [weights(radius_x, seed), weights(radius_y, seed / 2)].concat();
                check(&kernel, &uniforms, &[input], input);
            }
        }
    });
}

/// Rows of whole blocks of bytes and just beside, and weights whose sums are no numbers any more.
#[test]
fn separable_bytes_in_blocks() {
    for width in [31, 32, 33, 64, 97, 161] {
        for format in [PixelFormat::Gray, PixelFormat::Rgb] {
            let input = ImageDesc::new(width, 9, format, DType::U8).unwrap();
            for (n, radius) in [1, 2, 3, 4].into_iter().enumerate() {
                let kernel =
                    Kernel::Separable(Separable { radius_x: radius, radius_y: radius, border: BORDERS[n] });
                let usual = [weights(radius, u64::from(width)), weights(radius, 7)].concat();
                check(&kernel, &usual, &[input], input);
                for scale in [-1.0, 1e9, 1e30, f32::INFINITY] {
                    let wild: Vec<f32> = usual.iter().map(|w| w * scale).collect();
                    check(&kernel, &wild, &[input], input);
                }
            }
        }
    }
}

/// Expressions of neighbours; the random ones are in the tests of the whole.
#[test]
fn stencils() {
    let stencil = |text: &str, border, input: ImageDesc| {
        let point = mip_ops::Point::text(text).expect(text);
        // Not every format has every channel.
        let output = point.infer(&[input]).ok()?;
        let expr = Arc::new(point.expr().expect(text).clone());
        Some((Kernel::Stencil(Stencil { expr, border }), output))
    };
    each_image(|input| {
        for border in BORDERS {
            for text in [
                "min(v(-1, -1), v(0, -1), v(1, -1), v(-1, 0), v, v(1, 0), v(-1, 1), v(0, 1), v(1, 1))",
                "max(min(v(15, 0), v(-2, 1)), v(0, -3))",
                "abs(v(15, 0) - v(0, -15)) / 2 + v(-3, 2)",
                "r(2, -1), g, b(-2, 1) - r(0, 1)",
            ] {
                if let Some((kernel, output)) = stencil(text, border, input) {
                    check(&kernel, &[], &[input], output);
                }
            }
        }
    });
}

/// Rows of several blocks.
#[test]
fn long_stencils() {
    for (format, dtype) in
        [(PixelFormat::Rgb, DType::U8), (PixelFormat::Gray, DType::U16), (PixelFormat::Bgra, DType::U8)]
    {
        let input = ImageDesc::new(700, 3, format, dtype).unwrap();
        for text in ["max(v(-9, 0), min(v, v(15, 1)))", "v(-9, 0) / 2 + v(15, 1) / 4"] {
            let expr = Arc::new(mip_ops::Point::text(text).unwrap().expr().unwrap().clone());
            check(&Kernel::Stencil(Stencil { expr, border: Border::Wrap }), &[], &[input], input);
        }
    }
}

#[test]
fn sobel() {
    each_image(|input| {
        if input.format() == PixelFormat::Gray {
            for border in BORDERS {
                check(&Kernel::Stencil(Stencil::sobel(border)), &[], &[input], input);
            }
        }
    });
}
