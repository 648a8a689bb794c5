use std::path::PathBuf;

use mini_image_pipe::{Error, Pipeline};
use mip_core::{ImageBuffer, ImageDesc};
use mip_io::{ReadOptions, WriteOptions, check_encodable};

use super::{Feed, Job, Naming, Outcome, Sink};
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
    pub(crate) reading: ReadOptions,
    pub(crate) options: WriteOptions,
}

/// Pictures that are executed together, with the index of each one's file.
type Group = Vec<(usize, ImageBuffer)>;

impl Runner<'_> {
    pub(crate) fn run(mut self) -> Outcome {
        let (files, reading, options) = (self.files, self.reading, self.options);
        let mut outcome = Outcome::new(files.len());
        std::thread::scope(|scope| {
            let mut sink = Sink::start(scope, files.len() * self.tasks.len(), options);
            if self.streamed.is_some() {
                let feed = Feed::start(scope, files, reading);
                self.stream(feed, &mut sink, &mut outcome);
            } else {
                match self.execute(&Group::new(), &mut outcome) {
                    Ok(outputs) => {
                        self.write(0, 0, &outputs, &mut sink);
                        outcome.executed();
                    }
                    Err(failure) => outcome.not_executed(0, failure),
                }
            }
            sink.close().for_each(|written| outcome.note_written(written));
        });
        outcome.finish(self.naming, files);
        outcome
    }

    /// Takes pictures from the feed and executes a group when it is full, the shape changes, or none is left.
    fn stream(&mut self, mut feed: Feed, sink: &mut Sink, outcome: &mut Outcome) {
        let mut group = Group::new();
        // Given back one group late: the pipeline may still hold the inputs of its last execution.
        let mut used = Group::new();
        loop {
            let next = feed.next();
            feed.take_warnings().iter().for_each(|warning| outcome.warn(warning));
            let complete = match &next {
                Some((_, Ok(image))) => group.len() == self.batch || !fits(&group, image),
                Some((_, Err(_))) => !self.keep_going,
                None => true,
            };
            if complete && !group.is_empty() {
                self.execute_group(&group, sink, outcome);
                let last = std::mem::replace(&mut used, std::mem::take(&mut group));
                for (_, image) in last {
                    feed.recycle(image);
                }
            }
            sink.finished().for_each(|written| outcome.note_written(written));
            let stop = !outcome.failures.is_empty() && !self.keep_going;
            match next {
                Some((index, Ok(image))) if !stop => group.push((index, image)),
                Some((index, Err(error))) if !stop => {
                    outcome.not_executed(index, error.into());
                    if !self.keep_going {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    fn execute_group(&mut self, group: &Group, sink: &mut Sink, outcome: &mut Outcome) {
        match self.execute(group, outcome) {
            Ok(outputs) => {
                for (frame, (input, _)) in group.iter().enumerate() {
                    self.write(*input, frame, &outputs, sink);
                    outcome.executed();
                }
            }
            Err(failure) => {
                for (input, _) in group {
                    outcome.not_executed(*input, failure.clone().about(self.files[*input].display()));
                }
            }
        }
    }

    /// Executes a group (or, without a streamed input, what is bound); gives each output's frames.
    fn execute(&mut self, group: &Group, outcome: &mut Outcome) -> Result<Vec<Vec<ImageBuffer>>, Failure> {
        let first = group.first().map(|(_, image)| image);
        self.check_encodable(first.map(ImageBuffer::desc))?;
        let report = match (first, self.streamed) {
            (Some(_), _) if self.shapes.len() == 1 => {
                let frames: Vec<ImageBuffer> = group.iter().map(|(_, image)| image.clone()).collect();
                self.pipeline.execute_batch(&frames)
            }
            (Some(image), Some(name)) => {
                self.pipeline.set_named_input(name, image)?;
                self.pipeline.execute()
            }
            _ => self.pipeline.execute(),
        };
        match report {
            Ok(report) => outcome.add(&report),
            Err(error) => {
                // Only a run that was started has a report of its own.
                if let (Error::Run(_), Some(report)) = (&error, self.pipeline.report()) {
                    outcome.add(report);
                }
                return Err(error.into());
            }
        }
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

    /// Hands one frame of each output to the writers.
    fn write(&self, input: usize, frame: usize, outputs: &[Vec<ImageBuffer>], sink: &mut Sink) {
        for (path, images) in self.naming.paths(&self.files[input]).into_iter().zip(outputs) {
            sink.write(Job { input, path, image: images[frame].clone() });
        }
    }
}

fn fits(group: &Group, image: &ImageBuffer) -> bool {
    group.first().is_none_or(|(_, first)| first.desc() == image.desc())
}
