//! Groups of several stages as one kernel, against the CPU device.

use super::cases::{Strides, fill};
use super::group_cases::{GroupCase, groups, plan};
use super::{Operand, build, emulate, fits};
use crate::codegen::{Target, group_code};
use mip_core::{AlignedBytes, BatchLayout, ImageView, ImageViewMut};
use mip_cpu::{CpuConfig, execute_group};
use mip_plan::Plan;

/// Contents of what a plan's group reads.
pub(super) fn sources(plan: &Plan) -> Vec<(Vec<u8>, BatchLayout)> {
    let source = |id: usize| {
        let layout = plan.buffers[id].layout;
        let mut bytes = AlignedBytes::zeroed(layout.span());
        fill(bytes.as_mut_slice(), layout.desc.dtype, id as u64 + 1);
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
    let group = &plan.groups[0];
    let inputs = sources(&plan);
    let wanted = expected(&plan, &inputs);
    let sources: Vec<(&[u8], BatchLayout)> = inputs.iter().map(|(bytes, l)| (&bytes[..], *l)).collect();
    let outputs: Vec<BatchLayout> = group.writes().into_iter().map(|id| plan.buffers[id].layout).collect();
    let kernel = &code.stages[0];
    assert!(kernel.inputs.iter().all(|i| matches!(i, Operand::Buffer(_))));
    let mut compared = 0;
    for (variant, v) in kernel.variants.iter().enumerate() {
        if !sources.iter().all(|(_, l)| fits(l, v.align_in)) || !outputs.iter().all(|l| fits(l, v.align_out))
        {
            continue;
        }
        let uniforms = |stage: usize| group.stages[stage].uniforms.clone();
        let got = emulate(&library, kernel, variant, &sources, &outputs, &uniforms);
        for (n, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            let Some(at) = (0..got.len()).find(|&i| got[i] != wanted[i]) else { continue };
            let row = at / outputs[n].row_stride;
            panic!(
                "{} ({strides:?}, batch {batch}, {}), output {n}: byte {} of row {row} is {} instead of {}; {} differ",
                case.name,
                v.entry,
                at % outputs[n].row_stride,
                got[at],
                wanted[at],
                (0..got.len()).filter(|&i| got[i] != wanted[i]).count()
            );
        }
        compared += 1;
    }
    compared
}

#[test]
fn some_groups_give_the_bytes_of_the_cpu() {
    let chosen = ["edges 2:3", "fork some stored", "blur resize blur", "blur threshold flip", "tensor"];
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
