//! What a group runner refuses, and with which words.

use mip_core::{AlignedBytes, BatchLayout, DType, ImageDesc, ImageView, ImageViewMut, PixelFormat};
use mip_cpu::{GroupRunner, SimdLevel};
use mip_plan::{
    AxisMap, Border, CustomError, CustomKernel, Gather, Kernel, Operand, Plan, Point, Separable, Stage,
    Stencil, Warp,
};
use std::sync::Arc;

use crate::images::TestImage;
use crate::plans::{config, plan, run, stage};

fn gray(dtype: DType) -> ImageDesc {
    ImageDesc::new(8, 6, PixelFormat::Gray, dtype).unwrap()
}

fn blur(dtype: DType) -> Plan {
    let kernel = Kernel::Separable(Separable { radius_x: 1, radius_y: 1, border: Border::Reflect101 });
    let stages = vec![stage(kernel, &[0.5, 0.25, 0.5, 0.25], &[Operand::Buffer(0)], gray(dtype))];
    plan(&[gray(dtype)], stages, &[0])
}

/// The error of preparing a group.
fn refused(inputs: &[ImageDesc], stages: Vec<Stage>) -> String {
    let last = stages.len() - 1;
    let plan = plan(inputs, stages, &[last]);
    GroupRunner::new(&plan, 0, &config(1, SimdLevel::Native)).unwrap_err().to_string()
}

#[test]
fn kernels_and_shapes_that_do_not_fit() {
    let (small, rgb) = (gray(DType::U8), gray(DType::U8).with_format(PixelFormat::Rgb).unwrap());
    let one = |kernel: Kernel, from: ImageDesc, to: ImageDesc| {
        let uniforms = vec![1.0; kernel.uniform_count().unwrap_or(0)];
        refused(&[from], vec![stage(kernel, &uniforms, &[Operand::Buffer(0)], to)])
    };
    let copy = || Kernel::Point(Point::copy());
    let crop =
        |first| Kernel::Gather(Gather { x: AxisMap::Offset { first }, y: AxisMap::Offset { first: 0 } });
    assert_eq!(
        one(crop(3), small, small.with_dtype(DType::U16).unwrap()),
        "kernel 'gather' cannot be built: gather from 8x6 gray u8 to 8x6 gray u16: the dtype must stay"
    );
    let rgba = small.with_format(PixelFormat::Rgba).unwrap();
    assert!(
        one(copy(), rgba, rgba.with_dtype(DType::U16).unwrap())
            .ends_with("alpha is kept, so the dtype must stay")
    );
    assert!(one(copy(), small, small.with_size(9, 6).unwrap()).ends_with("the size must stay"));
    assert!(one(copy(), small, rgb).ends_with("the format must stay"));
    assert!(one(Kernel::Stencil(Stencil::sobel(Border::Wrap)), rgb, small).ends_with("the format must stay"));
    assert!(one(crop(3), small, small.with_size(6, 6).unwrap()).ends_with("columns outside the source"));
    assert!(one(crop(u32::MAX), small, small).ends_with("columns outside the source"));
    let turn =
        Kernel::Warp(Warp::Transposed { x: AxisMap::Offset { first: 0 }, y: AxisMap::Flip { last: 5 } });
    assert!(one(turn.clone(), small, small).ends_with("rows outside the source"));
    assert!(one(turn.clone(), small, small.with_size(6, 9).unwrap()).ends_with("columns outside the source"));
    let turned = small.with_size(6, 8).unwrap();
    let behind = [
        stage(Kernel::Point(Point::copy()), &[], &[Operand::Buffer(0)], small),
        stage(turn, &[], &[Operand::Stage(0)], turned),
    ];
    let text = refused(&[small], behind.to_vec());
    let why = "kernel 'warp' cannot be built: a warp reads a whole image, which must be in a buffer";
    assert_eq!(text, why);
    let wide = Kernel::Separable(Separable { radius_x: 0, radius_y: 16, border: Border::Wrap });
    assert!(one(wide, small, small).ends_with("radius above 15"));
    assert!(
        one(Kernel::Point(Point::blend(PixelFormat::Gray)), small, small)
            .ends_with("1 input(s) instead of 2")
    );
}

