//! Weighted sums of any length stay within the numeric contract, and read what their definition reads and nothing else:
//! an infinity or a NaN shows in the samples that depend on it, in every case of running.

mod support;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_cpu::SimdLevel;
use mip_fuzzing::{calls, operator, run_operator};
use mip_graph::PipelineSpec;
use mip_testkit::images::{Pattern, SplitMix64, not_finite};
use mip_testkit::{Params, Real, check_contract, reference};
use proptest::prelude::*;
use support::cpu;

/// Runs a pipeline in one line with one output.
fn run(line: &str, device: &Device, fuse: bool, input: &ImageBuffer) -> ImageBuffer {
    let graph = PipelineSpec::parse_line(line).unwrap().build().unwrap_or_else(|e| panic!("{line}: {e}"));
    let config = PipelineConfig { device: device.clone(), fuse, poison: true, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_graph(graph, config);
    pipeline.execute_batch(std::slice::from_ref(input)).unwrap();
    let (_, images) = pipeline.outputs().next().expect("an output");
    images[0].clone()
}

fn constant(desc: ImageDesc, value: f64) -> ImageBuffer {
    let (w, h) = (desc.width() as usize, desc.height() as usize);
    Real::from_fn(w, h, desc.channels(), |_, _, _| value).to_buffer(desc)
}

#[test]
fn the_mean_of_equal_samples_is_the_sample() {
    let devices = [cpu(1, SimdLevel::Native), cpu(1, SimdLevel::Portable)];
    for (width, dtype, value) in [
        (525, DType::U16, 64252.0),
        (4000, DType::U16, 62414.0),
        (20_000, DType::U16, 65535.0),
        (300_001, DType::U8, 255.0),
        (300_001, DType::U8, 131.0),
        (4000, DType::F32, 0.625),
    ] {
        for (w, h) in [(width, 1), (1, width)] {
            let image = constant(ImageDesc::new(w, h, PixelFormat::Gray, dtype).unwrap(), value);
            for device in &devices {
                let mean = run("resize width=1 height=1 filter=area", device, true, &image);
                assert_eq!(Real::from_buffer(&mean).data, [value], "{w}x{h} {dtype}");
            }
        }
    }
}

/// A size, one side of it long.
fn long() -> impl Strategy<Value = (u32, u32)> {
    let side = prop_oneof![1_u32..=100, 1_u32..=2_000, 1_u32..=20_000];
    (side, 1_u32..=3, any::<bool>()).prop_map(|(a, b, turned)| if turned { (b, a) } else { (a, b) })
}

fn description() -> impl Strategy<Value = ImageDesc> {
    let format = prop::sample::select(PixelFormat::PICTURES.to_vec());
    let (dtype, layout) =
        (prop::sample::select(DType::PICTURES.to_vec()), prop::sample::select(Layout::ALL.to_vec()));
    (long(), format, dtype, layout).prop_map(|((w, h), format, dtype, layout)| {
        ImageDesc::new(w, h, format, dtype).unwrap().with_layout(layout)
    })
}

fn shrinking() -> impl Strategy<Value = String> {
    let filter = prop::sample::select(vec!["filter = 'area'", "antialias = true", "antialias = false"]);
    (1..=4, 1..=4, filter).prop_map(|(w, h, filter)| format!("width = {w}, height = {h}, {filter}"))
}

fn device(portable: bool) -> Device {
    cpu(1, if portable { SimdLevel::Portable } else { SimdLevel::Native })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_constant_image_stays_constant(
        desc in description(), case in shrinking(), value in 0.0..=1.0_f64, portable in any::<bool>(),
    ) {
        let full = desc.dtype().full_scale();
        let value = if desc.dtype() == DType::F32 { f64::from(value as f32) } else { (value * full).round() };
        let image = constant(desc, value);
        let output = &run_operator(&device(portable), "resize", &Params::line(&case), &[&image])[0];
        // A clear pixel stays clear.
        let tolerance = if desc.dtype() == DType::F32 { value * 1e-5 } else { 0.0 };
        for got in Real::from_buffer(output).data {
            prop_assert!((got - value).abs() <= tolerance, "{desc} {case}: {got} instead of {value}");
        }
    }

    #[test]
    fn sums_of_any_length_keep_the_contract(
        desc in description(), case in shrinking(), pattern in prop::sample::select(Pattern::ALL.to_vec()),
        seed in any::<u64>(), portable in any::<bool>(),
    ) {
        let (image, params) = (pattern.draw(desc, seed), Params::line(&case));
        let exact = reference::apply("resize", &params, &[&image]);
        let output = &run_operator(&device(portable), "resize", &params, &[&image])[0];
        let result = check_contract(output, &exact, desc.dtype());
        prop_assert!(result.is_ok(), "{pattern:?} {desc} {case}: {}", result.unwrap_err());
    }
}

/// Each kind of taps; what the registry says of all operators comes on top.
const CASES: &[(&str, &str)] = &[
    ("resize", "width = 40, height = 23"),
    ("resize", "width = 9, height = 5"),
    ("resize", "width = 66, height = 18"),
    ("resize", "width = 22, height = 6"),
    ("resize", "width = 11, height = 3, filter = 'area'"),
    ("resize", "width = 10, height = 4, filter = 'area'"),
    ("resize", "width = 9, height = 2, antialias = true"),
    ("resize", "width = 1, height = 1, antialias = true"),
    ("resize", "width = 7, height = 9, filter = 'nearest'"),
    ("gaussian_blur", "kernel = 3"),
    ("gaussian_blur", "kernel = 7, border = 'wrap'"),
    ("gaussian_blur", "kernel = 5, border = 'constant', border_value = 1"),
    ("gaussian_blur", "kernel = 13, border = 'replicate'"),
    ("sobel", ""),
    ("color_convert", "to = 'gray'"),
    ("color_convert", "to = 'bgra'"),
    ("sobel", "border = 'constant', border_value = 1"),
    ("crop", "width = 5, height = 3, x = 4"),
];

/// Operators that take no floats.
const INTEGERS: &[&str] = &[
    "adaptive_threshold",
    "auto_threshold",
    "autocontrast",
    "canny",
    "clahe",
    "compare",
    "distance_transform",
    "equalize_hist",
    "histogram",
    "integral",
    "label",
    "stats",
    "yuv_to_rgb",
];

#[test]
fn what_is_not_finite_shows_where_it_is_read_and_nowhere_else() {
    let devices = [cpu(2, SimdLevel::Native), cpu(1, SimdLevel::Portable)];
    let mut random = SplitMix64::new(5);
    for format in PixelFormat::PICTURES {
        for layout in Layout::ALL {
            let desc = ImageDesc::new(33, 11, format, DType::F32).unwrap().with_layout(layout);
            let taps = CASES.iter().map(|(op, case)| (*op, Params::line(case)));
            // Which sample is in the middle of some that have no order is left open, and so is a quotient of infinite sums, and the
            // colour spaces of what is no colour; sums that cancel are judged in numerics.
            let ordered = mip_ops::operators().iter().filter(|spec| {
                ![
                    "median",
                    "composite",
                    "color_convert",
                    "color_matrix",
                    "filter2d",
                    "laplacian",
                    "sep_filter",
                ]
                .contains(&spec.name)
            });
            let registered = ordered.flat_map(|spec| {
                let calls = calls(spec, &desc);
                // Planes of video are integers, and so is what is counted or compared with a rounded mean.
                let whole = INTEGERS.contains(&spec.name);
                let colors = format == PixelFormat::Gray
                    && ["color_matrix", "hue", "lut", "saturation"].contains(&spec.name);
                assert!(!calls.is_empty() || whole || colors, "no case for '{}'", spec.name);
                calls.into_iter().map(|params| (spec.name, params))
            });
            for (op, params) in taps.chain(registered) {
                let images = operator(op, &params).inputs_like(&desc).unwrap().into_iter().map(|desc| {
                    let image = Pattern::Noise.draw(desc, random.next_u64());
                    not_finite(&image, random.next_u64())
                });
                let images: Vec<ImageBuffer> = images.collect();
                let inputs: Vec<&ImageBuffer> = images.iter().collect();
                let exact = reference::apply(op, &params, &inputs);
                for device in &devices {
                    let output = &run_operator(device, op, &params, &inputs)[0];
                    let result = check_contract(output, &exact, output.desc().dtype());
                    result.unwrap_or_else(|v| panic!("{op} {params:?} on {desc}: {v}"));
                }
            }
        }
    }
}

/// The samples' bits, all NaNs as one.
fn bits(image: &ImageBuffer) -> Vec<u64> {
    let bits = |v: &f64| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() };
    Real::from_buffer(image).data.iter().map(bits).collect()
}

