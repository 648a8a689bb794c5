mod gpu;
mod turns;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use mip_core::text::{path, quoted_path};
use mip_core::{ImageBuffer, MemoryBudget, OverBudget, Reservation, panics, threads};
use mip_io::{IoError, Loaded, Metadata, ReadOptions, ReadWarning, Reader, Spares};

use super::{Input, workers};
use crate::failure::Failure;
use crate::interrupt::Stop;
use crate::stages::{Step, Watch};
pub(crate) use gpu::{Decoder, MOST_FILES as DECODED_AT_ONCE};
use turns::Turns;

/// Decoded pictures in the order of their files, decoded ahead on several threads.
///
/// Thread `t` of `n` decodes files `t, t + n, t + 2n...`, all pages of each, into its own short queue, so order and a bound on
/// memory come without further bookkeeping. Memory is taken in the order of the files: whoever waits for some waits
/// for pictures that are handed out before. Dropping the feed ends the threads after the picture in hand; they are not
/// waited for, since they may be in the middle of reading from a pipe that gives nothing more. A signal ends the feed at
/// once.
///
/// `P` is what pictures are: images of the host, or of the host and the device where the GPU decodes as well.
pub(crate) struct Feed<P> {
    lanes: Vec<Receiver<Decoded<P>>>,
    stop: Stop,
    next: usize,
    /// Which file each picture is of, among all.
    order: Vec<usize>,
    limits: Limits,
    turns: Arc<Turns>,
    warnings: Vec<ReadWarning>,
    metadata: Metadata,
    decoder: Decoder,
    /// Of threads that decode on the GPU.
    gpu_lanes: gpu::Lanes,
}

type Picture<P> = Result<P, Failure>;

/// One file's picture, what there was to warn of, and what the file says beside its pixels.
struct Decoded<P> {
    picture: Picture<P>,
    warnings: Vec<ReadWarning>,
    metadata: Metadata,
    decoder: Decoder,
}

/// What decoding may take.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) options: ReadOptions,
    pub(crate) budget: Arc<MemoryBudget>,
    pub(crate) spares: Arc<Spares>,
}

impl Limits {
    /// Within a budget, or as much as there is.
    pub(crate) fn new(options: ReadOptions, budget: Option<Arc<MemoryBudget>>) -> Self {
        let budget = budget.unwrap_or_else(|| Arc::new(MemoryBudget::unlimited()));
        Self { options, budget, spares: Arc::default() }
    }

    /// The same for pictures whose memory is given back so many at a time.
    pub(crate) fn for_batches(self, pictures: usize) -> Self {
        Self { spares: Arc::new(Spares::for_batches(pictures)), ..self }
    }

    /// A reader that keeps to them.
    pub(crate) fn reader(&self) -> Reader {
        Reader::within(self.options, self.budget.clone(), self.spares.clone())
    }
}

/// What comes next.
pub(crate) enum Next<P> {
    /// A file's picture.
    Picture(usize, Picture<P>),
    /// The next picture waits for memory.
    Starved,
    /// Nothing more.
    End,
}

/// A thread's share: the first of its files, and how many threads there are.
type Share = (usize, usize);

/// Pictures that wait in each thread's queue, besides the one it is decoding: enough to overlap, little enough for
/// pictures of hundreds of megabytes.
const AHEAD: usize = 1;
/// How long nothing has to come before it is asked why.
const PATIENCE: Duration = Duration::from_millis(10);

impl Feed<ImageBuffer> {
    /// Starts as many threads as there are to be had; `watch` learns what reading and decoding take.
    ///
    /// # Errors
    /// When there is not one.
    pub(crate) fn start(
        files: &[Input],
        limits: Limits,
        watch: &Watch,
        stop: &Stop,
    ) -> Result<Self, Failure> {
        let order: Vec<usize> = files.iter().map(|input| input.lane).collect();
        let own: Arc<[Input]> = files.into();
        let watch = watch.clone();
        let work =
            move |share: Share, send: &Sender<Decoded<ImageBuffer>>, limits: &Limits, turns: &Turns| {
                decode(&own, share, send, (limits, &watch), turns);
            };
        let threads = workers(order.last().map_or(0, |last| last + 1));
        Self::with_threads(threads, order, limits, stop, work)
    }
}

