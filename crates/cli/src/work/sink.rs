use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use mip_core::text::{self, quoted_path};
use mip_core::{ImageBuffer, MemoryBudget, panics, threads};
use mip_io::{Carried, FileFormat, IoError, WholeFile, WriteOptions, encode, encoding_bytes};

use super::workers;
use crate::failure::Failure;
use crate::stages::{Step, Watch};

/// One picture to be written.
pub(crate) struct Job {
    /// Which input it came from.
    pub(crate) input: usize,
    pub(crate) path: PathBuf,
    pub(crate) image: ImageBuffer,
    pub(crate) carried: Carried,
}

/// What became of a job.
pub(crate) struct Written {
    pub(crate) input: usize,
    /// The file, where a result has one of its own.
    pub(crate) path: Option<PathBuf>,
    pub(crate) result: Result<(), Failure>,
}

/// Encodes and writes pictures on several threads. [`Sink::write`] blocks while all of them are busy.
pub(crate) struct Sink {
    lanes: Vec<SyncSender<Job>>,
    written: Receiver<Written>,
    next: usize,
    /// Jobs whose end has not been heard of.
    open: usize,
}

/// What encoding may take.
#[derive(Debug, Clone)]
struct Room {
    budget: Arc<MemoryBudget>,
    /// Whoever the budget has no room for encodes alone: results must be written for memory to come back.
    alone: Arc<Mutex<()>>,
}

impl Sink {
    /// Starts as many threads as there are to be had; `watch` learns what encoding and writing take.
    ///
    /// # Errors
    /// When there is not one.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        jobs: usize,
        format: FileFormat,
        options: &WriteOptions,
        budget: &Arc<MemoryBudget>,
        watch: &Watch,
    ) -> Result<Self, Failure> {
        let (report, written) = channel();
        let room = Room { budget: budget.clone(), alone: Arc::default() };
        let mut lanes = Vec::new();
        for _ in 0..workers(jobs) {
            let (send, jobs) = sync_channel(1);
            let (report, room, options) = (report.clone(), room.clone(), options.clone());
            let watch = watch.clone();
            let work = move || encode_all(&jobs, &report, (format, &options), &room, &watch);
            match threads::spawn_scoped(scope, "mip-encode", "write results", work) {
                Ok(_) => lanes.push(send),
                Err(none) if lanes.is_empty() => return Err(Failure::Running(none.to_string())),
                Err(_) => break,
            }
        }
        Ok(Self { lanes, written, next: 0, open: 0 })
    }

    /// Threads that encode and write.
    pub(crate) fn threads(&self) -> usize {
        self.lanes.len()
    }

    pub(crate) fn write(&mut self, job: Job) {
        let lane = self.next % self.lanes.len();
        self.next += 1;
        self.open += 1;
        self.lanes[lane].send(job).expect("writers run until their queue is closed");
    }

    /// What has been finished since the last call.
    pub(crate) fn finished(&mut self) -> Vec<Written> {
        let finished: Vec<Written> = self.written.try_iter().collect();
        self.open -= finished.len();
        finished
    }

    /// Waits for everything that is being written; more can be given afterwards.
    pub(crate) fn settle(&mut self) -> Vec<Written> {
        let settled: Vec<Written> = self.written.iter().take(self.open).collect();
        self.open = 0;
        settled
    }

    /// Waits for everything that is still being written.
    pub(crate) fn close(self) -> impl Iterator<Item = Written> {
        drop(self.lanes);
        self.written.into_iter()
    }
}

fn encode_all(
    jobs: &Receiver<Job>,
    report: &Sender<Written>,
    (format, options): (FileFormat, &WriteOptions),
    room: &Room,
    watch: &Watch,
) {
    for Job { input, path, image, carried } in jobs {
        let options = WriteOptions { carried: Some(carried.into()), ..options.clone() };
        let reserved = room.budget.reserve(encoding_bytes(image.desc())).ok();
        let alone = reserved.is_none().then(|| room.alone.lock().unwrap_or_else(PoisonError::into_inner));
        let result = match panics::caught(|| write(&path, &image, (format, &options), watch)) {
            Ok(result) => result.map_err(Failure::from),
            Err(panic) => {
                Err(Failure::Running(format!("cannot write {}: internal error: {panic}", quoted_path(&path))))
            }
        };
        drop((image, reserved, alone));
        // Nobody listens any more when the run was given up; the file is written all the same.
        let _ = report.send(Written { input, path: Some(path), result });
    }
}

/// Encodes and writes a picture.
fn write(
    path: &Path,
    image: &ImageBuffer,
    (format, options): (FileFormat, &WriteOptions),
    watch: &Watch,
) -> Result<(), IoError> {
    let name = || text::path(path).into_owned();
    // Encoded first: what cannot be encoded must not open a pipe, whose reader would take that for an empty result.
    let bytes = watch.time(Step::Encode, name, || encode(image, format, options))?;
    watch.time(Step::Write, name, || WholeFile::create(path)?.write_and_keep(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{DType, ImageDesc, PixelFormat};

    #[test]
    fn everything_is_written_and_failures_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let image = ImageBuffer::new(ImageDesc::new(3, 3, PixelFormat::Rgb, DType::U8).unwrap()).unwrap();
        let path =
            |i: usize| folder.path().join(if i == 5 { "no/such/5.png".into() } else { format!("{i}.png") });
        let written: Vec<Written> = std::thread::scope(|scope| {
            let budget = Arc::new(MemoryBudget::new(10));
            let start = || {
                Sink::start(scope, 20, FileFormat::Png, &WriteOptions::default(), &budget, &Watch::default())
            };
            assert!(threads::with_at_most(0, start).is_err());
            let mut sink = threads::with_at_most(1, start).unwrap();
            assert_eq!(sink.lanes.len(), 1);
            let mut job = |i: usize| {
                sink.write(Job {
                    input: i,
                    path: path(i),
                    image: image.clone(),
                    carried: Carried::default(),
                });
            };
            (0..12).for_each(&mut job);
            (12..20).for_each(job);
            let first = sink.settle();
            first.into_iter().chain(sink.close()).collect()
        });
        assert_eq!(written.len(), 20);
        for w in written {
            assert_eq!(w.result.is_ok(), w.input != 5);
            assert_eq!(w.path.unwrap().exists(), w.input != 5);
        }
    }
}
