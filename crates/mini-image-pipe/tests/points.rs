//! Expressions, of a pixel or of those around it: whatever is written, one evaluator gives the bytes that every way of running gives, and uniforms
//! change without a new plan.

mod support;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_cpu::SimdLevel;
use mip_ops::expr::{Term, a, b, g, green_of, r, uniform, v, v_of};
use mip_ops::{ColorConvert, GaussianBlur, Operator as _, Point, Value};
use mip_plan::{Border, evaluate};
use mip_testkit::images::{Pattern, padded};
use mip_testkit::same_pixels;
use proptest::prelude::*;
use proptest::sample::select;
use support::cpu;

/// What terms are made of: channels by name or each channel, of two inputs or of the pixels around the own one.
#[derive(Clone, Copy)]
struct Reads {
    named: bool,
    near: bool,
}

fn leaf(Reads { named, near }: Reads) -> BoxedStrategy<Term> {
    let numbers = prop_oneof![
        Just(uniform("gain")),
        (-300.0_f32..300.0).prop_map(Term::from),
        select(vec![0.0, -0.0, 1.0, 0.5, 255.0, f32::INFINITY, f32::NAN]).prop_map(Term::from),
    ];
    if near {
        let places =
            (prop_oneof![-2_i8..3, Just(0), Just(15), Just(-15)], prop_oneof![-2_i8..3, Just(0), Just(-15)]);
        let own = if named { select(vec![r(), g(), b()]).boxed() } else { Just(v()).boxed() };
        let near = (own, places).prop_map(|(term, (dx, dy))| term.at(dx, dy));
        prop_oneof![3 => near, 1 => numbers].boxed()
    } else if named {
        prop_oneof![Just(r()), Just(g()), Just(b()), Just(a()), Just(green_of(1)), numbers].boxed()
    } else {
        prop_oneof![Just(v()), Just(v()), Just(v_of(1)), numbers].boxed()
    }
}

fn term(reads: Reads) -> impl Strategy<Value = Term> {
    leaf(reads).prop_recursive(5, 24, 3, |inner| {
        (0_u8..18, inner.clone(), inner.clone(), inner).prop_map(|(kind, x, y, z)| match kind {
            0 => x + y,
            1 => x - y,
            2 => x * y,
            3 => x / y,
            4 => x.min(y),
            5 => x.max(y),
            6 => x.mul_add(y, z),
            7 => -x,
            8 => x.abs().sqrt(),
            14 => x.pow(y),
            15 => x.exp2() + y.cbrt(),
            16 => x.exp() - y.abs().log(),
            9 => x.floor() + y.ceil(),
            10 => x.clone() * x.round(),
            11 => x.clone().greater(y.clone()).then(x, y),
            12 => x.less(y).then(z, 1.0),
            13 => Term::luma(x, y, z),
            _ => x.clone().compare(mip_plan::Compare::Ne, y).then(z, x),
        })
    })
}

/// A point operator and an image that it fits.
fn case() -> impl Strategy<Value = (Point, ImageDesc)> {
    let kinds = (select(&PixelFormat::PICTURES[..]), select(&DType::ALL[..]), select(&Layout::ALL[..]));
    let size = (prop_oneof![1_u32..40, Just(256), Just(257), Just(300)], 1_u32..6);
    let results = |near: bool| {
        let (each, named) = (Reads { named: false, near }, Reads { named: true, near });
        prop_oneof![
            term(each).prop_map(Point::each),
            term(named).prop_map(|t| Point::channels([t])),
            [term(named), term(named), term(named)].prop_map(Point::channels),
            [term(named), term(named), term(named), term(named)].prop_map(Point::channels),
        ]
    };
    let border = select(vec![
        Border::Reflect101,
        Border::Reflect,
        Border::Replicate,
        Border::Wrap,
        Border::Constant(0.0),
        Border::Constant(1.0),
    ]);
    let results =
        (prop_oneof![results(false), results(true)], border).prop_map(|(point, border)| point.border(border));
    (results, kinds, size, select(&DType::ALL[..]), any::<bool>()).prop_map(
        |(point, (format, dtype, layout), (width, height), to, cast)| {
            // Pixels beside the own one are read of pictures only.
            let near = point.expr().is_some_and(|expr| expr.reach() != (0, 0));
            let of = |dtype| if near && dtype == DType::I32 { DType::I16 } else { dtype };
            let (dtype, to) = (of(dtype), of(to));
            let desc = ImageDesc::new(width, height, format, dtype).unwrap().with_layout(layout);
            (if cast { point.to(to) } else { point }, desc)
        },
    )
}

