//! The throughput engine: replay and stream-ordered memory give the bytes of the plain way, and count as promised.

use std::collections::VecDeque;

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_graph::PipelineSpec;
use mip_ops::{ParamKind, ParamSpec, Value};
use mip_runtime::memory::AllocatorMode;
use mip_runtime::{DirtyReason, GraphStats};
use mip_testkit::images::{Pattern, SplitMix64};

use super::modes::{CHAIN, DIAMOND, Results, all_same, results, test_image, text};
use super::{Outcome, Pending, Request, cases, counters, if_replayed, random};

pub(super) fn checks(request: &Request) -> Vec<Pending> {
    let graphs = request.graphs;
    vec![
        (format!("replay equals direct, {graphs} random graphs"), Box::new(|r| random_replays(r, false))),
        (
            format!("stream-ordered equals pooled, {graphs} random graphs"),
            Box::new(|r| random_replays(r, true)),
        ),
        (format!("a replayed diamond, {} executions", request.repeat), Box::new(repeated)),
        (
            "each change has its reason, then a new capture".to_owned(),
            Box::new(|r| if_replayed(r, invalidations)),
        ),
        ("a smaller last batch keeps the full one's graph".to_owned(), Box::new(last_batch)),
        ("stream-ordered: steady state and trim".to_owned(), Box::new(|r| Outcome::one(ordered(r)))),
    ]
}

fn pipeline(line: &str, config: PipelineConfig) -> Result<Pipeline, Error> {
    Pipeline::from_spec(&PipelineSpec::parse_line(line)?, config)
}

fn plain(device: &Device) -> PipelineConfig {
    PipelineConfig { device: device.clone(), poison: true, ..PipelineConfig::default() }
}

fn replayed(device: &Device) -> PipelineConfig {
    PipelineConfig { enable_graph_replay: true, ..plain(device) }
}

/// Sets a parameter that needs no new plan, wherever the task has one.
fn turn(pipeline: &mut Pipeline, line: &str, numbers: &mut SplitMix64) -> Result<(), Error> {
    for task in line.split(" ! ") {
        let Some((name, call)) = task.split_once(':') else { continue };
        let handle = pipeline.task(name)?;
        let tenth = f64::from(1 + numbers.below(9)) / 10.0;
        let Some(Ok(spec)) = call.split(' ').next().map(mip_ops::spec) else { continue };
        let number = |param: &&ParamSpec| matches!(param.kind, ParamKind::Float { .. });
        let uniform = |param: &&ParamSpec| param.change == mip_ops::Change::Uniform;
        // Thresholds and the like are in sample units, weights and deviations are not.
        // One that has no value now may belong to another way of calling the operator.
        let has_value =
            |param: &&ParamSpec| pipeline.get(&format!("{name}.{}", param.name)).is_ok_and(|v| v.is_some());
        let mut candidates = spec.params.iter().filter(uniform).filter(number);
        let change = candidates.find(has_value).and_then(|param| {
            let ParamKind::Float { min, max, .. } = param.kind else { return None };
            let value = if max > 1e6 { 200.0 * tenth } else { 0.3 + tenth / 2.0 };
            Some((param.name, value.clamp(min, max)))
        });
        if let Some((parameter, value)) = change {
            pipeline.set_parameter(handle, parameter, Value::from(value))?;
        }
    }
    Ok(())
}

