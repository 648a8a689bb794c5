use std::io::{BufReader, Read};

use super::header::{FrameCode, Main, Packet, Reason, number, stream};
use super::{FILE_ID, INDEX, MAIN, NutError, NutVideo, STREAM, SYNCPOINT, flag};
use crate::y4m::fill;

/// Longest packet of headers that is read; real ones have some hundreds of bytes.
const LONGEST: u64 = 1 << 24;

/// Reads the frames of a NUT stream of one video one after another.
#[derive(Debug)]
pub struct NutReader<R> {
    input: BufReader<R>,
    name: String,
    video: NutVideo,
    time_bases: Vec<(u32, u32)>,
    codes: Vec<FrameCode>,
    elided: Vec<Vec<u8>>,
    shift: u32,
    last: i64,
    frame: u64,
}

/// What stopped reading.
enum Stop {
    /// The system.
    Error(std::io::Error),
    /// The end of the stream.
    End,
    /// What stands there.
    Reason(Reason),
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Reason(reason)
    }
}

/// A frame that follows.
struct Next {
    pts: i64,
    /// Bytes that follow.
    size: u64,
    /// Which bytes stand before them.
    elided: usize,
}

impl<R: Read> NutReader<R> {
    /// Reads the headers, up to the first frame. `name` stands for the stream in errors. `None` where the stream is empty: its
    /// writer ended before it had anything to write.
    ///
    /// # Errors
    /// [`NutError`].
    pub fn new(input: R, name: &str) -> Result<Option<Self>, NutError> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let mut id = [0; FILE_ID.len()];
        let read =
            fill(&mut input, &mut id).map_err(|source| NutError::Read { name: name.to_owned(), source })?;
        if read == 0 {
            return Ok(None);
        }
        let damaged = |reason: &str| NutError::Damaged { name: name.to_owned(), reason: reason.to_owned() };
        if id[..read] != *FILE_ID {
            return Err(damaged("it begins with something else"));
        }
        let stopped = |stop| match stop {
            Stop::Error(source) => NutError::Read { name: name.to_owned(), source },
            Stop::End => NutError::Truncated { name: name.to_owned(), frame: 0 },
            Stop::Reason(reason) => damaged(reason),
        };
        let main = expect(&mut input, MAIN).map_err(stopped)?;
        let main = Main::parse(Packet(&main)).map_err(damaged)?;
        let header = expect(&mut input, STREAM).map_err(stopped)?;
        let (video, shift) = stream(Packet(&header), &main.time_bases).map_err(damaged)?;
        let Main { time_bases, codes, elided } = main;
        let name = name.to_owned();
        Ok(Some(Self { input, name, video, time_bases, codes, elided, shift, last: 0, frame: 0 }))
    }

    /// What all frames have in common.
    pub const fn video(&self) -> &NutVideo {
        &self.video
    }

    /// Frames read so far.
    pub const fn frames(&self) -> u64 {
        self.frame
    }

    /// Reads the next frame, as many bytes as there is room for, and gives its timestamp; `None` at the end of the stream.
    ///
    /// # Errors
    /// [`NutError`]; also when the frame has another size.
    pub fn read(&mut self, frame: &mut [u8]) -> Result<Option<i64>, NutError> {
        let next = match self.next() {
            Ok(Some(next)) => next,
            Ok(None) => return Ok(None),
            Err(stop) => return Err(self.error(stop)),
        };
        let (size, needed) = (next.size, frame.len());
        let elided = &self.elided[next.elided];
        if size.checked_add(elided.len() as u64) != Some(needed as u64) {
            let reason = format!("frame {} has {size} bytes, not {needed}", self.frame);
            return Err(NutError::Damaged { name: self.name.clone(), reason });
        }
        let (before, rest) = frame.split_at_mut(elided.len());
        before.copy_from_slice(elided);
        match fill(&mut self.input, rest) {
            Ok(got) if got == rest.len() => {}
            Ok(_) => return Err(self.error(Stop::End)),
            Err(error) => return Err(self.error(Stop::Error(error))),
        }
        self.frame += 1;
        Ok(Some(next.pts))
    }

    /// Reads the next frame of a stream of another codec than raw video, a packet of `most` bytes at most, into `packet`, and gives
    /// its timestamp; `None` at the end of the stream.
    ///
    /// # Errors
    /// [`NutError`]; also when the packet is larger.
    pub fn read_packet(&mut self, packet: &mut Vec<u8>, most: u64) -> Result<Option<i64>, NutError> {
        let next = match self.next() {
            Ok(Some(next)) => next,
            Ok(None) => return Ok(None),
            Err(stop) => return Err(self.error(stop)),
        };
        if next.size > most {
            let reason = format!("packet {} has {} bytes, more than {most}", self.frame, next.size);
            return Err(NutError::Damaged { name: self.name.clone(), reason });
        }
        packet.clear();
        packet.extend_from_slice(&self.elided[next.elided]);
        // Grows with what is there, not with what is claimed.
        match (&mut self.input).take(next.size).read_to_end(packet) {
            Ok(got) if got as u64 == next.size => {}
            Ok(_) => return Err(self.error(Stop::End)),
            Err(error) => return Err(self.error(Stop::Error(error))),
        }
        self.frame += 1;
        Ok(Some(next.pts))
    }

    fn error(&self, stop: Stop) -> NutError {
        let name = self.name.clone();
        match stop {
            Stop::Error(source) => NutError::Read { name, source },
            Stop::End => NutError::Truncated { name, frame: self.frame },
            Stop::Reason(reason) => NutError::Damaged { name, reason: reason.to_owned() },
        }
    }

    /// The header of the next frame; packets before it are read, or skipped.
    fn next(&mut self) -> Result<Option<Next>, Stop> {
        // A frame follows each syncpoint.
        let mut announced = false;
        loop {
            let first = match byte(&mut self.input) {
                Err(Stop::End) if !announced => return Ok(None),
                first => first?,
            };
            if first == b'N' {
                let (code, packet) = packet(&mut self.input, first)?;
                match code {
                    SYNCPOINT => {
                        announced = true;
                        self.last = Packet(&packet).time(&self.time_bases, self.video.time_base)?;
                    }
                    INDEX => return Ok(None),
                    _ => {}
                }
                continue;
            }
            let next = self.header(self.codes[usize::from(first)])?;
            // Nothing but the end of a stream is marked by an empty frame.
            if next.size > 0 {
                return Ok(Some(next));
            }
        }
    }

    fn header(&mut self, code: FrameCode) -> Result<Next, Stop> {
        let FrameCode { mut flags, mut stream, mut size, mut reserved, mut header, .. } = code;
        let mut coded = || number(|| byte(&mut self.input));
        if flags & flag::INVALID != 0 {
            return Err("a frame has an invalid code".into());
        }
        if flags & flag::CODED != 0 {
            flags ^= coded()?;
        }
        if flags & flag::STREAM_ID != 0 {
            stream = coded()?;
        }
        let pts = if flags & flag::CODED_PTS != 0 {
            full(coded()?, self.last, self.shift)
        } else {
            self.last.checked_add(code.pts_delta)
        };
        if flags & flag::SIZE_MSB != 0 {
            let more = coded()?.checked_mul(code.size_factor).and_then(|more| size.checked_add(more));
            size = more.ok_or("a frame is too large")?;
        }
        if flags & flag::MATCH_TIME != 0 {
            coded()?;
        }
        if flags & flag::HEADER_INDEX != 0 {
            header = coded()?;
        }
        if flags & flag::RESERVED != 0 {
            reserved = coded()?;
        }
        for _ in 0..reserved {
            coded()?;
        }
        if flags & flag::CHECKSUM != 0 {
            for _ in 0..4 {
                byte(&mut self.input)?;
            }
        }
        if stream != 0 || flags & flag::SIDE_DATA != 0 {
            return Err("a frame is of another stream, or has data beside its pixels".into());
        }
        let elided = header as usize;
        let before = self.elided.get(elided).ok_or("a frame begins with unknown bytes")?.len() as u64;
        let size = size.checked_sub(before).ok_or("a frame is shorter than its beginning")?;
        self.last = pts.ok_or("a timestamp is too large")?;
        Ok(Next { pts: self.last, size, elided })
    }
}

