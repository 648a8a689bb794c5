//! Golden images by OpenCV, Pillow, SciPy and NumPy, through whole pipelines on the CPU.

mod support;

use mip_core::{ImageBuffer, Layout};
use mip_cpu::SimdLevel;
use mip_fuzzing::run_operator;
use mip_testkit::goldens;
use mip_testkit::images::{in_layout, padded};
use support::cpu;

#[test]
fn every_golden_image_comes_out() {
    let device = cpu(2, SimdLevel::Native);
    let mut failures = Vec::new();
    for case in goldens() {
        let inputs: Vec<&ImageBuffer> = case.inputs.iter().collect();
        let output = &run_operator(&device, &case.op, &case.params, &inputs)[0];
        if let Err(violations) = case.check(output) {
            let about = format!("{} ({}, {}; {})", case.name, case.library, case.call, case.why);
            failures.push(format!("{about}: {violations}"));
        }
    }
    assert!(failures.is_empty(), "{} wrong\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn planar_and_padded_inputs_give_the_same_images() {
    let (wide, plain) = (cpu(3, SimdLevel::Native), cpu(1, SimdLevel::Portable));
    for case in goldens().iter().filter(|case| case.op != "layout") {
        let rearranged: Vec<_> = case.inputs.iter().map(|i| padded(&in_layout(i, Layout::Chw), 32)).collect();
        let inputs: Vec<&ImageBuffer> = case.inputs.iter().collect();
        let planar: Vec<&ImageBuffer> = rearranged.iter().collect();
        let expected = &run_operator(&plain, &case.op, &case.params, &inputs)[0];
        let output = &run_operator(&wide, &case.op, &case.params, &planar)[0];
        assert_eq!(output.desc(), &expected.desc().with_layout(Layout::Chw), "{}", case.name);
        assert!(in_layout(output, Layout::Hwc) == *expected, "{}: other pixels", case.name);
    }
}
