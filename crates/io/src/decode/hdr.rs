//! Radiance HDR (RGBE): floats that share an exponent of 8 bits, to f32 rgb.
//!
//! `image` reads it too, but takes only pictures that are stored from left to right and top to bottom.

use image::metadata::Orientation;
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::look::{Needs, rows};
use super::{Fault, Reader, zeroes};

impl Reader {
    /// The values as they are stored: the header's exposure and primaries are not applied.
    pub(super) fn decode_hdr(&mut self, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let header = header(file)?;
        self.check_size(header.width, header.height)?;
        let mut image =
            self.buffer(ImageDesc::new(header.width, header.height, PixelFormat::Rgb, DType::F32)?)?;
        let width = header.width as usize;
        let mut line: Vec<[u8; 4]> = zeroes(width, "a row of the file")?;
        let mut data = &file[header.data..];
        let mut view = image.view_mut();
        for row in view.data_mut().chunks_exact_mut(12 * width) {
            scanline(&mut data, &mut line)?;
            for (pixel, stored) in row.as_chunks_mut::<12>().0.iter_mut().zip(&line) {
                let [r, g, b] = value(*stored).map(f32::to_ne_bytes);
                pixel.copy_from_slice(&[r, g, b].concat());
            }
        }
        Ok((image, header.orientation))
    }
}

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let header = header(first).ok()?;
    let desc = ImageDesc::new(header.width, header.height, PixelFormat::Rgb, DType::F32).ok()?;
    let copies = if header.orientation == Orientation::NoTransforms { 1 } else { 2 };
    let scratch = rows((header.width as usize).saturating_mul(4), 1);
    Some(Needs {
        width: header.width,
        height: header.height,
        pixels: desc.bytes().saturating_mul(copies),
        scratch,
    })
}

struct Header {
    /// Of a scanline, and how many of them there are; at least 1 each.
    width: u32,
    height: u32,
    orientation: Orientation,
    /// Where the scanlines begin.
    data: usize,
}

