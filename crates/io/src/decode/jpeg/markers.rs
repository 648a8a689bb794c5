//! Segments other than scans: tables, frame, and what applications say.

use super::super::{Fault, exif};
use super::Tables;
use super::frame::Frame;
use super::huffman::Table;
use image::metadata::Orientation;

/// What application segments say about the picture. Segments that are cut or make no sense say nothing.
#[derive(Default)]
pub(super) struct Application {
    /// A JFIF segment: the components are gray or YCbCr.
    pub(super) jfif: bool,
    /// Adobe's color transform.
    pub(super) adobe: Option<u8>,
    pub(super) orientation: Option<Orientation>,
}

impl Application {
    pub(super) fn read(&mut self, code: u8, body: &[u8]) {
        match code {
            0xE0 if body.len() >= 14 && body.starts_with(b"JFIF\0") => self.jfif = true,
            0xEE if body.len() >= 12 && body.starts_with(b"Adobe") => self.adobe = Some(body[11]),
            0xE1 if self.orientation.is_none() => {
                self.orientation = body.strip_prefix(b"Exif\0").and_then(|b| exif::orientation(b.get(1..)?));
            }
            _ => {}
        }
    }
}

/// Position of the last `FF` before the next marker code at or after `at`, and the code.
pub(super) fn next_marker(file: &[u8], at: usize) -> Option<(usize, u8)> {
    let pairs = file.get(at..)?.windows(2);
    let found = pairs.enumerate().find(|(_, pair)| pair[0] == 0xFF && !matches!(pair[1], 0x00 | 0xFF));
    found.map(|(offset, pair)| (at + offset, pair[1]))
}

/// Quantisation tables (T.81 B.2.4.1).
pub(super) fn quantisation(mut body: &[u8], tables: &mut Tables) -> Result<(), Fault> {
    while let [head, rest @ ..] = body {
        let (wide, index) = (head >> 4, usize::from(head & 15));
        let size = if wide == 0 { 64 } else { 128 };
        if wide > 1 || index > 3 || rest.len() < size {
            return Err(Fault::Corrupt("a quantisation table is not valid".into()));
        }
        let (values, after) = rest.split_at(size);
        let mut table = [0; 64];
        for (k, value) in table.iter_mut().enumerate() {
            *value = match wide {
                0 => u16::from(values[k]),
                _ => u16::from_be_bytes([values[2 * k], values[2 * k + 1]]),
            };
        }
        tables.quantisation[index] = Some(table);
        body = after;
    }
    Ok(())
}

/// Huffman tables (T.81 B.2.4.2).
pub(super) fn huffman(mut body: &[u8], tables: &mut Tables) -> Result<(), Fault> {
    while let [head, rest @ ..] = body {
        let bad = || Fault::Corrupt("a Huffman table is not valid".into());
        let (class, index) = (head >> 4, usize::from(head & 15));
        let (counts, rest) = rest.split_first_chunk::<16>().ok_or_else(bad)?;
        let total = counts.iter().map(|c| usize::from(*c)).sum();
        if class > 1 || index > 3 || rest.len() < total {
            return Err(bad());
        }
        let (symbols, after) = rest.split_at(total);
        if class == 0 && !Table::is_for_dc(symbols) {
            return Err(bad());
        }
        let table = Some(Table::new(counts, symbols).ok_or_else(bad)?);
        if class == 0 {
            tables.dc[index] = table;
        } else {
            tables.ac[index] = table;
        }
        body = after;
    }
    Ok(())
}

/// The height that a DNL segment at once behind the first scan says (T.81 B.2.5), for a frame without one.
pub(super) fn height_behind_scan(file: &[u8], scan: usize) -> Option<usize> {
    let pairs = file.get(scan..)?.windows(2);
    let ends = |pair: &[u8]| pair[0] == 0xFF && !matches!(pair[1], 0x00 | 0xFF | 0xD0..=0xD7);
    let (offset, _) = pairs.enumerate().find(|(_, pair)| ends(pair))?;
    match file.get(scan + offset + 1..)? {
        [0xDC, 0, 4, high, low, ..] => Some(usize::from(u16::from_be_bytes([*high, *low]))),
        _ => None,
    }
}

