//! Operators that take several launches, with what lies between them in memory, against the CPU device.

use mip_core::{AlignedBytes, BatchLayout, DType, ImageDesc, Layout, PixelFormat};
use mip_ops::{Operator, StepInput, create};
use mip_plan::{Plan, Stage};

use super::cases::Strides;
use super::cases::samples::fill;
use super::group_cases::{GroupCase, plan};
use super::groups::expected;
use super::{Bound, Input, Operand, build, fits, launch};
use crate::codegen::{Destination, Target, group_code, intermediates};

/// An operator's steps as a group.
fn case(operator: &dyn Operator, inputs: &[ImageDesc]) -> GroupCase {
    let step = |(task, step): (usize, mip_ops::KernelStep)| {
        let operand = |input: &StepInput| match *input {
            StepInput::Slot(slot) => Operand::Buffer(slot),
            StepInput::Step(step) => Operand::Stage(step),
        };
        let (inputs, uniforms) = (step.inputs.iter().map(operand).collect(), step.uniforms);
        Stage { kernel: step.kernel, uniforms, inputs, output: step.output, store: None, task }
    };
    let steps = operator.lower(inputs).unwrap().steps;
    let stages: Vec<Stage> = steps.into_iter().enumerate().map(step).collect();
    let stored = vec![stages.len() - 1];
    GroupCase { name: operator.spec().name.to_owned(), inputs: inputs.to_vec(), stages, stored }
}

/// Bytes of an image, and where they lie.
type Memory = (Vec<u8>, BatchLayout);

/// A mask with many regions, some of which wind: most samples are 0 or above 1, so that there are seeds too.
fn mask(layout: BatchLayout, share: u8, seed: u64) -> Memory {
    let mut bytes = AlignedBytes::zeroed(layout.span());
    fill(bytes.as_mut_slice(), DType::U8, seed);
    let kept = bytes.as_slice().iter().map(|&v| if v < share { v % 3 } else { 0 });
    (kept.collect(), layout)
}

/// Any samples.
fn noise(seed: u64) -> impl Fn(BatchLayout) -> Memory {
    move |layout| {
        let mut bytes = AlignedBytes::zeroed(layout.span());
        fill(bytes.as_mut_slice(), layout.desc.dtype(), seed);
        (bytes.as_slice().to_vec(), layout)
    }
}

/// Numbers from 0 to 40, and some that are not whole.
fn labels(layout: BatchLayout) -> Memory {
    let (bytes, _) = mask(layout, 255, 5);
    let label = |v: &[u8; 4]| {
        f32::from(v[0]) * 9.0 + f32::from(v[1]) * 3.0 + f32::from(v[2]) + f32::from(v[3] / 2) * 0.5
    };
    (bytes.as_chunks::<4>().0.iter().flat_map(|v| label(v).to_ne_bytes()).collect(), layout)
}

/// Runs all launches of a group, the first variant of each that fits. `None` without a compiler.
fn run(plan: &Plan, sources: &[Memory]) -> Option<Vec<u8>> {
    let code = group_code(plan, 0, Target { multiprocessors: 2, ..Target::default() }).unwrap();
    let library = build(&code, 1)?;
    let group = &plan.groups[0];
    let layouts: Vec<BatchLayout> = plan.buffers.iter().map(|b| b.layout).collect();
    let layout = |destination: &Destination| match *destination {
        Destination::Buffer(id) => layouts[id],
        Destination::Workspace { layout, .. } => layout,
    };
    let results: Vec<BatchLayout> = intermediates(group, &layouts).0.iter().map(layout).collect();
    let mut memory: Vec<Vec<u8>> = results.iter().map(|layout| vec![0xC3; layout.span()]).collect();
    for kernel in &code.stages {
        let stage = kernel.outputs[0];
        let input = |input: &Input| match input.source {
            Operand::Buffer(id) => (&sources[id].0[..], sources[id].1),
            Operand::Stage(earlier) => (&memory[earlier][..], results[earlier]),
        };
        let inputs: Vec<(&[u8], BatchLayout)> = kernel.inputs.iter().map(input).collect();
        let aligned = |v: &&crate::codegen::Variant| {
            inputs.iter().all(|(_, l)| fits(l, v.align_in)) && fits(&results[stage], v.align_out)
        };
        let variant = kernel.variants.iter().find(aligned).expect("one fits everything");
        let uniforms = |stage: usize| group.stages[stage].uniforms.clone();
        let mut bound = Bound::new(&library, kernel, variant, &inputs, &[results[stage]], &uniforms);
        // Launches after the first one of a stage go on with what is there.
        bound.targets[0].bytes_mut().copy_from_slice(&memory[stage]);
        launch(&library, kernel, variant, results[stage].batch_size as u32, 1, &bound.parameters);
        memory[stage] = bound.results().remove(0);
    }
    memory.pop()
}

