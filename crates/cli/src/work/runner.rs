use std::collections::BTreeMap;
use std::time::Instant;

use mini_image_pipe::{DeviceJpegDecoder, Error, Pipeline};
use mip_core::{ImageBuffer, ImageDesc};
use mip_io::{FileFormat, Metadata, WriteOptions, check_encodable};
use mip_runtime::{DeviceImage, RunInput};

use super::arrays::{Arrays, check_alike};
use super::out::Out;
use super::{ArrayTarget, Decoders, Derived, Feed, Input, Job, Limits, Next, Numbers, Outcome, Results};
use crate::failure::Failure;
use crate::interrupt::Stop;
use crate::stages::{Computing, ImageTimes, Stages, Watch};

/// One `mip run`: pictures are decoded ahead, grouped into batches, executed, and written behind.
pub(crate) struct Runner<'a> {
    pub(crate) pipeline: &'a mut Pipeline,
    pub(crate) results: Results<'a>,
    /// Names of the output tasks.
    pub(crate) tasks: &'a [String],
    pub(crate) files: &'a [Input],
    /// The pipeline input that `files` feed; `None` when all inputs are bound already and there is one run.
    pub(crate) streamed: Option<&'a str>,
    /// Shapes of the pipeline's inputs in order; `None` for the streamed one.
    pub(crate) shapes: &'a [Option<ImageDesc>],
    /// What the files of pictures that are under way say beside their pixels.
    pub(crate) metadata: BTreeMap<usize, Metadata>,
    pub(crate) batch: usize,
    pub(crate) keep_going: bool,
    /// Whether results that are a few numbers are kept for the report.
    pub(crate) numbers: bool,
    pub(crate) options: WriteOptions,
    pub(crate) limits: Limits,
    /// What decodes JPEG files, where that is the GPU.
    pub(crate) decoder: Option<DeviceJpegDecoder>,
    /// What learns how long everything takes.
    pub(crate) watch: Watch,
    /// Ends the run before the next picture.
    pub(crate) stop: &'a Stop,
}

/// What there is to know of a run while it goes on.
struct State {
    outcome: Outcome,
    computing: Computing,
    /// Shapes of the first row of arrays, which all others have.
    rows: Option<Vec<ImageDesc>>,
}

