//! Groups of several stages as one kernel, against the CPU device.

use super::cases::Strides;
use super::cases::samples::{fill, first_difference, make_not_finite};
use super::group_cases::{GroupCase, groups, plan};
use super::{Input, Operand, build, emulate, fits, fits_input};
use crate::codegen::{StageCode, Target, group_code};
use libloading::Library;
use mip_core::{AlignedBytes, BatchLayout, DType, ImageView, ImageViewMut};
use mip_cpu::{CpuConfig, execute_group};
use mip_plan::Plan;

/// Contents of what a plan's group reads; `not_finite`: with infinities and NaNs in f32.
pub(super) fn sources(plan: &Plan, not_finite: bool) -> Vec<(Vec<u8>, BatchLayout)> {
    let source = |id: usize| {
        let layout = plan.buffers[id].layout;
        let mut bytes = AlignedBytes::zeroed(layout.span());
        fill(bytes.as_mut_slice(), layout.desc.dtype(), id as u64 + 1);
        if not_finite && layout.desc.dtype().is_float() {
            make_not_finite(bytes.as_mut_slice(), layout.desc.dtype(), id as u64 + 7);
        }
        (bytes.as_slice().to_vec(), layout)
    };
    plan.groups[0].reads().into_iter().map(source).collect()
}

/// What the CPU makes of a plan's group.
pub(super) fn expected(plan: &Plan, inputs: &[(Vec<u8>, BatchLayout)]) -> Vec<Vec<u8>> {
    let group = &plan.groups[0];
    let layout = |id: usize| plan.buffers[id].layout;
    let views: Vec<ImageView<'_>> =
        inputs.iter().map(|(bytes, layout)| ImageView::new(*layout, bytes).unwrap()).collect();
    let mut outputs: Vec<AlignedBytes> =
        group.writes().into_iter().map(|id| AlignedBytes::zeroed(layout(id).span())).collect();
    for bytes in &mut outputs {
        bytes.as_mut_slice().fill(0xC3);
    }
    let mut written: Vec<ImageViewMut<'_>> = group
        .writes()
        .into_iter()
        .zip(&mut outputs)
        .map(|(id, bytes)| ImageViewMut::new(layout(id), bytes.as_mut_slice()).unwrap())
        .collect();
    execute_group(plan, 0, &views, &mut written, &CpuConfig::default()).unwrap();
    outputs.iter().map(|bytes| bytes.as_slice().to_vec()).collect()
}

/// Runs a group in every variant that fits. The number of comparisons; 0 without a compiler.
fn compare(case: &GroupCase, batch: usize, strides: Strides, multiprocessors: u32) -> usize {
    let plan = plan(case, batch, strides);
    let code = group_code(&plan, 0, Target { multiprocessors, ..Target::default() }).unwrap();
    assert_eq!(code.unfused, None, "{}", case.name);
    let Some(library) = build(&code, 1) else { return 0 };
    let mut inputs = plan.groups[0].reads().into_iter().map(|id| plan.buffers[id].layout.desc.dtype());
    let floats = inputs.any(DType::is_float);
    [false, true][..=usize::from(floats)]
        .iter()
        .map(|&not_finite| {
            let compared = compare_samples(&plan, &code.stages[0], &library, not_finite);
            compared.unwrap_or_else(|text| {
                panic!("{} ({strides:?}, batch {batch}, not finite: {not_finite}): {text}", case.name)
            })
        })
        .sum()
}

/// The number of variants compared, or what differs.
fn compare_samples(
    plan: &Plan,
    kernel: &StageCode,
    library: &Library,
    not_finite: bool,
) -> Result<usize, String> {
    let group = &plan.groups[0];
    let inputs = sources(plan, not_finite);
    let wanted = expected(plan, &inputs);
    let reads = group.reads();
    let source = |input: &Input| match input.source {
        Operand::Buffer(id) => &inputs[reads.iter().position(|&read| read == id).unwrap()],
        Operand::Stage(_) => unreachable!("a kernel of a whole group"),
    };
    let sources: Vec<(&[u8], BatchLayout)> =
        kernel.inputs.iter().map(source).map(|(bytes, l)| (&bytes[..], *l)).collect();
    let outputs: Vec<BatchLayout> = group.writes().into_iter().map(|id| plan.buffers[id].layout).collect();
    let mut compared = 0;
    for (variant, v) in kernel.variants.iter().enumerate() {
        let mut read = kernel.inputs.iter().zip(&sources);
        if !read.all(|(input, (_, l))| fits_input(input, l, v.align_in))
            || !outputs.iter().all(|l| fits(l, v.align_out))
        {
            continue;
        }
        let uniforms = |stage: usize| group.stages[stage].uniforms.clone();
        let got = emulate(library, kernel, variant, &sources, &outputs, &uniforms);
        for (n, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            let Some(at) = first_difference(got, wanted, outputs[n].desc.dtype()) else { continue };
            return Err(format!(
                "{}, output {n}: byte {} of row {} is {} instead of {}",
                v.entry,
                at % outputs[n].row_stride,
                at / outputs[n].row_stride,
                got[at],
                wanted[at],
            ));
        }
        compared += 1;
    }
    Ok(compared)
}

#[test]
fn some_groups_give_the_bytes_of_the_cpu() {
    let chosen = [
        "edges 2:3",
        "edges f32",
        "fork some stored",
        "blur resize blur",
        "blur threshold flip",
        "blur point",
        "stencil",
        "tensor",
        "video",
        "alpha small",
        "part blur",
        "part of a part",
    ];
    for case in groups(61, 43).iter().filter(|c| chosen.iter().any(|n| c.name.starts_with(n))) {
        compare(case, 2, Strides::Tight, 1);
    }
}

/// Sizes at which resizing by 3:2 and 2:1 is done in integers, in several blocks.
#[test]
fn exact_reductions_give_the_bytes_of_the_cpu() {
    for (w, h) in [(48, 24), (240, 60)] {
        for case in
            groups(w, h).iter().filter(|c| ["edges 2:3", "edges 1:2"].iter().any(|n| c.name.starts_with(n)))
        {
            compare(case, 2, Strides::Tight, 100);
            compare(case, 1, Strides::Odd, 1);
        }
    }
}

/// Everything: minutes. `MIP_EMULATE=17x9` picks one size.
#[test]
#[ignore = "compiles a hundred kernels: minutes"]
fn all_groups_give_the_bytes_of_the_cpu() {
    let sizes = match std::env::var("MIP_EMULATE") {
        Ok(text) => {
            vec![text.split_once('x').map(|(w, h)| (w.parse().unwrap(), h.parse().unwrap())).unwrap()]
        }
        Err(_) => vec![(1, 1), (1, 33), (33, 1), (2, 3), (15, 17), (31, 5), (133, 71), (300, 40)],
    };
    for (w, h) in sizes {
        for case in groups(w, h) {
            for (strides, multiprocessors) in [(Strides::Tight, 1), (Strides::Odd, 100)] {
                let compared = compare(&case, 2, strides, multiprocessors);
                println!("{} {strides:?}: {compared} variants equal", case.name);
            }
        }
    }
}