/// Compares an operator, called as in the first of its cases that says `params`, for contents made by `sources`, one a slot.
fn compare(name: &str, params: &str, image: ImageDesc, sources: &[&dyn Fn(BatchLayout) -> Memory]) {
    let spec = mip_ops::spec(name).unwrap();
    let call = spec.calls().into_iter().find(|call| format!("{call:?}").contains(params)).unwrap();
    let operator = create(name, &call).unwrap();
    let case = case(operator.as_ref(), &operator.inputs_like(&image).unwrap());
    for (batch, strides) in [(1, Strides::Tight), (2, Strides::Odd)] {
        let plan = plan(&case, batch, strides);
        let sources: Vec<Memory> =
            sources.iter().zip(&plan.buffers).map(|(source, buffer)| source(buffer.layout)).collect();
        let Some(got) = run(&plan, &sources) else { return };
        let wanted = expected(&plan, &sources).remove(0);
        let at = got.iter().zip(&wanted).position(|(a, b)| a != b);
        assert_eq!(at, None, "{name} {call:?} {image} x {batch} {strides:?}");
    }
}

fn gray(width: u32, height: u32) -> ImageDesc {
    ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap()
}

#[test]
fn regions_are_those_of_the_cpu() {
    for (size, share, params) in [
        ((75, 70), 130, "Int(1)"),
        ((75, 70), 160, "\"4\""),
        ((33, 66), 130, "Int(5)"),
        ((1, 40), 200, "Int(3)"),
        ((70, 1), 200, "Int(1)"),
    ] {
        compare("label", params, gray(size.0, size.1), &[&|layout| mask(layout, share, 3)]);
    }
    // Nearly full: tiles meet within a region.
    let dense = |layout: BatchLayout| {
        let (bytes, layout) = mask(layout, 20, 8);
        (bytes.iter().map(|&v| u8::from(v == 0)).collect(), layout)
    };
    for params in ["Int(1)", "\"4\""] {
        compare("label", params, gray(100, 70), &[&dense]);
    }
    for params in ["Int(12)", "Int(1)"] {
        compare("regions", params, gray(75, 40).with_dtype(DType::F32).unwrap(), &[&labels]);
    }
}

#[test]
fn sums_of_all_before_are_those_of_the_cpu() {
    let noise = noise(13);
    let rgb = ImageDesc::new(75, 40, PixelFormat::Rgb, DType::U8).unwrap();
    let planar = ImageDesc::new(133, 66, PixelFormat::Bgra, DType::U8).unwrap().with_layout(Layout::Chw);
    // The last one has strips of several groups of rows.
    let wide = gray(1030, 17);
    let tall = gray(2, 2049);
    for image in
        [gray(1, 1), gray(128, 16), gray(127, 15), rgb, planar, planar.with_layout(Layout::Hwc), wide, tall]
    {
        for params in ["[]", "Bool(true)"] {
            compare("integral", params, image, &[&noise]);
        }
    }
}

#[test]
fn edges_are_those_of_the_cpu() {
    let soft = |layout: BatchLayout| {
        let mut bytes = AlignedBytes::zeroed(layout.span());
        fill(bytes.as_mut_slice(), DType::U8, 11);
        (bytes.as_slice().iter().map(|&v| v / 4).collect(), layout)
    };
    compare("canny", "Int(60)", gray(75, 40), &[&soft]);
    compare("canny", "Bool(true)", gray(75, 40), &[&soft]);
    compare("canny", "Int(20)", gray(75, 40), &[&|layout| mask(layout, 250, 2)]);
    compare("canny", "Int(0)", gray(1, 1), &[&soft]);
}

#[test]
fn distances_are_those_of_the_cpu() {
    // The last one has so long sides that binary64 is needed.
    for (size, params) in [((75, 40), "[]"), ((40, 75), "l1"), ((40, 40), "linf"), ((5001, 2), "[]")] {
        let holes = |layout: BatchLayout| {
            let (bytes, layout) = mask(layout, 40, 9);
            (bytes.iter().map(|&v| u8::from(v == 0)).collect(), layout)
        };
        compare("distance_transform", params, gray(size.0, size.1), &[&holes]);
    }
    compare("distance_transform", "[]", gray(33, 9), &[&|layout| (vec![7; layout.span()], layout)]);
}

/// Boxes on, beside and beyond an image, some of which overlap and some of which are none.
fn boxes(layout: BatchLayout) -> Memory {
    let (bytes, _) = mask(layout, 255, 21);
    let (raw, _) = labels(layout);
    let numbers = raw.as_chunks::<4>().0.iter().zip(&bytes).map(|(v, &odd)| {
        let v = f32::from_ne_bytes(*v);
        if odd == 2 { v * 3.0 - 30.0 } else { v }
    });
    (numbers.flat_map(f32::to_ne_bytes).collect(), layout)
}

