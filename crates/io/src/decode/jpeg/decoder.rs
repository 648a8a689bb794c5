//! A file from marker to marker.

use super::super::Fault;
use super::bits::Intervals;
use super::frame::{Component, Frame};
use super::huffman::{Table, default_table};
use super::idct::NATURAL;
use super::markers::{self, Application, Scan, next_marker};
use super::progressive::{self, Progressive};
use super::sequential::{self, Sequential};
use super::simd::Level;
use super::{JpegScale, Scratch, Tables, no_image, scan};

/// More scans than any encoder writes; each one costs time however small it is.
const MAX_SCANS: usize = 500;

const END: u8 = 0xD9;
const START_OF_SCAN: u8 = 0xDA;

/// A file on its way through.
pub(super) struct Decoder<'a> {
    file: &'a [u8],
    /// Position of the next marker, or of bytes before it that belong to nothing.
    at: usize,
    tables: Tables,
    scans: usize,
    scale: JpegScale,
    pub(super) application: Application,
    pub(super) frame: Option<Frame>,
    /// What is not as it should be, though the picture is whole.
    pub(super) warnings: Vec<String>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(file: &'a [u8], scale: JpegScale) -> Self {
        let (tables, application) = (Tables::default(), Application::default());
        Self { file, at: 2, tables, scans: 0, scale, application, frame: None, warnings: Vec::new() }
    }

    /// The frame, once there is one.
    pub(super) fn frame(&self) -> Result<&Frame, Fault> {
        self.frame.as_ref().ok_or_else(|| Fault::Corrupt("a scan comes before the frame header".into()))
    }

    /// Reads segments up to the next scan; gives its header, and whether it is the first. `None` at the end of
    /// the image, which is whole then.
    pub(super) fn next_scan(&mut self) -> Result<Option<(&'a [u8], bool)>, Fault> {
        loop {
            let Some((marker, code)) = next_marker(self.file, self.at) else { return self.no_end() };
            self.at = marker + 2;
            match code {
                END => return self.end(),
                // TEM, RSTn and SOI stand alone.
                0x01 | 0xD0..=0xD8 => continue,
                _ => {}
            }
            let length =
                self.file.get(self.at..self.at + 2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])));
            let Some(length) = length else { return self.no_end() };
            if length < 2 {
                // Of what applications say nothing is needed; go on at the next marker.
                if is_application(code) {
                    continue;
                }
                return Err(Fault::Corrupt(format!("segment FF{code:02X} at byte {marker} has no length")));
            }
            let Some(body) = self.file.get(self.at + 2..self.at + length) else { return self.no_end() };
            self.at += length;
            if code == START_OF_SCAN {
                self.scans += 1;
                if self.scans > MAX_SCANS {
                    return Err(Fault::Corrupt(format!("it has more than {MAX_SCANS} scans")));
                }
                let first = self.scans == 1;
                if first {
                    self.lay_out()?;
                }
                return Ok(Some((body, first)));
            }
            self.segment(code, body)?;
        }
    }

    fn segment(&mut self, code: u8, body: &[u8]) -> Result<(), Fault> {
        match code {
            0xC4 => markers::huffman(body, &mut self.tables),
            0xDB => markers::quantisation(body, &mut self.tables),
            0xDD => {
                let bytes = body
                    .try_into()
                    .map_err(|_| Fault::Corrupt("its restart interval is not valid".into()))?;
                self.tables.restart_interval = usize::from(u16::from_be_bytes(bytes));
                Ok(())
            }
            0xDC => self.number_of_lines(body),
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                if self.frame.is_some() {
                    return Err(Fault::Corrupt("it has two frame headers".into()));
                }
                self.frame = Some(Frame::parse(code, body)?);
                Ok(())
            }
            0xDE | 0xDF => Err(Fault::Corrupt("it uses hierarchical coding, which is not supported".into())),
            _ => {
                self.application.read(code, body);
                Ok(())
            }
        }
    }

    /// DNL: may say the height again, but nothing else.
    fn number_of_lines(&self, body: &[u8]) -> Result<(), Fault> {
        let height = self.frame.as_ref().map_or(0, |frame| frame.height);
        match *body {
            [high, low] if usize::from(u16::from_be_bytes([high, low])) == height => Ok(()),
            _ => Err(Fault::Corrupt(format!("a DNL segment contradicts its height of {height}"))),
        }
    }

    fn lay_out(&mut self) -> Result<(), Fault> {
        self.frame()?;
        let Some(frame) = &mut self.frame else { return Err(no_image()) };
        if frame.height == 0 {
            let height = markers::height_behind_scan(self.file, self.at);
            frame.height =
                height.filter(|h| *h > 0).ok_or_else(|| Fault::Corrupt("its height is 0".into()))?;
        }
        frame.lay_out(self.scale);
        Ok(())
    }

    /// Decodes the scan that begins here into samples or coefficients.
    #[inline(always)]
    pub(super) fn scan(
        &mut self,
        header: &[u8],
        scratch: &mut Scratch,
        level: impl Level,
    ) -> Result<(), Fault> {
        let Some(frame) = &mut self.frame else { return Err(no_image()) };
        let scan = Scan::parse(header, frame)?;
        scan.register(frame)?;
        for (index, ..) in &scan.parts {
            let component = &mut frame.components[*index];
            if component.quantisers.is_none() {
                let table = self.tables.quantisation[component.selector];
                let table = table.ok_or_else(|| Fault::Corrupt("a quantisation table is missing".into()))?;
                let mut rows = [0; 64];
                for (k, value) in table.iter().enumerate() {
                    rows[NATURAL[k]] = *value;
                }
                component.quantisers = Some(rows);
            }
        }
        let interval = self.tables.restart_interval;
        let Scratch { samples, blocks, data } = scratch;
        let intervals = Intervals::new(self.file, self.at, data);
        let ended = if frame.progressive {
            let mut coder = progressive_coder(frame, &scan, &self.tables, blocks)?;
            scan::decode(intervals, frame, &scan, interval, &mut coder)?
        } else {
            self.tables.add_defaults(&scan);
            let mut coder = sequential_coder(frame, &scan, &self.tables, samples, level)?;
            scan::decode(intervals, frame, &scan, interval, &mut coder)?
        };
        self.at = ended.at;
        if ended.restart_behind {
            self.warnings.push("a restart marker stands behind its last restart interval".into());
        }
        Ok(())
    }

    /// The file stops without an end marker: well, if everything has come before.
    fn no_end<T>(&mut self) -> Result<Option<T>, Fault> {
        let whole = |c: &Component| c.missing.iter().all(|bits| *bits == 0);
        if self.frame.as_ref().is_some_and(|frame| frame.components.iter().all(whole)) {
            self.warnings.push("it has no end marker, though its image data is complete".into());
            return Ok(None);
        }
        let inside = if self.scans == 0 { "its headers" } else { "its image data" };
        let bytes = self.file.len();
        Err(Fault::Truncated(format!("it stops inside {inside}, after {bytes} bytes, without an end marker")))
    }

    fn end<T>(&mut self) -> Result<Option<T>, Fault> {
        let frame = self.frame.as_ref().filter(|_| self.scans > 0).ok_or_else(no_image)?;
        if let Some(index) = frame.components.iter().position(|c| c.missing[0] < 0) {
            return Err(Fault::Truncated(format!("it ends before any scan of component {}", index + 1)));
        }
        if frame.components.iter().any(|c| c.missing.iter().any(|bits| *bits != 0)) {
            self.warnings.push("it ends before its last scans, so that its picture is a coarse one".into());
        }
        Ok(None)
    }
}

