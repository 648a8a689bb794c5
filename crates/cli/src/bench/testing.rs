//! Results with made-up numbers.

use super::document::{Document, Environment, Mode, Row, Timed};

/// A measurement of 100 us.
pub(crate) fn row(workload: &str, mode: Mode, batch: usize) -> Row {
    Row {
        workload: workload.to_owned(),
        mode,
        batch,
        median_us: 100.0,
        median_low_us: 98.0,
        median_high_us: 103.0,
        p50_us: 110.0,
        p99_us: 150.0,
        with_copies_us: Some(400.0),
        runs: 1000,
        throughput_runs: 2000,
        launches: 4.0,
        waits: 0.0,
        graph_launches: if mode.replay { 1.0 } else { 0.0 },
        bytes: 7_142_400 * batch as u64,
        gb_per_s: 71.424,
        copy_gb_per_s: Some(2800.0),
        copy_fraction: Some(0.0255),
        floor_us: Some(2.55),
        first_run_ms: 812.5,
        first_run_parts_ms: [0.5, 800.0, 12.0],
        warm_first_run_ms: 21.0,
        second_run_ms: 0.6,
        driver_allocations: 0,
        peak_device_bytes: 12_582_912,
        percentiles_us: (0..=100).map(|p| 105.0 + f64::from(p) * 0.2).collect(),
    }
}

/// A whole result.
pub(crate) fn document(results: Vec<Row>) -> Document {
    Document {
        environment: Environment {
            device: "cuda:0".to_owned(),
            device_name: "a device".to_owned(),
            driver: Some("580.1, CUDA 13.0".to_owned()),
            nvrtc: Some("13.0".to_owned()),
            version: "0.1.0".to_owned(),
            commit: "0123456789ab".to_owned(),
            host: "a host".to_owned(),
            date: "2026-01-02T03:04:05Z".to_owned(),
        },
        timed: Timed {
            in_flight: 2,
            seconds: 1.0,
            runs: None,
            copy_problem: None,
            meaning: "in words".to_owned(),
        },
        results,
        failures: Vec::new(),
    }
}