impl<P: Send + 'static> Feed<P> {
    /// Starts threads, each of which is told its share.
    fn with_threads(
        threads: usize,
        order: Vec<usize>,
        limits: Limits,
        stop: &Stop,
        work: impl Fn(Share, &Sender<Decoded<P>>, &Limits, &Turns) + Clone + Send + 'static,
    ) -> Result<Self, Failure> {
        let turns = Arc::new(Turns::default());
        let mut lanes: Vec<(Sender<Share>, Receiver<Decoded<P>>)> = Vec::new();
        for _ in 0..threads {
            let (send, decoded) = bounded(AHEAD);
            let (say, share) = bounded(1);
            let (work, limits, turns) = (work.clone(), limits.clone(), turns.clone());
            let work = move || {
                if let Ok(share) = share.recv() {
                    work(share, &send, &limits, &turns);
                }
            };
            match threads::spawn("mip-decode", "decode pictures", work) {
                Ok(_) => lanes.push((say, decoded)),
                Err(none) if lanes.is_empty() => return Err(Failure::Running(none.to_string())),
                Err(_) => break,
            }
        }
        let count = lanes.len();
        for (index, (say, _)) in lanes.iter().enumerate() {
            // The thread waits for this.
            let _ = say.send((index, count));
        }
        let lanes = lanes.into_iter().map(|(_, decoded)| decoded).collect();
        Ok(Self::of(lanes, order, limits, turns, stop))
    }

    fn of(
        lanes: Vec<Receiver<Decoded<P>>>,
        order: Vec<usize>,
        limits: Limits,
        turns: Arc<Turns>,
        stop: &Stop,
    ) -> Self {
        let (warnings, metadata, decoder) = (Vec::new(), Metadata::default(), Decoder::default());
        let (stop, gpu_lanes) = (stop.clone(), gpu::Lanes::default());
        Self { lanes, stop, next: 0, order, limits, turns, warnings, metadata, decoder, gpu_lanes }
    }

    /// Threads that decode.
    pub(crate) fn threads(&self) -> usize {
        self.lanes.len()
    }

    /// What there was to warn of in the pictures handed out since the last call.
    pub(crate) fn take_warnings(&mut self) -> Vec<ReadWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// What the file of the picture handed out last says beside its pixels.
    pub(crate) fn take_metadata(&mut self) -> Metadata {
        std::mem::take(&mut self.metadata)
    }

    /// What decoded the picture handed out last.
    pub(crate) const fn decoder(&self) -> Decoder {
        self.decoder
    }

    /// Gives back a picture that is no longer needed, for its memory.
    pub(crate) fn recycle(&self, image: ImageBuffer) {
        self.limits.spares.give(image);
    }

    /// The next picture; waits for it unless it waits for memory itself. None after a signal.
    pub(crate) fn next(&mut self) -> Next<P> {
        let index = self.next;
        let Some(file) = self.order.get(index).filter(|_| self.stop.signal().is_none()) else {
            return Next::End;
        };
        let lane = &self.lanes[file % self.lanes.len()];
        let Decoded { picture, warnings, metadata, decoder } = loop {
            select! {
                recv(self.stop.receiver()) -> _ => return Next::End,
                recv(lane) -> decoded => break decoded.unwrap_or_else(|_| Decoded::ended()),
                default(PATIENCE) => {
                    if self.turns.now() == index && self.limits.budget.is_waited_for() {
                        self.limits.spares.clear();
                        return Next::Starved;
                    }
                }
            }
        };
        self.next += 1;
        (self.metadata, self.decoder) = (metadata, decoder);
        self.warnings.extend(warnings);
        Next::Picture(index, picture)
    }
}

