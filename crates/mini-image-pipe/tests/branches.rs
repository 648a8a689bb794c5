//! Branches of the same program that share a group, as on a GPU: the same bytes, one launch, and what fails
//! with it.

mod support;

use std::sync::{Arc, Mutex};

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_ops::Value;
use mip_runtime::device::DeviceError;
use mip_runtime::device::null::{NullDevice, NullOptions};
use mip_testkit::images::Pattern;
use support::{cpu, horizontally_fusing_cpu};

/// Pieces of one size as tensors, and something that is not like them.
fn line(pieces: u32) -> String {
    let piece = |n: u32| {
        format!(
            "c{n}:crop x={} y={} width=30 height=24 inputs=@input ! r{n}:resize width=17 height=13 ! n{n}:normalize mean=0.{n}3 std=0.2",
            7 * n,
            5 * n
        )
    };
    let pieces: Vec<String> = (0..pieces).map(piece).collect();
    format!("{} ! edges:color_convert to=gray inputs=@input ! sobel", pieces.join(" ! "))
}

fn pipeline(line: &str, device: &Device, fuse: bool) -> Pipeline {
    let config = PipelineConfig {
        device: device.clone(),
        fuse,
        max_batch_size: 2,
        enable_graph_replay: true,
        poison: true,
        ..PipelineConfig::default()
    };
    Pipeline::from_spec(&PipelineSpec::parse_line(line).unwrap(), config).unwrap()
}

fn test_images() -> Vec<ImageBuffer> {
    let desc = ImageDesc::new(71, 61, PixelFormat::Rgb, DType::U8).unwrap();
    (0..3).map(|seed| Pattern::Noise.draw(desc, seed)).collect()
}

fn results(pipeline: &Pipeline) -> Vec<(String, Vec<ImageBuffer>)> {
    pipeline.outputs().map(|(name, images)| (name.to_owned(), images.to_vec())).collect()
}

#[test]
fn joined_branches_give_the_bytes_of_tasks_alone() {
    let line = line(5);
    let (mut joined, mut alone) = (
        pipeline(&line, &horizontally_fusing_cpu(2), true),
        pipeline(&line, &cpu(1, mip_cpu::SimdLevel::Portable), false),
    );
    let inputs = [*test_images()[0].desc()];
    assert_eq!(joined.plan_for(&inputs, 2).unwrap().groups.len(), 2);
    // Whole batches are replayed; the last one is smaller.
    for round in 0..3 {
        if round == 2 {
            for pipeline in [&mut joined, &mut alone] {
                let task = pipeline.task("n3").unwrap();
                pipeline.set_parameter(task, "std", Value::Float(0.7)).unwrap();
            }
        }
        for pipeline in [&mut joined, &mut alone] {
            pipeline.execute_batch(&test_images()).unwrap();
        }
        assert_eq!(results(&joined), results(&alone), "round {round}");
    }
}

/// A group fails as a whole: all its branches do, and nothing else.
#[test]
fn a_failed_launch_fails_the_branches_it_is_for() {
    let options = NullOptions {
        horizontal_fusion: true,
        on_launch: Some(Arc::new(|_, group| match group.branches().len() {
            1 => Ok(()),
            _ => Err(DeviceError::Kernel { kernel: "pieces".to_owned(), message: "broken".to_owned() }),
        })),
        ..NullOptions::default()
    };
    let mut pipeline = pipeline(&line(3), &Device::from_runtime(NullDevice::new(options)), true);
    pipeline.set_named_input("input", &test_images()[0]).unwrap();
    let failed = Arc::new(Mutex::new(Vec::new()));
    let log = failed.clone();
    pipeline.set_error_callback(move |_, name, error| log.lock().unwrap().push(format!("{name}: {error}")));
    let error = pipeline.execute().unwrap_err().to_string();
    assert!(error.contains("broken"), "{error}");
    // Reported once, as for every group: of its first task.
    let failed = failed.lock().unwrap().clone();
    assert!(matches!(&failed[..], [one] if one.starts_with("c0: ")), "{failed:?}");
    let output = |task: &str| pipeline.output(pipeline.task(task).unwrap());
    assert!(output("sobel").is_ok());
    for task in ["n0", "n1", "n2"] {
        let refused = output(task).unwrap_err().to_string();
        assert!(refused.contains(task) && refused.contains("failed"), "{refused}");
    }
}
