use std::path::Path;

use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};

use super::npy;
use crate::Real;

/// What an image file holds.
pub(super) enum Pixels {
    /// Samples of a type that images have.
    Samples(ImageBuffer),
    /// f64: exact values.
    Exact(Real),
}

impl Pixels {
    pub(super) fn samples(self, format: PixelFormat) -> ImageBuffer {
        match self {
            Self::Samples(image) => image,
            Self::Exact(_) => panic!("an input ({format}) in f64 has no dtype"),
        }
    }
}

/// Reads a PNG (8 or 16 bit) or `.npy` file; its channels are taken to be those of `format`, whatever a PNG
/// calls them.
pub(super) fn read(path: &Path, format: PixelFormat, layout: Layout) -> Pixels {
    let result = match path.extension().and_then(|e| e.to_str()) {
        Some("png") => read_png(path, format),
        Some("npy") => read_npy(path, format, layout),
        _ => Err("neither .png nor .npy".to_owned()),
    };
    result.unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn read_png(path: &Path, format: PixelFormat) -> Result<Pixels, String> {
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(file)).read_info().map_err(|e| e.to_string())?;
    let mut data = vec![0; reader.output_buffer_size().ok_or("too large")?];
    let info = reader.next_frame(&mut data).map_err(|e| e.to_string())?;
    if info.color_type.samples() != format.channels() {
        return Err(format!("{:?} for {format}", info.color_type));
    }
    let (dtype, data) = match info.bit_depth {
        png::BitDepth::Eight => (DType::U8, data),
        png::BitDepth::Sixteen => {
            let native = |pair: &[u8]| u16::from_be_bytes([pair[0], pair[1]]).to_ne_bytes();
            (DType::U16, data.chunks_exact(2).flat_map(native).collect())
        }
        other => return Err(format!("bit depth {other:?}")),
    };
    let desc = ImageDesc::new(info.width, info.height, format, dtype).map_err(|e| e.to_string())?;
    Ok(Pixels::Samples(ImageBuffer::from_bytes(desc, &data).map_err(|e| e.to_string())?))
}

fn read_npy(path: &Path, format: PixelFormat, layout: Layout) -> Result<Pixels, String> {
    let array = npy::parse(&std::fs::read(path).map_err(|e| e.to_string())?)?;
    let (height, width, channels) = match (array.shape.as_slice(), layout) {
        (&[h, w], _) => (h, w, 1),
        (&[h, w, c], Layout::Hwc) | (&[c, h, w], Layout::Chw) => (h, w, c),
        (other, _) => return Err(format!("shape {other:?}")),
    };
    if channels != format.channels() {
        return Err(format!("{channels} channels for {format}"));
    }
    let real = Real::from_fn(width, height, channels, |x, y, c| {
        array.values[match layout {
            Layout::Hwc => (y * width + x) * channels + c,
            Layout::Chw => (c * height + y) * width + x,
        }]
    });
    let dtype = match array.descr.as_str() {
        "|u1" => DType::U8,
        "<u2" => DType::U16,
        "<i2" => DType::I16,
        "<i4" => DType::I32,
        "<f2" => DType::F16,
        "<f4" => DType::F32,
        _ => return Ok(Pixels::Exact(real)),
    };
    let desc = ImageDesc::new(width as u32, height as u32, format, dtype).map_err(|e| e.to_string())?;
    Ok(Pixels::Samples(real.to_buffer(desc.with_layout(layout))))
}
