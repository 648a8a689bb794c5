//! Every operator against its f64 reference, through whole pipelines on the CPU: all dtypes, formats
//! and borders, sizes from one pixel, padded rows, batches, poisoned memory.

mod support;

use mini_image_pipe::Device;
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use mip_cpu::SimdLevel;
use mip_fuzzing::{calls, operator, run_operator};
use mip_testkit::images::{FEW_SIZES, Pattern, SIZES, SplitMix64, padded};
use mip_testkit::reference::{self, Border};
use mip_testkit::{Params, Real, check_contract, check_sums};
use support::cpu;

/// Test cases of an operator on images of that description.
type Cases = fn(&ImageDesc) -> Vec<String>;

/// An operator over all cases, dtypes and the given sizes.
fn sweep(op: &str, cases: Cases, sizes: &[(u32, u32)]) {
    sweep_params(op, |desc| cases(desc).iter().map(|case| Params::line(case)).collect(), sizes);
}

/// Layout, pattern, padding, batch, and SIMD level are drawn anew for each case.
fn sweep_params(op: &str, cases: impl Fn(&ImageDesc) -> Vec<Params>, sizes: &[(u32, u32)]) {
    let devices = [cpu(2, SimdLevel::Native), cpu(1, SimdLevel::Portable)];
    let mut random = SplitMix64::new(op.len() as u64);
    let mut failures = Failures::default();
    // i32 is refused by most.
    let sums = mip_ops::spec(op).expect("an operator").extra.sums;
    let dtypes = if sums { &DType::ALL[..] } else { &DType::PICTURES };
    for &(width, height) in sizes {
        for &dtype in dtypes {
            // Of many sizes each takes two formats, so that every format meets every type.
            let drawn = |random: &mut SplitMix64| {
                PixelFormat::PICTURES[random.below(PixelFormat::PICTURES.len() as u32) as usize]
            };
            let two = [drawn(&mut random), drawn(&mut random)];
            let formats = if sizes.len() > FEW_SIZES.len() { &two[..] } else { &PixelFormat::PICTURES };
            for &format in formats {
                let interleaved = ImageDesc::new(width, height, format, dtype).unwrap();
                for params in cases(&interleaved) {
                    let desc = interleaved.with_layout(Layout::ALL[random.below(2) as usize]);
                    let device = &devices[random.below(2) as usize];
                    failures.add(&params, check(device, op, &params, &desc, &mut random));
                }
            }
        }
    }
    failures.report(op);
}

/// Runs one case, and says what is wrong.
fn check(
    device: &Device,
    op: &str,
    params: &Params,
    desc: &ImageDesc,
    random: &mut SplitMix64,
) -> Result<(), String> {
    let descs = operator(op, params).inputs_like(desc).unwrap();
    // Several inputs cannot be batched by the caller, so those go frame by frame.
    let frames = if descs.len() == 1 && random.below(4) == 0 { 3 } else { 1 };
    let mut patterns = Vec::new();
    let inputs: Vec<ImageBuffer> = descs
        .into_iter()
        .map(|desc| {
            let pattern = Pattern::ALL[random.below(Pattern::ALL.len() as u32) as usize];
            patterns.push(pattern);
            let image = pattern.draw_batch(desc, frames, random.next_u64());
            if random.below(2) == 0 { padded(&image, 16) } else { image }
        })
        .collect();
    let inputs: Vec<&ImageBuffer> = inputs.iter().collect();
    let outputs = run_operator(device, op, params, &inputs);
    assert_eq!(outputs.len(), frames, "{op} on {desc}: results");
    for (frame, output) in outputs.iter().enumerate() {
        let of_frame: Vec<ImageBuffer> = inputs.iter().map(|i| i.frame(frame)).collect();
        let exact = reference::apply(op, params, &of_frame.iter().collect::<Vec<_>>());
        assert_eq!(*output.desc(), reference::describe(op, params, desc, &exact), "{op} on {desc}");
        let magnitude = reference::magnitude(op, params, &of_frame.iter().collect::<Vec<_>>());
        let outcome = check_sums(output, &exact, output.desc().dtype(), magnitude);
        outcome.map_err(|v| format!("{patterns:?} {desc}, frame {frame} of {frames}: {v}"))?;
    }
    Ok(())
}