/// Random graphs, run several times with new pixels and new parameters. Results of earlier runs are held, so that
/// the memory of later ones lies elsewhere.
fn random_replays(request: &Request, ordered: bool) -> Outcome {
    let seeds: Vec<u64> = (0..request.graphs as u64).map(|i| request.seed.wrapping_add(i)).collect();
    cases(request.jobs, &seeds, |&seed| {
        let mut numbers = SplitMix64::new(seed);
        let (width, height) = (1 + numbers.below(70), 1 + numbers.below(50));
        let format = PixelFormat::PICTURES[numbers.below(PixelFormat::PICTURES.len() as u32) as usize];
        let dtype = DType::ALL[numbers.below(DType::ALL.len() as u32) as usize];
        let desc = ImageDesc::new(width, height, format, dtype).map_err(text)?;
        let line = random::line(&mut numbers, 10, &desc)?;
        let streams = 1 + numbers.below(6);
        let what = |round: u64, t: String| {
            format!("seed {seed}, run {round}, {desc}, {streams} streams, {line}: {t}")
        };
        let replay = !ordered || numbers.below(2) == 0;
        let config = PipelineConfig {
            num_streams: streams,
            fuse: numbers.below(2) == 0,
            enable_graph_replay: replay,
            prefer_async_allocator: ordered,
            ..plain(&request.device)
        };
        let mut tested = pipeline(&line, config).map_err(text)?;
        let mut truth = pipeline(&line, plain(&Device::cpu())).map_err(text)?;
        let mut held: VecDeque<Results> = VecDeque::new();
        for round in 0..4 {
            let image = Pattern::Noise.draw(desc, seed.wrapping_add(round));
            let run = |p: &mut Pipeline| -> Result<Results, Error> {
                if round > 0 {
                    turn(p, &line, &mut SplitMix64::new(seed ^ round))?;
                }
                p.set_named_input("input", &image)?;
                p.execute()?;
                Ok(results(p))
            };
            let expected = run(&mut truth).map_err(text)?;
            let actual = run(&mut tested).map_err(|e| what(round, e.to_string()))?;
            all_same(&actual, &expected).map_err(|t| what(round, t))?;
            held.push_back(actual);
        }
        let stats = tested.scheduler().graph_stats();
        let counted = (stats.captures, stats.replays, stats.direct_runs);
        let promised = if replay && request.device.info().map_err(text)?.graph_replay.is_ok() {
            (1, 3, 0)
        } else {
            (0, 0, 4)
        };
        if counted == promised { Ok(()) } else { Err(what(4, format!("counted {}", counters(&stats)))) }
    })
}

fn repeated(request: &Request) -> Outcome {
    let run = || -> Result<(), String> {
        let image = test_image(320, 200, request.seed);
        let mut truth = pipeline(DIAMOND, plain(&Device::cpu())).map_err(text)?;
        let config = PipelineConfig { poison: false, fuse: false, ..replayed(&request.device) };
        let mut tested = pipeline(DIAMOND, config).map_err(text)?;
        for p in [&mut truth, &mut tested] {
            p.set_named_input("input", &image).map_err(text)?;
            p.execute().map_err(text)?;
        }
        let expected = results(&truth);
        let mut settled = None;
        for execution in 1..request.repeat {
            let report = tested.execute().map_err(|e| format!("execution {execution}: {e}"))?;
            all_same(&results(&tested), &expected).map_err(|t| format!("execution {execution}: {t}"))?;
            let allocations =
                report.memory.device.driver_allocations + report.memory.pinned.driver_allocations;
            if execution > 3 && settled != Some(allocations) {
                return Err(format!("driver allocations by execution {execution}"));
            }
            settled = Some(allocations);
        }
        Ok(())
    };
    Outcome { cases: request.repeat, ..Outcome::one(run()) }
}