#[test]
fn one_kernel_or_several_agree_on_what_is_not_finite() {
    let lines = [
        "resize width=40 height=23 ! gaussian_blur kernel=5 ! sobel",
        "resize width=22 height=6 ! normalize mean=0.4 std=0.25",
        "gaussian_blur kernel=3 ! resize width=50 height=7",
        "normalize ! resize width=11 height=3 filter=area ! color_convert to=gray ! cast to=u8",
        "flip ! resize width=66 height=22 ! threshold threshold=0.5",
        "resize width=1 height=1 antialias=true ! resize width=4 height=3",
    ];
    let mut random = SplitMix64::new(9);
    for line in lines {
        for format in [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgra] {
            let desc = ImageDesc::new(33, 11, format, DType::F32).unwrap();
            let image = not_finite(&Pattern::Noise.draw(desc, random.next_u64()), random.next_u64());
            let plain = bits(&run(line, &cpu(1, SimdLevel::Portable), false, &image));
            for fuse in [true, false] {
                let got = bits(&run(line, &cpu(2, SimdLevel::Native), fuse, &image));
                assert!(got == plain, "{line} on {desc}, fused: {fuse}");
            }
        }
    }
}

/// 254 becomes 100 and 255 infinity; outputs that do not read the infinity stay 100.
#[test]
fn a_neighbour_of_weight_zero_is_not_read() {
    let desc = ImageDesc::new(2, 1, PixelFormat::Gray, DType::U8).unwrap();
    let line = "n1:normalize scale=1 mean=254 ! n2:normalize scale=1e30 ! n3:normalize scale=1e30 ! \
                n4:normalize scale=1 mean=-100 ! resize width=4 height=1 ! cast to=u8 scale=false";
    for (samples, expected) in
        [([254.0, 255.0], [100.0, 255.0, 255.0, 255.0]), ([255.0, 254.0], [255.0, 255.0, 255.0, 100.0])]
    {
        let image = Real::from_fn(2, 1, 1, |x, _, _| samples[x]).to_buffer(desc);
        for (fuse, simd) in
            [(true, SimdLevel::Native), (false, SimdLevel::Native), (true, SimdLevel::Portable)]
        {
            let output = run(line, &cpu(1, simd), fuse, &image);
            assert_eq!(Real::from_buffer(&output).data, expected, "fused: {fuse}");
        }
    }
}
