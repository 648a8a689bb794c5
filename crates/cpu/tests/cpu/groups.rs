//! Several kernels in one group, several frames, several threads: the same bytes as one after the other.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_cpu::{SimdLevel, tiling};
use mip_plan::{AxisMap, Border, Gather, Kernel, Operand, Plan, Point, Resample, Separable, Stencil, Warp};

use crate::images::TestImage;
use crate::plans::{config, plan, run, stage};
use crate::reference::{self, area, bilinear};

const BLUR: [f32; 6] = [0.4, 0.2, 0.1, 0.36, 0.22, 0.1];

fn blur(radius: u32, border: Border) -> Kernel {
    Kernel::Separable(Separable { radius_x: radius, radius_y: radius, border })
}

fn rgb(width: u32, height: u32) -> ImageDesc {
    ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap()
}

/// Compares a plan at several thread counts and levels, alone and as a batch, with the reference.
fn check(plan: &Plan, inputs: &[ImageDesc]) {
    let batch = 3;
    let images: Vec<TestImage> =
        inputs.iter().zip(1..).map(|(&desc, seed)| TestImage::random(desc, batch, true, seed)).collect();
    let batched: Vec<&TestImage> = images.iter().collect();
    let stages = &plan.groups[0].stages;
    let expected: Vec<Vec<Vec<u8>>> = (0..batch)
        .map(|frame| {
            let singles: Vec<TestImage> = images.iter().map(|p| p.frame(frame)).collect();
            let results = reference::run(plan, &singles.iter().collect::<Vec<_>>());
            stages.iter().zip(results).filter(|(s, _)| s.store.is_some()).map(|(_, r)| r.bytes()).collect()
        })
        .collect();
    for (threads, simd) in
        [(1, SimdLevel::Portable), (1, SimdLevel::Native), (2, SimdLevel::Native), (3, SimdLevel::Native)]
    {
        let results = run(plan, &batched, &config(threads, simd));
        for (n, result) in results.iter().enumerate() {
            for (frame, expected) in expected.iter().enumerate() {
                assert!(
                    result.frame(frame).bytes() == expected[n],
                    "result {n}, frame {frame}, {threads} threads"
                );
            }
        }
        let first: Vec<TestImage> = images.iter().map(|p| p.frame(0)).collect();
        let alone = run(plan, &first.iter().collect::<Vec<_>>(), &config(threads, simd));
        for (result, expected) in alone.iter().zip(&expected[0]) {
            assert!(result.bytes() == *expected, "a single frame on {threads} threads");
        }
    }
}

/// resize -> gray -> blur -> sobel, all in one group, every stage stored or only the last.
fn edges(input: ImageDesc, width: u32, height: u32, border: Border, stored: &[usize]) -> Plan {
    let small = input.with_size(width, height).unwrap();
    let gray = small.with_format(PixelFormat::Gray).unwrap().with_layout(Layout::Hwc);
    let resize = Resample { x: bilinear(input.width(), width), y: bilinear(input.height(), height) };
    let stages = vec![
        stage(Kernel::Resample(resize), &[], &[Operand::Buffer(0)], small),
        stage(Kernel::Point(to_gray(input)), &[], &[Operand::Stage(0)], gray),
        stage(blur(2, border), &BLUR, &[Operand::Stage(1)], gray),
        stage(Kernel::Stencil(Stencil::sobel(border)), &[], &[Operand::Stage(2)], gray),
    ];
    plan(&[input], stages, stored)
}

fn to_gray(input: ImageDesc) -> Point {
    Point::convert(input.format(), PixelFormat::Gray, input.dtype())
}

#[test]
fn the_edge_chain_in_one_group() {
    for border in [Border::Reflect101, Border::Wrap, Border::Constant(40.0)] {
        check(&edges(rgb(300, 222), 200, 148, border, &[3]), &[rgb(300, 222)]);
    }
    check(&edges(rgb(301, 203), 213, 152, Border::Reflect, &[0, 1, 2, 3]), &[rgb(301, 203)]);
    let planar = rgb(97, 330).with_layout(Layout::Chw);
    check(&edges(planar, 160, 220, Border::Replicate, &[1, 3]), &[planar]);
    check(&edges(rgb(3, 2), 2, 1, Border::Reflect101, &[3]), &[rgb(3, 2)]);
}

