use std::collections::BTreeMap;
use std::path::PathBuf;

use mini_image_pipe::{Error, Pipeline};
use mip_core::text::quoted_path;
use mip_core::{ImageBuffer, ImageDesc};
use mip_io::{Metadata, WriteOptions, check_encodable};

use super::{Feed, Job, Limits, Naming, Next, Outcome, Sink};
use crate::failure::Failure;
use crate::interrupt::Stop;

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
    /// What the files of pictures that are under way say beside their pixels.
    pub(crate) metadata: BTreeMap<usize, Metadata>,
    pub(crate) batch: usize,
    pub(crate) keep_going: bool,
    pub(crate) options: WriteOptions,
    pub(crate) limits: Limits,
    /// Ends the run before the next picture.
    pub(crate) stop: &'a Stop,
}

/// Pictures that are executed together, with the index of each one's file.
type Group = Vec<(usize, ImageBuffer)>;

#[derive(Default)]
struct Groups {
    next: Group,
    /// Given back one group late: the pipeline may still hold the inputs of its last execution.
    used: Group,
}

/// Why a group was not executed.
struct Trouble {
    failure: Failure,
    /// Whether it was for want of memory.
    memory: bool,
}

impl Trouble {
    fn other(failure: impl Into<Failure>) -> Self {
        Self { failure: failure.into(), memory: false }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self { memory: error.is_out_of_memory(), failure: error.into() }
    }
}

type Outputs = Vec<Vec<ImageBuffer>>;

impl Runner<'_> {
    /// # Errors
    /// When there are no threads to work with; nothing was done then.
    pub(crate) fn run(mut self) -> Result<Outcome, Failure> {
        let (files, options, limits) = (self.files, self.options.clone(), self.limits.clone());
        let mut outcome = Outcome::new(files.len());
        std::thread::scope(|scope| -> Result<(), Failure> {
            let (jobs, format) = (files.len() * self.tasks.len(), self.naming.format());
            let mut sink = Sink::start(scope, jobs, format, &options, &limits.budget)?;
            if self.streamed.is_some() {
                let feed = Feed::start(files, limits, self.stop)?;
                self.stream(feed, &mut sink, &mut outcome);
            } else {
                match self.execute(&[], &mut outcome) {
                    Ok(outputs) => {
                        self.write(0, 0, &outputs, &mut sink, &mut outcome);
                        outcome.executed();
                    }
                    Err(trouble) => outcome.not_executed(0, trouble.failure),
                }
            }
            sink.close().for_each(|written| outcome.note_written(written));
            Ok(())
        })?;
        outcome.interrupted = self.stop.signal();
        outcome.finish(self.naming, files);
        Ok(outcome)
    }

    /// Takes pictures from the feed and executes a group as soon as it is full, the shape changes, memory is short, or
    /// none is left.
    fn stream(&mut self, mut feed: Feed, sink: &mut Sink, outcome: &mut Outcome) {
        let mut groups = Groups::default();
        let mut released = false;
        loop {
            let next = feed.next();
            feed.take_warnings().iter().for_each(|warning| outcome.warn(warning));
            if self.stop.signal().is_some() {
                // What has been executed is being written; what is only decoded has not been tried.
                return;
            }
            if let Next::Picture(index, Ok(_)) = &next {
                self.metadata.insert(*index, feed.take_metadata());
            }
            let complete = match &next {
                Next::Picture(_, Ok(image)) => !fits(&groups.next, image),
                Next::Picture(_, Err(_)) => !self.keep_going,
                Next::Starved | Next::End => true,
            };
            let executed = complete && !groups.next.is_empty();
            if executed {
                self.execute_next(&mut groups, &feed, sink, outcome);
            }
            let goes_on = outcome.failures.is_empty() || self.keep_going;
            match next {
                Next::Starved if !goes_on => return,
                Next::Starved if executed || !released => {
                    self.release(&mut groups.used, sink, outcome);
                    released = true;
                }
                // All memory that will ever come back has.
                Next::Starved => self.limits.budget.refuse_waiting(),
                Next::Picture(index, Ok(image)) if goes_on => {
                    groups.next.push((index, image));
                    released = false;
                }
                Next::Picture(index, Err(failure)) if goes_on => outcome.not_executed(index, failure),
                Next::Picture(..) | Next::End => return,
            }
            // Not only when the next picture comes: it may be long in coming.
            if groups.next.len() == self.batch {
                self.execute_next(&mut groups, &feed, sink, outcome);
            }
            sink.finished().into_iter().for_each(|written| outcome.note_written(written));
            if !outcome.failures.is_empty() && !self.keep_going {
                return;
            }
        }
    }

    /// Gives back all memory but that of the pictures in hand.
    fn release(&mut self, used: &mut Group, sink: &mut Sink, outcome: &mut Outcome) {
        used.clear();
        self.limits.spares.clear();
        sink.settle().into_iter().for_each(|written| outcome.note_written(written));
        // A device that cannot be opened holds nothing.
        let _ = self.pipeline.release();
    }

    fn execute_next(&mut self, groups: &mut Groups, feed: &Feed, sink: &mut Sink, outcome: &mut Outcome) {
        let group = std::mem::take(&mut groups.next);
        self.execute_group(&group, &mut groups.used, sink, outcome);
        let last = std::mem::replace(&mut groups.used, group);
        for (_, image) in last {
            feed.recycle(image);
        }
    }

    fn execute_group(&mut self, group: &Group, used: &mut Group, sink: &mut Sink, outcome: &mut Outcome) {
        let mut result = self.execute(group, outcome);
        if result.as_ref().is_err_and(|trouble| trouble.memory) {
            self.release(used, sink, outcome);
            result = self.execute(group, outcome);
        }
        match result {
            Ok(outputs) => {
                for (frame, (input, _)) in group.iter().enumerate() {
                    self.write(*input, frame, &outputs, sink, outcome);
                    outcome.executed();
                }
            }
            // Fewer at once may fit.
            Err(trouble) if trouble.memory && group.len() > 1 => {
                let (first, second) = group.split_at(group.len() / 2);
                self.execute_group(&first.to_vec(), used, sink, outcome);
                self.execute_group(&second.to_vec(), used, sink, outcome);
            }
            Err(Trouble { failure, .. }) => {
                for (input, _) in group {
                    outcome.not_executed(*input, failure.clone().about(quoted_path(&self.files[*input])));
                }
            }
        }
    }

    /// Executes a group (or, without a streamed input, what is bound); gives each output's frames.
    fn execute(&mut self, group: &[(usize, ImageBuffer)], outcome: &mut Outcome) -> Result<Outputs, Trouble> {
        let first = group.first().map(|(_, image)| image);
        self.check_encodable(first.map(ImageBuffer::desc)).map_err(Trouble::other)?;
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
    fn write(
        &mut self,
        input: usize,
        frame: usize,
        outputs: &[Vec<ImageBuffer>],
        sink: &mut Sink,
        outcome: &mut Outcome,
    ) {
        let metadata = self.metadata.remove(&input).unwrap_or_default();
        for (path, images) in self.naming.paths(&self.files[input]).into_iter().zip(outputs) {
            let image = images[frame].clone();
            let (carried, lost) = metadata.carried(image.desc(), self.naming.format());
            outcome.lose(input, lost);
            sink.write(Job { input, path, image, carried });
        }
    }
}

fn fits(group: &Group, image: &ImageBuffer) -> bool {
    group.first().is_none_or(|(_, first)| first.desc() == image.desc())
}
