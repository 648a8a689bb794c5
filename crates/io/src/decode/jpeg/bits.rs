//! Entropy-coded data: intervals between markers, and the bits in them.

use mip_core::faults;

use super::super::Fault;

/// What ends an interval of entropy-coded data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A restart marker, with its number.
    Restart(u8),
    /// Any other marker.
    Marker,
    /// The end of the file.
    File,
}

/// Zero bytes behind an interval, so that its last bytes can be loaded eight at a time.
const PAD: usize = 8;

/// Hands out the intervals of a scan without their stuffing.
pub(super) struct Intervals<'a> {
    file: &'a [u8],
    /// Position in the file; of the marker when one has ended the scan.
    pub(super) at: usize,
    data: &'a mut Vec<u8>,
}

impl<'a> Intervals<'a> {
    pub(super) const fn new(file: &'a [u8], at: usize, data: &'a mut Vec<u8>) -> Self {
        Self { file, at, data }
    }

    /// The next interval.
    pub(super) fn next(&mut self) -> Result<(Bits<'_>, End), Fault> {
        self.data.clear();
        let end = loop {
            let rest = &self.file[self.at..];
            let plain = find_ff(rest);
            faults::try_reserve(self.data, plain + 1 + PAD)
                .map_err(|_| Fault::Corrupt("there is no memory for its data".into()))?;
            self.data.extend_from_slice(&rest[..plain]);
            self.at += plain;
            let Some(fill) = rest[plain..].iter().position(|byte| *byte != 0xFF) else {
                self.at = self.file.len();
                break End::File;
            };
            match rest[plain + fill] {
                0 => {
                    self.data.push(0xFF);
                    self.at += fill + 1;
                }
                restart @ 0xD0..=0xD7 => {
                    self.at += fill + 1;
                    break End::Restart(restart - 0xD0);
                }
                _ => {
                    self.at += fill - 1;
                    break End::Marker;
                }
            }
        };
        let len = self.data.len();
        self.data.resize(len + PAD, 0);
        Ok((Bits::new(self.data, len), end))
    }
}

/// Position of the first `FF`, or the length.
fn find_ff(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<32>();
    let has = |block: &[u8; 32]| block.iter().fold(0, |any, byte| any | u8::from(*byte == 0xFF)) != 0;
    let skip = blocks.iter().position(has).unwrap_or(blocks.len()) * 32;
    bytes[skip..].iter().position(|byte| *byte == 0xFF).map_or(bytes.len(), |at| skip + at)
}

/// Bits, most significant first (T.81 F.2.2.5). Behind the data there are zeros without end;
/// [`Bits::overrun`] says whether some were taken.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    /// The data and [`PAD`] zeros.
    data: &'a [u8],
    len: usize,
    /// Position of the next byte to load.
    at: usize,
    /// The next bits, at the top.
    next: u64,
    /// How many of `next` count.
    count: u32,
}

impl<'a> Bits<'a> {
    const fn new(data: &'a [u8], len: usize) -> Self {
        Self { data, len, at: 0, next: 0, count: 0 }
    }

    /// Makes sure that at least 32 bits can be taken: one code and the value behind it.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        if self.count < 32 {
            let loaded = self.data.get(self.at..).and_then(<[u8]>::first_chunk::<8>);
            let loaded = loaded.map_or(0, |chunk| u64::from_be_bytes(*chunk));
            self.next |= loaded >> self.count;
            let bytes = (63 - self.count) >> 3;
            self.at += bytes as usize;
            self.count += 8 * bytes;
        }
    }

    /// The next `n` bits, 1 to 16, without taking them.
    #[inline(always)]
    pub(super) const fn peek(&self, n: u32) -> u32 {
        (self.next >> (64 - n)) as u32
    }

    /// Takes `n` bits that are loaded.
    #[inline(always)]
    pub(super) const fn skip(&mut self, n: u32) {
        self.next <<= n;
        self.count -= n;
    }

    /// Takes `n` bits that are loaded, 0 to 16.
    #[inline(always)]
    pub(super) const fn take(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        let value = self.peek(n);
        self.skip(n);
        value
    }

    /// Takes one bit.
    #[inline(always)]
    pub(super) fn bit(&mut self) -> bool {
        self.refill();
        self.take(1) != 0
    }

    /// A value of `size` bits as T.81 F.2.2.1 (EXTEND) reads it.
    #[inline(always)]
    pub(super) const fn value(&mut self, size: u32) -> i32 {
        extend(self.take(size), size)
    }

    /// Whether more bits were taken than there are.
    #[inline(always)]
    pub(super) const fn overrun(&self) -> bool {
        8 * self.at > 8 * self.len + self.count as usize
    }

    /// Whole bytes that were not touched, when there is something but filling (00 or FF) among them.
    pub(super) fn left(&self) -> Option<usize> {
        let used = (8 * self.at - self.count as usize).div_ceil(8);
        let rest = self.data.get(used..self.len)?;
        rest.iter().any(|byte| !matches!(byte, 0 | 0xFF)).then_some(rest.len())
    }

    /// Whether the interval holds nothing at all.
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[inline(always)]
pub(super) const fn extend(bits: u32, size: u32) -> i32 {
    let value = bits as i32;
    if size > 0 && value < 1 << (size - 1) { value - (1 << size) + 1 } else { value }
}