impl<P> Decoded<P> {
    /// A picture that was decoded on the host, with what its reader has to say.
    fn by(reader: &mut Reader, picture: Picture<P>) -> Self {
        let (warnings, metadata) = (reader.take_warnings(), reader.take_metadata());
        Self { picture, warnings, metadata, decoder: Decoder::Cpu(None) }
    }

    /// In place of a picture that there is none of.
    fn failed(failure: Failure) -> Self {
        Self {
            picture: Err(failure),
            warnings: Vec::new(),
            metadata: Metadata::default(),
            decoder: Decoder::default(),
        }
    }

    /// In place of a picture whose thread is gone.
    fn ended() -> Self {
        Self::failed(Failure::Running("the thread that decodes it has ended".to_owned()))
    }
}

impl<P> Drop for Feed<P> {
    /// Nobody wants what comes, so nobody need wait for it. What is under way on the GPU is: it must not be when the
    /// process ends.
    fn drop(&mut self) {
        self.turns.end();
        self.limits.budget.refuse_waiting();
        self.gpu_lanes.close();
    }
}

fn decode(
    inputs: &[Input],
    (first, count): Share,
    send: &Sender<Decoded<ImageBuffer>>,
    (limits, watch): (&Limits, &Watch),
    turns: &Turns,
) {
    let mut reader = limits.reader();
    let mut open = None;
    for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.lane % count == first) {
        let turn = turns.of(index);
        let admit = |bytes| turn.take(&limits.budget, bytes);
        let picture = panics::caught(|| match input.page {
            None => read_admitted(&mut reader, &input.path, watch, admit),
            Some(page) => read_page(&mut reader, &mut open, (input, page.number), watch, admit),
        });
        drop(turn);
        let picture = match picture {
            Ok(picture) => picture.map_err(Failure::from),
            Err(panic) => {
                let name = quoted_path(&input.path);
                Err(Failure::Running(format!("{name}: internal error: {panic}")))
            }
        };
        if send.send(Decoded::by(&mut reader, picture)).is_err() {
            return;
        }
    }
}

/// Reads a file into memory and decodes it; `watch` learns what either takes.
pub(crate) fn read(reader: &mut Reader, file: &Path, watch: &Watch) -> Result<ImageBuffer, IoError> {
    let budget = reader.budget().clone();
    read_admitted(reader, file, watch, |bytes| budget.reserve(bytes))
}

fn read_admitted(
    reader: &mut Reader,
    file: &Path,
    watch: &Watch,
    admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
) -> Result<ImageBuffer, IoError> {
    let loaded = load(reader, file, watch, admit)?;
    watch.time(Step::Decode, || path(file).into_owned(), || reader.decode(loaded))
}

fn load(
    reader: &mut Reader,
    file: &Path,
    watch: &Watch,
    admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
) -> Result<Loaded, IoError> {
    let name = || path(file).into_owned();
    watch.time_with_pause(Step::Read, name, |pause| reader.load(file, |bytes| pause.during(|| admit(bytes))))
}

/// A file of which further pages may be read, and its number.
type Open = Option<(usize, Loaded)>;

/// Decodes a page, of the file in memory if that is its own.
fn read_page(
    reader: &mut Reader,
    open: &mut Open,
    (input, page): (&Input, u64),
    watch: &Watch,
    admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
) -> Result<ImageBuffer, IoError> {
    let decode = |reader: &mut Reader, file: &mut Loaded, admit: Admit<'_>| {
        watch.time_with_pause(
            Step::Decode,
            || input.name(),
            |pause| reader.decode_page(file, page, |bytes| pause.during(|| admit(bytes))),
        )
    };
    if let Some((_, file)) = open.as_mut().filter(|(lane, _)| *lane == input.lane) {
        return decode(reader, file, Box::new(admit));
    }
    // The memory of the file before is given back first.
    *open = None;
    let file = load(reader, &input.path, watch, admit)?;
    let (_, file) = open.insert((input.lane, file));
    let budget = reader.budget().clone();
    // Taken with the file.
    decode(reader, file, Box::new(move |bytes| budget.reserve(bytes)))
}

