//! A stream on several engines: each decodes a part of it that stands alone, and frames come in the order of parts.

use crossbeam_channel::{Receiver, Sender, bounded};
use mini_image_pipe::{DecodedFrame, DeviceVideoDecoder};
use mip_core::{panics, threads};
use mip_cuda::video::VideoCodec;

use super::start::begins_a_stream;
use crate::failure::Failure;
use crate::ffmpeg::Decoder;

/// Packets of a part at least: a decoder begins anew with each.
const SHORTEST: usize = 16;
/// Packets that wait for an engine, of each part: those of a part are read before those of the next.
const AHEAD: usize = 512;
/// Engines at most. Each has some hundred megabytes of its own.
const MOST: u32 = 8;
/// Memory for frames that wait for those before, at most.
const WAITING: u64 = 4 << 30;

/// A packet, and its time.
type Packet = (Vec<u8>, i64);
type Frames = Receiver<Result<DecodedFrame, Failure>>;

/// A part of a stream on its way to an engine.
struct Part {
    packets: Receiver<Result<Packet, Failure>>,
    frames: Sender<Result<DecodedFrame, Failure>>,
}

/// The frames of a stream, in the order of display.
pub(super) struct Engines {
    /// The frames of each part.
    parts: Receiver<Frames>,
    now: Option<Frames>,
}

/// What the thread that reads packets has.
struct Dispatcher {
    codec: VideoCodec,
    packets: Decoder,
    /// The first engine, until it works; others are made like it.
    engine: DeviceVideoDecoder,
    engines: u32,
    running: u32,
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
        let room = WAITING / u64::from(engines) / frame_bytes.max(1) as u64;
        let room = usize::try_from(room).unwrap_or(usize::MAX).clamp(8, 1024);
        let (to_engines, waiting) = bounded(0);
        // As many parts are begun as there are engines.
        let (to_reader, parts) = bounded(engines as usize);
        let dispatcher =
            Dispatcher { codec, packets, engine, engines, running: 0, waiting, to_engines, to_reader, room };
        threads::spawn("mip-packets", "read a video's packets", move || dispatcher.run())
            .map_err(|none| Failure::Running(none.to_string()))?;
        Ok(Self { parts, now: None })
    }

    /// The next frame; `None` when there are no more.
    pub(super) fn next(&mut self) -> Result<Option<DecodedFrame>, Failure> {
        loop {
            if let Some(part) = &self.now
                && let Ok(frame) = part.recv()
            {
                return frame.map(Some);
            }
            match self.parts.recv() {
                Ok(part) => self.now = Some(part),
                Err(_) => return Ok(None),
            }
        }
    }
}

impl Dispatcher {
    /// Until there are no more packets, or nobody wants frames.
    fn run(mut self) {
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
        if self.running < self.engines
            && let Err(failure) = self.start_engine()
        {
            // With one engine the others' parts are decoded as well, later.
            if self.running == 0 {
                let _ = part.frames.send(Err(failure));
                return None;
            }
            self.engines = self.running;
        }
        self.to_engines.send(part).ok()?;
        Some(packets)
    }

    fn start_engine(&mut self) -> Result<(), Failure> {
        let mut engine = self.engine.another()?;
        let parts = self.waiting.clone();
        let work = move || {
            for Part { packets, frames } in parts {
                let decoded = panics::caught(|| decode(&mut engine, &packets, &frames));
                if let Err(failure) = decoded.unwrap_or_else(|reason| Err(Failure::Running(reason))) {
                    let _ = frames.send(Err(failure));
                    return;
                }
            }
        };
        threads::spawn("mip-nvdec", "decode video", work)
            .map_err(|none| Failure::Running(none.to_string()))?;
        self.running += 1;
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