/// One change of a pipeline and the reason it is counted under.
type Change = (&'static str, DirtyReason, fn(&mut Pipeline, &mut ImageBuffer) -> Result<(), Error>);

/// Changes of what [`DIAMOND`] computes, or where.
pub(super) const CHANGES: [Change; 7] = [
    ("a kernel size", DirtyReason::Kernels, |p, _| {
        let soft = p.task("soft")?;
        p.set_parameter(soft, "kernel", Value::from(5_i64)).map(drop)
    }),
    ("another size", DirtyReason::Shapes, |_, image| {
        *image = test_image(150, 90, 1);
        Ok(())
    }),
    ("another dtype", DirtyReason::Formats, |_, image| {
        let desc = ImageDesc::new(193, 109, PixelFormat::Rgb, DType::U16).expect("a valid size");
        *image = Pattern::Noise.draw(desc, 1);
        Ok(())
    }),
    ("one more task", DirtyReason::TaskCount, |p, _| {
        let last = p.task_graph().outputs()[0];
        let added = p.add_operator("last", mip_ops::Threshold::new(40.0))?;
        p.connect(last, added)
    }),
    ("rows further apart", DirtyReason::Strides, |_, image| {
        let layout = BatchLayout::pitched(*image.desc(), 1, 256)?;
        let mut padded = ImageBuffer::with_layout(layout)?;
        for y in 0..layout.desc.height() as usize {
            padded.view_mut().row_mut(0, 0, y).copy_from_slice(image.view().row(0, 0, y));
        }
        *image = padded;
        Ok(())
    }),
    ("one more output", DirtyReason::Topology, |p, _| {
        // The two that were outputs because nothing reads them, and one that something reads.
        ["cut", "mirrored", "edges"].iter().try_for_each(|name| p.task(name).and_then(|t| p.mark_output(t)))
    }),
    ("memory given back", DirtyReason::MemoryAddresses, |p, _| p.trim().map(drop)),
];

fn invalidations(request: &Request) -> Outcome {
    cases(1, &CHANGES, |(name, reason, change)| {
        let run = || -> Result<(), Error> {
            let mut image = test_image(193, 109, request.seed);
            // Unfused, so that there are intermediates to lie at other addresses.
            let mut tested = pipeline(DIAMOND, PipelineConfig { fuse: false, ..replayed(&request.device) })?;
            let mut truth = pipeline(DIAMOND, plain(&Device::cpu()))?;
            let compare = |image: &ImageBuffer, tested: &mut Pipeline, truth: &mut Pipeline| {
                for p in [&mut *tested, &mut *truth] {
                    p.set_named_input("input", image)?;
                    p.execute()?;
                }
                all_same(&results(tested), &results(truth)).map_err(Error::Usage)
            };
            compare(&image, &mut tested, &mut truth)?;
            compare(&image, &mut tested, &mut truth)?;
            change(&mut tested, &mut image.clone())?;
            change(&mut truth, &mut image)?;
            for _ in 0..3 {
                compare(&image, &mut tested, &mut truth)?;
            }
            let stats = tested.scheduler().graph_stats();
            // A device with memory of its own packs rows as it gets them: there they are never further apart.
            let unchanged = *reason == DirtyReason::Strides && !request.device.info()?.unified_memory;
            let expected = if unchanged {
                GraphStats { captures: 1, replays: 4, ..GraphStats::default() }
            } else {
                GraphStats {
                    captures: 2,
                    replays: 2,
                    direct_runs: 1,
                    invalidations: [(*reason, 1)].into(),
                    ..GraphStats::default()
                }
            };
            if stats == expected {
                Ok(())
            } else {
                Err(Error::Usage(format!("counted {}", counters(&stats))))
            }
        };
        run().map_err(|error| format!("{name}: {error}"))
    })
}

fn last_batch(request: &Request) -> Outcome {
    let run = || -> Result<(), Error> {
        let config = PipelineConfig { max_batch_size: 4, ..replayed(&request.device) };
        let mut tested = pipeline(CHAIN, config)?;
        let mut truth = pipeline(CHAIN, PipelineConfig { max_batch_size: 10, ..plain(&Device::cpu()) })?;
        for round in 0..3 {
            let frame = |i: u64| test_image(130, 71, request.seed.wrapping_add(10 * round + i));
            let frames: Vec<ImageBuffer> = (0..10).map(frame).collect();
            tested.execute_batch(&frames)?;
            truth.execute_batch(&frames)?;
            all_same(&results(&tested), &results(&truth)).map_err(Error::Usage)?;
        }
        let stats = tested.scheduler().graph_stats();
        let counted = (stats.captures, stats.replays, stats.direct_runs, stats.invalidations.len());
        let replays = tested.config().device.info()?.graph_replay.is_ok();
        let promised = if replays { (2, 7, 0, 0) } else { (0, 0, 9, 0) };
        if counted == promised { Ok(()) } else { Err(Error::Usage(format!("counted {}", counters(&stats)))) }
    };
    Outcome { cases: 3, ..Outcome::one(run().map_err(text)) }
}

fn ordered(request: &Request) -> Result<(), String> {
    for replay in [false, true] {
        // A pool of its own, so that nothing else counts.
        let config = PipelineConfig {
            prefer_async_allocator: true,
            enable_graph_replay: replay,
            pinned_pool_size: (64 << 20) + 3,
            poison: false,
            ..plain(&request.device)
        };
        let mut tested = pipeline(DIAMOND, config).map_err(text)?;
        tested.set_named_input("input", &test_image(320, 200, request.seed)).map_err(text)?;
        let allocations = |tested: &mut Pipeline| -> Result<u64, String> {
            let memory = tested.execute().map_err(text)?.memory;
            Ok(memory.device.driver_allocations + memory.pinned.driver_allocations)
        };
        for _ in 0..4 {
            allocations(&mut tested)?;
        }
        let before = allocations(&mut tested)?;
        for _ in 0..50 {
            allocations(&mut tested)?;
        }
        let after = allocations(&mut tested)?;
        if after != before {
            return Err(format!("{} driver allocations in 51 executions", after - before));
        }
        let manager = tested.memory().map_err(text)?;
        tested.reset();
        manager.trim();
        let stats = manager.stats();
        let held = stats.device.reserved + stats.pinned.reserved;
        if held != 0 {
            let mode: AllocatorMode = manager.effective_mode().0;
            return Err(format!("{held} bytes still held after reset and trim ({mode})"));
        }
    }
    Ok(())
}