/// What asks for memory.
type Admit<'a> = Box<dyn FnOnce(usize) -> Result<Reservation, OverBudget> + 'a>;

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{DType, ImageDesc, PixelFormat};

    fn folder_of(count: u32) -> (tempfile::TempDir, Vec<Input>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |i: u32| {
            let desc = ImageDesc::new(i + 1, 2, PixelFormat::Gray, DType::U8).unwrap();
            let path = folder.path().join(format!("{i}.png"));
            mip_io::write_image(&path, &ImageBuffer::new(desc).unwrap(), &mip_io::WriteOptions::default())
                .unwrap();
            path
        };
        let files: Vec<_> = (0..count).map(write).collect();
        (folder, Input::whole(&files))
    }

    fn limits(bytes: usize) -> Limits {
        Limits::new(ReadOptions::default(), Some(Arc::new(MemoryBudget::new(bytes))))
    }

    /// The next picture, however long it waits for memory.
    fn picture(feed: &mut Feed<ImageBuffer>) -> Option<(usize, Picture<ImageBuffer>)> {
        loop {
            match feed.next() {
                Next::Picture(index, picture) => return Some((index, picture)),
                Next::Starved => {}
                Next::End => return None,
            }
        }
    }

    #[test]
    fn pictures_come_in_order_and_bad_ones_in_their_place() {
        let (_folder, mut files) = folder_of(23);
        files[7].path = "missing.png".into();
        let (_open, stop) = Stop::never();
        for bytes in [usize::MAX, 4 << 20] {
            let mut feed = Feed::start(&files, limits(bytes), &Watch::default(), &stop).unwrap();
            for expected in 0..23 {
                let (index, image) = picture(&mut feed).unwrap();
                assert_eq!(index, expected);
                match image {
                    Ok(image) => {
                        assert_eq!(image.desc().width() as usize, index + 1);
                        feed.recycle(image);
                    }
                    Err(_) => assert_eq!(index, 7),
                }
            }
            assert!(picture(&mut feed).is_none());
        }
    }

    #[test]
    fn a_picture_larger_than_the_budget_fails_alone() {
        let (_folder, files) = folder_of(6);
        let (_open, stop) = Stop::never();
        // Nothing fits: decoders take more than this.
        let mut feed = Feed::start(&files, limits(1000), &Watch::default(), &stop).unwrap();
        for expected in 0..6 {
            let (index, image) = picture(&mut feed).unwrap();
            assert_eq!(index, expected);
            assert!(image.unwrap_err().message().unwrap().contains("--memory-limit"));
        }
    }

    #[test]
    fn dropping_the_feed_ends_its_threads() {
        let (_folder, files) = folder_of(40);
        let (_open, stop) = Stop::never();
        let mut feed = Feed::start(&files, limits(usize::MAX), &Watch::default(), &stop).unwrap();
        assert!(picture(&mut feed).is_some());
        let turns = feed.turns.clone();
        drop(feed);
        // Each thread holds them while it lives.
        while Arc::strong_count(&turns) > 1 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_signal_ends_the_feed_while_it_waits_for_a_picture() {
        let (open, stop) = Stop::never();
        let (_send, decoded) = bounded::<Decoded<ImageBuffer>>(AHEAD);
        let mut feed = Feed::of(vec![decoded], vec![0], limits(usize::MAX), Arc::default(), &stop);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || matches!(feed.next(), Next::End));
            drop(open);
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn fewer_threads_do_and_none_is_an_error() {
        let (_folder, files) = folder_of(9);
        let (_open, stop) = Stop::never();
        let start = || Feed::start(&files, limits(usize::MAX), &Watch::default(), &stop);
        let mut feed = threads::with_at_most(1, || start().unwrap());
        assert_eq!(feed.lanes.len(), 1);
        (0..9).for_each(|expected| assert_eq!(picture(&mut feed).unwrap().0, expected));
        let none = threads::with_at_most(0, || start().err().unwrap());
        assert!(none.message().unwrap().contains("cannot start a thread to decode pictures"));
    }
}
