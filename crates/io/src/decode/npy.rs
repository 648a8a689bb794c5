//! NumPy's arrays (NEP 1, format versions 1.0 to 3.0): every dtype as (height, width),
//! (height, width, channels) or (channels, height, width).

use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};

use super::look::Needs;
use super::{Fault, Reader};

/// What a header may have at most; NumPy's own have 118 bytes.
const LONGEST_HEADER: usize = 32 << 10;

impl Reader {
    /// 1, 3 and 4 channels are gray, rgb and rgba; an axis of length 1 may stand before the others.
    pub(super) fn decode_npy(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        let (header, data) = header(file)?;
        let Array { desc, swapped } = header.array()?;
        self.check_size(desc.width(), desc.height())?;
        let bytes = file.get(data..).unwrap_or_default();
        let short =
            || Fault::Truncated(format!("it has {} of {} bytes of values", bytes.len(), desc.bytes()));
        let bytes = bytes.get(..desc.bytes()).ok_or_else(short)?;
        let mut image = self.buffer(desc)?;
        let mut view = image.view_mut();
        let target = view.data_mut();
        target.copy_from_slice(bytes);
        if swapped {
            target.chunks_exact_mut(desc.dtype().size()).for_each(<[u8]>::reverse);
        }
        Ok(image)
    }
}

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let Array { desc, .. } = header(first).ok()?.0.array().ok()?;
    Some(Needs { width: desc.width(), height: desc.height(), pixels: desc.bytes(), scratch: 0 })
}

/// A header as it stands.
#[derive(Debug, Default, PartialEq, Eq)]
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<u64>,
}

/// A header understood.
struct Array {
    desc: ImageDesc,
    /// Whether the bytes of values stand in the other order than this machine's.
    swapped: bool,
}

fn corrupt(text: impl Into<String>) -> Fault {
    Fault::Corrupt(text.into())
}

/// The header, and where the values begin.
fn header(file: &[u8]) -> Result<(Header, usize), Fault> {
    let cut = || Fault::Truncated("it stops inside its header".to_owned());
    let version = *file.get(6).ok_or_else(cut)?;
    let (start, length) = match version {
        1 => {
            let bytes = file.get(8..10).and_then(<[u8]>::first_chunk).ok_or_else(cut)?;
            (10, usize::from(u16::from_le_bytes(*bytes)))
        }
        2 | 3 => {
            let bytes = file.get(8..12).and_then(<[u8]>::first_chunk).ok_or_else(cut)?;
            (12, u32::from_le_bytes(*bytes) as usize)
        }
        other => return Err(corrupt(format!("version {other} of the format is not known here"))),
    };
    if length > LONGEST_HEADER {
        return Err(corrupt(format!("its header has {length} bytes")));
    }
    let text = file.get(start..start + length).ok_or_else(cut)?;
    let text = std::str::from_utf8(text).map_err(|_| corrupt("its header is no text"))?;
    Ok((Text(text).header()?, start + length))
}

impl Header {
    fn array(&self) -> Result<Array, Fault> {
        let (dtype, little) = self.dtype()?;
        if self.fortran_order {
            return Err(corrupt("its values are in Fortran order; save it with np.ascontiguousarray(array)"));
        }
        let (height, width, channels, layout) =
            self.image_shape().ok_or_else(|| corrupt(self.shape_refused()))?;
        let format = match channels {
            1 => PixelFormat::Gray,
            3 => PixelFormat::Rgb,
            _ => PixelFormat::Rgba,
        };
        let side = |side: u64| u32::try_from(side).unwrap_or(u32::MAX);
        let desc = ImageDesc::new(side(width), side(height), format, dtype)?.with_layout(layout);
        Ok(Array { desc, swapped: dtype.size() > 1 && little != cfg!(target_endian = "little") })
    }

