use std::collections::BTreeMap;
use std::path::PathBuf;

use mini_image_pipe::{ExecutionReport, Pipeline};
use mip_core::{ImageBuffer, ImageDesc};
use mip_io::{WriteOptions, check_encodable};
use mip_runtime::TaskReport;

use super::{Feed, Job, Naming, Progress, Sink, Written};
use crate::failure::Failure;

/// One `mip run`: pictures are decoded ahead, grouped into batches, executed, and written behind.
pub(crate) struct Runner<'a> {
    pub(crate) pipeline: &'a mut Pipeline,
    pub(crate) naming: &'a Naming,
    /// Names of the output tasks.
    pub(crate) tasks: &'a [String],
    pub(crate) files: &'a [PathBuf],
    /// The pipeline input that `files` feed; `None` when all inputs are bound already and there is one run.
    pub(crate) streamed: Option<&'a str>,
    /// Shapes of the pipeline's inputs in order; `None` for the streamed one.
    pub(crate) shapes: &'a [Option<ImageDesc>],
    pub(crate) batch: usize,
    pub(crate) keep_going: bool,
    pub(crate) options: WriteOptions,
}

/// What a run came to. Inputs are indices into [`Runner::files`].
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Files written, by input.
    pub(crate) written: BTreeMap<usize, Vec<PathBuf>>,
    /// The first failure of each input that failed.
    pub(crate) failures: BTreeMap<usize, Failure>,
    /// Invocations summed over all executions, and the latest states.
    pub(crate) tasks: Vec<TaskReport>,
}

impl Outcome {
    /// `None` when all went well. A run that went on after failures is a failed run, not a wrong request.
    pub(crate) fn exit_code(&self, kept_going: bool) -> Option<u8> {
        let first = self.failures.values().next()?;
        Some(if kept_going { 1 } else { first.code() })
    }

    fn add(&mut self, report: &ExecutionReport) {
        if self.tasks.is_empty() {
            self.tasks.clone_from(&report.tasks);
            return;
        }
        for (sum, new) in self.tasks.iter_mut().zip(&report.tasks) {
            sum.invocations += new.invocations;
            sum.state = new.state;
        }
    }
}

/// Pictures that are executed together, with the index of each one's file.
type Group = Vec<(usize, ImageBuffer)>;

