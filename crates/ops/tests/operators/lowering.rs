//! What must hold for every operator on every input: it never panics, and what it lowers to is consistent.

use crate::examples::{examples, images};
use mip_core::{DType, ImageDesc, PixelFormat};
use mip_ops::{KernelStep, Lowered, Operator, StepInput, create, operators};
use mip_plan::{AxisMap, AxisTaps, ChannelMap, Kernel, Known, Warp};
use proptest::prelude::*;

#[test]
fn every_example_and_corner_on_every_image() {
    for spec in operators() {
        let mut accepted = 0;
        for params in spec.calls() {
            let operator = create(spec.name, &params).unwrap_or_else(|e| panic!("{e}"));
            for image in images() {
                accepted += usize::from(check(operator.as_ref(), &operator.inputs_like(&image).unwrap()));
            }
        }
        // At least one dtype, and gray.
        let pictures = images().filter(|image| !image.format().is_color_space()).count();
        let kinds = DType::ALL.len() * PixelFormat::PICTURES.len();
        assert!(accepted * kinds >= pictures, "'{}' accepts {accepted}", spec.name);
    }
}

/// i32 holds sums: who does not take it says what to do.
#[test]
fn sums_are_taken_by_those_that_say_so() {
    let sums = ImageDesc::new(9, 7, PixelFormat::Gray, DType::I32).unwrap();
    let mut taken = Vec::new();
    for spec in operators() {
        for params in examples(spec) {
            let operator = create(spec.name, &params).unwrap();
            let inputs = vec![sums; operator.spec().inputs.len()];
            match operator.infer(&inputs) {
                Ok(_) => taken.push(spec.name),
                Err(_) if spec.extra.sums => {}
                Err(refused) => {
                    let text = refused.to_string();
                    assert!(text.contains("cast to=f32 scale=false"), "{text}");
                }
            }
        }
    }
    taken.dedup();
    assert_eq!(taken, ["cast", "crop", "flip", "layout", "point", "rotate90", "transpose"]);
    let near = create("point", &[("expr".to_owned(), "v(1, 0)".into())]).unwrap();
    let text = near.infer(&[sums]).unwrap_err().to_string();
    assert!(text.contains("beside the own one") && text.contains("cast to=f32 scale=false"), "{text}");
    let made = create("point", &[("expr".to_owned(), "v(1, 0)".into()), ("to".to_owned(), "i32".into())]);
    let image = sums.with_dtype(DType::U8).unwrap();
    let text = made.unwrap().infer(&[image]).unwrap_err().to_string();
    assert!(text.contains("parameter 'to'") && text.contains("make f32"), "{text}");
}

