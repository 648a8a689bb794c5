//! JPEG (ITU-T T.81, JFIF 1.02): baseline, extended sequential and progressive Huffman coding of 8-bit samples.
//!
//! Samples are those of libjpeg to the bit, those of scaled pictures too. A picture is whole or refused: each restart interval must hold
//! its units, neither less nor more, and each component must have come.

mod bits;
mod color;
mod decoder;
mod frame;
mod huffman;
mod idct;
mod markers;
mod picture;
mod plain;
mod progressive;
mod reduced;
mod scale;
mod scan;
mod sequential;
mod simd;
mod upsample;

use image::metadata::Orientation;
use mip_core::{DType, ImageBuffer, ImageDesc, ImageError, PixelFormat, faults};

use self::decoder::Decoder;
use self::frame::Frame;
use self::huffman::Table;
use super::{Fault, Reader, WarningKind};
use crate::vector;

pub(crate) use idct::NATURAL;
pub(super) use plain::plain;
pub use scale::JpegScale;
pub(crate) use simd::Level;

/// Memory that a [`Reader`] keeps from one picture to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Samples of all components.
    samples: Vec<u8>,
    /// Coefficients of a progressive frame, in zigzag order.
    blocks: Vec<[i16; 64]>,
    /// Entropy-coded data without stuffing.
    data: Vec<u8>,
}

impl Scratch {
    /// More than this, in bytes, is given back after a picture.
    const KEPT: usize = 64 << 20;

    /// Makes room for a frame, unless a file of so many bytes cannot hold it.
    fn prepare(&mut self, frame: &Frame, file: usize) -> Result<(), Fault> {
        let (width, height, blocks) = (frame.width, frame.height, frame.stored_blocks());
        let samples = frame.samples();
        // Each block takes a bit in a scan at least, and a second one when its other coefficients are with it.
        let least = frame.coded_blocks() * if frame.progressive { 1 } else { 2 } / 8;
        if least > file {
            return Err(Fault::Corrupt(format!("{file} bytes cannot hold {width}x{height} pixels")));
        }
        let bytes = frame.peak_bytes();
        let what = || format!("decoding {width}x{height} pixels");
        let none = |_| ImageError::OutOfMemory { bytes: bytes as usize, what: what() };
        self.samples.clear();
        faults::try_reserve_exact(&mut self.samples, samples).map_err(none)?;
        self.samples.resize(samples, 0);
        self.blocks.clear();
        if frame.progressive {
            faults::try_reserve_exact(&mut self.blocks, blocks).map_err(none)?;
            self.blocks.resize(blocks, [0; 64]);
        }
        Ok(())
    }

    fn trim(&mut self) {
        if self.samples.capacity() > Self::KEPT {
            self.samples = Vec::new();
        }
        if self.blocks.capacity() > Self::KEPT / 128 {
            self.blocks = Vec::new();
        }
        if self.data.capacity() > Self::KEPT {
            self.data = Vec::new();
        }
    }
}

/// Tables in force while segments are read.
#[derive(Default)]
struct Tables {
    quantisation: [Option<[u16; 64]>; 4],
    dc: [Option<Table>; 4],
    ac: [Option<Table>; 4],
    restart_interval: usize,
}

impl Reader {
    pub(super) fn decode_jpeg(&mut self, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let mut scratch = std::mem::take(&mut self.jpeg);
        let decoded = self.decode_jpeg_file(file, &mut scratch);
        scratch.trim();
        self.jpeg = scratch;
        decoded
    }

    fn decode_jpeg_file(
        &mut self,
        file: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(ImageBuffer, Orientation), Fault> {
        let mut decoder = Decoder::new(file, self.options.jpeg_scale);
        while let Some((header, first)) = decoder.next_scan()? {
            if first {
                let frame = decoder.frame()?;
                self.check_size(frame.width as u32, frame.height as u32)?;
                scratch.prepare(frame, file.len())?;
            }
            vector::run(ScanJob { decoder: &mut decoder, header, scratch })?;
        }
        let Decoder { frame, application, warnings, .. } = decoder;
        let frame = frame.ok_or_else(no_image)?;
        for text in warnings {
            self.warn(WarningKind::Damage, text);
        }
        let format = if frame.components.len() == 1 { PixelFormat::Gray } else { PixelFormat::Rgb };
        let (width, height) = frame.scaled();
        let desc = ImageDesc::new(width as u32, height as u32, format, DType::U8)?;
        let mut image = self.buffer(desc)?;
        let colors = color::Colors::of(&frame, &application);
        let mut view = image.view_mut();
        vector::run(PictureJob { frame: &frame, colors, scratch, out: view.data_mut() })?;
        Ok((image, application.orientation.unwrap_or(Orientation::NoTransforms)))
    }
}

/// Decodes a scan.
struct ScanJob<'a, 'f> {
    decoder: &'a mut Decoder<'f>,
    header: &'a [u8],
    scratch: &'a mut Scratch,
}

impl vector::Job for ScanJob<'_, '_> {
    type Output = Result<(), Fault>;

    #[inline(always)]
    fn run<L: vector::Level>(self, level: L) -> Self::Output {
        self.decoder.scan(self.header, self.scratch, level)
    }
}

/// Makes the picture.
struct PictureJob<'a> {
    frame: &'a Frame,
    colors: color::Colors,
    scratch: &'a mut Scratch,
    out: &'a mut [u8],
}

impl vector::Job for PictureJob<'_> {
    type Output = Result<(), Fault>;

    #[inline(always)]
    fn run<L: vector::Level>(self, level: L) -> Self::Output {
        picture::make(self.frame, self.colors, self.scratch, self.out, level)
    }
}

fn no_image() -> Fault {
    Fault::Corrupt("it ends before any image data".into())
}