impl Runner<'_> {
    pub(crate) fn run(mut self) -> Outcome {
        let (files, options) = (self.files, self.options);
        let progress = Progress::new(files.len());
        let mut outcome = Outcome::default();
        std::thread::scope(|scope| {
            let mut sink = Sink::start(scope, files.len() * self.tasks.len(), options);
            if self.streamed.is_some() {
                let feed = Feed::start(scope, files);
                self.stream(feed, &mut sink, &mut outcome, &progress);
            } else {
                let result =
                    self.execute(&Vec::new(), &mut outcome).map(|images| self.write(0, images, &mut sink));
                self.settle(0, result, &mut outcome, &progress);
            }
            for written in sink.close() {
                self.note_written(written, &mut outcome, &progress);
            }
        });
        progress.finish();
        for (input, paths) in &mut outcome.written {
            // Writers finish in any order.
            let declared = self.naming.paths(&self.files[*input]);
            paths.sort_by_key(|path| declared.iter().position(|d| d == path));
        }
        outcome
    }

    fn stream(&mut self, mut feed: Feed, sink: &mut Sink, outcome: &mut Outcome, progress: &Progress) {
        let mut group = Group::new();
        // Given back one group late: the pipeline may still hold the inputs of its last execution.
        let mut used = Group::new();
        loop {
            let next = feed.next();
            let full = group.len() == self.batch;
            let fits =
                |image: &ImageBuffer| group.first().is_none_or(|(_, first)| first.desc() == image.desc());
            let complete = match &next {
                Some((_, Ok(image))) => full || !fits(image),
                Some((_, Err(_))) => false,
                None => true,
            };
            if complete && !group.is_empty() {
                self.execute_group(&group, sink, outcome, progress);
                let last = std::mem::replace(&mut used, std::mem::take(&mut group));
                last.into_iter().for_each(|(_, image)| feed.recycle(image));
            }
            for written in sink.finished().collect::<Vec<_>>() {
                self.note_written(written, outcome, progress);
            }
            if !outcome.failures.is_empty() && !self.keep_going {
                return;
            }
            match next {
                Some((index, Ok(image))) => group.push((index, image)),
                Some((index, Err(error))) => {
                    self.settle(index, Err(error.into()), outcome, progress);
                    if !self.keep_going {
                        // What was decoded before the bad file is still run.
                        self.execute_group(&group, sink, outcome, progress);
                        return;
                    }
                }
                None => return,
            }
        }
    }

    fn execute_group(&mut self, group: &Group, sink: &mut Sink, outcome: &mut Outcome, progress: &Progress) {
        if group.is_empty() {
            return;
        }
        match self.execute(group, outcome) {
            Ok(mut outputs) => {
                for (frame, (index, _)) in group.iter().enumerate() {
                    let images = outputs.iter_mut().map(|images| vec![images[frame].clone()]).collect();
                    self.write(*index, images, sink);
                    self.settle(*index, Ok(()), outcome, progress);
                }
            }
            Err(failure) => {
                for (index, _) in group {
                    let same = match &failure {
                        Failure::Request(text) => Failure::Request(text.clone()),
                        other => Failure::Running(other.message().unwrap_or_default().to_owned()),
                    };
                    self.settle(*index, Err(same.about(self.files[*index].display())), outcome, progress);
                }
            }
        }
    }

    /// Executes a group (or, without a streamed input, what is bound); gives each output's frames.
    fn execute(&mut self, group: &Group, outcome: &mut Outcome) -> Result<Vec<Vec<ImageBuffer>>, Failure> {
        self.check_encodable(group.first().map(|(_, image)| image.desc()))?;
        let report = match (group.first(), self.streamed) {
            (Some(_), _) if self.shapes.len() == 1 => {
                let frames: Vec<ImageBuffer> = group.iter().map(|(_, image)| image.clone()).collect();
                self.pipeline.execute_batch(&frames)
            }
            (first, streamed) => {
                if let (Some((_, image)), Some(name)) = (first, streamed) {
                    self.pipeline.set_named_input(name, image)?;
                }
                self.pipeline.execute()
            }
        };
        if let Some(report) = self.pipeline.report() {
            outcome.add(report);
        }
        report?;
        let outputs = self.pipeline.task_graph().outputs();
        outputs.into_iter().map(|task| Ok(self.pipeline.batch_outputs(task)?.to_vec())).collect()
    }

    /// Finds out before a pixel is computed that a result could not be written.
    fn check_encodable(&self, streamed: Option<&ImageDesc>) -> Result<(), Failure> {
        let graph = self.pipeline.task_graph();
        let inputs: Vec<ImageDesc> = self.shapes.iter().filter_map(|s| s.or(streamed.copied())).collect();
        let shapes = graph.infer(&inputs)?;
        for (task, name) in graph.outputs().into_iter().zip(self.tasks) {
            let refused = |e| Failure::from(e).about(format_args!("the result of task '{name}'"));
            check_encodable(&shapes[task.index()], self.naming.format()).map_err(refused)?;
        }
        Ok(())
    }

    /// Hands the first frame of each output to the writers.
    fn write(&self, input: usize, outputs: Vec<Vec<ImageBuffer>>, sink: &mut Sink) {
        let paths = self.naming.paths(&self.files[input]);
        for (path, images) in paths.into_iter().zip(outputs) {
            if let Some(image) = images.into_iter().next() {
                sink.write(Job { input, path, image });
            }
        }
    }

    fn settle(&self, input: usize, result: Result<(), Failure>, outcome: &mut Outcome, progress: &Progress) {
        progress.advance();
        if let Err(failure) = result {
            self.fail(input, failure, outcome, progress);
        }
    }

    fn note_written(&self, written: Written, outcome: &mut Outcome, progress: &Progress) {
        match written.result {
            Ok(()) => outcome.written.entry(written.input).or_default().push(written.path),
            Err(error) => self.fail(written.input, error.into(), outcome, progress),
        }
    }

    fn fail(&self, input: usize, failure: Failure, outcome: &mut Outcome, progress: &Progress) {
        progress.note(&format!("error: {}", failure.message().unwrap_or_default()));
        outcome.failures.entry(input).or_insert(failure);
    }
}