#[test]
fn memory_and_uniforms_that_do_not_fit() {
    let plan = blur(DType::F32);
    let runner = GroupRunner::new(&plan, 0, &config(2, SimdLevel::Native)).unwrap();
    let layout = BatchLayout::tight(gray(DType::F32), 1).unwrap();
    let bytes = AlignedBytes::zeroed(layout.span() + 64);
    let mut written = AlignedBytes::zeroed(layout.span() + 64);
    let mut workspace = AlignedBytes::zeroed(runner.workspace_bytes() + 64);
    let good = plan.groups[0].stages[0].uniforms.clone();
    let mut attempt = |shift: usize, space: std::ops::Range<usize>, uniforms: &[f32]| {
        let input = ImageView::new(layout, &bytes.as_slice()[shift..]).unwrap();
        let output = ImageViewMut::new(layout, &mut written.as_mut_slice()[shift..]).unwrap();
        let space = &mut workspace.as_mut_slice()[space];
        runner.run(&[input], &mut [output], &[uniforms.into()], space).map_err(|e| e.to_string())
    };
    let all = runner.workspace_bytes();
    assert_eq!(attempt(0, 0..all, &good), Ok(()));
    assert_eq!(attempt(4, 0..all, &good), Ok(()), "a region may start at any sample");
    assert_eq!(attempt(0, 0..all / 2, &good), Ok(()), "the share of one thread is enough");
    assert!(attempt(2, 0..all, &good).unwrap_err().contains("samples of 4 bytes must lie at multiples"));
    let short = attempt(0, 0..all / 2 - 64, &good).unwrap_err();
    assert!(short.contains(&format!("at least {} aligned to 64", all / 2)), "{short}");
    assert!(attempt(0, 4..all + 4, &good).unwrap_err().contains("aligned to 64"));
    let few = attempt(0, 0..all, &good[1..]).unwrap_err();
    assert_eq!(few, "uniforms of lengths [3] given, [4] needed");
}

/// Adds its inputs.
#[derive(Debug)]
struct Add;

impl CustomKernel for Add {
    fn name(&self) -> &'static str {
        "add"
    }

    fn input_count(&self) -> usize {
        2
    }

    fn run(
        &self,
        inputs: &[ImageView<'_>],
        uniforms: &[f32],
        output: &mut ImageViewMut<'_>,
    ) -> Result<(), CustomError> {
        if uniforms[0] > 1.0 {
            return Err(CustomError("too much".to_owned()));
        }
        for frame in 0..output.layout().batch_size {
            for y in 0..output.layout().desc.height() as usize {
                let row = output.row_mut(frame, 0, y);
                let pairs = inputs[0].row(frame, 0, y).iter().zip(inputs[1].row(frame, 0, y));
                row.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = a.wrapping_add(*b));
            }
        }
        Ok(())
    }
}

#[test]
fn custom_kernels_run_alone_and_may_fail() {
    let desc = gray(DType::U8);
    let add =
        |uniform: f32, inputs: &[Operand]| stage(Kernel::Custom(Arc::new(Add)), &[uniform], inputs, desc);
    let twice = [Operand::Buffer(1), Operand::Buffer(0)];
    let (a, b) = (TestImage::random(desc, 2, true, 1), TestImage::random(desc, 2, false, 2));
    let plan_of = |uniform| plan(&[desc, desc], vec![add(uniform, &twice)], &[0]);
    let sum = run(&plan_of(0.0), &[&a, &b], &config(2, SimdLevel::Native));
    let expected = a.bytes().iter().zip(b.bytes()).map(|(a, b)| a.wrapping_add(b)).collect::<Vec<_>>();
    assert_eq!(sum[0].bytes(), expected);
    let copy = stage(Kernel::Point(Point::copy()), &[], &[Operand::Buffer(0)], desc);
    let text = refused(&[desc, desc], vec![copy, add(0.0, &[Operand::Stage(0), Operand::Buffer(1)])]);
    assert_eq!(text, "kernel 'add' cannot be built: a custom kernel must have a group of its own");
    let failing = plan_of(2.0);
    let runner = GroupRunner::new(&failing, 0, &config(1, SimdLevel::Native)).unwrap();
    let mut output = TestImage::poisoned(desc, 2, false);
    let uniforms = [failing.groups[0].stages[0].uniforms.clone()];
    let error = runner.run(&[a.view(), b.view()], &mut [output.view_mut()], &uniforms, &mut []).unwrap_err();
    assert_eq!(error.to_string(), "kernel 'add' failed: too much");
}
