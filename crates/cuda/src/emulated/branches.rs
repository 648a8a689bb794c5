//! Alike branches of a group as one launch, against the CPU device.

use mip_core::{AlignedBytes, BatchLayout, DType, ImageDesc, Layout, PixelFormat};
use mip_plan::{Border, Operand, Plan};

use super::cases::{Strides, fill};
use super::group_cases::{GroupCase, image, pieces, plan, side_by_side};
use super::groups::expected;
use super::{Bound, build, fits, launch};
use crate::codegen::{Program, Target, programs, put_branches};

/// Contents of a plan's inputs.
fn sources(plan: &Plan) -> Vec<(Vec<u8>, BatchLayout)> {
    let source = |id: usize| {
        let layout = plan.buffers[id].layout;
        let mut bytes = AlignedBytes::zeroed(layout.span());
        fill(bytes.as_mut_slice(), layout.desc.dtype, id as u64 + 1);
        (bytes.as_slice().to_vec(), layout)
    };
    plan.groups[0].reads().into_iter().map(source).collect()
}

/// Runs a group's programs in every variant that fits and compares them with the CPU. The launches of each program.
fn compare(case: &GroupCase, batch: usize, strides: Strides, parameter_bytes: usize) -> Vec<usize> {
    let plan = plan(case, batch, strides);
    let programs =
        programs(&plan, 0, Target { multiprocessors: 2, parameter_bytes, ..Target::default() }).unwrap();
    let sources = sources(&plan);
    let wanted = expected(&plan, &sources.iter().map(|(bytes, _)| bytes.clone()).collect::<Vec<_>>());
    let run = |program: &Program| {
        let launches = program.branches.len().div_ceil(program.at_once);
        let Some(library) = build(&program.code, program.at_once) else { return launches };
        let group = &plan.groups[0];
        let (reads, writes) = (group.reads(), group.writes());
        for (k, kernel) in program.code.stages.iter().enumerate() {
            let mut compared = 0;
            for variant in &kernel.variants {
                let inputs = |branch: usize| -> Vec<(&[u8], BatchLayout)> {
                    let operands = program.branches[branch].kernels[k].inputs.iter();
                    let source = |operand: &Operand| match operand {
                        Operand::Buffer(id) => &sources[reads.iter().position(|read| read == id).unwrap()],
                        Operand::Stage(_) => unreachable!("cases keep nothing in a workspace"),
                    };
                    operands.map(source).map(|(bytes, layout)| (&bytes[..], *layout)).collect()
                };
                let stores = |branch: usize| -> Vec<usize> {
                    let branch = &program.branches[branch];
                    let outputs = branch.kernels[k].outputs.iter();
                    outputs.map(|&stage| group.stages[branch.stages[stage]].store.unwrap()).collect()
                };
                let layouts = |branch: usize| -> Vec<BatchLayout> {
                    stores(branch).into_iter().map(|id| plan.buffers[id].layout).collect()
                };
                let all = 0..program.branches.len();
                if !all.clone().all(|b| {
                    inputs(b).iter().all(|(_, l)| fits(l, variant.align_in))
                        && layouts(b).iter().all(|l| fits(l, variant.align_out))
                }) {
                    continue;
                }
                for branches in all.collect::<Vec<_>>().chunks(program.at_once) {
                    let bound = |&b: &usize| {
                        let branch = &program.branches[b];
                        let uniforms = |stage: usize| group.stages[branch.stages[stage]].uniforms.clone();
                        let own = &branch.kernels[k];
                        Bound::new(&library, own, variant, &inputs(b), &layouts(b), &uniforms)
                    };
                    let bounds: Vec<Bound<'_>> = branches.iter().map(bound).collect();
                    let parameters: Vec<Vec<u8>> = bounds.iter().map(|b| b.parameters.clone()).collect();
                    let parameter = put_branches(program.at_once, &parameters);
                    launch(&library, kernel, variant, batch as u32, program.at_once as u32, &parameter);
                    for (bound, &branch) in bounds.into_iter().zip(branches) {
                        for (got, id) in bound.results().into_iter().zip(stores(branch)) {
                            let wanted = &wanted[writes.iter().position(|&w| w == id).unwrap()];
                            assert!(
                                got == *wanted,
                                "{} {strides:?}, branch {branch} of {}",
                                case.name,
                                variant.entry
                            );
                            compared += 1;
                        }
                    }
                }
            }
            assert!(compared > 0, "{}: no variant fits", case.name);
        }
        launches
    };
    programs.iter().map(run).collect()
}

fn rgb(w: u32, h: u32) -> ImageDesc {
    image(w, h, PixelFormat::Rgb, DType::U8)
}

#[test]
fn crops_are_launched_at_once() {
    let places = [(0, 0), (7, 3), (37, 20), (29, 1), (61 - 24, 43 - 18)];
    let case = pieces("crops", rgb(61, 43), &places, (24, 18), 13, 11);
    for (batch, strides) in [(1, Strides::Tight), (3, Strides::Odd), (2, Strides::Pitched)] {
        assert_eq!(compare(&case, batch, strides, 32_764), [1]);
    }
}

/// Where the parameter of a kernel has room for few branches, or for one.
#[test]
fn what_does_not_fit_into_a_parameter_is_launched_in_turn() {
    let places: Vec<(u32, u32)> = (0..7).map(|i| (i * 5, i)).collect();
    let case = pieces("crops", rgb(61, 43), &places, (24, 18), 13, 11);
    let plan = plan(&case, 1, Strides::Tight);
    let program = programs(&plan, 0, Target::default()).unwrap().remove(0);
    let each = program.code.stages[0].fields.bytes().len();
    // Three of room: three launches of 3, 3 and 1.
    assert_eq!(compare(&case, 2, Strides::Tight, 8 + 3 * each + 7), [3]);
    assert_eq!(compare(&case, 1, Strides::Tight, 8 + each), [7]);
}

/// Kernels of one stage, which know nothing of branches but where their frames begin.
#[test]
fn single_stages_are_launched_at_once() {
    let (hwc, chw) = (rgb(37, 21), rgb(37, 21).with_layout(Layout::Chw));
    let gray = image(37, 21, PixelFormat::Gray, DType::U8);
    let edges = side_by_side("sobel", &[gray; 3], |case, from| case.sobel(from, Border::Reflect101));
    let soft = side_by_side("gaussian", &[hwc; 3], |case, from| case.gaussian(from, 2, Border::Wrap));
    let small = side_by_side("resize", &[chw; 3], |case, from| case.resize(from, 20, 11));
    for case in [edges, soft, small] {
        assert_eq!(compare(&case, 2, Strides::Tight, 32_764), [1]);
        assert_eq!(compare(&case, 1, Strides::Odd, 32_764), [1]);
    }
}

/// Branches that look alike to the planner, but need code of their own.
#[test]
fn other_programs_are_launched_by_themselves() {
    let gray = image(37, 21, PixelFormat::Gray, DType::U8);
    let case = side_by_side("sobel", &[gray, gray, gray.with_dtype(DType::U16)], |case, from| {
        case.sobel(from, Border::Replicate)
    });
    assert_eq!(compare(&case, 2, Strides::Tight, 32_764), [1, 1]);
}
