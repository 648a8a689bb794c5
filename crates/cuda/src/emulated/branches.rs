//! Branches of the same program of a group as one launch, against the CPU device.

use libloading::Library;
use mip_core::{BatchLayout, DType, ImageDesc, Layout, PixelFormat};
use mip_plan::{Border, BufferId, Operand, Plan, Uniforms};

use super::cases::{Strides, point};
use super::group_cases::parts::blurred_pieces;
use super::group_cases::{GroupCase, image, pieces, plan, side_by_side};
use super::groups::{expected, sources};
use super::{Bound, Input, build, fits, fits_input, launch};
use crate::codegen::{
    Branch, MORE_PARAMETER_BYTES, Program, StageCode, Target, Variant, programs, put_branches,
};

/// A plan's group, what it reads and what the CPU makes of it.
struct Truth {
    plan: Plan,
    sources: Vec<(Vec<u8>, BatchLayout)>,
    wanted: Vec<Vec<u8>>,
}

/// A branch of a kernel: its memory in the plan.
struct Own<'a> {
    kernel: &'a StageCode,
    inputs: Vec<(&'a [u8], BatchLayout)>,
    /// Buffers that it writes.
    stores: Vec<BufferId>,
    outputs: Vec<BatchLayout>,
    uniforms: Vec<Uniforms>,
}

impl Truth {
    fn of(case: &GroupCase, batch: usize, strides: Strides) -> Self {
        let plan = plan(case, batch, strides);
        let sources = sources(&plan, false);
        let wanted = expected(&plan, &sources);
        Self { plan, sources, wanted }
    }

    /// Kernel `k` of a branch.
    fn own<'a>(&'a self, branch: &'a Branch, k: usize) -> Own<'a> {
        let (group, kernel) = (&self.plan.groups[0], &branch.kernels[k]);
        let reads = group.reads();
        let input = |input: &Input| match input.source {
            Operand::Buffer(id) => {
                let (bytes, layout) = &self.sources[reads.iter().position(|&read| read == id).unwrap()];
                (&bytes[..], *layout)
            }
            Operand::Stage(_) => unreachable!("cases keep nothing in a workspace"),
        };
        let store = |&stage: &usize| group.stages[branch.stages[stage]].store.unwrap();
        let stores: Vec<BufferId> = kernel.outputs.iter().map(store).collect();
        Own {
            kernel,
            inputs: kernel.inputs.iter().map(input).collect(),
            outputs: stores.iter().map(|&id| self.plan.buffers[id].layout).collect(),
            stores,
            uniforms: branch.stages.iter().map(|&stage| group.stages[stage].uniforms.clone()).collect(),
        }
    }

    /// Whether a buffer holds what the CPU makes.
    fn is(&self, buffer: BufferId, got: &[u8]) -> bool {
        let writes = self.plan.groups[0].writes();
        self.wanted[writes.iter().position(|&id| id == buffer).unwrap()] == got
    }
}

impl Own<'_> {
    fn fits(&self, variant: &Variant) -> bool {
        let mut read = self.kernel.inputs.iter().zip(&self.inputs);
        read.all(|(input, (_, l))| fits_input(input, l, variant.align_in))
            && self.outputs.iter().all(|l| fits(l, variant.align_out))
    }

    fn bound<'l>(&self, library: &'l Library, variant: &Variant) -> Bound<'l> {
        let uniforms = |stage: usize| self.uniforms[stage].clone();
        Bound::new(library, self.kernel, variant, &self.inputs, &self.outputs, &uniforms)
    }
}

/// Runs a group's programs in every variant that fits and compares them with the CPU. The launches of each program.
fn compare(case: &GroupCase, batch: usize, strides: Strides, parameter_bytes: usize) -> Vec<usize> {
    let truth = Truth::of(case, batch, strides);
    let target = Target { multiprocessors: 2, parameter_bytes, ..Target::default() };
    let run = |program: &Program| {
        if let Some(library) = build(&program.code, program.at_once) {
            for k in 0..program.code.stages.len() {
                let compared = compare_kernel(&truth, &library, program, k);
                assert!(compared > 0, "{} {strides:?}: no variant fits", case.name);
            }
        }
        program.branches.len().div_ceil(program.at_once)
    };
    programs(&truth.plan, 0, target).unwrap().iter().map(run).collect()
}