/// Collects what is wrong, to show the extent of a fault at once.
#[derive(Default)]
struct Failures {
    cases: usize,
    texts: Vec<String>,
}

impl Failures {
    fn add(&mut self, case: &Params, outcome: Result<(), String>) {
        self.cases += 1;
        self.texts.extend(outcome.err().map(|text| format!("{case:?}: {text}")));
    }

    fn report(self, op: &str) {
        let shown = self.texts.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.texts.is_empty(), "{op}: {} of {} cases wrong\n{shown}", self.texts.len(), self.cases);
    }
}

fn lines<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

/// `border` parameters: every kind, the constant with a value in the middle of the samples' range.
fn borders(desc: &ImageDesc) -> Vec<String> {
    let middle = match desc.dtype() {
        DType::U8 => 77.0,
        DType::U16 => 20_000.0,
        DType::I16 => -9_000.0,
        DType::I32 => -90_000.0,
        DType::F16 | DType::F32 => 0.75,
    };
    Border::ALL
        .map(|border| match border {
            Border::Constant(_) => format!("border = 'constant', border_value = {middle:?}"),
            other => format!("border = '{}'", other.name()),
        })
        .to_vec()
}

/// Every operator of the registry as its examples and the ends of its parameters say; below are those whose parameters depend
/// on the image. Several tests, so that they run side by side.
fn sweep_registry(part: usize) {
    for spec in mip_ops::operators().iter().skip(part).step_by(4) {
        sweep_params(spec.name, |desc| calls(spec, desc), SIZES);
    }
}

#[test]
fn registry_1_of_4() {
    sweep_registry(0);
}

#[test]
fn registry_2_of_4() {
    sweep_registry(1);
}

#[test]
fn registry_3_of_4() {
    sweep_registry(2);
}

#[test]
fn registry_4_of_4() {
    sweep_registry(3);
}

/// What works on each channel does so on those of colour spaces.
#[test]
fn colour_spaces() {
    let device = cpu(2, SimdLevel::Native);
    let mut random = SplitMix64::new(17);
    for spec in mip_ops::operators() {
        let mut failures = Failures::default();
        for format in PixelFormat::ALL.into_iter().filter(|format| format.is_color_space()) {
            for dtype in DType::ALL {
                let layout = Layout::ALL[random.below(2) as usize];
                let desc = ImageDesc::new(37, 11, format, dtype).unwrap().with_layout(layout);
                for params in calls(spec, &desc) {
                    failures.add(&params, check(&device, spec.name, &params, &desc, &mut random));
                }
            }
        }
        failures.report(spec.name);
    }
}

#[test]
fn resize_to_sizes() {
    let cases = |desc: &ImageDesc| {
        let (w, h) = (desc.width(), desc.height());
        let targets = [(1, 1), (7, 5), (w, h), (2 * w + 1, 3 * h), (w.div_ceil(2), h.div_ceil(3)), (19, 2)];
        let filters = [
            "filter = 'nearest'",
            "filter = 'bilinear'",
            "filter = 'area'",
            "filter = 'bilinear', antialias = true",
        ];
        let case = |(w, h): &(u32, u32), filter| format!("width = {w}, height = {h}, {filter}");
        filters.iter().flat_map(|filter| targets.iter().map(move |target| case(target, filter))).collect()
    };
    sweep("resize", cases, FEW_SIZES);
}

/// Ratios for which a backend may have code of its own, on rows long enough for it.
#[test]
fn resize_by_simple_ratios() {
    let cases = |desc: &ImageDesc| {
        let by = |side: u32, (to, from): (u32, u32)| (side * to / from).max(1);
        let ratios = [(2, 3), (1, 2), (3, 4), (1, 3), (2, 1), (3, 2)];
        let filters = ["'bilinear'", "'area'", "'bilinear', antialias = true"];
        let case = |ratio, filter| {
            let (w, h) = (by(desc.width(), ratio), by(desc.height(), ratio));
            format!("width = {w}, height = {h}, filter = {filter}")
        };
        ratios.iter().flat_map(|&ratio| filters.map(|filter| case(ratio, filter))).collect()
    };
    sweep("resize", cases, &[(96, 6), (201, 4), (36, 24)]);
}

