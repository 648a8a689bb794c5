//! Reads NumPy's `.npy` files (version 1, little endian, C order), as much as the golden images need.

/// An array of numbers, widened to f64 without loss.
#[derive(Debug, PartialEq)]
pub(super) struct Array {
    /// NumPy's type code: `|u1`, `<u2`, `<i4`, `<f4`, `<f8`.
    pub(super) descr: String,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Array, String> {
    let header_len = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, 0, low, high, ..] => {
            usize::from(u16::from_le_bytes([*low, *high]))
        }
        _ => return Err("no .npy file of version 1".to_owned()),
    };
    let (header, data) = bytes[10..].split_at_checked(header_len).ok_or("header cut off")?;
    let header = std::str::from_utf8(header).map_err(|e| e.to_string())?;
    let after = |key: &str| {
        let at = header.find(key).ok_or_else(|| format!("no {key} in {header}"))?;
        Ok::<&str, String>(header[at + key.len()..].trim_start())
    };
    if !after("'fortran_order':")?.starts_with("False") {
        return Err("columns first".to_owned());
    }
    let descr = after("'descr':")?.split('\'').nth(1).ok_or("no type")?.to_owned();
    let shape = after("'shape':")?.trim_start_matches('(').split(')').next().unwrap_or_default();
    let shape = shape.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::parse);
    let shape: Vec<usize> = shape.collect::<Result<_, _>>().map_err(|e| format!("shape: {e}"))?;
    let values: Vec<f64> = match descr.as_str() {
        "|u1" => data.iter().map(|&v| f64::from(v)).collect(),
        "<u2" => chunks(data).map(|v| f64::from(u16::from_le_bytes(v))).collect(),
        "<i4" => chunks(data).map(|v| f64::from(i32::from_le_bytes(v))).collect(),
        "<f4" => chunks(data).map(|v| f64::from(f32::from_le_bytes(v))).collect(),
        "<f8" => chunks(data).map(f64::from_le_bytes).collect(),
        other => return Err(format!("values of type {other}")),
    };
    let count: usize = shape.iter().product();
    if values.len() == count { Ok(Array { descr, shape, values }) } else { Err("data cut off".to_owned()) }
}

fn chunks<const N: usize>(data: &[u8]) -> impl Iterator<Item = [u8; N]> {
    data.chunks_exact(N).map(|chunk| chunk.try_into().expect("N bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn reads_what_numpy_writes() {
        let bytes = file("{'descr': '<u2', 'fortran_order': False, 'shape': (1, 2), }\n", &[1, 2, 3, 0]);
        let array = Array { descr: "<u2".to_owned(), shape: vec![1, 2], values: vec![513.0, 3.0] };
        assert_eq!(parse(&bytes), Ok(array));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let error = |header, data: &[u8]| parse(&file(header, data)).unwrap_err();
        assert_eq!(
            error("{'descr': '<f8', 'fortran_order': True, 'shape': (1,), }", &[0; 8]),
            "columns first"
        );
        assert_eq!(
            error("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[0; 8]),
            "data cut off"
        );
        assert_eq!(
            error("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", &[0; 8]),
            "values of type >f8"
        );
        assert!(parse(b"PNG").is_err());
    }
}
