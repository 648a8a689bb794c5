//! Numbers, and the headers of a stream as they are read.

use super::{NutVideo, flag};

/// The bytes of a packet that have not been read.
pub(super) struct Packet<'a>(pub(super) &'a [u8]);

/// Why a packet cannot be understood.
pub(super) type Reason = &'static str;

const SHORT: Reason = "a header ends too early";

impl Packet<'_> {
    fn byte(&mut self) -> Result<u8, Reason> {
        let (&first, rest) = self.0.split_first().ok_or(SHORT)?;
        self.0 = rest;
        Ok(first)
    }

    /// A number of any length, 7 bits a byte.
    pub(super) fn number(&mut self) -> Result<u64, Reason> {
        number(|| self.byte())
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Reason> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(bytes.to_vec())
    }

    fn small(&mut self) -> Result<u32, Reason> {
        u32::try_from(self.number()?).map_err(|_| "a number is too large")
    }
}

/// A number of any length whose bytes come from `next`.
pub(super) fn number<E: From<Reason>>(mut next: impl FnMut() -> Result<u8, E>) -> Result<u64, E> {
    let mut value = 0_u64;
    loop {
        let byte = next()?;
        if value >> 57 != 0 {
            return Err("a number is too large".into());
        }
        value = value << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
}

pub(super) const fn signed(number: u64) -> i64 {
    // At most 64 bits: the sum does not wrap, since `number` lets 2^64 - 1 pass only as what nothing writes.
    let next = number.wrapping_add(1);
    let half = (next >> 1) as i64;
    if next & 1 == 1 { -half } else { half }
}

/// What a frame's first byte stands for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FrameCode {
    pub(super) flags: u64,
    pub(super) pts_delta: i64,
    pub(super) size_factor: u64,
    pub(super) size: u64,
    pub(super) stream: u64,
    pub(super) reserved: u64,
    pub(super) header: u64,
}

/// The main header.
pub(super) struct Main {
    pub(super) time_bases: Vec<(u32, u32)>,
    pub(super) codes: Vec<FrameCode>,
    /// Bytes that frames may begin with and leave out.
    pub(super) elided: Vec<Vec<u8>>,
}

impl Main {
    pub(super) fn parse(mut packet: Packet<'_>) -> Result<Self, Reason> {
        let version = packet.number()?;
        if !(2..=4).contains(&version) {
            return Err("it has an unknown version");
        }
        if version > 3 {
            packet.number()?;
        }
        if packet.number()? != 1 {
            return Err("it does not hold one stream");
        }
        packet.number()?;
        let count = packet.number()?;
        let mut time_bases = Vec::new();
        for _ in 0..count {
            let (numerator, denominator) = (packet.small()?, packet.small()?);
            if numerator == 0 || denominator == 0 {
                return Err("it has an impossible time base");
            }
            time_bases.push((numerator, denominator));
        }
        let codes = frame_codes(&mut packet)?;
        let mut elided = vec![Vec::new()];
        // The checksum is what is left at the end.
        if packet.0.len() > 4 {
            for _ in 0..packet.number()? {
                elided.push(packet.bytes()?);
            }
        }
        Ok(Self { time_bases, codes, elided })
    }
}

fn frame_codes(packet: &mut Packet<'_>) -> Result<Vec<FrameCode>, Reason> {
    const N: usize = b'N' as usize;
    let invalid = FrameCode { flags: flag::INVALID, ..FrameCode::default() };
    let mut codes: Vec<FrameCode> = Vec::with_capacity(256);
    let mut now = FrameCode { size_factor: 1, ..FrameCode::default() };
    while codes.len() < 256 {
        now.flags = packet.number()?;
        let fields = packet.number()?;
        let mut field = |index: u64, usual: u64| if fields > index { packet.number() } else { Ok(usual) };
        let delta = field(0, 0)?;
        if fields > 0 {
            now.pts_delta = signed(delta);
        }
        now.size_factor = field(1, now.size_factor)?;
        now.stream = field(2, now.stream)?;
        now.size = field(3, 0)?;
        now.reserved = field(4, 0)?;
        let count = field(5, now.size_factor.wrapping_sub(now.size))?;
        field(6, 0)?;
        now.header = field(7, now.header)?;
        for index in 8..fields {
            field(index, 0)?;
        }
        let room = 256 - codes.len() - usize::from(codes.len() <= N);
        if count == 0 || count > room as u64 {
            return Err("its table of frame codes is damaged");
        }
        for size in now.size..now.size.saturating_add(count) {
            if codes.len() == N {
                codes.push(invalid);
            }
            codes.push(FrameCode { size, ..now });
        }
        if codes.len() == N {
            codes.push(invalid);
        }
    }
    Ok(codes)
}

/// The header of the one stream; with the number of low bits that timestamps may be shortened to.
pub(super) fn stream(mut packet: Packet<'_>, time_bases: &[(u32, u32)]) -> Result<(NutVideo, u32), Reason> {
    if packet.number()? != 0 || packet.number()? != 0 {
        return Err("its stream is no video");
    }
    packet.bytes()?;
    let time_base = *time_bases.get(packet.number()? as usize).ok_or("it has no such time base")?;
    let shift = packet.small()?;
    for _ in 0..3 {
        packet.number()?;
    }
    packet.bytes()?;
    let (width, height) = (packet.small()?, packet.small()?);
    let aspect = (packet.small()?, packet.small()?);
    if width == 0 || height == 0 || shift > 16 {
        return Err("the header of its stream is damaged");
    }
    let aspect = (aspect.0 > 0 && aspect.1 > 0).then_some(aspect);
    Ok((NutVideo { width, height, time_base, aspect }, shift))
}

impl Packet<'_> {
    /// A timestamp for all streams, in the units of the only one.
    pub(super) fn time(&mut self, time_bases: &[(u32, u32)], own: (u32, u32)) -> Result<i64, Reason> {
        let coded = self.number()?;
        let count = time_bases.len() as u64;
        let (numerator, denominator) = time_bases[(coded % count) as usize];
        let units = i128::from(coded / count) * i128::from(numerator) * i128::from(own.1);
        let units = units / (i128::from(denominator) * i128::from(own.0));
        i64::try_from(units).map_err(|_| "a timestamp is too large")
    }
}

#[test]
fn numbers_with_signs_take_turns() {
    assert_eq!([0, 1, 2, 3, 4].map(signed), [0, 1, -1, 2, -2]);
    let mut packet = Packet(&[0x83, 0xD4, 0x60]);
    assert_eq!(packet.number(), Ok(60_000));
    assert!(packet.number().is_err() && Packet(&[0xFF; 12]).number().is_err());
}
