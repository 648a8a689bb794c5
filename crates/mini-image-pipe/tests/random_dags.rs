//! The same bytes for every way of running, over random graphs of all operators: alone or in a graph, fused or
//! not, 1, 2 or 4 streams, 1, 2 or 3 threads, portable or native instructions, in poisoned memory, whatever the
//! order in which the graph was put together, again and again, singly and in batches.

mod support;

use std::fmt;
use std::sync::LazyLock;

use mini_image_pipe::{Device, PipelineConfig, StreamOptions};
use mip_core::{ImageBuffer, ImageDesc};
use mip_cpu::SimdLevel;
use mip_fuzzing::dag::{Choice, Dag, Results};
use mip_testkit::same_pixels;
use mip_testkit::strategies::{image_desc, image_of};
use proptest::prelude::*;
use support::{cpu, horizontally_fusing_cpu};

/// The plainest way: one thread, no special instructions.
static PLAIN: LazyLock<Device> = LazyLock::new(|| cpu(1, SimdLevel::Portable));

/// Devices of 1, 2 and 3 threads, portable and native instructions on two threads, and one that fuses
/// branches horizontally.
static DEVICES: LazyLock<[Device; 5]> = LazyLock::new(|| {
    [
        cpu(1, SimdLevel::Native),
        cpu(2, SimdLevel::Native),
        cpu(3, SimdLevel::Native),
        cpu(2, SimdLevel::Portable),
        horizontally_fusing_cpu(2),
    ]
});

fn config(device: &Device, num_streams: u32, fuse: bool) -> PipelineConfig {
    PipelineConfig { device: device.clone(), num_streams, fuse, poison: true, ..PipelineConfig::default() }
}

/// A graph with two sets of images for its inputs.
#[derive(Clone)]
struct Case {
    dag: Dag,
    images: Vec<ImageBuffer>,
    others: Vec<ImageBuffer>,
    order: u64,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dag, images, others: _, order } = self;
        let shapes: Vec<String> =
            images.iter().map(|i| format!("{}, rows of {}", i.desc(), i.row_stride())).collect();
        write!(f, "{shapes:?}, order {order}{dag:?}")
    }
}

fn choice() -> impl Strategy<Value = Choice> {
    (any::<u8>(), any::<u32>(), any::<u8>(), any::<u8>()).prop_map(|(op, way, a, b)| Choice { op, way, a, b })
}

/// One or two inputs of the same description half of the time, and up to 12 tasks; no output marked half of the
/// time.
fn case() -> impl Strategy<Value = Case> {
    let descs = (image_desc(24), image_desc(24), any::<bool>())
        .prop_map(|(a, b, same)| if same { [a, a] } else { [a, b] });
    let choices = prop::collection::vec(choice(), 1..=12);
    let outputs = prop_oneof![Just(0), any::<u64>()];
    (descs, choices, outputs, any::<u64>()).prop_flat_map(
        |(descs, choices, outputs, order): ([ImageDesc; 2], Vec<Choice>, u64, u64)| {
            let dag = Dag::grow(&descs, &choices, outputs);
            let images = || descs.map(image_of);
            (images(), images()).prop_map(move |(images, others)| Case {
                dag: dag.clone(),
                images: images.to_vec(),
                others: others.to_vec(),
                order,
            })
        },
    )
}

