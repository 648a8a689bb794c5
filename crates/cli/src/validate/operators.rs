//! Every operator, its parameters at their corners, on sizes that break image code.

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_graph::PipelineSpec;
use mip_ops::{OperatorSpec, Value};
use mip_testkit::images::{FEW_SIZES, Pattern, SplitMix64, not_finite, padded};
use mip_testkit::{Param, Params, check_sums, reference};

use super::matrix::{LONG, SUMS, TestCase, corners, usual};
use super::{Pending, Request, cases};

/// Above this many samples the f64 references take too long; bytes are still compared with the CPU.
const REFERENCE_SAMPLES: usize = 40_000;

/// A case: operator, parameters, input shape.
struct Case {
    op: &'static str,
    test: TestCase,
    desc: ImageDesc,
    seed: u64,
    /// Whether some samples are infinite or NaN.
    not_finite: bool,
}

/// A check for each operator.
pub(super) fn checks(_: &Request) -> Vec<Pending> {
    let check = |spec: &&'static OperatorSpec| -> Pending {
        let spec = *spec;
        let run = move |request: &Request| {
            let list = list(spec, request);
            let cpu = Device::cpu();
            cases(request.jobs, &list, |case| compare(case, &request.device, &cpu))
        };
        (spec.name.to_owned(), Box::new(run))
    };
    mip_ops::operators().iter().map(check).collect()
}

fn list(spec: &'static OperatorSpec, request: &Request) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |test: TestCase, desc: ImageDesc, not_finite: bool| {
        let seed = request.seed.wrapping_add(cases.len() as u64);
        cases.push(Case { op: spec.name, test, desc, seed, not_finite });
    };
    for (format, dtype, layout) in kinds(request.full) {
        for &(width, height) in &sizes(request.small) {
            let Ok(desc) = ImageDesc::new(width, height, format, dtype) else { continue };
            let desc = desc.with_layout(layout);
            let mut tests = usual(spec, &desc);
            if CORNER_SIZES.contains(&(width, height)) {
                tests.extend(corners(spec, &desc));
            }
            let floats = dtype.is_float();
            for test in tests.iter().filter(|test| floats && test.in_range) {
                add(test.clone(), desc, true);
            }
            for test in tests {
                add(test, desc, false);
            }
        }
    }
    for &(_, params, (width, height)) in LONG.iter().filter(|(op, _, _)| *op == spec.name && !request.small) {
        let desc = ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).expect("a valid size");
        add(TestCase { params: params.to_owned(), in_range: true }, desc, false);
    }
    for &(_, params, (width, height)) in SUMS.iter().filter(|(op, _, _)| *op == spec.name) {
        for (format, dtype, layout) in kinds(request.full).into_iter().filter(|kind| kind.1 != DType::I32) {
            let desc =
                ImageDesc::new(width, height, format, dtype).expect("a valid size").with_layout(layout);
            add(TestCase { params: params.to_owned(), in_range: true }, desc, false);
        }
    }
    cases
}

/// Of [`sizes`], those that the ends of parameters are tried with.
const CORNER_SIZES: &[(u32, u32)] = &[(1, 1), (17, 9), (64, 48)];

pub(super) fn sizes(small: bool) -> Vec<(u32, u32)> {
    let large: &[(u32, u32)] = if small { &[(67, 35)] } else { &[(67, 35), (641, 479)] };
    FEW_SIZES.iter().chain(&[(64, 48)]).chain(large).copied().collect()
}

/// Formats, dtypes and layouts: all, or each at least once with the commonest of the others.
pub(super) fn kinds(full: bool) -> Vec<(PixelFormat, DType, Layout)> {
    let mut kinds = Vec::new();
    for format in PixelFormat::PICTURES {
        for dtype in DType::ALL {
            for layout in Layout::ALL {
                let usual = [format == PixelFormat::Rgb, dtype == DType::U8, layout == Layout::Hwc];
                if full || usual.iter().filter(|&&u| u).count() >= 2 {
                    kinds.push((format, dtype, layout));
                }
            }
        }
    }
    kinds
}

fn compare(case: &Case, device: &Device, cpu: &Device) -> Result<(), String> {
    let samples = if case.not_finite { ", not all finite" } else { "" };
    let what = || format!("{} {} on {}{samples} (seed {})", case.op, case.test.params, case.desc, case.seed);
    compare_images(case, device, cpu).map_err(|text| format!("{}: {text}", what()))
}

