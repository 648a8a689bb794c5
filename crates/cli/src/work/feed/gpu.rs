//! JPEG files decoded on the GPU, several at once, and others on the host.

use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::Sender;
use mini_image_pipe::{DeviceJpegDecoder, DeviceJpegLane};
use mip_core::text::path;
use mip_core::{ImageBuffer, ImageDesc, Reservation, panics};
use mip_cuda::jpeg::JpegError;
use mip_io::{Loaded, Metadata, Reader};
use mip_runtime::{DeviceImage, RunInput};

use super::turns::{Turn, Turns};
use super::{Decoded, Feed, Input, Limits, Picture, Share, load, workers};
use crate::failure::Failure;
use crate::interrupt::Stop;
use crate::stages::{Step, Watch};

/// What decoded a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decoder {
    /// The decoders of this program; where the GPU was asked for, what it is about the file that it does not decode, in
    /// words for a list.
    Cpu(Option<&'static str>),
    Gpu,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::Cpu(None)
    }
}

/// Files that a thread decodes at once: enough to keep all engines of a GPU at work.
pub(crate) const MOST_FILES: usize = 16;
/// Bytes of pixels that a thread decodes at once, unless a single picture has more.
const MOST_BYTES: usize = 128 << 20;

/// Parts of the decoder that threads share: each asks for all engines of the GPU at once, and three keep them at work.
const MOST_LANES: usize = 3;
/// Files for which one more is worth the third of a second that making it ready takes.
const WORTH_A_LANE: usize = 2048;

/// How many files a thread decodes at once: all threads have some.
fn files_at_once(files: usize) -> usize {
    files.div_ceil(workers(files)).clamp(1, MOST_FILES)
}

/// The lanes of threads that decode on the GPU, until they are closed.
#[derive(Clone, Default)]
pub(super) struct Lanes(Arc<[Mutex<Option<DeviceJpegLane>>]>);

