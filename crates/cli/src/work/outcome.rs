use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use mini_image_pipe::ExecutionReport;
use mip_io::ReadWarning;
use mip_runtime::GraphStats;
use mip_runtime::TaskReport;

use super::arrays::Finished;
use super::{Decoders, Derived, Input, Naming, Numbers, Progress, Written, count};
use crate::args::warning_line;
use crate::failure::Failure;
use crate::interrupt::Signal;
use crate::stages::Stages;

/// What a run came to, kept up while it goes on. Inputs are indices into the list of files.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Files written, by input; none for inputs whose results are rows of arrays.
    pub(crate) written: BTreeMap<usize, Vec<PathBuf>>,
    /// The first failure of each input that failed; its files that had been written already stay.
    pub(crate) failures: BTreeMap<usize, Failure>,
    /// Invocations summed over all executions, and the latest states.
    pub(crate) tasks: Vec<TaskReport>,
    /// Replay counters after the last execution.
    pub(crate) graph: GraphStats,
    /// Results that are a few numbers.
    pub(crate) numbers: Vec<Numbers>,
    /// What operators say beside pixels.
    pub(crate) derived: Vec<Derived>,
    /// What was written to stderr beside failures.
    pub(crate) warnings: Vec<String>,
    /// What decoded the pictures.
    pub(crate) decoders: Decoders,
    /// Kinds of metadata that results could not carry, and the inputs that had them.
    lost: BTreeMap<&'static str, BTreeSet<usize>>,
    /// What ended the run early.
    pub(crate) interrupted: Option<Signal>,
    /// Where results went that are rows of arrays.
    pub(crate) arrays: Finished,
    /// What the stages of the run took, once it is over.
    pub(crate) stages: Option<Stages>,
    progress: Progress,
}

impl Outcome {
    pub(super) fn new(total: usize, decoders: Decoders) -> Self {
        Self {
            written: BTreeMap::new(),
            failures: BTreeMap::new(),
            tasks: Vec::new(),
            graph: GraphStats::default(),
            numbers: Vec::new(),
            derived: Vec::new(),
            warnings: Vec::new(),
            decoders,
            lost: BTreeMap::new(),
            interrupted: None,
            arrays: Finished::default(),
            stages: None,
            progress: Progress::new(total),
        }
    }

    /// `None` when all went well. A run that went on after failures is a failed run, not a wrong request.
    pub(crate) fn exit_code(&self, kept_going: bool) -> Option<u8> {
        if let Some(signal) = self.interrupted {
            return Some(signal.exit_code());
        }
        let first = self.failures.values().next()?;
        Some(if kept_going { 1 } else { first.code() })
    }

    /// Files that were written: those of inputs in their order, arrays, and their index.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let arrays = self.arrays.shards.iter().map(|shard| &shard.path);
        self.written.values().flatten().chain(arrays).chain(&self.arrays.index)
    }

    /// An input went through the pipeline; its files are being written.
    pub(super) fn executed(&self) {
        self.progress.advance();
    }

    /// An input did not get through the pipeline.
    pub(super) fn not_executed(&mut self, input: usize, failure: Failure) {
        self.progress.advance();
        self.fail(input, failure);
    }

    pub(super) fn warn(&mut self, warning: &ReadWarning) {
        self.progress.note(&warning_line(warning));
        self.warnings.push(warning.to_string());
    }

    /// A result cannot carry some of what its input's file says beside the pixels.
    pub(super) fn lose(&mut self, input: usize, kinds: Vec<&'static str>) {
        for kind in kinds {
            self.lost.entry(kind).or_default().insert(input);
        }
    }

    /// Says once what was lost, however many pictures there were.
    pub(crate) fn tell_losses(&mut self) {
        let of = |(kind, inputs): (&&str, &BTreeSet<usize>)| {
            format!("{kind} (of {})", count(inputs.len(), "image"))
        };
        let kinds: Vec<String> = self.lost.iter().map(of).collect();
        if !kinds.is_empty() {
            let text = format!("not carried over to the results: {}", kinds.join(", "));
            self.progress.note(&format!("note: {text}"));
            self.warnings.push(text);
        }
    }

    pub(super) fn note_written(&mut self, written: Written) {
        match written.result {
            Ok(()) => self.written.entry(written.input).or_default().extend(written.path),
            Err(failure) => self.fail(written.input, failure),
        }
    }

    /// Adds what an execution did.
    pub(super) fn add(&mut self, report: &ExecutionReport) {
        self.graph.clone_from(&report.graph);
        if self.tasks.is_empty() {
            self.tasks.clone_from(&report.tasks);
            return;
        }
        for (sum, new) in self.tasks.iter_mut().zip(&report.tasks) {
            sum.invocations += new.invocations;
            sum.state = new.state;
        }
    }

    /// Notes where rows went: inputs of those that were given up have not been written.
    pub(super) fn note_arrays(&mut self, arrays: Finished) {
        for input in &arrays.given_up {
            self.written.remove(input);
        }
        self.arrays = arrays;
    }

    /// Puts each input's files into declared order: writers finish in any.
    pub(super) fn sort(&mut self, naming: &Naming, files: &[Input]) {
        for (input, paths) in &mut self.written {
            let declared = naming.paths(&files[*input]);
            paths.sort_by_key(|path| declared.iter().position(|d| d == path));
        }
    }

    /// Ends the progress bar.
    pub(super) fn finish(&self) {
        self.progress.finish();
    }

    fn fail(&mut self, input: usize, failure: Failure) {
        self.progress.note(&format!("error: {}", failure.message().unwrap_or_default()));
        self.failures.entry(input).or_insert(failure);
    }
}