    /// The sample type, and whether its bytes begin with the least.
    fn dtype(&self) -> Result<(DType, bool), Fault> {
        let (order, kind) = match self.descr.split_at_checked(1) {
            Some(("<" | "|", kind)) => (true, kind),
            Some((">", kind)) => (false, kind),
            Some(("=", kind)) => (cfg!(target_endian = "little"), kind),
            _ => (cfg!(target_endian = "little"), self.descr.as_str()),
        };
        let dtype = match kind {
            "u1" => DType::U8,
            "u2" => DType::U16,
            "i2" => DType::I16,
            "i4" => DType::I32,
            "f2" => DType::F16,
            "f4" => DType::F32,
            _ => {
                let text = format!(
                    "its values are '{}'; save it with array.astype('uint8'), 'uint16', 'int16', 'int32', 'float16' or 'float32'",
                    self.descr
                );
                return Err(corrupt(text));
            }
        };
        Ok((dtype, order))
    }

    /// Height, width, channels and where these stand: a last axis of 1, 3 or 4 is channels, and only when it is none, a
    /// first one of 3 or 4.
    fn image_shape(&self) -> Option<(u64, u64, u64, Layout)> {
        match self.shape[..] {
            [height, width, channels @ (1 | 3 | 4)] | [1, height, width, channels @ (1 | 3 | 4)] => {
                Some((height, width, channels, Layout::Hwc))
            }
            [channels @ (3 | 4), height, width] | [1, channels @ (3 | 4), height, width] => {
                Some((height, width, channels, Layout::Chw))
            }
            [height, width] | [1, height, width] => Some((height, width, 1, Layout::Hwc)),
            _ => None,
        }
    }

    fn shape_refused(&self) -> String {
        let shape = self.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let remedy = match self.shape[..] {
            [_, _, _, 1 | 3 | 4] | [_, 3 | 4, _, _] => "save each image of it as its own file",
            _ => {
                "save it as (height, width), (height, width, channels) or (channels, height, width) with 1, 3 or 4 channels"
            }
        };
        format!("its shape is ({shape}); {remedy}")
    }
}