#[test]
fn a_wrong_number_of_inputs_is_an_error() {
    let image = ImageDesc::new(40, 40, PixelFormat::Rgb, DType::U8).unwrap();
    for spec in operators() {
        for params in examples(spec) {
            let operator = create(spec.name, &params).unwrap();
            // Some have as many as a parameter says.
            let inputs = operator.spec().inputs;
            for count in (0..4).filter(|n| *n != inputs.len()) {
                let error = operator.infer(&vec![image; count]).unwrap_err().to_string();
                assert!(error.contains(spec.name) && error.contains(&inputs.join(", ")), "{error}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Up to the longest sides there are; `infer` only, since tables of such sizes take their time.
    #[test]
    fn inference_never_panics(width in 1..=ImageDesc::MAX_SIDE, height in 1..=ImageDesc::MAX_SIDE, narrow in 0..4_u8, pick in any::<u16>()) {
        let (width, height) = match narrow {
            0 => (1, height),
            1 => (width, 1),
            _ => (width, height.div_ceil(1 << 15)),
        };
        let format = PixelFormat::ALL[usize::from(pick) % PixelFormat::ALL.len()];
        let dtype = DType::ALL[usize::from(pick) % DType::ALL.len()];
        let image = ImageDesc::new(width, height, format, dtype).unwrap();
        for spec in operators() {
            for params in examples(spec) {
                let operator = create(spec.name, &params).unwrap();
                let Ok(inputs) = operator.inputs_like(&image) else { continue };
                if let Ok(output) = operator.infer(&inputs) {
                    prop_assert!(output.bytes() > 0, "{} {output}", spec.name);
                }
            }
        }
    }
}

/// Whether the inputs are accepted; if so everything that a backend relies on has been checked.
fn check(operator: &dyn Operator, inputs: &[ImageDesc]) -> bool {
    let name = operator.spec().name;
    let output = match operator.infer(inputs) {
        Ok(output) => output,
        Err(refused) => {
            assert_eq!(operator.lower(inputs), Err(refused), "infer and lower refuse alike");
            return false;
        }
    };
    let lowered = operator.lower(inputs).unwrap_or_else(|e| panic!("{name}: accepted, then refused: {e}"));
    assert_eq!(lowered.steps.last().expect("at least one step").output, output, "{name}");
    for (index, step) in lowered.steps.iter().enumerate() {
        assert_eq!(step.inputs.len(), step.kernel.input_count(), "{name}");
        let sources: Vec<_> = step.inputs.iter().map(|&from| source(from, index, inputs, &lowered)).collect();
        check_step(name, step, &sources);
    }
    let used = |slot| lowered.steps.iter().any(|s| s.inputs.contains(&StepInput::Slot(slot)));
    // Luma alone needs no chroma, wherever it is.
    let all_used = (0..inputs.len()).all(used);
    assert!(all_used || name == "yuv_to_rgb" && used(0), "{name}: an input that feeds nothing");
    assert_eq!(operator.clone_box().lower(inputs), Ok(lowered), "{name}: lowering is deterministic");
    true
}

fn source(from: StepInput, index: usize, inputs: &[ImageDesc], lowered: &Lowered) -> ImageDesc {
    match from {
        StepInput::Slot(slot) => inputs[slot],
        StepInput::Step(step) => {
            assert!(step < index, "a step reads earlier steps only");
            lowered.steps[step].output
        }
    }
}

/// The invariants that the documentation of each kernel states.
fn check_step(name: &str, step: &KernelStep, sources: &[ImageDesc]) {
    let (from, to) = (sources[0], step.output);
    let uniforms = step.uniforms.len();
    assert!(step.uniforms.iter().all(|u| u.is_finite()), "{name}");
    match &step.kernel {
        Kernel::Point(point) => {
            assert_eq!(uniforms, point.expr.uniforms().len(), "{name}");
            assert!(sources.iter().all(|s| (s.width(), s.height()) == (to.width(), to.height())), "{name}");
        }
        Kernel::Gather(gather) => {
            assert_eq!((uniforms, from.with_size(to.width(), to.height()).unwrap()), (0, to), "{name}");
            check_map(gather.x, from.width(), to.width());
            check_map(gather.y, from.height(), to.height());
        }
        Kernel::Warp(Warp::Transposed { x, y }) => {
            assert_eq!((uniforms, from.with_size(to.width(), to.height()).unwrap()), (0, to), "{name}");
            check_map(*x, from.width(), to.height());
            check_map(*y, from.height(), to.width());
        }
        Kernel::Warp(Warp::Sampled(sampled)) => {
            let expected =
                (sampled.coordinates.uniform_count(), from.with_size(to.width(), to.height()).unwrap());
            assert_eq!((uniforms, to), (expected.0, expected.1), "{name}");
        }
        Kernel::Warp(Warp::Crops(crops)) => {
            assert_eq!((uniforms, from.with_size(to.width(), to.height()).unwrap()), (0, to), "{name}");
            assert!(to.height() / crops.rows <= sources[1].height(), "{name}");
        }
        Kernel::Resample(resample) => {
            assert_eq!((uniforms, from.with_size(to.width(), to.height()).unwrap()), (0, to), "{name}");
            check_taps(&resample.x, from.width(), to.width());
            check_taps(&resample.y, from.height(), to.height());
        }
        Kernel::Separable(filter) => {
            assert_eq!(from, to, "{name}");
            let (x, y) = step.uniforms.split_at(filter.radius_x as usize + 1);
            assert_eq!(y.len(), filter.radius_y as usize + 1, "{name}");
            for axis in [x, y] {
                let sum = axis[0] + 2.0 * axis[1..].iter().sum::<f32>();
                assert!((sum - 1.0).abs() < 1e-6, "{name}: {axis:?}");
            }
        }
        Kernel::Stencil(k) => {
            assert_eq!(
                (uniforms, from.width(), from.height()),
                (k.expr.uniforms().len(), to.width(), to.height()),
                "{name}"
            );
        }
        Kernel::Whole(k) => assert_eq!(uniforms, k.uniform_count(), "{name}"),
        Kernel::Custom(_) => panic!("{name}: no registered operator is custom"),
    }
}

fn check_map(map: AxisMap, input: u32, output: u32) {
    assert!((0..output).all(|i| map.map(i) < input), "{map:?}");
}

fn check_taps(taps: &AxisTaps, input: u32, output: u32) {
    assert_eq!(taps.outputs(), output as usize);
    assert!(taps.starts().iter().all(|s| *s as usize + taps.taps() <= input as usize), "{taps:?}");
    for o in 0..taps.outputs() {
        let sum: f32 = taps.weights(o).iter().sum();
        assert!(
            (sum - 1.0).abs() < 1e-5 && (taps.is_signed() || taps.weights(o).iter().all(|w| *w >= 0.0)),
            "{taps:?}"
        );
    }
}

/// What users write themselves takes the fast ways of the operators.
#[test]
fn texts_of_known_expressions_are_recognised() {
    let rgb = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap();
    let known = |text: &str, numbers: &[&str]| {
        let point =
            numbers.iter().fold(mip_ops::Point::text(text).unwrap(), |p, name| p.set_uniform(name, 1.0));
        let step = point.lower(&[rgb]).unwrap().steps.remove(0);
        let Kernel::Point(kernel) = step.kernel else { panic!("{text} is no point kernel") };
        kernel.known(&[rgb], &step.output)
    };
    let moved = [2, 1, 0].map(ChannelMap::Input).to_vec();
    assert_eq!(known("b, g, r", &[]), Some(Known::Channels(moved)));
    assert_eq!(known("luma(r, g, b)", &[]), Some(Known::Channels(vec![ChannelMap::Luma([0, 1, 2])])));
    assert_eq!(known("v > t ? m : 0", &["t", "m"]), Some(Known::Threshold));
    assert_eq!(known("v >= t ? m : 0", &["t", "m"]), None);
}