/// With a number for its name, if it has that name.
fn with_gain(point: Point, gain: f64) -> Point {
    let named = point.get("expr").is_some_and(|text| text.to_string().contains("gain"));
    if named { point.set_uniform("gain", gain) } else { point }
}

fn inputs(point: &Point, desc: ImageDesc, seed: u64) -> Vec<ImageBuffer> {
    let slots = point.spec().inputs.len() as u64;
    (0..slots).map(|slot| padded(&Pattern::Noise.draw(desc, seed + slot), 16)).collect()
}

/// The result by definition.
fn by_definition(point: &Point, inputs: &[ImageBuffer]) -> Option<ImageBuffer> {
    let descs: Vec<ImageDesc> = inputs.iter().map(|i| *i.desc()).collect();
    let step = point.lower(&descs).ok()?.steps.remove(0);
    let mut output = ImageBuffer::new(step.output).unwrap();
    let views: Vec<_> = inputs.iter().map(ImageBuffer::view).collect();
    evaluate(&step.kernel, &step.uniforms, &views, &mut output.view_mut()).unwrap();
    Some(output)
}

fn run(point: &Point, inputs: &[ImageBuffer], device: &Device) -> ImageBuffer {
    let config = PipelineConfig { device: device.clone(), poison: true, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::new(config);
    let task = pipeline.add_operator("p", point.clone()).unwrap();
    for (slot, input) in point.spec().inputs.iter().zip(inputs) {
        pipeline.set_input_slot(task, slot, input).unwrap();
    }
    pipeline.execute().unwrap();
    pipeline.output(task).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1200))]

    #[test]
    fn every_level_computes_what_the_definition_says(
        (point, desc) in case(), gain in -3.0_f64..3.0, seed in any::<u32>(),
    ) {
        let point = with_gain(point, gain);
        let inputs = inputs(&point, desc, seed.into());
        if let Some(wanted) = by_definition(&point, &inputs) {
            for device in [cpu(1, SimdLevel::Native), cpu(1, SimdLevel::Portable)] {
                let got = run(&point, &inputs, &device);
                prop_assert!(same_pixels(&got, &wanted), "{:?} on {desc}", point.get("expr"));
            }
        }
    }
}

/// In a group with windows before and after it, on every device.
#[test]
fn fused_is_unfused() {
    let image = Pattern::Noise.draw(ImageDesc::new(67, 35, PixelFormat::Rgb, DType::U8).unwrap(), 3);
    let results = [true, false].map(|fuse| {
        let mut pipeline = Pipeline::new(PipelineConfig { fuse, ..PipelineConfig::default() });
        let soft = pipeline.add_operator("soft", GaussianBlur::new(5)).unwrap();
        let mix = pipeline.add_operator("mix", Point::each((v() - v_of(1)).abs() * 3.0)).unwrap();
        let gray = pipeline.add_operator("gray", ColorConvert::to(PixelFormat::Gray)).unwrap();
        let wide = pipeline.add_operator("wide", GaussianBlur::new(3)).unwrap();
        pipeline.set_input(soft, &image).unwrap();
        pipeline.connect(soft, mix).unwrap();
        pipeline.set_input_slot(mix, "in2", &image).unwrap();
        pipeline.connect(mix, gray).unwrap();
        pipeline.connect(gray, wide).unwrap();
        pipeline.execute().unwrap();
        pipeline.output(wide).unwrap()
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn a_uniform_changes_without_a_new_plan_or_capture() {
    let image = Pattern::Noise.draw(ImageDesc::new(20, 10, PixelFormat::Rgb, DType::U8).unwrap(), 3);
    let config = PipelineConfig { enable_graph_replay: true, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::new(config);
    let task = pipeline.add_operator("p", Point::text("v * gain").unwrap().set_uniform("gain", 0.0)).unwrap();
    pipeline.set_input(task, &image).unwrap();
    let mut report = pipeline.execute().unwrap();
    for gain in [1.0, 0.5, 0.25] {
        pipeline.set_parameter(task, "gain", Value::Float(gain)).unwrap();
        report = pipeline.execute().unwrap();
        let first = f64::from(pipeline.output(task).unwrap().to_bytes()[0]);
        assert!((first - gain * f64::from(image.to_bytes()[0])).abs() <= 0.5);
    }
    assert_eq!((report.graph.captures, report.graph.invalidations.values().sum::<u64>()), (1, 0));
}