#[test]
fn a_fork_and_join_in_one_group() {
    let input = rgb(161, 190);
    let gray = input.with_format(PixelFormat::Gray).unwrap();
    let weights = [0.3, 0.2, 0.1, 0.05, 0.3, 0.2, 0.1, 0.05];
    for border in [Border::Reflect101, Border::Wrap] {
        let stages = vec![
            stage(Kernel::Point(to_gray(input)), &[], &[Operand::Buffer(0)], gray),
            stage(blur(3, border), &weights, &[Operand::Stage(0)], gray),
            stage(blur(3, border), &weights, &[Operand::Stage(1)], gray),
            stage(Kernel::Stencil(Stencil::sobel(border)), &[], &[Operand::Stage(0)], gray),
            stage(
                Kernel::Point(Point::blend(gray.format())),
                &[0.5, 0.5],
                &[Operand::Stage(2), Operand::Stage(3)],
                gray,
            ),
            stage(
                Kernel::Point(Point::blend(gray.format())),
                &[0.5, 0.5],
                &[Operand::Stage(0), Operand::Stage(4)],
                gray,
            ),
            stage(Kernel::Point(Point::threshold()), &[90.0, 255.0], &[Operand::Stage(5)], gray),
        ];
        check(&plan(&[input], stages.clone(), &[6]), &[input]);
        check(&plan(&[input], stages, &[0, 2, 4, 6]), &[input]);
    }
}

#[test]
fn a_crop_after_a_resize_and_values_moved_to_planes() {
    let input = rgb(250, 187);
    for (w, h) in [(170, 128), (125, 94), (300, 200)] {
        let (small, crop) = (input.with_size(w, h).unwrap(), input.with_size(112, 90).unwrap());
        let values = crop.with_dtype(DType::F32).unwrap();
        let resize = Resample { x: bilinear(input.width(), w), y: bilinear(input.height(), h) };
        let middle = Gather { x: AxisMap::Offset { first: 13 }, y: AxisMap::Offset { first: 3 } };
        let affine = [0.01, -1.0, 0.02, -2.0, 0.03, -3.0];
        let stages = vec![
            stage(Kernel::Resample(resize), &[], &[Operand::Buffer(0)], small),
            stage(Kernel::Gather(middle), &[], &[Operand::Stage(0)], crop),
            stage(Kernel::Point(Point::affine(values.format())), &affine, &[Operand::Stage(1)], values),
            stage(Kernel::Point(Point::copy()), &[], &[Operand::Stage(2)], values.with_layout(Layout::Chw)),
        ];
        check(&plan(&[input], stages.clone(), &[3]), &[input]);
        check(&plan(&[input], stages, &[0, 1, 2, 3]), &[input]);
    }
}

#[test]
fn results_of_different_heights_and_rows_in_any_order() {
    let input = rgb(90, 210);
    let (w, h) = (input.width(), input.height());
    let half = input.with_size(45, 70).unwrap();
    let tall = input.with_size(90, 333).unwrap();
    let flip = Gather { x: AxisMap::Flip { last: w - 1 }, y: AxisMap::Flip { last: h - 1 } };
    let nearest = Gather { x: AxisMap::Offset { first: 0 }, y: AxisMap::Nearest { input: h, output: 333 } };
    let shrink = Resample { x: area(w, 45), y: area(h, 70) };
    let line = Resample { x: area(45, 45), y: area(70, 1) };
    let stages = vec![
        stage(blur(2, Border::Reflect), &BLUR, &[Operand::Buffer(0)], input),
        stage(Kernel::Gather(flip), &[], &[Operand::Stage(0)], input),
        stage(blur(2, Border::Reflect101), &BLUR, &[Operand::Stage(1)], input),
        stage(Kernel::Resample(shrink), &[], &[Operand::Stage(2)], half),
        stage(Kernel::Gather(nearest), &[], &[Operand::Stage(0)], tall),
        stage(Kernel::Resample(line), &[], &[Operand::Stage(3)], half.with_size(45, 1).unwrap()),
    ];
    check(&plan(&[input], stages, &[0, 2, 3, 4, 5]), &[input]);
}