/// Launches a kernel for all branches, in each variant that fits. The number of results compared.
fn compare_kernel(truth: &Truth, library: &Library, program: &Program, k: usize) -> usize {
    let kernel = &program.code.stages[k];
    let owns: Vec<Own<'_>> = program.branches.iter().map(|branch| truth.own(branch, k)).collect();
    let mut compared = 0;
    for variant in kernel.variants.iter().filter(|v| owns.iter().all(|own| own.fits(v))) {
        for owns in owns.chunks(program.at_once) {
            let bounds: Vec<Bound<'_>> = owns.iter().map(|own| own.bound(library, variant)).collect();
            let parameters: Vec<Vec<u8>> = bounds.iter().map(|b| b.parameters.clone()).collect();
            let parameter = put_branches(program.at_once, &parameters);
            let batch = truth.plan.batch as u32;
            launch(library, kernel, variant, batch, program.at_once as u32, &parameter);
            for (own, bound) in owns.iter().zip(bounds) {
                for (&buffer, got) in own.stores.iter().zip(bound.results()) {
                    let name = &truth.plan.buffers[buffer].name;
                    assert!(truth.is(buffer, &got), "'{name}' by {}, batch {batch}", variant.entry);
                    compared += 1;
                }
            }
        }
    }
    compared
}

fn rgb(w: u32, h: u32) -> ImageDesc {
    image(w, h, PixelFormat::Rgb, DType::U8)
}

#[test]
fn crops_are_launched_at_once() {
    let places = [(0, 0), (7, 3), (37, 20), (29, 1), (61 - 24, 43 - 18)];
    let case = pieces("crops", rgb(61, 43), &places, (24, 18), 13, 11);
    for (batch, strides) in [(1, Strides::Tight), (3, Strides::Odd), (2, Strides::Pitched)] {
        assert_eq!(compare(&case, batch, strides, MORE_PARAMETER_BYTES), [1]);
    }
}

/// The place is no part of the code, aligned or not, for others than resizes either.
#[test]
fn blurred_crops_are_launched_at_once() {
    let places = [(0, 0), (8, 3), (37, 20), (29, 1), (61 - 24, 43 - 18)];
    for desc in [rgb(61, 43), rgb(61, 43).with_layout(Layout::Chw)] {
        let case = blurred_pieces("blurred crops", desc, &places, (24, 18), Border::Reflect101);
        for (batch, strides) in [(1, Strides::Tight), (3, Strides::Odd), (2, Strides::Pitched)] {
            assert_eq!(compare(&case, batch, strides, MORE_PARAMETER_BYTES), [1]);
        }
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
    // Tables of one size, each branch with its own.
    let looked_up = side_by_side("lookup", &[hwc; 3], |case, from| {
        let Operand::Buffer(branch) = from else { unreachable!("an input") };
        let (kernel, uniforms, output) = point(&format!("lookup(v / 40, 7, {branch}, 200, 90)"), &[hwc]);
        case.add(kernel, &uniforms, &[from], output)
    });
    for case in [edges, soft, small, looked_up] {
        assert_eq!(compare(&case, 2, Strides::Tight, MORE_PARAMETER_BYTES), [1]);
        assert_eq!(compare(&case, 1, Strides::Odd, MORE_PARAMETER_BYTES), [1]);
    }
}

/// Branches that need code of their own.
#[test]
fn other_programs_are_launched_by_themselves() {
    let gray = image(37, 21, PixelFormat::Gray, DType::U8);
    let case = side_by_side("sobel", &[gray, gray, gray.with_dtype(DType::U16).unwrap()], |case, from| {
        case.sobel(from, Border::Replicate)
    });
    assert_eq!(compare(&case, 2, Strides::Tight, MORE_PARAMETER_BYTES), [1, 1]);
}