/// A scan header (T.81 B.2.3).
pub(super) struct Scan {
    /// Component, DC table and AC table.
    pub(super) parts: Vec<(usize, usize, usize)>,
    /// First and last coefficient.
    pub(super) band: (usize, usize),
    /// Bits below the ones of the scan before, and of this one.
    pub(super) high: u8,
    pub(super) low: u8,
}

impl Scan {
    pub(super) fn parse(body: &[u8], frame: &Frame) -> Result<Self, Fault> {
        let bad = |text: &str| Fault::Corrupt(format!("a scan header is not valid: {text}"));
        let count = body.first().map_or(0, |n| usize::from(*n));
        if !(1..=4).contains(&count) || body.len() != 4 + 2 * count {
            return Err(bad("its length is wrong"));
        }
        let mut parts: Vec<(usize, usize, usize)> = Vec::with_capacity(count);
        for spec in body[1..=2 * count].chunks_exact(2) {
            let free = |(index, _): &(usize, _)| parts.iter().all(|part| part.0 != *index);
            let mut same = frame.components.iter().enumerate().filter(|(_, c)| c.id == spec[0]);
            let (index, _) = same.find(free).ok_or_else(|| bad("it names a component that is not there"))?;
            let (dc, ac) = (usize::from(spec[1] >> 4), usize::from(spec[1] & 15));
            if dc > 3 || ac > 3 {
                return Err(bad("it names a table that is not there"));
            }
            parts.push((index, dc, ac));
        }
        let blocks: usize = parts.iter().map(|p| frame.components[p.0].h * frame.components[p.0].v).sum();
        if count > 1 && blocks > 10 {
            return Err(bad("more than 10 blocks a unit"));
        }
        let [first, last, bits] = body[1 + 2 * count..] else { return Err(bad("its length is wrong")) };
        let band = if frame.progressive { (usize::from(first), usize::from(last)) } else { (0, 63) };
        let (high, low) = if frame.progressive { (bits >> 4, bits & 15) } else { (0, 0) };
        let scan = Self { parts, band, high, low };
        if frame.progressive {
            scan.check_progressive(bad)?;
        }
        Ok(scan)
    }

    /// T.81 G.1.1.1.
    fn check_progressive(&self, bad: impl Fn(&str) -> Fault) -> Result<(), Fault> {
        let (first, last) = self.band;
        let band = if first == 0 { last == 0 } else { first <= last && last < 64 && self.parts.len() == 1 };
        if !band {
            return Err(bad("coefficients that cannot go together"));
        }
        if self.low > 13 || (self.high != 0 && self.high != self.low + 1) {
            return Err(bad("bits that cannot follow each other"));
        }
        Ok(())
    }

    /// Notes what the scan brings; refuses one that does not continue what came before it: a scan was lost or
    /// repeated.
    pub(super) fn register(&self, frame: &mut Frame) -> Result<(), Fault> {
        for (index, ..) in &self.parts {
            let missing = &mut frame.components[*index].missing;
            let before = if self.high == 0 { -1 } else { self.high as i8 };
            if self.band.0 > 0 && missing[0] < 0 {
                return Err(Fault::Corrupt(format!(
                    "component {} has no DC scan before its AC scan",
                    index + 1
                )));
            }
            for bits in &mut missing[self.band.0..=self.band.1] {
                if *bits != before {
                    return Err(Fault::Corrupt(format!(
                        "a scan of component {} is lost or repeated",
                        index + 1
                    )));
                }
                *bits = self.low as i8;
            }
        }
        Ok(())
    }
}
