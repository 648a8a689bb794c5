//! Groups by the definitions of their kernels ([`mip_plan::evaluate`]), and tables to test with.

use mip_core::{ImageDesc, ImageView};
use mip_plan::{AxisTaps, Kernel, Plan, evaluate};

use crate::images::TestImage;

/// Runs a one-group plan of single frames stage by stage; returns the result of every stage.
pub(crate) fn run(plan: &Plan, inputs: &[&TestImage]) -> Vec<TestImage> {
    let mut results: Vec<TestImage> = Vec::new();
    for stage in &plan.groups[0].stages {
        let operands: Vec<&TestImage> = stage
            .inputs
            .iter()
            .map(|operand| match *operand {
                mip_plan::Operand::Buffer(id) => inputs[id],
                mip_plan::Operand::Stage(s) => &results[s],
            })
            .collect();
        let result = kernel(&stage.kernel, &stage.uniforms, &operands, stage.output);
        results.push(result);
    }
    results
}

/// Applies a kernel by its definition.
pub(crate) fn kernel(
    kernel: &Kernel,
    uniforms: &[f32],
    inputs: &[&TestImage],
    output: ImageDesc,
) -> TestImage {
    let mut result = TestImage::poisoned(output, 1, false);
    let views: Vec<ImageView<'_>> = inputs.iter().map(|image| image.view()).collect();
    evaluate(kernel, uniforms, &views, &mut result.view_mut()).expect("no kernel of a user");
    result
}

/// Bilinear taps with half-pixel centres, not antialiased.
pub(crate) fn bilinear(input: u32, output: u32) -> AxisTaps {
    let scale = f64::from(input) / f64::from(output);
    let outputs: Vec<Vec<(i64, f64)>> = (0..output)
        .map(|i| {
            let source = (f64::from(i) + 0.5) * scale - 0.5;
            let (first, fraction) = (source.floor(), source - source.floor());
            vec![(first as i64, 1.0 - fraction), (first as i64 + 1, fraction)]
        })
        .collect();
    AxisTaps::from_contributions(input, &outputs)
}

/// Equal weights over the pixels that an output covers (at least one).
pub(crate) fn area(input: u32, output: u32) -> AxisTaps {
    let outputs: Vec<Vec<(i64, f64)>> = (0..u64::from(output))
        .map(|i| {
            let first = i * u64::from(input) / u64::from(output);
            let end = ((i + 1) * u64::from(input) / u64::from(output)).max(first + 1);
            (first..end).map(|k| (k as i64, 1.0 / (end - first) as f64)).collect()
        })
        .collect();
    AxisTaps::from_contributions(input, &outputs)
}