/// Its source is a buffer, its result may be anything's input.
#[test]
fn what_follows_a_transposed_image_may_share_its_group() {
    let input = rgb(210, 91);
    let turned = input.with_size(91, 210).unwrap();
    let turn = Warp::Transposed { x: AxisMap::Flip { last: 209 }, y: AxisMap::Offset { first: 0 } };
    let half = turned.with_size(45, 70).unwrap();
    let shrink = Resample { x: area(91, 45), y: area(210, 70) };
    let stages = vec![
        stage(Kernel::Warp(turn), &[], &[Operand::Buffer(0)], turned),
        stage(blur(2, Border::Reflect), &BLUR, &[Operand::Stage(0)], turned),
        stage(Kernel::Resample(shrink), &[], &[Operand::Stage(1)], half),
    ];
    check(&plan(&[input], stages.clone(), &[2]), &[input]);
    check(&plan(&[input], stages, &[0, 1, 2]), &[input]);
}

#[test]
fn one_thousand_rows_of_one_pixel() {
    let input = ImageDesc::new(1, 5000, PixelFormat::Rgba, DType::F32).unwrap();
    let short = input.with_size(1, 3).unwrap();
    let stages = vec![
        stage(blur(2, Border::Wrap), &BLUR, &[Operand::Buffer(0)], input),
        stage(
            Kernel::Resample(Resample { x: area(1, 1), y: area(5000, 3) }),
            &[],
            &[Operand::Stage(0)],
            short,
        ),
    ];
    check(&plan(&[input], stages, &[0, 1]), &[input]);
}

#[test]
fn two_inputs_of_different_memory_orders() {
    let a = ImageDesc::new(140, 160, PixelFormat::Bgra, DType::U16).unwrap();
    let b = a.with_layout(Layout::Chw);
    let float = a.with_dtype(DType::F32).unwrap();
    let scale = [1.0 / 65535.0; 8];
    let stages = vec![
        stage(
            Kernel::Point(Point::blend(b.format())),
            &[0.75, 0.25],
            &[Operand::Buffer(0), Operand::Buffer(1)],
            b,
        ),
        stage(blur(2, Border::Constant(0.5)), &BLUR, &[Operand::Stage(0)], b),
        stage(Kernel::Point(Point::affine(float.format())), &scale, &[Operand::Stage(1)], float),
    ];
    check(&plan(&[a, b], stages, &[1, 2]), &[a, b]);
}

#[test]
fn tiles_tell_row_bands_and_the_rows_that_are_computed_twice() {
    let plan = edges(rgb(256, 512), 128, 256, Border::Reflect101, &[3]);
    let of = |threads| tiling(&plan, 0, &config(threads, SimdLevel::Native)).unwrap().kernels.remove(0);
    let one = of(1);
    assert_eq!((one.frame, one.size, one.count), ([1, 1], Some([128, 256]), 1));
    assert_eq!((one.at_once, one.halo), (Some(1), Some(1.0)));
    // Four bands a thread. A band of 32 rows needs 38 of the gray image, 35 at the edge.
    let two = of(2);
    assert_eq!((two.frame, two.size, two.count), ([1, 8], Some([128, 32]), 8));
    assert_eq!((two.at_once, two.stages.clone()), (Some(2), vec![0, 1, 2, 3]));
    assert!((1.05..38.0 / 32.0).contains(&two.halo.unwrap()), "{two:?}");
    assert_eq!(two.local_bytes, one.local_bytes);
}

/// Rows are asked for through all stages of a group at once, on the stack of a thread: the longest groups fit a quarter
/// of what a thread has.
#[test]
fn a_long_chain_needs_little_stack() {
    let desc = rgb(40, 33);
    let stages = |count: usize| -> Vec<_> {
        let from = |n: usize| if n == 0 { Operand::Buffer(0) } else { Operand::Stage(n - 1) };
        (0..count).map(|n| stage(blur(2, Border::Reflect101), &BLUR, &[from(n)], desc)).collect()
    };
    let plan = plan(&[desc], stages(100), &[99]);
    let image = TestImage::random(desc, 1, true, 1);
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let run = move || run(&plan, &[&image], &config(1, SimdLevel::Native));
    small.spawn(run).unwrap().join().unwrap();
}
