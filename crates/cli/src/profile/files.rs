//! What is around executions in a run over files: inputs are read and decoded, results encoded.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mini_image_pipe::Pipeline;
use mip_core::{ImageBuffer, text};
use mip_io::{FileFormat, Reader, WriteOptions, check_encodable, encode, is_stdin};
use serde::Serialize;

use crate::failure::Failure;
use crate::stages::{Step, Watch};

/// How often each file is read, decoded or encoded.
const REPEAT: usize = 5;

/// The files that are measured.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) reader: Reader,
    /// What results are encoded as, if that was said.
    pub(crate) format: Option<FileFormat>,
}

/// What one step takes for one file.
#[derive(Debug, Serialize)]
pub(crate) struct FileRow {
    /// `read`, `decode` or `encode`.
    pub(crate) step: &'static str,
    /// The file, or the task whose result it would be.
    pub(crate) name: String,
    pub(crate) format: &'static str,
    /// Of the file.
    pub(crate) bytes: usize,
    pub(crate) median_us: f64,
}

/// Results of a pipeline's last execution, with the names of their tasks.
pub(crate) fn results(pipeline: &Pipeline) -> Result<Vec<(String, ImageBuffer)>, Failure> {
    let graph = pipeline.task_graph();
    let result = |task| {
        let image = pipeline.batch_outputs(task)?.first().cloned();
        Ok(image.map(|image| (graph.name(task).unwrap_or_default().to_owned(), image)))
    };
    graph.outputs().into_iter().filter_map(|task| result(task).transpose()).collect()
}

impl Files {
    /// Reads, decodes and encodes everything a few times; `watch` records it.
    pub(super) fn measure(
        mut self,
        results: &[(String, ImageBuffer)],
        watch: &Watch,
    ) -> Result<Vec<FileRow>, Failure> {
        let mut rows = Vec::new();
        // What came from a pipe is gone.
        for path in std::mem::take(&mut self.inputs).iter().filter(|path| !is_stdin(path)) {
            rows.extend(self.input(path, watch)?);
        }
        for (task, image) in results {
            rows.push(self.result(task, image, watch)?);
        }
        Ok(rows)
    }

    fn input(&mut self, path: &Path, watch: &Watch) -> Result<[FileRow; 2], Failure> {
        let budget = self.reader.budget().clone();
        let (mut reads, mut decodes, mut of) = (Vec::new(), Vec::new(), ("", 0));
        let name = || text::path(path).into_owned();
        for _ in 0..REPEAT {
            let start = Instant::now();
            let load = || self.reader.load(path, |bytes| budget.reserve(bytes));
            let file = watch.time(Step::Read, name, load)?;
            reads.push(start.elapsed());
            of = (file.format().facts().name, file.size());
            let start = Instant::now();
            let image = watch.time(Step::Decode, name, || self.reader.decode(file))?;
            decodes.push(start.elapsed());
            self.reader.recycle(image);
        }
        // Said when the pipeline's inputs were read.
        self.reader.take_warnings();
        let (format, bytes) = of;
        let row = |step: Step, times| FileRow {
            step: step.name(),
            name: name(),
            format,
            bytes,
            median_us: median(times),
        };
        Ok([row(Step::Read, reads), row(Step::Decode, decodes)])
    }

    fn result(&self, task: &str, image: &ImageBuffer, watch: &Watch) -> Result<FileRow, Failure> {
        let usual = [FileFormat::Png, FileFormat::Npy];
        let holds = |format: &FileFormat| check_encodable(image.desc(), *format).is_ok();
        let format = self.format.or_else(|| usual.into_iter().find(holds)).unwrap_or(FileFormat::Npy);
        let (mut times, mut bytes) = (Vec::new(), 0);
        for _ in 0..REPEAT {
            let start = Instant::now();
            let work = || encode(image, format, &WriteOptions::default());
            bytes = watch.time(Step::Encode, || task.to_owned(), work)?.len();
            times.push(start.elapsed());
        }
        let (step, format) = (Step::Encode.name(), format.facts().name);
        Ok(FileRow { step, name: task.to_owned(), format, bytes, median_us: median(times) })
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}
