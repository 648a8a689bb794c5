//! Measuring pipelines.
//!
//! What is timed: executions whose inputs and results stay on the device. `median_us` is of executions one after
//! the other with a few under way at once, so that queueing one overlaps with running another: host time around a
//! sample of them, the wait for the last included. `p50_us` and `p99_us` are of single executions, from
//! submission until the host knows that they are done. Inputs and results rotate over more memory than caches
//! hold. All modes of a workload take turns, and so do copies that give the bandwidth to compare with.
//!
//! ```text
//! suite      what is measured
//! case       a workload at a batch: all modes in turns
//!   first_run  planning, compiling, the first execution
//!   subject    one mode: executions and their times
//!   copy       the bandwidth of copies
//! document   the result, as JSON and for comparisons; table, compare and html show it
//! ```

mod case;
mod compare;
mod copy;
mod document;
mod environment;
mod feed;
mod first_run;
mod html;
mod stats;
mod subject;
mod suite;
mod table;
#[cfg(test)]
mod testing;
mod text;

use mini_image_pipe::Device;

pub(crate) use compare::{Comparison, compare};
pub(crate) use copy::Copier;
pub(crate) use document::Document;
pub(crate) use feed::{FeedRequest, render as render_feed, run as run_feed};
pub(crate) use html::render as render_html;
pub(crate) use suite::{BATCHES, FEED, Workload, suite};
pub(crate) use table::render as render_table;

use crate::failure::Failure;
use document::{FailedCase, Timed};

/// What to measure, and for how long.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) device: Device,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) batches: Vec<usize>,
    /// For each mode of each workload.
    pub(crate) seconds: f64,
    /// Executions each way of each mode, instead of a time.
    pub(crate) runs: Option<usize>,
    /// Executions under way at once.
    pub(crate) in_flight: usize,
    /// Streams that independent tasks may use at once.
    pub(crate) streams: u32,
}

/// Measures everything; `progress` gets what comes next. A workload that fails is listed, the others go on.
pub(crate) fn run(request: &Request, mut progress: impl FnMut(&str)) -> Result<Document, Failure> {
    let mut document = Document {
        environment: environment::environment(&request.device)?,
        timed: Timed {
            in_flight: request.in_flight,
            seconds: request.seconds,
            runs: request.runs,
            copy_problem: None,
            meaning: MEANING.to_owned(),
        },
        results: Vec::new(),
        failures: Vec::new(),
    };
    for workload in &request.workloads {
        for &batch in &request.batches {
            progress(&format!("{}, batch {batch}", workload.name));
            match case::measure(request, workload, batch) {
                Ok(result) => {
                    document.results.extend(result.rows);
                    document.timed.copy_problem = document.timed.copy_problem.or(result.copy_problem);
                }
                Err(failure @ Failure::Request(_)) => return Err(failure.about(&workload.name)),
                Err(failure) => document.failures.push(FailedCase {
                    workload: workload.name.clone(),
                    batch,
                    error: failure.message().unwrap_or_default().to_owned(),
                }),
            }
        }
    }
    Ok(document)
}

/// What the times are of, in words, for readers of tables and files.
const MEANING: &str = "inputs and results stay on the device and rotate over more memory than caches hold; \
     median_us: executions one after the other with in_flight under way at once, host time around a sample and the \
     wait for its last, a frame; p50_us and p99_us: single executions, from submission until the host knows that they \
     are done, a frame; with_copies_us: single executions from pinned host memory and back into it; bytes: inputs \
     once and outputs once, an execution; copy_gb_per_s: bytes read and written by copies in the same run";
