use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;

use mip_core::ImageBuffer;
use mip_io::{IoError, ReadOptions, ReadWarning, Reader};

use super::workers;

/// Decoded pictures in the order of their files, decoded ahead on several threads.
///
/// Thread `t` of `n` decodes files `t, t + n, t + 2n...` into its own short queue, so order and a bound on
/// memory come without further bookkeeping. Dropping the feed ends the threads after the picture in hand.
pub(crate) struct Feed {
    lanes: Vec<Lane>,
    next: usize,
    total: usize,
    recycled: usize,
    warnings: Vec<ReadWarning>,
}

/// One file's picture, and what there was to warn of.
type Decoded = (Result<ImageBuffer, IoError>, Vec<ReadWarning>);

struct Lane {
    decoded: Receiver<Decoded>,
    spare: Sender<ImageBuffer>,
}

/// Pictures that wait in each thread's queue, besides the one it is decoding: enough to overlap, little enough for
/// pictures of hundreds of megabytes.
const AHEAD: usize = 1;

impl Feed {
    pub(crate) fn start<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        files: &'env [PathBuf],
        options: ReadOptions,
    ) -> Self {
        let count = workers(files.len());
        let lane = |first: usize| {
            let (send, decoded) = sync_channel(AHEAD);
            let (spare, returned) = channel();
            let own = files.iter().skip(first).step_by(count);
            scope.spawn(move || decode(own, options, &send, &returned));
            Lane { decoded, spare }
        };
        let lanes = (0..count).map(lane).collect();
        Self { lanes, next: 0, total: files.len(), recycled: 0, warnings: Vec::new() }
    }

    /// What there was to warn of in the pictures handed out since the last call.
    pub(crate) fn take_warnings(&mut self) -> Vec<ReadWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// Gives back a picture that is no longer needed, for its memory.
    pub(crate) fn recycle(&mut self, image: ImageBuffer) {
        let lane = self.recycled % self.lanes.len();
        self.recycled += 1;
        // A thread that has finished needs no memory.
        let _ = self.lanes[lane].spare.send(image);
    }
}

impl Iterator for Feed {
    /// Index of the file, and its picture.
    type Item = (usize, Result<ImageBuffer, IoError>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.total {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let lane = &self.lanes[index % self.lanes.len()];
        let (image, warnings) = lane.decoded.recv().ok()?;
        self.warnings.extend(warnings);
        Some((index, image))
    }
}

fn decode<'a>(
    files: impl Iterator<Item = &'a PathBuf>,
    options: ReadOptions,
    send: &SyncSender<Decoded>,
    returned: &Receiver<ImageBuffer>,
) {
    let mut reader = Reader::new(options);
    for file in files {
        for image in returned.try_iter() {
            reader.recycle(image);
        }
        let image = reader.read(file);
        if send.send((image, reader.take_warnings())).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{DType, ImageDesc, PixelFormat};

    fn folder_of(count: u32) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |i: u32| {
            let desc = ImageDesc::new(i + 1, 2, PixelFormat::Gray, DType::U8).unwrap();
            let path = folder.path().join(format!("{i}.png"));
            mip_io::write_image(&path, &ImageBuffer::new(desc).unwrap(), &mip_io::WriteOptions::default())
                .unwrap();
            path
        };
        let files = (0..count).map(write).collect();
        (folder, files)
    }

    #[test]
    fn pictures_come_in_order_and_bad_ones_in_their_place() {
        let (_folder, mut files) = folder_of(23);
        files[7] = "missing.png".into();
        std::thread::scope(|scope| {
            let mut feed = Feed::start(scope, &files, ReadOptions::default());
            for expected in 0..23 {
                let (index, image) = feed.next().unwrap();
                assert_eq!(index, expected);
                match image {
                    Ok(image) => {
                        assert_eq!(image.desc().width as usize, index + 1);
                        feed.recycle(image);
                    }
                    Err(_) => assert_eq!(index, 7),
                }
            }
            assert!(feed.next().is_none());
        });
    }

    #[test]
    fn dropping_the_feed_ends_its_threads() {
        let (_folder, files) = folder_of(40);
        std::thread::scope(|scope| {
            let mut feed = Feed::start(scope, &files, ReadOptions::default());
            assert!(feed.next().is_some());
        });
    }
}