fn compare_images(case: &Case, device: &Device, cpu: &Device) -> Result<(), String> {
    let mut random = SplitMix64::new(case.seed);
    let descs = inputs(case)?;
    let frames = if descs.len() == 1 && random.below(3) == 0 { 3 } else { 1 };
    let inputs: Vec<ImageBuffer> = descs
        .into_iter()
        .map(|desc| {
            let pattern = Pattern::ALL[random.below(Pattern::ALL.len() as u32) as usize];
            let mut image = pattern.draw_batch(desc, frames, random.next_u64());
            if case.not_finite {
                image = not_finite(&image, random.next_u64());
            }
            if random.below(2) == 0 { padded(&image, 16) } else { image }
        })
        .collect();
    let expected = run(case, cpu, &inputs).map_err(|e| format!("on the CPU: {e}"))?;
    let actual = run(case, device, &inputs).map_err(|e| e.to_string())?;
    for (frame, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
        same(actual, expected).map_err(|text| format!("frame {frame} of {frames}: {text}"))?;
        let samples = actual.desc().bytes() / actual.desc().dtype().size();
        // Among samples of which one is NaN, which is the middle one is nowhere defined; nor is the hue of an infinite colour.
        let open = case.op == "median" || actual.desc().format().is_color_space();
        let defined = case.test.in_range && !(case.not_finite && open);
        if defined && samples <= REFERENCE_SAMPLES {
            let of_frame: Vec<ImageBuffer> = inputs.iter().map(|i| i.frame(frame)).collect();
            let of_frame: Vec<&ImageBuffer> = of_frame.iter().collect();
            let exact = reference::apply(case.op, &reference_params(case)?, &of_frame);
            let magnitude = reference::magnitude(case.op, &reference_params(case)?, &of_frame);
            check_sums(actual, &exact, actual.desc().dtype(), magnitude)
                .map_err(|v| format!("frame {frame} of {frames} against the f64 reference: {v}"))?;
        }
    }
    if actual.len() == expected.len() { Ok(()) } else { Err(format!("{} results", actual.len())) }
}

/// A call as a pipeline.
pub(super) fn line(op: &str, params: &str) -> String {
    match slots(op, params) {
        1 => format!("task:{op} {params}"),
        several => with_inputs(op, params, several),
    }
}

fn with_inputs(op: &str, params: &str, slots: usize) -> String {
    let names: Vec<String> = ('a'..='z').take(slots).map(String::from).collect();
    let read: Vec<String> = names.iter().map(|name| format!("@{name}")).collect();
    format!("inputs={} ! task:{op} {params} inputs={}", names.join(","), read.join(","))
}

/// Input slots of an operator called so: an expression says by what it reads how many it has, and some by a parameter.
fn slots(op: &str, params: &str) -> usize {
    let fits = |slots: &usize| PipelineSpec::parse_line(&with_inputs(op, params, *slots)).is_ok();
    let most = mip_ops::spec(op).map_or(1, |spec| spec.inputs.len() + spec.extra.inputs);
    (2..=most).find(fits).unwrap_or(1)
}

/// What goes into the slots of a case's operator.
fn inputs(case: &Case) -> Result<Vec<ImageDesc>, String> {
    let spec = PipelineSpec::parse_line(&line(case.op, &case.test.params)).map_err(|e| e.to_string())?;
    let graph = spec.build().map_err(|e| e.to_string())?;
    let operator = graph.task("task").and_then(|task| graph.operator(task)).map_err(|e| e.to_string())?;
    operator.inputs_like(&case.desc).map_err(|e| e.to_string())
}

fn run(case: &Case, device: &Device, inputs: &[ImageBuffer]) -> Result<Vec<ImageBuffer>, Error> {
    let config = PipelineConfig { device: device.clone(), poison: true, ..PipelineConfig::default() };
    let mut pipeline =
        Pipeline::from_spec(&PipelineSpec::parse_line(&line(case.op, &case.test.params))?, config)?;
    let task = pipeline.task("task")?;
    match inputs {
        [input] if input.batch_size() > 1 => {
            pipeline.execute_batch(std::slice::from_ref(input))?;
        }
        _ => {
            let names: Vec<String> = pipeline.task_graph().inputs().to_vec();
            for (name, input) in names.iter().zip(inputs) {
                pipeline.set_named_input(name, input)?;
            }
            pipeline.execute()?;
        }
    }
    Ok(pipeline.batch_outputs(task)?.to_vec())
}