#[test]
fn boxes_are_those_of_the_cpu() {
    let noise = noise(4);
    let rgb = ImageDesc::new(75, 40, PixelFormat::Rgb, DType::U8).unwrap();
    let planar = rgb.with_format(PixelFormat::Bgra).unwrap().with_layout(Layout::Chw);
    let half = rgb.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F16).unwrap();
    for (params, image) in [("Int(1)", rgb), ("Int(5)", planar), ("Int(7)", half)] {
        compare("draw", params, image, &[&noise, &boxes]);
    }
    for (params, image) in [("a fox", rgb), ("Wq@", rgb), ("a fox", planar), ("Wq@", half)] {
        compare("draw", params, image, &[&noise, &boxes]);
    }
    compare("redact", "Int(5)", rgb, &[&noise, &boxes]);
    for (params, image) in
        [("Int(9)", rgb), ("nearest", planar), ("Int(3)", half), ("Int(50)", planar), ("Int(9)", half)]
    {
        compare("crop_resize", params, image, &[&noise, &boxes]);
    }
    for params in ["[]", "Float(0.2)", "Int(0)", "Int(-5)"] {
        compare("nms", params, rgb, &[&boxes]);
    }
}

#[test]
fn tiles_are_those_of_the_cpu() {
    let noise = noise(4);
    let rgb = ImageDesc::new(37, 20, PixelFormat::Rgb, DType::U8).unwrap();
    let planar = rgb.with_format(PixelFormat::Bgr).unwrap().with_layout(Layout::Chw);
    let half = rgb.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F16).unwrap();
    for (params, image, count) in
        [("77.4", rgb, 2), ("\"count\", Int(3)", planar, 3), ("\"count\", Int(5)", half, 5)]
    {
        let sources = vec![&noise as &dyn Fn(BatchLayout) -> Memory; count];
        compare("tile", params, image, &sources);
    }
}

#[test]
fn measures_of_two_images_are_those_of_the_cpu() {
    let rgba = ImageDesc::new(33, 20, PixelFormat::Rgba, DType::U8).unwrap();
    for (params, image) in [("[]", rgba), ("mae", gray(40, 13)), ("ssim", rgba), ("ssim", gray(11, 11))] {
        compare("compare", params, image, &[&noise(2), &noise(9)]);
    }
}

#[test]
fn medians_of_large_squares_are_those_of_the_cpu() {
    let noise = |share: u8| {
        move |layout: BatchLayout| {
            let mut bytes = AlignedBytes::zeroed(layout.span());
            fill(bytes.as_mut_slice(), DType::U8, 17);
            // Flat areas among all values.
            let kept = bytes
                .as_slice()
                .iter()
                .enumerate()
                .map(|(i, &v)| if i / 90 % 3 == 0 { 7 } else { v % share });
            (kept.collect(), layout)
        }
    };
    let rgb = ImageDesc::new(75, 40, PixelFormat::Rgb, DType::U8).unwrap();
    let planar = ImageDesc::new(33, 66, PixelFormat::Bgra, DType::U8).unwrap().with_layout(Layout::Chw);
    let beside = planar.with_layout(Layout::Hwc);
    for (params, image) in [
        ("Int(7)", rgb),
        ("Int(15)", gray(70, 90)),
        ("Int(17)", planar),
        ("Int(200)", beside),
        ("Int(200)", planar),
        ("Int(17)", gray(3, 2)),
    ] {
        compare("median", params, image, &[&noise(255)]);
        compare("median", params, image, &[&noise(4)]);
    }
}

#[test]
fn medians_of_small_squares_are_those_of_the_cpu() {
    let noise = noise(5);
    let sized = |width, height, format| ImageDesc::new(width, height, format, DType::U8).unwrap();
    let (gray, rgb, bgr) = (PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgr);
    for image in [
        sized(1, 1, gray),
        sized(3, 2, rgb),
        sized(37, 20, gray),
        sized(161, 9, rgb),
        sized(263, 67, bgr).with_layout(Layout::Chw),
        sized(521, 5, gray),
        sized(258, 130, rgb),
    ] {
        for params in ["Int(5)", "\"reflect\"", "\"constant\"", "[]"] {
            compare("median", params, image, &[&noise]);
        }
    }
}

#[test]
fn sums_over_many_pixels_are_those_of_the_cpu() {
    let noise = noise(23);
    let rgb = ImageDesc::new(75, 90, PixelFormat::Rgb, DType::U8).unwrap();
    let planar = ImageDesc::new(33, 66, PixelFormat::Bgra, DType::U8).unwrap().with_layout(Layout::Chw);
    let wide = planar.with_layout(Layout::Hwc).with_dtype(DType::U16).unwrap();
    let float = gray(70, 140).with_dtype(DType::F32).unwrap();
    for (params, image) in [
        ("Int(33)", rgb),
        ("Int(63)", planar),
        ("Int(45)", wide),
        ("Int(101)", float),
        ("Int(101)", rgb),
        ("Int(45)", gray(3, 2)),
    ] {
        compare("gaussian_blur", params, image, &[&noise]);
    }
    compare("box_blur", "255", rgb.with_layout(Layout::Chw), &[&noise]);
}