/// Pictures that are executed together, with the index of each one's file.
type Group = Vec<(usize, RunInput)>;

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
    /// When there are no threads to work with, and nothing was done; when arrays cannot be written.
    pub(crate) fn run(mut self) -> Result<Outcome, Failure> {
        let (start, files) = (Instant::now(), self.files);
        let outcome = Outcome::new(files.len(), Decoders::new(self.decoder.as_ref()));
        let mut state = State { outcome, computing: Computing::default(), rows: None };
        let (decoders, encoders, arrays) = std::thread::scope(|scope| -> Result<_, Failure> {
            let jobs = files.len() * self.tasks.len();
            let (budget, watch) = (self.limits.budget.clone(), self.watch.clone());
            let mut out = Out::start(scope, self.results, jobs, &self.options, &budget, &watch)?;
            let encoders = out.threads();
            let decoders = if self.streamed.is_some() {
                let limits = self.limits.clone();
                match &self.decoder {
                    None => self.stream(Feed::start(files, limits, &watch, self.stop)?, &mut out, &mut state),
                    Some(decoder) => {
                        let feed = Feed::start_on_gpu(files, limits, &watch, self.stop, decoder)?;
                        self.stream(feed, &mut out, &mut state)
                    }
                }
            } else {
                match self.execute(&[], &mut state) {
                    Ok(outputs) => {
                        self.write(0, 0, &outputs, &mut out, &mut state.outcome);
                        self.derive(0, None, &mut state.outcome);
                        state.outcome.executed();
                    }
                    Err(trouble) => state.outcome.not_executed(0, trouble.failure),
                }
                1
            };
            let (written, arrays) = out.close();
            for written in written {
                state.outcome.note_written(written);
            }
            Ok((decoders, encoders, arrays))
        })?;
        let State { mut outcome, computing, .. } = state;
        outcome.finish();
        outcome.interrupted = self.stop.signal();
        if let (Results::Arrays(target), Some(arrays)) = (self.results, arrays) {
            self.finish_arrays(target, arrays?, &mut outcome)?;
        }
        if let Results::Files(naming) = self.results {
            outcome.sort(naming, files);
        }
        let times = ImageTimes {
            images: computing.images(),
            elapsed: start.elapsed(),
            watch: &self.watch,
            computing,
            decoders,
            encoders,
            decoding_on_cores: self.decoder.is_none(),
            on_cores: crate::devices::on_cores(self.pipeline)?,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        };
        outcome.stages = (times.images > 0).then(|| Stages::of_images(&times));
        Ok(outcome)
    }

    /// Puts arrays in their places where no row is missing that should be there, and writes their index.
    fn finish_arrays(
        &self,
        target: &ArrayTarget,
        arrays: Arrays,
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        let complete = outcome.interrupted.is_none() && (outcome.failures.is_empty() || self.keep_going);
        let mut finished = arrays.finish(complete)?;
        if !finished.rows.is_empty() {
            finished.write_index(target.index(), self.files, &outcome.failures, complete)?;
        }
        outcome.note_arrays(finished);
        Ok(())
    }

    /// Takes pictures from the feed and executes a group as soon as it is full, the shape changes, memory is short, or
    /// none is left. Gives the number of threads that decode.
    fn stream<P: Into<RunInput> + Send + 'static>(
        &mut self,
        mut feed: Feed<P>,
        out: &mut Out<'_>,
        state: &mut State,
    ) -> usize {
        let threads = feed.threads();
        self.take_all(&mut feed, out, state);
        threads
    }

    fn take_all<P: Into<RunInput> + Send + 'static>(
        &mut self,
        feed: &mut Feed<P>,
        out: &mut Out<'_>,
        state: &mut State,
    ) {
        let mut groups = Groups::default();
        let mut released = false;
        loop {
            let next = match feed.next() {
                Next::Picture(index, picture) => Next::Picture(index, picture.map(Into::into)),
                Next::Starved => Next::Starved,
                Next::End => Next::End,
            };
            feed.take_warnings().iter().for_each(|warning| state.outcome.warn(warning));
            if self.stop.signal().is_some() {
                // What has been executed is being written; what is only decoded has not been tried.
                return;
            }
            if let Next::Picture(index, Ok(_)) = &next {
                self.metadata.insert(*index, feed.take_metadata());
                state.outcome.decoders.add(feed.decoder());
            }
            let complete = match &next {
                Next::Picture(_, Ok(image)) => !self.fits(&groups.next, image),
                Next::Picture(_, Err(_)) => !self.keep_going,
                Next::Starved | Next::End => true,
            };
            let executed = complete && !groups.next.is_empty();
            if executed {
                self.execute_next(&mut groups, feed, out, state);
            }
            let goes_on = state.outcome.failures.is_empty() || self.keep_going;
            match next {
                Next::Starved if !goes_on => return,
                Next::Starved if executed || !released => {
                    self.release(&mut groups.used, out, state);
                    released = true;
                }
                // All memory that will ever come back has.
                Next::Starved => self.limits.budget.refuse_waiting(),
                Next::Picture(index, Ok(image)) if goes_on => {
                    groups.next.push((index, image));
                    released = false;
                }
                Next::Picture(index, Err(failure)) if goes_on => state.outcome.not_executed(index, failure),
                Next::Picture(..) | Next::End => return,
            }
            // Not only when the next picture comes: it may be long in coming.
            if groups.next.len() == self.batch {
                self.execute_next(&mut groups, feed, out, state);
            }
            out.finished().into_iter().for_each(|written| state.outcome.note_written(written));
            if !state.outcome.failures.is_empty() && !self.keep_going || out.is_broken() {
                return;
            }
        }
    }

    /// Gives back all memory but that of the pictures in hand.
    fn release(&mut self, used: &mut Group, out: &mut Out<'_>, state: &mut State) {
        used.clear();
        self.limits.spares.clear();
        out.settle().into_iter().for_each(|written| state.outcome.note_written(written));
        // A device that cannot be opened holds nothing.
        let _ = self.pipeline.release();
    }

    fn execute_next<P: Send + 'static>(
        &mut self,
        groups: &mut Groups,
        feed: &Feed<P>,
        out: &mut Out<'_>,
        state: &mut State,
    ) {
        let group = std::mem::take(&mut groups.next);
        self.execute_group(&group, &mut groups.used, out, state);
        let last = std::mem::replace(&mut groups.used, group);
        for (_, image) in last {
            if let RunInput::Host(image) = image {
                feed.recycle(image);
            }
        }
    }

    fn execute_group(&mut self, group: &Group, used: &mut Group, out: &mut Out<'_>, state: &mut State) {
        let mut result = self.execute(group, state);
        if result.as_ref().is_err_and(|trouble| trouble.memory) {
            self.release(used, out, state);
            result = self.execute(group, state);
        }
        match result {
            Ok(outputs) => {
                for (frame, (input, image)) in group.iter().enumerate() {
                    self.write(*input, frame, &outputs, out, &mut state.outcome);
                    self.derive(*input, Some(image.desc()), &mut state.outcome);
                    state.outcome.executed();
                }
            }
            // Fewer at once may fit.
            Err(trouble) if trouble.memory && group.len() > 1 => {
                let (first, second) = group.split_at(group.len() / 2);
                self.execute_group(&first.to_vec(), used, out, state);
                self.execute_group(&second.to_vec(), used, out, state);
            }
            Err(Trouble { failure, .. }) => {
                for (input, _) in group {
                    state.outcome.not_executed(*input, failure.clone().about(self.files[*input].name()));
                }
            }
        }
    }

    /// Executes a group (or, without a streamed input, what is bound); gives each output's frames.
    fn execute(&mut self, group: &[(usize, RunInput)], state: &mut State) -> Result<Outputs, Trouble> {
        let start = Instant::now();
        let outputs = self.executed(group, state)?;
        let took = start.elapsed();
        state.computing.add(took, group.len().max(1));
        Ok(outputs)
    }

    fn executed(&mut self, group: &[(usize, RunInput)], state: &mut State) -> Result<Outputs, Trouble> {
        let first = group.first().map(|(_, image)| image);
        let outputs = self.check_results(first.map(RunInput::desc), state).map_err(Trouble::other)?;
        let report = match (first, self.streamed) {
            (Some(RunInput::Host(_)), _) if self.shapes.len() == 1 => {
                let host = |(_, image): &(usize, RunInput)| match image {
                    RunInput::Host(image) => Some(image.clone()),
                    RunInput::Device(_) => None,
                };
                let frames: Vec<ImageBuffer> = group.iter().filter_map(host).collect();
                self.pipeline.execute_batch(&frames)
            }
            (Some(RunInput::Host(image)), Some(name)) => {
                self.pipeline.set_named_input(name, image)?;
                self.pipeline.execute()
            }
            (Some(RunInput::Device(_)), _) if self.shapes.len() == 1 => {
                let images: Vec<DeviceImage> = on_device(group).cloned().collect();
                let joined = DeviceImage::joined(&images);
                let apart = || Trouble::other(Failure::Running("pictures of a batch lie apart".to_owned()));
                self.pipeline.execute_device_batch(&joined.ok_or_else(apart)?)
            }
            (Some(RunInput::Device(image)), Some(name)) => {
                self.pipeline.set_device_input(name, image)?;
                self.pipeline.execute()
            }
            _ => self.pipeline.execute(),
        };
        match report {
            Ok(report) => state.outcome.add(&report),
            Err(error) => {
                // Only a run that was started has a report of its own.
                if let (Error::Run(_), Some(report)) = (&error, self.pipeline.report()) {
                    state.outcome.add(report);
                }
                return Err(error.into());
            }
        }
        if matches!(self.results, Results::Arrays(_)) {
            state.rows.get_or_insert(outputs);
        }
        let outputs = self.pipeline.task_graph().outputs();
        outputs.into_iter().map(|task| Ok(self.pipeline.batch_outputs(task)?.to_vec())).collect()
    }

    /// Whether a picture can be executed with others: those on the device only where they lie behind each other.
    fn fits(&self, group: &Group, image: &RunInput) -> bool {
        let Some((_, first)) = group.first() else { return true };
        match (first, image) {
            _ if first.desc() != image.desc() || self.shapes.len() != 1 => false,
            (RunInput::Host(_), RunInput::Host(_)) => true,
            (RunInput::Device(_), RunInput::Device(image)) => {
                let images: Vec<DeviceImage> = on_device(group).chain([image]).cloned().collect();
                DeviceImage::joined(&images).is_some()
            }
            _ => false,
        }
    }

    /// Finds out before a pixel is computed that a result could not be written; the shapes of all.
    fn check_results(&self, streamed: Option<&ImageDesc>, state: &State) -> Result<Vec<ImageDesc>, Failure> {
        let graph = self.pipeline.task_graph();
        let inputs: Vec<ImageDesc> = self.shapes.iter().filter_map(|s| s.or(streamed.copied())).collect();
        let shapes = graph.infer(&inputs)?;
        let outputs: Vec<ImageDesc> = graph.outputs().iter().map(|task| shapes[task.index()]).collect();
        for (desc, name) in outputs.iter().zip(self.tasks) {
            let refused = |e| Failure::from(e).about(format_args!("the result of task '{name}'"));
            check_encodable(desc, self.results.format()).map_err(refused)?;
        }
        match &state.rows {
            Some(rows) => check_alike(&outputs, rows, self.tasks).map(|()| outputs),
            None => Ok(outputs),
        }
    }

    /// Notes what operators say beside pixels of an image that went through.
    fn derive(&self, input: usize, streamed: Option<&ImageDesc>, outcome: &mut Outcome) {
        if !self.numbers {
            return;
        }
        let inputs: Vec<ImageDesc> = self.shapes.iter().filter_map(|s| s.or(streamed.copied())).collect();
        // It has been through: its shapes fit.
        let said = self.pipeline.task_graph().derived(&inputs).unwrap_or_default();
        let said = said.iter().map(|said| Derived::new(&self.files[input], said.task, &said.values));
        outcome.derived.extend(said);
    }

    /// Hands one frame of each output to the writers.
    fn write(
        &mut self,
        input: usize,
        frame: usize,
        outputs: &[Vec<ImageBuffer>],
        out: &mut Out<'_>,
        outcome: &mut Outcome,
    ) {
        let metadata = self.metadata.remove(&input).unwrap_or_default();
        let images = outputs.iter().map(|images| images[frame].clone());
        if self.numbers {
            for (task, image) in self.tasks.iter().zip(images.clone()) {
                outcome.numbers.extend(Numbers::of(&self.files[input], task, &image));
            }
        }
        let naming = match self.results {
            Results::Files(naming) => naming,
            Results::Arrays(_) => {
                let images: Vec<ImageBuffer> = images.collect();
                for image in &images {
                    outcome.lose(input, metadata.carried(image.desc(), FileFormat::Npy).1);
                }
                return out.write_row(input, images);
            }
        };
        for (path, image) in naming.paths(&self.files[input]).into_iter().zip(images) {
            let (carried, lost) = metadata.carried(image.desc(), naming.format());
            outcome.lose(input, lost);
            out.write_file(Job { input, path, image, carried });
        }
    }
}

/// The pictures of a group that are on the device.
fn on_device(group: &[(usize, RunInput)]) -> impl Iterator<Item = &DeviceImage> {
    group.iter().filter_map(|(_, image)| match image {
        RunInput::Device(image) => Some(image),
        RunInput::Host(_) => None,
    })
}
