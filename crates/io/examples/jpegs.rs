//! Decodes JPEG files for `tests/jpeg/differential.py`, encodes them for `tests/jpeg/encoding.py`, or times that.
//!
//! ```text
//! jpegs DECODER < LIST         one file name a line; prints for each a line, and the pixels behind it
//! jpegs --encode < LIST        one file a line: name of its samples, width, height, channels, quality, sampling (as 420),
//!                              restart interval; prints for each the number of bytes, and the bytes behind it
//! jpegs --time ROUNDS FILE...  the best times of our decoder, of the same at an eighth, and of zune-jpeg, in turns
//! ```
//!
//! DECODER is `mip`, `mip/2`, `mip/4`, `mip/8`, `zune` or `jpeg-decoder`. The line is `ok WIDTH HEIGHT CHANNELS BYTES WARNINGS`, with the bytes of a sample, or `error TEXT`.

#![allow(clippy::print_stdout, reason = "what an example is for")]

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::time::{Duration, Instant};

use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use mip_io::{ChromaSampling, FileFormat, JpegScale, ReadOptions, Reader, WriteOptions};
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

struct Picture {
    size: (usize, usize),
    channels: usize,
    bytes: usize,
    warnings: usize,
    pixels: Vec<u8>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--time", rounds, ref files @ ..] => time(rounds.parse().expect("a number of rounds"), files),
        ["--encode"] => encode_all(),
        [decoder] => answer(decoder),
        _ => panic!("usage: jpegs DECODER | jpegs --encode | jpegs --time ROUNDS FILE..."),
    }
}

fn answer(decoder: &str) {
    let mut out = stdout().lock();
    for name in stdin().lock().lines() {
        let name = name.expect("a file name");
        let file = std::fs::read(&name).expect("a file");
        let decoded = std::panic::catch_unwind(|| decode(decoder, &file));
        match decoded.unwrap_or_else(|_| Err("it panicked".to_owned())) {
            Ok(Picture { size: (width, height), channels, bytes, warnings, pixels }) => {
                writeln!(out, "ok {width} {height} {channels} {bytes} {warnings}").expect("stdout");
                out.write_all(&pixels).expect("stdout");
            }
            Err(text) => writeln!(out, "error {}", text.replace('\n', " ")).expect("stdout"),
        }
        out.flush().expect("stdout");
    }
}

fn encode_all() {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let line = line.expect("a line");
        let parts: Vec<&str> = line.split(' ').collect();
        let [name, width, height, channels, quality, sampling, restart] = parts[..] else {
            panic!("seven parts are needed: {line}")
        };
        let samples = std::fs::read(name).expect("samples");
        let format = if channels == "1" { PixelFormat::Gray } else { PixelFormat::Rgb };
        let number = |text: &str| text.parse::<u32>().expect("a number");
        let desc = ImageDesc::new(number(width), number(height), format, DType::U8).expect("a shape");
        let image = ImageBuffer::from_bytes(desc, &samples).expect("as many samples as the shape has");
        let options = WriteOptions {
            jpeg_quality: number(quality) as u8,
            jpeg_sampling: Some(sampling_of(sampling)),
            jpeg_restart_interval: number(restart) as u16,
            ..WriteOptions::default()
        };
        let file = mip_io::encode(&image, FileFormat::Jpeg, &options).expect("it can be encoded");
        writeln!(out, "{}", file.len()).expect("stdout");
        out.write_all(&file).expect("stdout");
        out.flush().expect("stdout");
    }
}

fn sampling_of(name: &str) -> ChromaSampling {
    match name {
        "444" => ChromaSampling::Full,
        "422" => ChromaSampling::HalfWidth,
        "440" => ChromaSampling::HalfHeight,
        "420" => ChromaSampling::Quarter,
        "411" => ChromaSampling::QuarterWidth,
        other => panic!("there is no sampling {other}"),
    }
}

fn decode(decoder: &str, file: &[u8]) -> Result<Picture, String> {
    match decoder {
        "mip" => mip(file, JpegScale::Full),
        "mip/2" => mip(file, JpegScale::Half),
        "mip/4" => mip(file, JpegScale::Quarter),
        "mip/8" => mip(file, JpegScale::Eighth),
        "zune" => zune(file),
        "jpeg-decoder" => jpeg_decoder(file),
        other => panic!("there is no decoder {other}"),
    }
}

fn reader(jpeg_scale: JpegScale) -> Reader {
    Reader::new(ReadOptions { jpeg_scale, ..ReadOptions::default() })
}

fn mip(file: &[u8], scale: JpegScale) -> Result<Picture, String> {
    let mut reader = reader(scale);
    let image = reader.read_bytes(file, "it").map_err(|e| e.to_string())?;
    let desc = image.desc();
    Ok(Picture {
        size: (desc.width() as usize, desc.height() as usize),
        channels: desc.channels(),
        bytes: desc.dtype().size(),
        warnings: reader.take_warnings().len(),
        pixels: image.to_bytes(),
    })
}

fn zune(file: &[u8]) -> Result<Picture, String> {
    let options = DecoderOptions::default().set_strict_mode(true);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(file), options);
    decoder.decode_headers().map_err(|e| e.to_string())?;
    let gray = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let (channels, space) = if gray { (1, ColorSpace::Luma) } else { (3, ColorSpace::RGB) };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let pixels = decoder.decode().map_err(|e| e.to_string())?;
    let size = decoder.dimensions().ok_or("no size")?;
    Ok(Picture { size, channels, bytes: 1, warnings: 0, pixels })
}

fn jpeg_decoder(file: &[u8]) -> Result<Picture, String> {
    let mut decoder = jpeg_decoder::Decoder::new(file);
    let pixels = decoder.decode().map_err(|e| e.to_string())?;
    let info = decoder.info().ok_or("no size")?;
    let size = (usize::from(info.width), usize::from(info.height));
    let channels = pixels.len() / (size.0 * size.1);
    Ok(Picture { size, channels, bytes: 1, warnings: 0, pixels })
}

/// Both decode each file in turns; the best time of each counts. Buffers are kept, as readers of many files do.
fn time(rounds: usize, files: &[&str]) {
    for name in files {
        let file = std::fs::read(name).expect("a file");
        let mut readers = [JpegScale::Full, JpegScale::Eighth].map(reader);
        let mut kept = Vec::new();
        let mut best = [Duration::MAX; 3];
        for _ in 0..rounds {
            for (reader, best) in readers.iter_mut().zip(&mut best) {
                let start = Instant::now();
                let image = reader.read_bytes(&file, "it").expect("our decoder takes it");
                *best = (*best).min(start.elapsed());
                kept.resize(kept.len().max(image.desc().bytes()), 0);
                reader.recycle(image);
            }
            let options = DecoderOptions::default().set_strict_mode(true);
            let start = Instant::now();
            let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(&file), options);
            decoder.decode_into(&mut kept).expect("zune-jpeg takes it");
            best[2] = best[2].min(start.elapsed());
        }
        let [ours, eighth, zune] = best.map(|time| time.as_secs_f64() * 1e3);
        println!(
            "{name}: mip {ours:.2} ms, at an eighth {eighth:.2} ms, zune-jpeg {zune:.2} ms, ratio {:.2}",
            ours / zune
        );
    }
}