/// The case's parameters as the references take them.
fn reference_params(case: &Case) -> Result<Params, String> {
    let spec = PipelineSpec::parse_line(&line(case.op, &case.test.params)).map_err(|e| e.to_string())?;
    let given = spec.tasks.iter().flat_map(|task| &task.params);
    Ok(given.fold(Params::new(), |params, (name, value)| {
        let value = match value.value.clone() {
            Value::Bool(v) => Param::Bool(v),
            Value::Int(v) => Param::Int(v),
            Value::Float(v) => Param::Float(v),
            Value::Text(v) => Param::Text(v),
            Value::List(v) => Param::List(v),
        };
        params.with(&name.value, value)
    }))
}

/// Compares byte for byte and names the first pixel that differs. A NaN is a NaN: which of them is the device's choice.
pub(super) fn same(actual: &ImageBuffer, expected: &ImageBuffer) -> Result<(), String> {
    if actual == expected {
        return Ok(());
    }
    if actual.desc() != expected.desc() {
        return Err(format!("is {}, the CPU makes {}", actual.desc(), expected.desc()));
    }
    let (desc, a, e) = (*actual.desc(), actual.view(), expected.view());
    let mut differing = 0_usize;
    let mut first = None;
    for y in 0..desc.height() as usize {
        for x in 0..desc.width() as usize {
            for c in 0..desc.channels() {
                let (got, want) = (a.sample(0, x, y, c), e.sample(0, x, y, c));
                if got.to_bits() != want.to_bits() && !(got.is_nan() && want.is_nan()) {
                    differing += 1;
                    first.get_or_insert((x, y, c, got, want));
                }
            }
        }
    }
    match first {
        Some((x, y, c, got, want)) => Err(format!(
            "{differing} samples differ from the CPU's; first at x={x} y={y} channel {c}: {got} instead of {want}"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_a_nan() {
        let desc = ImageDesc::new(1, 1, PixelFormat::Gray, DType::F32).unwrap();
        let image = |bits: u32| {
            let mut image = ImageBuffer::new(desc).unwrap();
            image.view_mut().row_mut(0, 0, 0).copy_from_slice(&bits.to_ne_bytes());
            image
        };
        assert!(same(&image(0x7FC0_0000), &image(0xFFFF_FFFF)).is_ok());
        assert!(same(&image(0x7FC0_0000), &image(0)).is_err());
        assert!(same(&image(0x8000_0000), &image(0)).is_err(), "the sign of a zero counts");
    }

    #[test]
    fn long_sums_and_samples_that_are_not_finite_are_among_the_cases() {
        let request = Request {
            device: Device::cpu(),
            full: false,
            small: true,
            only: String::new(),
            skip: None,
            repeat: 1,
            graphs: 0,
            seed: 1,
            jobs: 1,
        };
        let resize = mip_ops::spec("resize").unwrap();
        let list = list(resize, &request);
        for dtype in DType::PICTURES {
            let long = |case: &&Case| {
                case.desc.dtype() == dtype && case.desc.width().max(case.desc.height()) >= 4000
            };
            assert!(list.iter().filter(long).count() >= 3, "{dtype}");
        }
        for spec in mip_ops::operators() {
            let cases = super::list(spec, &request);
            let any = |holds: fn(&Case) -> bool| cases.iter().any(holds);
            assert!(
                any(|case| case.not_finite) || !any(|case| case.desc.dtype().is_float()),
                "{}",
                spec.name
            );
            assert!(!cases.is_empty(), "{}", spec.name);
        }
    }

    #[test]
    fn a_wrong_pixel_is_named() {
        let desc = ImageDesc::new(4, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let (good, mut bad) = (ImageBuffer::new(desc).unwrap(), ImageBuffer::new(desc).unwrap());
        bad.view_mut().row_mut(0, 0, 1)[3 * 2 + 1] = 9;
        let text = same(&bad, &good).unwrap_err();
        assert!(text.contains("x=2 y=1 channel 1: 9 instead of 0"), "{text}");
        assert!(same(&good, &good.clone()).is_ok());
    }
}