/// The names of the tasks whose results differ.
fn differing(a: &Results, b: &Results) -> Vec<String> {
    assert!(a.keys().eq(b.keys()), "other outputs");
    a.iter().filter(|(name, image)| !same_pixels(&b[*name], image)).map(|(name, _)| name.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn streams_threads_instructions_fusion_and_order_change_no_byte(case in case()) {
        let Case { dag, images, order, .. } = &case;
        let expected = dag.run_task_by_task(&PLAIN, images);
        let runs = (0..).zip(&*DEVICES).flat_map(|(i, device)| [1, 2, 4].map(|streams| (i, device, streams)));
        for (i, device, streams) in runs {
            // Fused and unfused by turns, so that each device and each number of streams sees both.
            let fuse = (i + streams / 2) % 2 == 0;
            let mut pipeline = dag.pipeline(config(device, streams, fuse), order.wrapping_add(streams.into()));
            let differ = differing(&expected, &dag.execute(&mut pipeline, images));
            prop_assert!(differ.is_empty(), "device {i}, {streams} streams, fuse {fuse}: {differ:?} differ");
        }
    }

    #[test]
    fn a_pipeline_remembers_nothing_of_the_images_before(case in case()) {
        let Case { dag, images, others, order } = &case;
        let mut pipeline = dag.pipeline(config(&DEVICES[1], 4, true), *order);
        let first = dag.execute(&mut pipeline, images);
        let second = dag.execute(&mut pipeline, others);
        let third = dag.execute(&mut pipeline, images);
        prop_assert_eq!(differing(&first, &third), Vec::<String>::new());
        let fresh = dag.execute(&mut dag.pipeline(config(&PLAIN, 1, true), 0), others);
        prop_assert_eq!(differing(&second, &fresh), Vec::<String>::new());
    }

    #[test]
    fn changed_uniforms_equal_a_fresh_pipeline(case in case(), step in 0.0..2.0_f64) {
        let Case { dag, images, order, .. } = &case;
        let mut pipeline = dag.pipeline(config(&DEVICES[1], 2, true), *order);
        let before = dag.execute(&mut pipeline, images);
        let (other, changes) = dag.with_other_uniforms(step);
        for (task, parameter, value) in changes {
            let task = pipeline.task(&task).unwrap();
            pipeline.set_parameter(task, parameter, value).unwrap();
        }
        let changed = other.execute(&mut pipeline, images);
        let fresh = other.execute(&mut other.pipeline(config(&DEVICES[1], 2, true), *order), images);
        prop_assert_eq!(differing(&changed, &fresh), Vec::<String>::new());
        // What the caller holds from before is his: it is not written over.
        let again = dag.execute(&mut dag.pipeline(config(&PLAIN, 1, true), 0), images);
        prop_assert_eq!(differing(&before, &again), Vec::<String>::new());
    }

    #[test]
    fn a_batch_gives_what_its_frames_give_alone(case in case(), max in 1..4_usize) {
        let Case { dag, images, others, order } = &case;
        let [input] = dag.used_inputs()[..] else { return Ok(()) };
        let frames = [&images[input], &others[input], &images[input], &others[input], &images[input]];
        let frames = frames.map(Clone::clone);
        let config = PipelineConfig { max_batch_size: max, ..config(&DEVICES[2], 4, true) };
        let mut pipeline = dag.pipeline(config, *order);
        pipeline.execute_batch(&frames).unwrap();
        let alone = [images, others].map(|images| dag.run_task_by_task(&PLAIN, images));
        for frame in 0..frames.len() {
            let differ = differing(&alone[frame % 2], &dag.results(&pipeline, frame));
            prop_assert!(differ.is_empty(), "frame {frame}, at most {max} at once: {differ:?} differ");
        }
    }

    #[test]
    fn a_stream_gives_what_its_frames_give_alone(case in case(), max in 1..5_usize, step in 0.0..2.0_f64) {
        let Case { dag, images, others, order } = &case;
        let [input] = dag.used_inputs()[..] else { return Ok(()) };
        let (changed, changes) = dag.with_other_uniforms(step);
        let expected = [
            dag.run_task_by_task(&PLAIN, images),
            dag.run_task_by_task(&PLAIN, others),
            changed.run_task_by_task(&PLAIN, images),
            changed.run_task_by_task(&PLAIN, others),
        ];
        let mut pipeline = dag.pipeline(config(&DEVICES[2], 4, true), *order);
        let tasks = changes.iter().map(|(task, ..)| pipeline.task(task).unwrap()).collect::<Vec<_>>();
        let options = StreamOptions { frames_in_flight: max, ..StreamOptions::default() };
        let mut stream = pipeline.stream(&options).unwrap();
        let mut results = Vec::new();
        for frame in 0..8 {
            if frame == 4 {
                for (task, (_, parameter, value)) in tasks.iter().zip(&changes) {
                    stream.pipeline().set_parameter(*task, parameter, value.clone()).unwrap();
                }
            }
            results.extend(stream.push([images, others][frame % 2][input].clone()));
        }
        results.extend(stream);
        for (frame, result) in results.into_iter().enumerate() {
            let got: Results = result.unwrap().outputs.into_iter().collect();
            let differ = differing(&expected[frame / 4 * 2 + frame % 2], &got);
            prop_assert!(differ.is_empty(), "frame {frame}, {max} in flight: {differ:?} differ");
        }
    }
}
