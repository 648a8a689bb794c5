//! Kernels over whole images on several threads, which share bands of rows, join them or take a frame each.

use mip_core::{BatchLayout, DType, ImageDesc, Layout, PixelFormat};
use mip_cpu::SimdLevel;
use mip_ops::{StepInput, Value};
use mip_plan::{Operand, Plan, Stage};

use crate::images::TestImage;
use crate::plans::{config, plan, run, stage};

/// Runs an operator, `name parameter=value ...`, on one thread and on several, by itself and beside another one like it in one
/// group: the same bytes. Of the first input's bytes those stay that `kept` says, the others are 0.
fn same(text: &str, image: ImageDesc, kept: impl Fn(u8) -> bool) {
    let mut words = text.split_whitespace();
    let name = words.next().expect("a name");
    let params: Vec<(String, Value)> =
        words.filter_map(|word| word.split_once('=')).map(|(k, v)| (k.to_owned(), Value::parse(v))).collect();
    let operator = mip_ops::create(name, &params).expect(text);
    let inputs = operator.inputs_like(&image).expect(text);
    let steps = operator.lower(&inputs).expect(text).steps;
    let stages = |first: usize| -> Vec<Stage> {
        let operand = |input: &StepInput| match *input {
            StepInput::Slot(slot) => Operand::Buffer(slot),
            StepInput::Step(step) => Operand::Stage(first + step),
        };
        let made = steps.iter().map(|step| {
            let operands: Vec<Operand> = step.inputs.iter().map(operand).collect();
            stage(step.kernel.clone(), &step.uniforms, &operands, step.output)
        });
        made.collect()
    };
    let last = steps.len() - 1;
    let mut one = plan(&inputs, stages(0), &[last]);
    let mut two = plan(&inputs, [stages(0), stages(steps.len())].concat(), &[last, last + steps.len()]);
    for batch in [1, 3] {
        for buffer in one.buffers.iter_mut().chain(&mut two.buffers) {
            buffer.layout = BatchLayout::tight(buffer.layout.desc, batch).unwrap();
        }
        let mut images: Vec<TestImage> =
            inputs.iter().zip(1..).map(|(&desc, seed)| TestImage::random(desc, batch, true, seed)).collect();
        images[0].view_mut().data_mut().iter_mut().filter(|v| !kept(**v)).for_each(|v| *v = 0);
        let images: Vec<&TestImage> = images.iter().collect();
        let results = |plan: &Plan, threads: usize| -> Vec<Vec<u8>> {
            let results = run(plan, &images, &config(threads, SimdLevel::Native));
            results.iter().map(TestImage::bytes).collect()
        };
        let alone = results(&one, 1);
        for threads in [2, 3, 7] {
            assert!(results(&one, threads) == alone, "{text}, {batch} frames, {threads} threads");
        }
        for threads in [1, 3] {
            let both = results(&two, threads);
            assert!(both == [&alone[0][..], &alone[0][..]], "{text}, {batch} frames, two in one group");
        }
    }
}

#[test]
fn whole_images_are_the_same_on_all_numbers_of_threads() {
    let gray = ImageDesc::new(331, 260, PixelFormat::Gray, DType::U8).unwrap();
    for text in ["label", "label connectivity=4", "label min_area=4"] {
        same(text, gray, |v| v < 140);
        same(text, gray, |v| v < 245);
    }
    same("canny low=200 high=900", gray, |v| v < 200);
    for metric in ["l2", "l1", "linf"] {
        same(&format!("distance_transform metric={metric}"), gray, |v| v < 254);
    }
    for text in ["integral", "integral squared=true"] {
        same(text, gray, |_| true);
        same(text, gray.with_format(PixelFormat::Rgb).unwrap(), |_| true);
        let planes = gray.with_format(PixelFormat::Rgba).unwrap().with_layout(Layout::Chw);
        same(text, planes, |_| true);
    }
    same("regions max=9", gray, |_| true);
    same("autocontrast cutoff=2.5", gray, |_| true);
    same("draw", gray, |_| true);
    same("redact size=5", gray, |_| true);
}
