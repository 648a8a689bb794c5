//! What a run of `mip bench` found: what it prints as JSON, and reads again for `--compare`.

use serde::{Deserialize, Serialize};

use super::stats::Center;

/// The whole result. Keys may be added, never changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Document {
    #[serde(flatten)]
    pub(crate) environment: Environment,
    /// What the times are of.
    pub(crate) timed: Timed,
    pub(crate) results: Vec<Row>,
    /// Workloads that could not be measured.
    pub(crate) failures: Vec<FailedCase>,
}

/// Where and by what it was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Environment {
    /// As `--device` takes it.
    pub(crate) device: String,
    pub(crate) device_name: String,
    /// Newest CUDA version of the driver; nothing on the CPU.
    pub(crate) driver: Option<String>,
    pub(crate) nvrtc: Option<String>,
    /// Version of `mip`.
    pub(crate) version: String,
    /// Commit that `mip` was built from.
    pub(crate) commit: String,
    /// Processor, or operating system and architecture, of the host.
    pub(crate) host: String,
    /// When it began, UTC.
    pub(crate) date: String,
}

/// What the times are of, for readers of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timed {
    /// Executions under way at once where `median_us` is measured.
    pub(crate) in_flight: usize,
    /// Seconds for each mode of each workload, unless a number of runs was given.
    pub(crate) seconds: f64,
    /// Executions of each mode, where that was given instead.
    pub(crate) runs: Option<usize>,
    /// Why there is no bandwidth of copies, where that is so.
    pub(crate) copy_problem: Option<String>,
    /// In words.
    pub(crate) meaning: String,
}

/// How a workload was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mode {
    pub(crate) replay: bool,
    pub(crate) fused: bool,
}

/// One workload in one mode. Times are for one frame, bytes and counts for one execution (of `batch` frames).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) workload: String,
    pub(crate) mode: Mode,
    pub(crate) batch: usize,
    /// Executions one after the other, `in_flight` under way at once: time a frame.
    pub(crate) median_us: f64,
    /// How far that wandered in the run.
    pub(crate) median_low_us: f64,
    pub(crate) median_high_us: f64,
    /// One execution alone, from its submission until the host knows that it is done: time a frame.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Alone, from pinned host memory and back into it; nothing where the device works in host memory.
    pub(crate) with_copies_us: Option<f64>,
    /// Executions measured alone, and one after the other.
    pub(crate) runs: usize,
    pub(crate) throughput_runs: usize,
    /// Groups (kernels) launched, those inside a graph counted.
    pub(crate) launches: f64,
    /// Waits of a stream for another, those inside a graph counted.
    pub(crate) waits: f64,
    /// Graphs launched.
    pub(crate) graph_launches: f64,
    /// Bytes that must move at least: inputs once and outputs once.
    pub(crate) bytes: u64,
    /// `bytes` at `median_us`.
    pub(crate) gb_per_s: f64,
    /// What a copy reads and writes, measured in the same run.
    pub(crate) copy_gb_per_s: Option<f64>,
    pub(crate) copy_fraction: Option<f64>,
    /// `bytes` at the bandwidth of a copy: time a frame.
    pub(crate) floor_us: Option<f64>,
    /// From the pipeline's text to its first result: planned, compiled and loaded, executed from host memory to host
    /// memory. Kernels come from no cache of ours (NVRTC seems to have one of its own).
    /// Measured once for both ways of submitting.
    pub(crate) first_run_ms: f64,
    /// The parts of it: planning; compiling, loading and allocating; executing.
    pub(crate) first_run_parts_ms: [f64; 3],
    /// The same when compiled kernels are found on disk.
    pub(crate) warm_first_run_ms: f64,
    /// The second execution after that.
    pub(crate) second_run_ms: f64,
    /// Allocations that reached the driver while it was measured.
    pub(crate) driver_allocations: u64,
    /// Most device memory held from the driver for one execution from host memory.
    pub(crate) peak_device_bytes: usize,
    /// Percentiles 0 to 100 of the times of single executions, for drawing.
    #[serde(skip)]
    pub(crate) percentiles_us: Vec<f64>,
}

/// A workload that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailedCase {
    pub(crate) workload: String,
    pub(crate) batch: usize,
    pub(crate) error: String,
}

impl Mode {
    /// All, the plain one first.
    pub(crate) const ALL: [Self; 4] = [
        Self { replay: false, fused: false },
        Self { replay: false, fused: true },
        Self { replay: true, fused: false },
        Self { replay: true, fused: true },
    ];

    /// For people.
    pub(crate) const fn name(self) -> &'static str {
        match (self.replay, self.fused) {
            (false, false) => "direct, unfused",
            (false, true) => "direct, fused",
            (true, false) => "replay, unfused",
            (true, true) => "replay, fused",
        }
    }
}

impl Row {
    /// Time a frame and its noise.
    pub(crate) const fn center(&self) -> Center {
        Center { median: self.median_us, low: self.median_low_us, high: self.median_high_us }
    }

    /// Whether both are the same measurement at different times.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        (&self.workload, self.mode, self.batch) == (&other.workload, other.mode, other.batch)
    }
}

impl Document {
    /// Rows of one workload and batch together, in order.
    pub(crate) fn cases(&self) -> impl Iterator<Item = &[Row]> {
        self.results.chunk_by(|a, b| (&a.workload, a.batch) == (&b.workload, b.batch))
    }
}