#[test]
fn resize_keeping_the_ratio() {
    let cases = |_: &ImageDesc| {
        lines(["width = 5", "height = 4", "shorter_side = 3", "shorter_side = 2, filter = 'area'"])
    };
    sweep("resize", cases, &[(6, 9), (17, 4), (1, 1)]);
}

/// Where binary32 computes the exact value, a tie is a tie and must go to even: `299 R + 587 G + 114 B` is divided
/// exactly, and quarters of u8 samples are binary fractions.
#[test]
fn exact_ties_go_to_even() {
    for device in [cpu(2, SimdLevel::Native), cpu(1, SimdLevel::Portable)] {
        for (op, case, dtype) in [
            ("color_convert", "to = 'gray'", DType::U8),
            ("color_convert", "to = 'gray'", DType::U16),
            ("blend", "alpha = 0.5", DType::U8),
            ("blend", "alpha = 0.25", DType::U16),
            ("resize", "width = 512, height = 128", DType::U8),
            ("resize", "width = 512, height = 64, filter = 'area'", DType::U8),
        ] {
            let desc = ImageDesc::new(1024, 256, PixelFormat::Rgb, dtype).unwrap();
            let images = [Pattern::Noise.draw(desc, 11), Pattern::Noise.draw(desc, 12)];
            let params = Params::line(case);
            let slots = operator(op, &params).spec().inputs.len();
            let inputs: Vec<&ImageBuffer> = images.iter().take(slots).collect();
            let exact = reference::apply(op, &params, &inputs);
            let ties = exact.data.iter().filter(|v| v.fract() == 0.5).count();
            assert!(ties > 100, "{op} {case} {dtype}: {ties} ties");
            let output = &run_operator(&device, op, &params, &inputs)[0];
            assert!(Real::from_buffer(output) == exact.rounded(dtype), "{op} {case} {dtype}");
        }
    }
}

/// NaN, infinities, signed zero, denormals and numbers beyond any integer, at every place of a vector.
#[test]
fn special_values_of_f32() {
    let special =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-40, -1e-40, f32::MAX, f32::MIN, 0.5, 1.0];
    let image = Real::from_fn(47, 3, 1, |x, y, _| f64::from(special[(x + 3 * y) % special.len()]));
    let image = image.to_buffer(ImageDesc::new(47, 3, PixelFormat::Gray, DType::F32).unwrap());
    for device in [cpu(2, SimdLevel::Native), cpu(1, SimdLevel::Portable)] {
        for (op, case) in [
            ("cast", "to = 'u8'"),
            ("cast", "to = 'u16'"),
            ("cast", "to = 'u8', scale = false"),
            ("threshold", "threshold = 0.75"),
            ("color_convert", "to = 'bgra'"),
            ("flip", "direction = 'horizontal'"),
            ("resize", "width = 20, height = 9, filter = 'nearest'"),
        ] {
            let params = Params::line(case);
            let exact = reference::apply(op, &params, &[&image]);
            let output = &run_operator(&device, op, &params, &[&image])[0];
            let outcome = check_contract(output, &exact, output.desc().dtype());
            outcome.unwrap_or_else(|v| panic!("{op} {case}: {v}"));
        }
    }
}

#[test]
fn gaussian_blur_with_every_border() {
    let cases = |desc: &ImageDesc| {
        let kernels = ["kernel = 3", "kernel = 5, sigma = 1.1", "kernel = 7"];
        kernels
            .iter()
            .flat_map(|kernel| borders(desc).into_iter().map(move |b| format!("{kernel}, {b}")))
            .collect()
    };
    sweep("gaussian_blur", cases, FEW_SIZES);
}

#[test]
fn gaussian_blur_wider_than_the_image() {
    let cases = |desc: &ImageDesc| {
        let wide = borders(desc).into_iter().map(|b| format!("kernel = 31, sigma = 6.0, {b}"));
        wide.chain(lines(["", "kernel = 1", "kernel = 9, sigma = 0.3", "kernel = 15"])).collect()
    };
    sweep("gaussian_blur", cases, &[(1, 1), (2, 1), (3, 2), (1, 9), (5, 4)]);
}