impl Lanes {
    /// Waits for what each is decoding and gives them up; the threads find that out when they have the next files.
    pub(super) fn close(&self) {
        for lane in &*self.0 {
            lane.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

impl Feed<RunInput> {
    /// As [`Feed::start`], with JPEG files decoded on the GPU, and others on the host.
    ///
    /// # Errors
    /// As [`Feed::start`], and when the GPU has no memory for it.
    pub(crate) fn start_on_gpu(
        files: &[Input],
        limits: Limits,
        watch: &Watch,
        stop: &Stop,
        decoder: &DeviceJpegDecoder,
    ) -> Result<Self, Failure> {
        let at_once = files_at_once(files.len());
        let order: Vec<usize> = (0..files.len()).map(|index| index / at_once).collect();
        let count = MOST_LANES.min(1 + files.len() / WORTH_A_LANE);
        let lanes = (0..count).map(|_| decoder.lane().map(Some).map(Mutex::new));
        let lanes = Lanes(lanes.collect::<Result<_, _>>()?);
        let threads = workers(files.len().div_ceil(at_once));
        let (own, watch, gpu_lanes): (Arc<[Input]>, _, _) = (files.into(), watch.clone(), lanes.clone());
        let work = move |share: Share, send: &Sender<Decoded<RunInput>>, limits: &Limits, turns: &Turns| {
            decode(&lanes, (&own, at_once), share, send, (limits, &watch), turns);
        };
        let mut feed = Self::with_threads(threads, order, limits, stop, work)?;
        feed.gpu_lanes = gpu_lanes;
        Ok(feed)
    }
}

/// Decodes the share's runs of `at_once` files.
fn decode(
    lanes: &Lanes,
    (inputs, at_once): (&[Input], usize),
    (first, count): Share,
    send: &Sender<Decoded<RunInput>>,
    (limits, watch): (&Limits, &Watch),
    turns: &Turns,
) {
    let mut reader = limits.reader();
    let Some(lane) = lanes.0.get(first % lanes.0.len().max(1)) else { return };
    let mut waiting = Waiting { lane, files: Vec::new(), send, watch };
    for (run, inputs) in inputs.chunks(at_once).enumerate().filter(|(run, _)| run % count == first) {
        for (place, input) in inputs.iter().enumerate() {
            let turn = turns.of(run * at_once + place);
            let added = waiting.add(input, &mut reader, limits, &turn);
            drop(turn);
            if added.is_err() {
                return;
            }
        }
        if waiting.decode().is_err() {
            return;
        }
    }
}

/// Nobody wants further pictures.
struct Gone;

/// Files in their order, of which the next ones are handed out together.
struct Waiting<'a> {
    /// Nothing once it is closed.
    lane: &'a Mutex<Option<DeviceJpegLane>>,
    files: Vec<File>,
    send: &'a Sender<Decoded<RunInput>>,
    watch: &'a Watch,
}

enum File {
    /// Decoded on the host, or failed.
    Done(Decoded<RunInput>),
    /// For the GPU.
    Jpeg { name: String, bytes: Vec<u8>, desc: ImageDesc, metadata: Metadata, held: Reservation },
}

impl Waiting<'_> {
    /// Reads a file; those before it are decoded first where that makes room.
    fn add(
        &mut self,
        input: &Input,
        reader: &mut Reader,
        limits: &Limits,
        turn: &Turn<'_>,
    ) -> Result<(), Gone> {
        let watch = self.watch;
        let mut gone = Ok(());
        let admit = |bytes| {
            if let Some(held) = turn.take_at_once(&limits.budget, bytes) {
                return Ok(held);
            }
            // What waits here holds memory that nobody else can give back.
            gone = self.decode();
            turn.take(&limits.budget, bytes)
        };
        let file = panics::caught(|| read(reader, input, watch, admit));
        gone?;
        let file = file.unwrap_or_else(|panic| {
            let text = format!("{}: internal error: {panic}", input.name());
            File::Done(Decoded::failed(Failure::Running(text)))
        });
        let pixels = |file: &File| match file {
            File::Jpeg { desc, .. } => desc.bytes(),
            File::Done(_) => 0,
        };
        let all = self.files.iter().map(pixels).fold(pixels(&file), usize::saturating_add);
        if all > MOST_BYTES && !self.files.is_empty() {
            self.decode()?;
        }
        self.files.push(file);
        Ok(())
    }

    /// Decodes what waits and hands it out.
    fn decode(&mut self) -> Result<(), Gone> {
        let files = std::mem::take(&mut self.files);
        let (mut jpegs, mut names, mut held) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = Vec::with_capacity(files.len());
        for file in files {
            match file {
                File::Done(decoded) => rest.push(Err(decoded)),
                File::Jpeg { name, bytes, desc, metadata, held: own } => {
                    names.push(name.clone());
                    jpegs.push((bytes, desc));
                    held.push(own);
                    rest.push(Ok((name, metadata)));
                }
            }
        }
        let images = if jpegs.is_empty() { Vec::new() } else { self.images(jpegs, &names)? };
        let mut images = images.into_iter();
        drop(held);
        for file in rest {
            let decoded = match file {
                Err(decoded) => decoded,
                Ok((name, metadata)) => match images.next() {
                    Some(Ok(image)) => {
                        let picture = Ok(RunInput::Device(image));
                        Decoded { picture, warnings: Vec::new(), metadata, decoder: Decoder::Gpu }
                    }
                    Some(Err(failure)) => Decoded::failed(failure.about(name)),
                    None => Decoded::ended(),
                },
            };
            self.send.send(decoded).map_err(|_| Gone)?;
        }
        Ok(())
    }

    fn images(
        &mut self,
        jpegs: Vec<(Vec<u8>, ImageDesc)>,
        names: &[String],
    ) -> Result<Vec<Picture<DeviceImage>>, Gone> {
        let mut lane = self.lane.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = lane.as_mut().ok_or(Gone)?;
        let name = || match names {
            [first, .., last] => format!("{first} to {last}"),
            _ => names.concat(),
        };
        let images = self.watch.time(Step::Decode, name, || lane.decode(jpegs));
        Ok(images.into_iter().map(|image| image.map_err(failure)).collect())
    }
}

/// What is wrong with a file, whose name is put to it; its place among those decoded together says nothing to users.
fn failure(error: mini_image_pipe::Error) -> Failure {
    match error {
        mini_image_pipe::Error::Jpeg(JpegError::File { reason, .. }) => {
            Failure::Running(format!("{reason}; decode it on the CPU (--decode cpu)"))
        }
        other => other.into(),
    }
}

/// Reads a file for the GPU, or decodes it on the host where that is the one to.
fn read(
    reader: &mut Reader,
    input: &Input,
    watch: &Watch,
    admit: impl FnOnce(usize) -> Result<Reservation, mip_core::OverBudget>,
) -> File {
    let loaded = match load(reader, &input.path, watch, admit) {
        Ok(loaded) => loaded,
        Err(error) => return File::Done(Decoded::by(reader, Err(error.into()))),
    };
    match loaded.plain_jpeg() {
        Ok(desc) => {
            let (bytes, metadata, held) = loaded.hand_out();
            File::Jpeg { name: input.name(), bytes, desc, metadata, held }
        }
        Err(reason) => {
            let picture = decode_on_host(reader, input, watch, loaded).map(RunInput::Host);
            let decoded = Decoded::by(reader, picture);
            File::Done(Decoded { decoder: Decoder::Cpu(Some(reason)), ..decoded })
        }
    }
}

fn decode_on_host(reader: &mut Reader, input: &Input, watch: &Watch, loaded: Loaded) -> Picture<ImageBuffer> {
    let name = || path(&input.path).into_owned();
    Ok(watch.time(Step::Decode, name, || reader.decode(loaded))?)
}