/// Lines up to an empty one, then the resolution.
fn header(file: &[u8]) -> Result<Header, Fault> {
    let mut at = 0;
    let mut line = || {
        let rest = file.get(at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n')?;
        at += length + 1;
        Some((String::from_utf8_lossy(&rest[..length]).trim_end_matches('\r').to_owned(), at))
    };
    let cut = || Fault::Truncated("it stops inside its header".to_owned());
    loop {
        let (text, _) = line().ok_or_else(cut)?;
        if text.is_empty() {
            break;
        }
        if let Some(format) = text.strip_prefix("FORMAT=").filter(|format| format.trim() != "32-bit_rle_rgbe")
        {
            return Err(Fault::Corrupt(format!("its pixels are {format}; save it as 32-bit_rle_rgbe")));
        }
    }
    let (text, data) = line().ok_or_else(cut)?;
    let wrong = || Fault::Corrupt(format!("'{text}' is no resolution such as -Y 480 +X 640"));
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [first, lines, second, length] = words[..] else { return Err(wrong()) };
    // The first axis says where scanlines go, the second where their pixels do.
    let orientation = match (first, second) {
        ("-Y", "+X") => Orientation::NoTransforms,
        ("-Y", "-X") => Orientation::FlipHorizontal,
        ("+Y", "+X") => Orientation::FlipVertical,
        ("+Y", "-X") => Orientation::Rotate180,
        ("+X", "-Y") => Orientation::Rotate90FlipH,
        ("-X", "-Y") => Orientation::Rotate90,
        ("+X", "+Y") => Orientation::Rotate270,
        ("-X", "+Y") => Orientation::Rotate270FlipH,
        _ => return Err(wrong()),
    };
    let side = |word: &str| word.parse::<u32>().ok().filter(|&side| side > 0).ok_or_else(wrong);
    Ok(Header { width: side(length)?, height: side(lines)?, orientation, data })
}

fn take<const N: usize>(data: &mut &[u8]) -> Result<[u8; N], Fault> {
    let (bytes, rest) =
        data.split_first_chunk().ok_or_else(|| Fault::Truncated("it stops inside its pixels".to_owned()))?;
    *data = rest;
    Ok(*bytes)
}

fn overrun() -> Fault {
    Fault::Corrupt("a run goes beyond its row".to_owned())
}

fn scanline(data: &mut &[u8], line: &mut [[u8; 4]]) -> Result<(), Fault> {
    let first = take::<4>(data)?;
    let [2, 2, high @ 0..=127, low] = first else { return pixels(first, data, line) };
    if !(8..32768).contains(&line.len()) {
        return pixels(first, data, line);
    }
    if usize::from(u16::from_be_bytes([high, low])) != line.len() {
        return Err(Fault::Corrupt("a row has another length than its header says".to_owned()));
    }
    for channel in 0..4 {
        let mut at = 0;
        while at < line.len() {
            let [count] = take::<1>(data)?;
            let length = usize::from(if count > 128 { count - 128 } else { count });
            let run = line.get_mut(at..at + length).filter(|_| length > 0).ok_or_else(overrun)?;
            if count > 128 {
                let [byte] = take::<1>(data)?;
                for pixel in run {
                    pixel[channel] = byte;
                }
            } else {
                let cut = || Fault::Truncated("it stops inside its pixels".to_owned());
                let (bytes, rest) = data.split_at_checked(length).ok_or_else(cut)?;
                run.iter_mut().zip(bytes).for_each(|(pixel, byte)| pixel[channel] = *byte);
                *data = rest;
            }
            at += length;
        }
    }
    Ok(())
}

/// Pixel by pixel; (1, 1, 1, n) repeats the last one n times, and the next such one 256 times as often.
fn pixels(first: [u8; 4], data: &mut &[u8], line: &mut [[u8; 4]]) -> Result<(), Fault> {
    let (mut at, mut shift, mut next) = (0, 0, Some(first));
    while at < line.len() {
        let pixel = match next.take() {
            Some(pixel) => pixel,
            None => take::<4>(data)?,
        };
        if let [1, 1, 1, count] = pixel {
            let last = *at.checked_sub(1).and_then(|last| line.get(last)).ok_or_else(overrun)?;
            // More than three such pixels would be longer than any row.
            let length = if shift > 24 { usize::MAX } else { usize::from(count) << shift };
            let end = at.checked_add(length).ok_or_else(overrun)?;
            line.get_mut(at..end).ok_or_else(overrun)?.fill(last);
            (at, shift) = (end, shift + 8);
        } else {
            line[at] = pixel;
            (at, shift) = (at + 1, 0);
        }
    }
    Ok(())
}

/// Mantissas of 8 bits times 2^(exponent - 136).
fn value([r, g, b, exponent]: [u8; 4]) -> [f32; 3] {
    // Smaller than f32 has at full precision, but exact all the same: mantissas have 8 bits.
    let scale = 2.0_f64.powi(i32::from(exponent) - 136);
    let scale = if exponent == 0 { 0.0 } else { scale };
    [r, g, b].map(|mantissa| (f64::from(mantissa) * scale) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(resolution: &str, pixels: &[u8]) -> Vec<u8> {
        [b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n", resolution.as_bytes(), b"\n", pixels].concat()
    }

    #[test]
    fn old_runs_repeat_the_last_pixel() {
        let pixels = [128, 64, 0, 129, 1, 1, 1, 2, 1, 1, 1, 0, 10, 20, 30, 136];
        let image = Reader::default().read_bytes(&file("-Y 1 +X 4", &pixels), "x.hdr").unwrap();
        let first = [1.0, 0.5, 0.0];
        let all = [first, first, first, [10.0, 20.0, 30.0]].concat();
        assert_eq!(image.view().row_as::<f32>(0, 0, 0), all);
    }

    #[test]
    fn damage_is_refused() {
        let refused = |resolution: &str, pixels: &[u8]| {
            Reader::default().read_bytes(&file(resolution, pixels), "x.hdr").unwrap_err().to_string()
        };
        assert!(refused("-Y 1 +X 2", &[1, 1, 1, 2]).contains("a run goes beyond its row"));
        assert!(refused("-Y 1 +X 2", &[9, 1, 1, 2, 1, 1, 1, 7]).contains("a run goes beyond its row"));
        let endless = [[9, 9, 9, 9].as_slice(), &[1, 1, 1, 0].repeat(9), &[1, 1, 1, 1]].concat();
        assert!(refused("-Y 1 +X 2", &endless).contains("a run goes beyond its row"));
        assert!(refused("-Y 1 +X 8", &[2, 2, 0, 9]).contains("another length"));
        assert!(refused("-Y 1 +X 8", &[2, 2, 0, 8, 0, 0, 0]).contains("a run goes beyond its row"));
        assert!(refused("-Y 1 +X 8", &[2, 2, 0, 8, 136, 1]).contains("it stops inside its pixels"));
        assert!(refused("-Y 0 +X 8", &[]).contains("is no resolution"));
        assert!(refused("-Y 1 +Y 8", &[]).contains("is no resolution"));
    }
}