#[test]
fn sobel() {
    sweep("sobel", borders, SIZES);
}

#[test]
fn crop() {
    let cases = |desc: &ImageDesc| {
        let (w, h) = (desc.width(), desc.height());
        let (half_w, half_h) = (w.div_ceil(2), h.div_ceil(2));
        vec![
            format!("width = {w}, height = {h}"),
            format!("width = {half_w}, height = {half_h}"),
            format!("width = {half_w}, height = {half_h}, center = true"),
            format!("width = {half_w}, height = {half_h}, x = {}, y = {}", w - half_w, h - half_h),
            format!("width = 1, height = 1, x = {}", w - 1),
            format!("width = 1, height = {h}, center = true"),
        ]
    };
    sweep("crop", cases, FEW_SIZES);
}

/// Expressions on images that have the channels they name; of several images, see `points.rs`.
#[test]
fn point() {
    let cases = |desc: &ImageDesc| {
        let each = lines([
            "expr = 'v * 0.5 + 3'",
            "expr = 'clamp(255 - gain * v, 0, 200)', gain = 1.25",
            "expr = 'v > 100 ? v : 0.5 * v', to = 'f32'",
            "expr = 'x = abs(v - 7); min(x * x, 60000)', to = 'u16'",
        ]);
        // Alpha is kept, so that its dtype stays.
        let each = each.into_iter().filter(|case| !desc.format().has_alpha() || !case.contains("to = "));
        let named = lines([
            "expr = 'r*0.393 + g*0.769 + b*0.189'",
            "expr = 'b, r, g'",
            "expr = 'max(r, g, b), r > g && b < 200 ? g : 9, (r + g + b) / 3, 77'",
        ]);
        each.chain(named.into_iter().filter(|_| desc.format().rgb_indices().is_some())).collect()
    };
    sweep("point", cases, SIZES);
}

#[test]
fn images_cut_into_row_bands_have_no_edges() {
    let device = cpu(3, SimdLevel::Native);
    let mut random = SplitMix64::new(3);
    for (op, case) in [
        ("gaussian_blur", "kernel = 15, sigma = 5.0"),
        ("sobel", ""),
        ("resize", "width = 210, height = 333"),
        ("resize", "width = 97, height = 41, filter = 'area'"),
        ("resize", "width = 61, height = 200, antialias = true"),
        ("flip", "direction = 'both'"),
    ] {
        for format in [PixelFormat::Gray, PixelFormat::Rgb, PixelFormat::Bgra] {
            let desc = ImageDesc::new(37, 317, format, DType::U8).unwrap();
            let outcome = check(&device, op, &Params::line(case), &desc, &mut random);
            outcome.unwrap_or_else(|text| panic!("{op} {case}: {text}"));
        }
    }
}

#[test]
fn one_very_long_row_or_column() {
    let device = cpu(2, SimdLevel::Native);
    let mut random = SplitMix64::new(4);
    for (width, height) in [(1, 70_001), (70_001, 1)] {
        let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap();
        for (op, case) in
            [("gaussian_blur", ""), ("sobel", ""), ("resize", "width = 33, height = 3"), ("flip", "")]
        {
            let outcome = check(&device, op, &Params::line(case), &desc, &mut random);
            outcome.unwrap_or_else(|text| panic!("{op} {case}: {text}"));
        }
    }
}

#[test]
fn many_tiny_images() {
    let desc = ImageDesc::new(3, 2, PixelFormat::Rgba, DType::U8).unwrap();
    let image = Pattern::Noise.draw_batch(desc, 257, 9);
    let params = Params::line("kernel = 7");
    let outputs = run_operator(&cpu(2, SimdLevel::Native), "gaussian_blur", &params, &[&image]);
    assert_eq!(outputs.len(), 257);
    for (frame, output) in outputs.iter().enumerate() {
        let exact = reference::apply("gaussian_blur", &params, &[&image.frame(frame)]);
        check_contract(output, &exact, DType::U8).unwrap_or_else(|v| panic!("frame {frame}: {v}"));
    }
}
