//! What a profile says in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::super::Kind;
use super::intervals::Intervals;
use super::profile::{Place, Profile, Span};

/// A profile in numbers; times are microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The device's name.
    pub device_name: String,
    /// Runs handed to the device.
    pub runs: usize,
    /// From the first run's submission to the end of the last thing that happened.
    pub elapsed_us: f64,
    /// Time in which the device did something.
    pub device_busy_us: f64,
    /// What ran on the device, costliest first: fused tasks are one row.
    pub tasks: Vec<TaskRow>,
    /// Each stream.
    pub streams: Vec<StreamRow>,
    /// Upload, compute and download, where there is any.
    pub stages: Vec<StageRow>,
    /// How much of the time several stages were under way.
    pub overlap: Overlap,
    /// What the host did, by kind of work; some lies within other.
    pub host: Vec<HostRow>,
    /// What happened at single moments (why graphs were given up), and how often.
    pub marks: BTreeMap<String, usize>,
    /// Spans that are missing.
    pub dropped: u64,
}

/// What a group of tasks, or the copies of one input or output, cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRow {
    /// Upload, compute, download, or a graph as a whole.
    pub kind: Kind,
    /// The tasks' names with `+` between them; the input; the output.
    pub name: String,
    /// The tasks.
    pub tasks: Vec<String>,
    /// How often.
    pub count: usize,
    /// All together.
    pub total_us: f64,
    /// On average.
    pub mean_us: f64,
    /// Half of them took no longer.
    pub median_us: f64,
    /// Part of the time of all rows, graphs as a whole left out.
    pub share: f64,
    /// Bytes to be moved at least, each time.
    pub bytes: u64,
    /// Those bytes over the mean time.
    pub gb_per_s: f64,
}

/// What a stream did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamRow {
    /// The row's name.
    pub name: String,
    /// Commands.
    pub spans: usize,
    /// Time in which one of its commands ran.
    pub busy_us: f64,
    /// Time in which none did, from its first to its last.
    pub waiting_us: f64,
    /// Busy time in which another stream was busy too.
    pub overlap_us: f64,
}

/// What one of upload, compute and download took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageRow {
    /// Which.
    pub kind: Kind,
    /// Commands.
    pub count: usize,
    /// Their times added up.
    pub total_us: f64,
    /// A run's commands of this stage added up: half of the runs took no longer.
    pub median_us_per_run: f64,
    /// Time in which at least one was under way.
    pub busy_us: f64,
}

/// Time in which stages were under way together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Overlap {
    /// At least two of upload, compute and download.
    pub two_us: f64,
    /// All three.
    pub three_us: f64,
}

/// What the host spent on one kind of work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostRow {
    /// The kind.
    pub kind: Kind,
    /// How often.
    pub count: usize,
    /// All together.
    pub total_us: f64,
    /// On average.
    pub mean_us: f64,
    /// Half of them took no longer.
    pub median_us: f64,
}

const STAGES: [Kind; 3] = [Kind::Upload, Kind::Compute, Kind::Download];

pub(super) fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

impl Profile {
    /// The profile in numbers.
    pub fn summary(&self) -> Summary {
        let ran: Vec<&Span> = self.device_spans().collect();
        let busy = Intervals::of(ran.iter().copied());
        let start = self.of(Kind::Submit).map(|span| span.begin).min();
        let executing = self.spans.iter().filter(|span| !span.kind.is_of_files());
        let end = executing.map(|span| span.end).max();
        let elapsed = end.zip(start).map_or(Duration::ZERO, |(end, start)| end.saturating_sub(start));
        let mut marks = BTreeMap::new();
        for mark in &self.marks {
            *marks.entry(mark.name.clone()).or_default() += 1;
        }
        Summary {
            device_name: self.device.clone(),
            runs: self.of(Kind::Submit).count(),
            elapsed_us: micros(elapsed),
            device_busy_us: micros(busy.length()),
            tasks: self.task_rows(),
            streams: self.stream_rows(),
            stages: STAGES.into_iter().filter_map(|kind| self.stage(kind)).collect(),
            overlap: self.overlap(),
            host: self.host_rows(),
            marks,
            dropped: self.dropped,
        }
    }

    /// What ran on streams. A graph as a whole only where nothing is known of what is inside.
    fn device_spans(&self) -> impl Iterator<Item = &Span> {
        let inside = self.of(Kind::Compute).next().is_some();
        let counts = move |kind: Kind| kind.is_on_device() && (kind != Kind::Graph || !inside);
        self.spans.iter().filter(move |span| counts(span.kind))
    }