/// A timestamp of which all is written, or the low bits.
fn full(coded: u64, last: i64, shift: u32) -> Option<i64> {
    let coded = i64::try_from(coded).ok()?;
    let whole = 1_i64 << shift;
    if coded >= whole {
        return Some(coded - whole);
    }
    let delta = last.checked_sub((whole - 1) / 2)?;
    (coded.checked_sub(delta)? & (whole - 1)).checked_add(delta)
}

fn byte(input: &mut impl Read) -> Result<u8, Stop> {
    let mut byte = [0];
    match fill(input, &mut byte) {
        Ok(1) => Ok(byte[0]),
        Ok(_) => Err(Stop::End),
        Err(error) => Err(Stop::Error(error)),
    }
}

/// The next packet, which has to be of this kind; others are skipped.
fn expect(input: &mut impl Read, code: u64) -> Result<Vec<u8>, Stop> {
    loop {
        let first = byte(input)?;
        if first != b'N' {
            return Err("a frame comes before the headers".into());
        }
        let (found, packet) = packet(input, first)?;
        if found == code {
            return Ok(packet);
        }
    }
}

/// The rest of a packet that begins with `first`: its start code and its contents, with the checksum at their end.
fn packet(input: &mut impl Read, first: u8) -> Result<(u64, Vec<u8>), Stop> {
    let mut code = u64::from(first);
    for _ in 1..8 {
        code = code << 8 | u64::from(byte(input)?);
    }
    let length = number(|| byte(input))?;
    if length > LONGEST {
        return Err("a header is too long".into());
    }
    if length > 4096 {
        for _ in 0..4 {
            byte(input)?;
        }
    }
    let mut contents = Vec::new();
    match input.take(length).read_to_end(&mut contents) {
        Ok(got) if got as u64 == length => Ok((code, contents)),
        Ok(_) => Err(Stop::End),
        Err(error) => Err(Stop::Error(error)),
    }
}
