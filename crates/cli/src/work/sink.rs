use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;

use mip_core::ImageBuffer;
use mip_io::{IoError, WriteOptions, write_image};

use super::workers;

/// One picture to be written.
pub(crate) struct Job {
    /// Which input it came from.
    pub(crate) input: usize,
    pub(crate) path: PathBuf,
    pub(crate) image: ImageBuffer,
}

/// What became of a job.
pub(crate) struct Written {
    pub(crate) input: usize,
    pub(crate) path: PathBuf,
    pub(crate) result: Result<(), IoError>,
}

/// Encodes and writes pictures on several threads. [`Sink::write`] blocks while all of them are busy.
pub(crate) struct Sink {
    lanes: Vec<SyncSender<Job>>,
    written: Receiver<Written>,
    next: usize,
}

impl Sink {
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        jobs: usize,
        options: WriteOptions,
    ) -> Self {
        let (report, written) = channel();
        let lane = |_| {
            let (send, jobs) = sync_channel(1);
            let report = report.clone();
            scope.spawn(move || encode(&jobs, &report, options));
            send
        };
        Self { lanes: (0..workers(jobs)).map(lane).collect(), written, next: 0 }
    }

    pub(crate) fn write(&mut self, job: Job) {
        let lane = self.next % self.lanes.len();
        self.next += 1;
        self.lanes[lane].send(job).expect("writers run until their queue is closed");
    }

    /// What has been finished since the last call.
    pub(crate) fn finished(&self) -> impl Iterator<Item = Written> + '_ {
        self.written.try_iter()
    }

    /// Waits for everything that is still being written.
    pub(crate) fn close(self) -> impl Iterator<Item = Written> {
        drop(self.lanes);
        self.written.into_iter()
    }
}

fn encode(jobs: &Receiver<Job>, report: &Sender<Written>, options: WriteOptions) {
    for Job { input, path, image } in jobs {
        let result = write_image(&path, &image, &options);
        drop(image);
        // Nobody listens any more when the run was given up; the file is written all the same.
        let _ = report.send(Written { input, path, result });
    }
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
            let mut sink = Sink::start(scope, 20, WriteOptions::default());
            (0..20).for_each(|i| sink.write(Job { input: i, path: path(i), image: image.clone() }));
            sink.close().collect()
        });
        assert_eq!(written.len(), 20);
        for w in written {
            assert_eq!(w.result.is_ok(), w.input != 5);
            assert_eq!(w.path.exists(), w.input != 5);
        }
    }
}
