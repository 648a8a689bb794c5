use std::path::Path;
use std::sync::Arc;
use std::thread::Scope;

use mip_core::{ImageBuffer, MemoryBudget};
use mip_io::{FileFormat, WriteOptions};

use super::arrays::{ArraySink, Arrays, Row};
use super::{ArrayTarget, Job, Naming, Sink, Written};
use crate::failure::Failure;
use crate::stages::Watch;

/// Where results go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Results<'a> {
    /// Each into a file of its own.
    Files(&'a Naming),
    /// All into one array, or a few.
    Arrays(&'a ArrayTarget),
}

impl<'a> Results<'a> {
    pub(crate) const fn format(self) -> FileFormat {
        match self {
            Self::Files(naming) => naming.format(),
            Self::Arrays(_) => FileFormat::Npy,
        }
    }

    /// The folder that has to exist.
    pub(crate) fn folder(self) -> &'a Path {
        match self {
            Self::Files(naming) => naming.folder(),
            Self::Arrays(target) => target.folder(),
        }
    }

    /// Whether the one result goes to stdout.
    pub(crate) fn is_stdout(self) -> bool {
        matches!(self, Self::Files(naming) if naming.is_stdout())
    }
}

/// The threads that results are given to.
pub(super) enum Out<'scope> {
    Files(Sink),
    Arrays(ArraySink<'scope>),
}

impl<'scope> Out<'scope> {
    /// # Errors
    /// When there is no thread.
    pub(super) fn start(
        scope: &'scope Scope<'scope, '_>,
        results: Results<'_>,
        images: usize,
        options: &WriteOptions,
        budget: &Arc<MemoryBudget>,
        watch: &Watch,
    ) -> Result<Self, Failure> {
        Ok(match results {
            Results::Files(naming) => {
                Self::Files(Sink::start(scope, images, naming.format(), options, budget, watch)?)
            }
            Results::Arrays(target) => Self::Arrays(ArraySink::start(scope, target, watch)?),
        })
    }

    /// Threads that write.
    pub(super) fn threads(&self) -> usize {
        match self {
            Self::Files(sink) => sink.threads(),
            Self::Arrays(_) => 1,
        }
    }

    /// Whether nothing can be written any more.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Arrays(sink) if sink.is_broken())
    }

    /// Writes the results of an input as a row.
    pub(super) fn write_row(&mut self, input: usize, images: Vec<ImageBuffer>) {
        if let Self::Arrays(sink) = self {
            sink.write(Row { input, images });
        }
    }

    /// Writes a result as a file.
    pub(super) fn write_file(&mut self, job: Job) {
        if let Self::Files(sink) = self {
            sink.write(job);
        }
    }

    pub(super) fn finished(&mut self) -> Vec<Written> {
        match self {
            Self::Files(sink) => sink.finished(),
            Self::Arrays(sink) => sink.finished(),
        }
    }

    pub(super) fn settle(&mut self) -> Vec<Written> {
        match self {
            Self::Files(sink) => sink.settle(),
            Self::Arrays(sink) => sink.settle(),
        }
    }

    /// Waits for everything that is still being written; arrays are still to be put in their places.
    pub(super) fn close(self) -> (Vec<Written>, Option<Result<Arrays, Failure>>) {
        match self {
            Self::Files(sink) => (sink.close().collect(), None),
            Self::Arrays(sink) => {
                let (written, arrays) = sink.close();
                (written, Some(arrays))
            }
        }
    }
}