const fn is_application(code: u8) -> bool {
    matches!(code, 0xE0..=0xEF | 0xFE)
}

impl Tables {
    /// Where a file leaves Huffman tables out, those of T.81 K.3 count: frames of webcams do that.
    fn add_defaults(&mut self, scan: &Scan) {
        for (_, dc, ac) in &scan.parts {
            let (dc_table, ac_table) = (&mut self.dc[*dc], &mut self.ac[*ac]);
            if dc_table.is_none() {
                *dc_table = default_table(false, *dc);
            }
            if ac_table.is_none() {
                *ac_table = default_table(true, *ac);
            }
        }
    }
}

fn no_table() -> Fault {
    Fault::Corrupt("a Huffman table is missing".into())
}

fn sequential_coder<'s, L: Level>(
    frame: &'s Frame,
    scan: &Scan,
    tables: &'s Tables,
    samples: &'s mut [u8],
    level: L,
) -> Result<Sequential<'s, L>, Fault> {
    let part = |(index, dc, ac): &(usize, usize, usize)| {
        let component = &frame.components[*index];
        Ok(sequential::Part {
            dc: tables.dc[*dc].as_ref().ok_or_else(no_table)?,
            ac: tables.ac[*ac].as_ref().ok_or_else(no_table)?,
            quantisers: component.quantisers.as_ref().ok_or_else(no_table)?,
            start: component.start,
            stride: component.stride(),
            side: component.side,
        })
    };
    Ok(Sequential::new(scan.parts.iter().map(part).collect::<Result<_, Fault>>()?, samples, level))
}

fn progressive_coder<'s>(
    frame: &Frame,
    scan: &Scan,
    tables: &'s Tables,
    blocks: &'s mut [[i16; 64]],
) -> Result<Progressive<'s>, Fault> {
    let (band, low, refine) = (scan.band, scan.low, scan.high > 0);
    let part = |(index, dc, ac): &(usize, usize, usize)| {
        let component = &frame.components[*index];
        let table: Option<&Table> =
            if band.0 == 0 { tables.dc[*dc].as_ref() } else { tables.ac[*ac].as_ref() };
        if table.is_none() && !(band.0 == 0 && refine) {
            return Err(no_table());
        }
        Ok(progressive::Part { table, start: component.first, stride: component.stored.0 })
    };
    let parts = scan.parts.iter().map(part).collect::<Result<_, Fault>>()?;
    Ok(Progressive { parts, blocks, band, low, refine, predictions: [0; 4], run: 0 })
}