/// The rest of a header, a dictionary as Python prints it.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn header(mut self) -> Result<Header, Fault> {
        let wrong = || corrupt("its header is no dictionary of descr, fortran_order and shape");
        let mut header = Header::default();
        let mut seen = [false; 3];
        self.take('{').ok_or_else(wrong)?;
        while self.take('}').is_none() {
            let key = self.string().ok_or_else(wrong)?;
            self.take(':').ok_or_else(wrong)?;
            match key {
                "descr" if self.0.trim_start().starts_with('[') => {
                    return Err(corrupt("its values have fields; save one of them: array['name']"));
                }
                "descr" => {
                    self.string().ok_or_else(wrong)?.clone_into(&mut header.descr);
                    seen[0] = true;
                }
                "fortran_order" => {
                    header.fortran_order = self.truth().ok_or_else(wrong)?;
                    seen[1] = true;
                }
                "shape" => {
                    header.shape = self.tuple().ok_or_else(wrong)?;
                    seen[2] = true;
                }
                _ => return Err(wrong()),
            }
            // The last one has a comma too, as NumPy writes it.
            if self.take(',').is_none() && !self.0.trim_start().starts_with('}') {
                return Err(wrong());
            }
        }
        if seen == [true; 3] { Ok(header) } else { Err(wrong()) }
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(wanted)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (text, rest) = rest[1..].split_once(quote)?;
        self.0 = rest;
        Some(text)
    }

    fn truth(&mut self) -> Option<bool> {
        let rest = self.0.trim_start();
        let (value, word) = if rest.starts_with("True") { (true, "True") } else { (false, "False") };
        self.0 = rest.strip_prefix(word)?;
        Some(value)
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        let (inside, rest) = self.0.trim_start().strip_prefix('(')?.split_once(')')?;
        self.0 = rest;
        let inside = inside.trim().strip_suffix(',').unwrap_or(inside).trim();
        if inside.is_empty() {
            return Some(Vec::new());
        }
        // Python 2 wrote long numbers with an L.
        inside.split(',').map(|number| number.trim().trim_end_matches('L').parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(dictionary: &str, values: usize) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((dictionary.len() as u16).to_le_bytes());
        file.extend(dictionary.as_bytes());
        file.extend((0..values).map(|i| i as u8));
        file
    }

    fn read(descr: &str, order: &str, shape: &str) -> Result<String, String> {
        let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}     \n");
        let image = Reader::default().read_bytes(&file(&text, 1000), "x.npy");
        image.map(|image| image.desc().to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn shapes_and_types() {
        assert_eq!(read("'|u1'", "False", "(2, 5)").unwrap(), "5x2 gray u8");
        assert_eq!(read("'<u2'", "False", "(2, 5, 3)").unwrap(), "5x2 rgb u16");
        assert_eq!(read("'<f4'", "False", "(2,5,4)").unwrap(), "5x2 rgba f32");
        assert_eq!(read("'>f4'", "False", "(1, 2, 5, 1)").unwrap(), "5x2 gray f32");
        assert_eq!(read("'u1'", "False", "(1, 2, 5)").unwrap(), "5x2 gray u8");
        assert_eq!(read("'u1'", "False", "(1L, 2L, 3L)").unwrap(), "2x1 rgb u8");
        assert_eq!(read("'<f2'", "False", "(3, 2, 5)").unwrap(), "5x2 rgb f16 chw");
        assert_eq!(read("'<i2'", "False", "(1, 4, 2, 5)").unwrap(), "5x2 rgba i16 chw");
        assert_eq!(read("'|u1'", "False", "(4, 2, 3)").unwrap(), "2x4 rgb u8");
    }

    #[test]
    fn what_is_refused_has_a_remedy() {
        let refused = |descr, order, shape| read(descr, order, shape).unwrap_err();
        assert!(
            refused("'<f8'", "False", "(2, 5)")
                .contains("'uint16', 'int16', 'int32', 'float16' or 'float32'")
        );
        assert!(refused("'|b1'", "False", "(2, 5)").contains("astype"));
        assert!(refused("[('x', '<f4')]", "False", "(2, 5)").contains("array['name']"));
        assert!(refused("'|u1'", "True", "(2, 5)").contains("np.ascontiguousarray(array)"));
        assert!(refused("'|u1'", "False", "(7, 2, 5, 3)").contains("as its own file"));
        for shape in ["()", "(4,)", "(2, 5, 2)", "(1, 1, 1, 1, 1)"] {
            assert!(refused("'|u1'", "False", shape).contains("save it as (height, width)"), "{shape}");
        }
        assert!(refused("'|u1'", "False", "(0, 5)").contains("no pixels"));
        assert!(refused("'|u1'", "False", "(100, 100)").contains("it has 1000 of 10000 bytes"));
        for dictionary in ["", "{", "{}", "{'descr': '|u1'}", "{'descr' '|u1', 'shape': (1, 1)}", "[1]"] {
            let error = Reader::default().read_bytes(&file(dictionary, 9), "x.npy").unwrap_err().to_string();
            assert!(error.contains("its header is no dictionary"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_header_at_all_is_read_or_refused(text in "[-{}()',:\\[\\] 0-9LTFa-z|<>=\u{e9}]{0,60}") {
            let _ = Reader::default().read_bytes(&file(&text, 100), "x.npy");
        }

        #[test]
        fn headers_as_numpy_prints_them(height in 1_u32..9, width in 1_u32..9, channels in prop::sample::select(vec![1, 3, 4])) {
            let shape = format!("({height}, {width}, {channels})");
            let text = read("'|u1'", "False", &shape).unwrap();
            let size = format!("{width}x{height} ");
            prop_assert!(text.starts_with(&size));
        }
    }
}
