//! A stream on several engines: each decodes a part of it that stands alone, and frames come in the order of parts.

use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use mini_image_pipe::{DecodedFrame, DeviceVideoDecoder};
use mip_core::{panics, threads};
use mip_cuda::video::VideoCodec;

use super::start::begins_a_stream;
use crate::failure::Failure;
use crate::ffmpeg::{Decoder, Decoding};

/// Packets of a part at least: a decoder begins anew with each.
const SHORTEST: usize = 16;
/// Packets that wait for an engine, of each part: those of a part are read before those of the next.
const AHEAD: usize = 512;
/// Engines at most: each has surfaces of its own.
const MOST: u32 = 8;
/// Bytes of frames that wait for those before, at most, in all parts that are begun.
const WAITING: u64 = 4 << 30;

/// A packet, and its time.
type Packet = (Vec<u8>, i64);
type Frames = Receiver<Result<DecodedFrame, Failure>>;

/// A part of a stream on its way to an engine.
struct Part {
    packets: Receiver<Result<Packet, Failure>>,
    frames: Sender<Result<DecodedFrame, Failure>>,
}

/// The frames of a stream, in the order of display. Dropped, it ends what decodes and waits for that: a driver that is in the middle of
/// something is not a good thing to leave a process with.
pub(super) struct Engines {
    /// The frames of each part; `None` when it is dropped.
    parts: Option<Receiver<Frames>>,
    now: Option<Frames>,
    /// Ends the ffmpeg that gives packets.
    giving: Option<Decoding>,
    dispatcher: Option<JoinHandle<Vec<JoinHandle<()>>>>,
}

/// What the thread that reads packets has.
struct Dispatcher {
    codec: VideoCodec,
    packets: Decoder,
    /// The first engine, until it works; others are made like it.
    engine: DeviceVideoDecoder,
    engines: u32,
    running: Vec<JoinHandle<()>>,
    waiting: Receiver<Part>,
    to_engines: Sender<Part>,
    to_reader: Sender<Frames>,
    /// Frames of a part that may wait.
    room: usize,
}

impl Engines {
    /// Starts to decode. Frames have so many bytes.
    pub(super) fn start(
        packets: Decoder,
        engine: DeviceVideoDecoder,
        codec: VideoCodec,
        frame_bytes: usize,
    ) -> Result<Self, Failure> {
        let engines = engine.engines()?.clamp(1, MOST);
        // As many parts are begun as there are engines, and the one whose frames are taken.
        let room = WAITING / u64::from(engines + 1) / frame_bytes.max(1) as u64;
        let room = usize::try_from(room).unwrap_or(usize::MAX).clamp(8, 1024);
        let (to_engines, waiting) = bounded(0);
        let (to_reader, parts) = bounded(engines as usize);
        let dispatcher = Dispatcher {
            codec,
            packets,
            engine,
            engines,
            running: Vec::new(),
            waiting,
            to_engines,
            to_reader,
            room,
        };
        let giving = Some(dispatcher.packets.ender());
        let dispatcher =
            threads::spawn("mip-packets", "read a video's packets", move || dispatcher.run_to_its_end())
                .map_err(|none| Failure::Running(none.to_string()))?;
        Ok(Self { parts: Some(parts), now: None, giving, dispatcher: Some(dispatcher) })
    }

    /// The next frame; `None` when there are no more.
    pub(super) fn next(&mut self) -> Result<Option<DecodedFrame>, Failure> {
        loop {
            if let Some(part) = &self.now
                && let Ok(frame) = part.recv()
            {
                return frame.map(Some);
            }
            match self.parts.as_ref().map(Receiver::recv) {
                Some(Ok(part)) => self.now = Some(part),
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        // Nobody wants frames or gives packets any more, so that every thread ends at its next one.
        (self.parts, self.now, self.giving) = (None, None, None);
        let engines = self.dispatcher.take().and_then(|dispatcher| dispatcher.join().ok());
        engines.into_iter().flatten().for_each(|engine| _ = engine.join());
    }
}

impl Dispatcher {
    /// Gives back the threads that decode, which end when there are no more parts.
    fn run_to_its_end(mut self) -> Vec<JoinHandle<()>> {
        self.run();
        self.running
    }

    /// Until there are no more packets, or nobody wants frames.
    fn run(&mut self) {
        let mut part: Option<Sender<Result<Packet, Failure>>> = None;
        let mut length = 0;
        loop {
            let mut packet = Vec::new();
            let read = panics::caught(|| self.packets.read_packet(&mut packet));
            let next = match read.unwrap_or_else(|reason| Err(Failure::Running(reason))) {
                Ok(Some(pts)) => Ok((packet, pts)),
                Ok(None) => return,
                Err(failure) => Err(failure),
            };
            let failed = next.is_err();
            let cut = |packet: &Packet| length >= SHORTEST && begins_a_stream(self.codec, &packet.0);
            if part.is_none() || next.as_ref().is_ok_and(cut) {
                // An engine is free for the next part once it has seen this one's end.
                drop(part.take());
                part = self.begin();
                length = 0;
            }
            length += 1;
            let Some(part) = &part else { return };
            if part.send(next).is_err() || failed {
                return;
            }
        }
    }

    /// Begins a part on the next engine that is free, or a new one while there are some.
    fn begin(&mut self) -> Option<Sender<Result<Packet, Failure>>> {
        let (packets, coming) = bounded(AHEAD);
        let (frames, decoded) = bounded(self.room);
        self.to_reader.send(decoded).ok()?;
        let part = Part { packets: coming, frames };
        let part = match self.to_engines.try_send(part) {
            Ok(()) => return Some(packets),
            Err(unsent) => unsent.into_inner(),
        };
        let running = self.running.len() as u32;
        if running < self.engines
            && let Err(failure) = self.start_engine()
        {
            // With one engine the others' parts are decoded as well, later.
            if running == 0 {
                let _ = part.frames.send(Err(failure));
                return None;
            }
            self.engines = running;
        }
        self.to_engines.send(part).ok()?;
        Some(packets)
    }

    fn start_engine(&mut self) -> Result<(), Failure> {
        let mut engine = self.engine.another()?;
        let parts = self.waiting.clone();
        let work = move || {
            let mut failed = false;
            for Part { packets, frames } in parts {
                // What follows a failure is not wanted, but must be taken: whoever gives a part waits for an engine.
                if failed {
                    continue;
                }
                let decoded = panics::caught(|| decode(&mut engine, &packets, &frames));
                if let Err(failure) = decoded.unwrap_or_else(|reason| Err(Failure::Running(reason))) {
                    let _ = frames.send(Err(failure));
                    failed = true;
                }
            }
        };
        let started = threads::spawn("mip-nvdec", "decode video", work);
        self.running.push(started.map_err(|none| Failure::Running(none.to_string()))?);
        Ok(())
    }
}

/// Decodes a part. Ends early where nobody wants its frames.
fn decode(
    engine: &mut DeviceVideoDecoder,
    packets: &Receiver<Result<Packet, Failure>>,
    frames: &Sender<Result<DecodedFrame, Failure>>,
) -> Result<(), Failure> {
    for packet in packets {
        let (packet, pts) = packet?;
        engine.push(&packet, pts)?;
        while let Some(frame) = engine.next_frame()? {
            if frames.send(Ok(frame)).is_err() {
                return Ok(());
            }
        }
    }
    engine.finish()?;
    while let Some(frame) = engine.next_frame()? {
        if frames.send(Ok(frame)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
