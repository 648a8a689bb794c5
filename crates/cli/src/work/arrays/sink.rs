use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use mip_core::{ImageBuffer, ImageDesc, panics, text, threads};
use mip_io::NpyStack;

use super::{ArrayTarget, Finished, Shard};
use crate::failure::Failure;
use crate::stages::{Step, Watch};
use crate::work::Written;

/// The results of an input, one for each task.
pub(crate) struct Row {
    pub(crate) input: usize,
    pub(crate) images: Vec<ImageBuffer>,
}

/// Rows that wait to be written: enough for the disk to hesitate, little enough for large results.
const WAITING: usize = 4;

/// Writes rows on a thread of its own. [`ArraySink::write`] blocks while some wait already.
pub(crate) struct ArraySink<'scope> {
    rows: SyncSender<Row>,
    written: Receiver<Written>,
    thread: ScopedJoinHandle<'scope, Result<Arrays, Failure>>,
    /// Rows whose end has not been heard of.
    open: usize,
    broken: bool,
}

impl<'scope> ArraySink<'scope> {
    /// # Errors
    /// When there is no thread.
    pub(crate) fn start(
        scope: &'scope Scope<'scope, '_>,
        target: &ArrayTarget,
        watch: &Watch,
    ) -> Result<Self, Failure> {
        let (send, rows) = sync_channel(WAITING);
        let (report, written) = channel();
        let (arrays, watch) = (Arrays::new(target.clone()), watch.clone());
        let work = move || match panics::caught(|| arrays.all(&rows, &report, &watch)) {
            Ok(result) => result,
            Err(panic) => Err(Failure::Running(format!("cannot write the array: internal error: {panic}"))),
        };
        let thread = threads::spawn_scoped(scope, "mip-write", "write results", work)
            .map_err(|none| Failure::Running(none.to_string()))?;
        Ok(Self { rows: send, written, thread, open: 0, broken: false })
    }

    pub(crate) fn write(&mut self, row: Row) {
        // The thread has ended when a row could not be written: no array will have it, and nothing more need be tried.
        match self.rows.send(row) {
            Ok(()) => self.open += 1,
            Err(_) => self.broken = true,
        }
    }

    /// Whether no row can be written any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken || self.thread.is_finished()
    }

    /// What has been written since the last call.
    pub(crate) fn finished(&mut self) -> Vec<Written> {
        let finished: Vec<Written> = self.written.try_iter().collect();
        self.open -= finished.len();
        finished
    }

    /// Waits for the rows that were given.
    pub(crate) fn settle(&mut self) -> Vec<Written> {
        let settled: Vec<Written> = self.written.iter().take(self.open).collect();
        self.open = 0;
        settled
    }

    /// Waits for everything; what was written since the last call, and the arrays.
    pub(crate) fn close(self) -> (Vec<Written>, Result<Arrays, Failure>) {
        drop(self.rows);
        let written = self.written.into_iter().collect();
        let gone = |_| Err(Failure::Running("the thread that writes the array has ended".to_owned()));
        (written, self.thread.join().unwrap_or_else(gone))
    }
}

/// Arrays in their places, and those that rows are added to, one for each task.
pub(crate) struct Arrays {
    target: ArrayTarget,
    open: Vec<(NpyStack, ImageDesc)>,
    /// Inputs of the rows of those.
    open_rows: Vec<usize>,
    finished: Finished,
}

impl Arrays {
    fn new(target: ArrayTarget) -> Self {
        Self { target, open: Vec::new(), open_rows: Vec::new(), finished: Finished::default() }
    }

    fn all(mut self, rows: &Receiver<Row>, report: &Sender<Written>, watch: &Watch) -> Result<Self, Failure> {
        for Row { input, images } in rows {
            let first = self.target.array(0, self.shards());
            let name = || text::path(&first).into_owned();
            let result = watch.time(Step::Write, name, || self.push(input, &images));
            drop(images);
            result?;
            // Nobody listens any more when the run was given up.
            let _ = report.send(Written { input, path: None, result: Ok(()) });
        }
        Ok(self)
    }

    fn shards(&self) -> u64 {
        (self.finished.shards.len() / self.target.tasks().len()) as u64
    }

    fn push(&mut self, input: usize, images: &[ImageBuffer]) -> Result<(), Failure> {
        if self.open.is_empty() {
            let shard = self.shards();
            for (task, image) in images.iter().enumerate() {
                let array = NpyStack::create(self.target.array(task, shard), image.desc())?;
                self.open.push((array, *image.desc()));
            }
        }
        for ((array, _), image) in self.open.iter_mut().zip(images) {
            array.push(image)?;
        }
        self.open_rows.push(input);
        match self.target.shard() {
            Some(rows) if self.open_rows.len() as u64 == rows => self.keep_open(),
            _ => Ok(()),
        }
    }

    /// Puts the arrays that rows are added to in their places.
    fn keep_open(&mut self) -> Result<(), Failure> {
        let first_row = self.finished.rows.len() as u64;
        for ((array, desc), task) in self.open.drain(..).zip(self.target.tasks()) {
            let shard = Shard::of(&array, &desc, task, first_row);
            array.keep()?;
            self.finished.shards.push(shard);
        }
        self.finished.rows.append(&mut self.open_rows);
        Ok(())
    }

    /// The end of the run: what has begun is kept, or given up where rows are missing that should be there.
    pub(crate) fn finish(mut self, keep: bool) -> Result<Finished, Failure> {
        if keep && !self.open.is_empty() {
            self.keep_open()?;
        }
        self.finished.given_up = self.open_rows;
        Ok(self.finished)
    }
}
