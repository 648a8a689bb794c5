//! Plans of one group, and running them.

use mip_core::{AlignedBytes, BatchLayout, ImageDesc};
use mip_cpu::{CpuConfig, GroupRunner, SimdLevel};
use mip_plan::{Buffer, Group, Kernel, Operand, Place, Plan, Stage, Uniforms};

use crate::images::TestImage;

/// A stage that is written out.
pub(crate) fn stage(kernel: Kernel, uniforms: &[f32], inputs: &[Operand], output: ImageDesc) -> Stage {
    Stage { kernel, uniforms: uniforms.into(), inputs: inputs.to_vec(), output, store: None, task: 0 }
}

/// A plan with one group; buffers `0..inputs.len()` are its inputs, `stored` stages are written to the
/// buffers after them.
pub(crate) fn plan(inputs: &[ImageDesc], mut stages: Vec<Stage>, stored: &[usize]) -> Plan {
    let mut descs = inputs.to_vec();
    for (n, &s) in stored.iter().enumerate() {
        stages[s].store = Some(inputs.len() + n);
        descs.push(stages[s].output);
    }
    let buffers = descs.iter().map(|&desc| Buffer {
        name: String::new(),
        layout: BatchLayout::tight(desc, 1).unwrap(),
        place: Place::Input(0),
        producer: None,
        consumers: vec![],
    });
    Plan {
        batch: 1,
        streams: 1,
        inputs: vec![],
        outputs: vec![],
        tasks: vec![],
        buffers: buffers.collect(),
        groups: vec![Group { tasks: vec![0], stages, stream: 0, depends_on: vec![], workspace: None }],
        waits: vec![],
        arena_bytes: 0,
        fusion: vec![],
    }
}

pub(crate) fn config(threads: usize, simd: SimdLevel) -> CpuConfig {
    CpuConfig { threads: Some(threads), simd, ..CpuConfig::default() }
}

/// Runs the group with a poisoned workspace and poisoned, padded outputs.
pub(crate) fn run(plan: &Plan, inputs: &[&TestImage], config: &CpuConfig) -> Vec<TestImage> {
    let group = &plan.groups[0];
    let runner = GroupRunner::new(plan, 0, config).unwrap();
    let batch = inputs[0].layout.batch_size;
    let output = |id: usize| TestImage::poisoned(plan.buffers[id].layout.desc, batch, true);
    let mut outputs: Vec<TestImage> = group.writes().into_iter().map(output).collect();
    let views: Vec<_> = group.reads().into_iter().map(|id| inputs[id].view()).collect();
    let mut written: Vec<_> = outputs.iter_mut().map(TestImage::view_mut).collect();
    let uniforms: Vec<Uniforms> = group.stages.iter().map(|s| s.uniforms.clone()).collect();
    let mut workspace = AlignedBytes::zeroed(runner.workspace_bytes());
    workspace.as_mut_slice().fill(0xFF);
    runner.run(&views, &mut written, &uniforms, workspace.as_mut_slice()).unwrap();
    for image in &outputs {
        assert!(image.padding_intact(), "bytes outside the image were written");
    }
    outputs
}
