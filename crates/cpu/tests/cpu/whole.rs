//! Kernels over whole images on several threads, which share bands of rows, join them or take a frame each.

use mip_core::{BatchLayout, DType, ImageDesc, PixelFormat};
use mip_cpu::SimdLevel;
use mip_ops::{StepInput, Value};
use mip_plan::{Operand, Stage};

use crate::images::TestImage;
use crate::plans::{config, plan, run, stage};

/// Runs an operator, `name parameter=value ...`, on one thread and on several: the same bytes. Of the first input's bytes those
/// stay that `kept` says, the others are 0.
fn same(text: &str, image: ImageDesc, kept: impl Fn(u8) -> bool) {
    let mut words = text.split_whitespace();
    let name = words.next().expect("a name");
    let params: Vec<(String, Value)> =
        words.filter_map(|word| word.split_once('=')).map(|(k, v)| (k.to_owned(), Value::parse(v))).collect();
    let operator = mip_ops::create(name, &params).expect(text);
    let inputs = operator.inputs_like(&image).expect(text);
    let operand = |input: &StepInput| match *input {
        StepInput::Slot(slot) => Operand::Buffer(slot),
        StepInput::Step(step) => Operand::Stage(step),
    };
    let steps = operator.lower(&inputs).expect(text).steps;
    let made = steps.iter().map(|step| {
        let operands: Vec<Operand> = step.inputs.iter().map(operand).collect();
        stage(step.kernel.clone(), &step.uniforms, &operands, step.output)
    });
    let stages: Vec<Stage> = made.collect();
    let last = stages.len() - 1;
    let mut plan = plan(&inputs, stages, &[last]);
    for batch in [1, 3] {
        for buffer in &mut plan.buffers {
            buffer.layout = BatchLayout::tight(buffer.layout.desc, batch).unwrap();
        }
        let mut images: Vec<TestImage> =
            inputs.iter().zip(1..).map(|(&desc, seed)| TestImage::random(desc, batch, true, seed)).collect();
        images[0].view_mut().data_mut().iter_mut().filter(|v| !kept(**v)).for_each(|v| *v = 0);
        let images: Vec<&TestImage> = images.iter().collect();
        let bytes =
            |threads: usize| run(&plan, &images, &config(threads, SimdLevel::Native)).remove(0).bytes();
        let alone = bytes(1);
        for threads in [2, 3, 7] {
            assert!(bytes(threads) == alone, "{text}, {batch} frames, {threads} threads");
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
    same("regions max=9", gray, |_| true);
    same("draw", gray, |_| true);
    same("redact size=5", gray, |_| true);
}