    fn task_rows(&self) -> Vec<TaskRow> {
        let mut by_name: BTreeMap<(Kind, &str), Vec<&Span>> = BTreeMap::new();
        for span in self.spans.iter().filter(|span| span.kind.is_on_device()) {
            by_name.entry((span.kind, &span.name)).or_default().push(span);
        }
        let all: f64 = self.device_spans().map(|span| micros(span.duration())).sum();
        let row = |((kind, name), spans): ((Kind, &str), Vec<&Span>)| {
            let mut times: Vec<f64> = spans.iter().map(|span| micros(span.duration())).collect();
            let total: f64 = times.iter().sum();
            let mean = total / times.len() as f64;
            // Shapes may change on the way: the mean of the bytes goes with the mean of the times.
            let bytes_of = |span: &&Span| span.work.as_ref().map_or(0, |work| work.bytes);
            let bytes = spans.iter().map(bytes_of).sum::<u64>() / spans.len() as u64;
            TaskRow {
                kind,
                name: name.to_owned(),
                tasks: spans[0].work.as_ref().map_or_else(Vec::new, |work| work.tasks.clone()),
                count: spans.len(),
                total_us: total,
                mean_us: mean,
                median_us: median(&mut times),
                share: if all > 0.0 { total / all } else { 0.0 },
                bytes,
                gb_per_s: if mean > 0.0 { bytes as f64 / mean / 1e3 } else { 0.0 },
            }
        };
        let mut rows: Vec<TaskRow> = by_name.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
        rows
    }

    fn stream_rows(&self) -> Vec<StreamRow> {
        let on = |row: usize| Intervals::of(self.device_spans().filter(move |span| span.row == row));
        let streams = self.rows.iter().enumerate().filter(|(_, r)| matches!(r.place, Place::Stream { .. }));
        let row = |(index, row): (usize, &super::profile::Row)| {
            let busy = on(index);
            let others = Intervals::of(self.device_spans().filter(|span| span.row != index));
            StreamRow {
                name: row.name.clone(),
                spans: self.device_spans().filter(|span| span.row == index).count(),
                busy_us: micros(busy.length()),
                waiting_us: micros(busy.window().saturating_sub(busy.length())),
                overlap_us: micros(busy.and(&others).length()),
            }
        };
        streams.map(row).collect()
    }

    /// When something of a stage was under way.
    fn stage_intervals(&self, kind: Kind) -> Intervals {
        Intervals::of(self.device_spans().filter(|span| stage_of(span.kind) == kind))
    }

    fn stage(&self, kind: Kind) -> Option<StageRow> {
        let mut by_run: BTreeMap<Option<u64>, f64> = BTreeMap::new();
        let spans: Vec<&Span> = self.device_spans().filter(|span| stage_of(span.kind) == kind).collect();
        for span in &spans {
            *by_run.entry(span.run).or_default() += micros(span.duration());
        }
        let mut runs: Vec<f64> = by_run.into_values().collect();
        (!spans.is_empty()).then(|| StageRow {
            kind,
            count: spans.len(),
            total_us: runs.iter().sum(),
            median_us_per_run: median(&mut runs),
            busy_us: micros(self.stage_intervals(kind).length()),
        })
    }

    fn overlap(&self) -> Overlap {
        let [up, compute, down] = STAGES.map(|kind| self.stage_intervals(kind));
        let two = up.and(&compute).or(&compute.and(&down)).or(&up.and(&down));
        let three = up.and(&compute).and(&down);
        Overlap { two_us: micros(two.length()), three_us: micros(three.length()) }
    }

    fn host_rows(&self) -> Vec<HostRow> {
        let mut by_kind: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
        for span in self.spans.iter().filter(|span| !span.kind.is_on_device()) {
            by_kind.entry(span.kind).or_default().push(micros(span.duration()));
        }
        let row = |(kind, mut times): (Kind, Vec<f64>)| {
            let total: f64 = times.iter().sum();
            let (count, mean) = (times.len(), total / times.len() as f64);
            HostRow { kind, count, total_us: total, mean_us: mean, median_us: median(&mut times) }
        };
        by_kind.into_iter().map(row).collect()
    }
}

/// A graph as a whole counts as its kernels.
fn stage_of(kind: Kind) -> Kind {
    if kind == Kind::Graph { Kind::Compute } else { kind }
}
