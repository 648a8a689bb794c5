//! PBM, PGM, PPM and PAM, plain and raw (netpbm's `pbm(5)` to `pam(5)`).
//!
//! `image` reads them too, but scales samples in f32 and lets samples above the largest one pass.

mod header;

use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use self::header::{Header, Kind};
use super::look::Needs;
use super::spread::spread_pairs;
use super::{Fault, Reader, zeroes};

impl Reader {
    /// Samples are scaled from the file's own largest value to 255, or to 65535 where that is above 255.
    pub(super) fn decode_pnm(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        let header = header::read(file)?;
        self.check_size(header.width, header.height)?;
        let desc = desc(&header)?;
        let data = &file[header.data..];
        let least = header.least_bytes();
        if (data.len() as u64) < least {
            let text =
                format!("its {} bytes of samples are fewer than the {least} that it needs", data.len());
            return Err(Fault::Truncated(text));
        }
        let mut image = self.buffer(desc)?;
        if header.channels == 2 {
            let mut pairs: Vec<u8> = zeroes(desc.bytes() / 2, "pairs of gray and alpha")?;
            samples(&header, data, &mut pairs)?;
            spread_pairs(&pairs, &mut image);
        } else {
            samples(&header, data, image.view_mut().data_mut())?;
        }
        Ok(image)
    }
}

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let header = header::read(first).ok()?;
    let bytes = desc(&header).ok()?.bytes();
    let pairs = if header.channels == 2 { bytes / 2 } else { 0 };
    Some(Needs {
        width: header.width,
        height: header.height,
        pixels: bytes.saturating_add(pairs),
        scratch: 0,
    })
}

fn desc(header: &Header) -> Result<ImageDesc, Fault> {
    let format = match header.channels {
        1 => PixelFormat::Gray,
        3 => PixelFormat::Rgb,
        _ => PixelFormat::Rgba,
    };
    let dtype = if header.largest > 255 { DType::U16 } else { DType::U8 };
    Ok(ImageDesc::new(header.width, header.height, format, dtype)?)
}

/// Reads all samples into native ones of 1 or 2 bytes.
fn samples(header: &Header, data: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    match header.kind {
        Kind::Bits => bits(header, data, out),
        Kind::PlainBits => plain_bits(data, out)?,
        Kind::Raw if header.largest == 255 => out.copy_from_slice(&data[..out.len()]),
        Kind::Raw if header.largest > 255 => {
            let mut numbers = data.as_chunks::<2>().0.iter().map(|pair| u32::from(u16::from_be_bytes(*pair)));
            scaled(header, out, || numbers.next().ok_or_else(cut))?;
        }
        Kind::Raw => {
            let mut numbers = data.iter().map(|&byte| u32::from(byte));
            scaled(header, out, || numbers.next().ok_or_else(cut))?;
        }
        Kind::Plain => {
            let mut at = 0;
            scaled(header, out, || header::number(data, &mut at))?;
        }
    }
    Ok(())
}

fn cut() -> Fault {
    Fault::Truncated("it stops inside its samples".to_owned())
}

/// Numbers from 0 to the header's largest, as samples of full scale, rounded.
fn scaled(
    header: &Header,
    out: &mut [u8],
    mut next: impl FnMut() -> Result<u32, Fault>,
) -> Result<(), Fault> {
    let largest = header.largest;
    let mut sample = |full: u32| match next()? {
        number if number <= largest => Ok((number * full + largest / 2) / largest),
        number => Err(Fault::Corrupt(format!("sample {number} is above its largest, {largest}"))),
    };
    if largest > 255 {
        for target in out.as_chunks_mut::<2>().0 {
            *target = (sample(65535)? as u16).to_ne_bytes();
        }
    } else {
        for target in out {
            *target = sample(255)? as u8;
        }
    }
    Ok(())
}

/// A bit a pixel, rows of whole bytes; 1 is black.
fn bits(header: &Header, data: &[u8], out: &mut [u8]) {
    let width = header.width as usize;
    for (row, from) in out.chunks_exact_mut(width).zip(data.chunks_exact(width.div_ceil(8))) {
        for (x, target) in row.iter_mut().enumerate() {
            *target = if from[x / 8] >> (7 - x % 8) & 1 == 1 { 0 } else { 255 };
        }
    }
}

/// Digits 0 and 1, with or without something between them; 1 is black.
fn plain_bits(data: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let mut at = 0;
    for target in out {
        header::skip_space(data, &mut at);
        *target = match data.get(at) {
            Some(b'0') => 255,
            Some(b'1') => 0,
            Some(other) => {
                return Err(Fault::Corrupt(format!("'{}' is no bit", other.escape_ascii())));
            }
            None => return Err(cut()),
        };
        at += 1;
    }
    Ok(())
}
