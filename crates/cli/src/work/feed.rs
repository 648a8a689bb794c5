use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use mip_core::text::{path, quoted_path};
use mip_core::{ImageBuffer, MemoryBudget, OverBudget, Reservation, panics, threads};
use mip_io::{IoError, Loaded, Metadata, ReadOptions, ReadWarning, Reader, Spares};

use super::{Input, workers};
use crate::failure::Failure;
use crate::interrupt::Stop;
use crate::stages::{Step, Watch};

/// Decoded pictures in the order of their files, decoded ahead on several threads.
///
/// Thread `t` of `n` decodes files `t, t + n, t + 2n...`, all pages of each, into its own short queue, so order and a bound on
/// memory come without further bookkeeping. Memory is taken in the order of the files: whoever waits for some waits
/// for pictures that are handed out before. Dropping the feed ends the threads after the picture in hand; they are not
/// waited for, since they may be in the middle of reading from a pipe that gives nothing more. A signal ends the feed at
/// once.
pub(crate) struct Feed {
    lanes: Vec<Receiver<Decoded>>,
    stop: Stop,
    next: usize,
    /// Which file each picture is of, among all.
    order: Vec<usize>,
    limits: Limits,
    turns: Arc<Turns>,
    warnings: Vec<ReadWarning>,
    metadata: Metadata,
}

type Picture = Result<ImageBuffer, Failure>;

/// One file's picture, what there was to warn of, and what the file says beside its pixels.
struct Decoded {
    picture: Picture,
    warnings: Vec<ReadWarning>,
    metadata: Metadata,
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

    /// A reader that keeps to them.
    pub(crate) fn reader(&self) -> Reader {
        Reader::within(self.options, self.budget.clone(), self.spares.clone())
    }
}

/// What comes next.
pub(crate) enum Next {
    /// A file's picture.
    Picture(usize, Picture),
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

impl Feed {
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
        let (turns, own): (_, Arc<[Input]>) = (Arc::new(Turns::default()), files.into());
        let mut lanes: Vec<(Sender<Share>, Receiver<Decoded>)> = Vec::new();
        for _ in 0..workers(files.last().map_or(0, |last| last.lane + 1)) {
            let (send, decoded) = bounded(AHEAD);
            let (say, share) = bounded(1);
            let (files, limits, turns) = (own.clone(), limits.clone(), turns.clone());
            let watch = watch.clone();
            let work = move || decode(&files, &share, &send, (&limits, &watch), &turns);
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
        let order = own.iter().map(|input| input.lane).collect();
        Ok(Self::of(lanes, order, limits, turns, stop))
    }

    fn of(
        lanes: Vec<Receiver<Decoded>>,
        order: Vec<usize>,
        limits: Limits,
        turns: Arc<Turns>,
        stop: &Stop,
    ) -> Self {
        let (warnings, metadata) = (Vec::new(), Metadata::default());
        Self { lanes, stop: stop.clone(), next: 0, order, limits, turns, warnings, metadata }
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

    /// Gives back a picture that is no longer needed, for its memory.
    pub(crate) fn recycle(&self, image: ImageBuffer) {
        self.limits.spares.give(image);
    }

    /// The next picture; waits for it unless it waits for memory itself. None after a signal.
    pub(crate) fn next(&mut self) -> Next {
        let index = self.next;
        let Some(file) = self.order.get(index).filter(|_| self.stop.signal().is_none()) else {
            return Next::End;
        };
        let lane = &self.lanes[file % self.lanes.len()];
        let Decoded { picture, warnings, metadata } = loop {
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
        self.metadata = metadata;
        self.warnings.extend(warnings);
        Next::Picture(index, picture)
    }
}

impl Decoded {
    /// In place of a picture whose thread is gone.
    fn ended() -> Self {
        let picture = Err(Failure::Running("the thread that decodes it has ended".to_owned()));
        Self { picture, warnings: Vec::new(), metadata: Metadata::default() }
    }
}

impl Drop for Feed {
    /// Nobody wants what comes, so nobody need wait for it.
    fn drop(&mut self) {
        self.turns.end();
        self.limits.budget.refuse_waiting();
    }
}

fn decode(
    inputs: &[Input],
    share: &Receiver<Share>,
    send: &Sender<Decoded>,
    (limits, watch): (&Limits, &Watch),
    turns: &Turns,
) {
    let Ok((first, count)) = share.recv() else { return };
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
        let (warnings, metadata) = (reader.take_warnings(), reader.take_metadata());
        if send.send(Decoded { picture, warnings, metadata }).is_err() {
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

/// Lets files take memory in their order.
#[derive(Debug, Default)]
struct Turns {
    /// The file whose turn it is.
    now: Mutex<usize>,
    moved: Condvar,
    /// Those that are done before their turn.
    done: Mutex<Vec<usize>>,
}

/// A file's turn, over when this is dropped.
struct Turn<'a> {
    turns: &'a Turns,
    index: usize,
}

impl Turns {
    fn of(&self, index: usize) -> Turn<'_> {
        Turn { turns: self, index }
    }

    /// The file whose turn it is.
    fn now(&self) -> usize {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody's turn any more.
    fn end(&self) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = usize::MAX;
        self.moved.notify_all();
    }

    fn over(&self, index: usize) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push(index);
        while let Some(place) = done.iter().position(|done| done == &*now) {
            done.swap_remove(place);
            *now += 1;
        }
        self.moved.notify_all();
    }
}

impl Turn<'_> {
    /// Waits for the turn, then for the memory, and ends the turn.
    fn take(&self, budget: &Arc<MemoryBudget>, bytes: usize) -> Result<Reservation, OverBudget> {
        let turns = self.turns;
        let now = turns.now.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turns.moved.wait_while(now, |now| *now < self.index).unwrap_or_else(PoisonError::into_inner));
        // Asked before it is found out whether all is over, which is said before waiting is ended.
        let refusals = budget.refusals();
        if turns.now() > self.index {
            return Err(OverBudget { requested: bytes, held: 0, limit: budget.limit() });
        }
        let reserved = budget.reserve_ahead(bytes, refusals);
        turns.over(self.index);
        reserved
    }
}

impl Drop for Turn<'_> {
    /// For files that are refused by their first bytes; does nothing for the others.
    fn drop(&mut self) {
        if self.turns.now() <= self.index {
            self.turns.over(self.index);
        }
    }
}

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
    fn picture(feed: &mut Feed) -> Option<(usize, Picture)> {
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
        let (_send, decoded) = bounded(AHEAD);
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
