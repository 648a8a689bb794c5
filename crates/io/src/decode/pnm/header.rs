//! The headers of PBM, PGM, PPM and PAM.

use super::{Fault, cut};

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// At least 1.
    pub(super) width: u32,
    /// At least 1.
    pub(super) height: u32,
    /// 1 to 4: gray, gray and alpha, rgb, rgba.
    pub(super) channels: u32,
    /// The number of full intensity, 1 to 65535.
    pub(super) largest: u32,
    /// Where the samples begin.
    pub(super) data: usize,
}

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// P1: digits 0 and 1.
    PlainBits,
    /// P2, P3: decimal numbers.
    Plain,
    /// P4: bits.
    Bits,
    /// P5, P6, P7: bytes, or two of them for a number above 255.
    Raw,
}

impl Header {
    /// Bytes that the samples take, at least.
    pub(super) fn least_bytes(&self) -> u64 {
        let (width, height) = (u64::from(self.width), u64::from(self.height));
        let samples = width * height * u64::from(self.channels);
        match self.kind {
            Kind::Bits => width.div_ceil(8) * height,
            Kind::PlainBits => samples,
            // The last one need not be followed by a space.
            Kind::Plain => samples.saturating_mul(2) - 1,
            Kind::Raw => samples * if self.largest > 255 { 2 } else { 1 },
        }
    }
}

/// The header at the start of a file.
pub(super) fn read(file: &[u8]) -> Result<Header, Fault> {
    let header = match file.get(..2).ok_or_else(cut)? {
        b"P7" => pam(file)?,
        b"P1" => pnm(file, Kind::PlainBits, 1)?,
        b"P2" => pnm(file, Kind::Plain, 1)?,
        b"P3" => pnm(file, Kind::Plain, 3)?,
        b"P4" => pnm(file, Kind::Bits, 1)?,
        b"P5" => pnm(file, Kind::Raw, 1)?,
        b"P6" => pnm(file, Kind::Raw, 3)?,
        _ => return Err(Fault::Corrupt("it begins with no number from P1 to P7".to_owned())),
    };
    let Header { width, height, largest, .. } = header;
    if width == 0 || height == 0 || !(1..=65535).contains(&largest) {
        let text = format!("its header says {width}x{height} pixels and samples up to {largest}");
        return Err(Fault::Corrupt(text));
    }
    Ok(header)
}

fn pnm(file: &[u8], kind: Kind, channels: u32) -> Result<Header, Fault> {
    let mut at = 2;
    let (width, height) = (number(file, &mut at)?, number(file, &mut at)?);
    let largest = match kind {
        Kind::Bits | Kind::PlainBits => 1,
        Kind::Plain | Kind::Raw => number(file, &mut at)?,
    };
    // One byte of space, behind which raw samples begin.
    match file.get(at) {
        Some(byte) if byte.is_ascii_whitespace() => {}
        Some(_) => return Err(Fault::Corrupt("its header has no end".to_owned())),
        None => return Err(cut()),
    }
    Ok(Header { kind, width, height, channels, largest, data: at + 1 })
}

/// Lines of a word and its value, up to `ENDHDR`.
fn pam(file: &[u8]) -> Result<Header, Fault> {
    let mut header = Header { kind: Kind::Raw, width: 0, height: 0, channels: 0, largest: 0, data: 0 };
    let mut tuples = String::new();
    let mut at = 2;
    loop {
        let rest = file.get(at..).ok_or_else(cut)?;
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(cut)?;
        at += length + 1;
        let line = String::from_utf8_lossy(&rest[..length]);
        let (word, value) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let value = value.trim();
        let target = match word {
            "ENDHDR" => break,
            "WIDTH" => &mut header.width,
            "HEIGHT" => &mut header.height,
            "DEPTH" => &mut header.channels,
            "MAXVAL" => &mut header.largest,
            "TUPLTYPE" => {
                value.clone_into(&mut tuples);
                continue;
            }
            _ if word.is_empty() || word.starts_with('#') => continue,
            _ => return Err(Fault::Corrupt(format!("its header has a line '{word}'"))),
        };
        *target = value.parse().map_err(|_| Fault::Corrupt(format!("its {word} is '{value}'")))?;
    }
    header.data = at;
    let known = match tuples.as_str() {
        "" => (1..=4).contains(&header.channels),
        "BLACKANDWHITE" | "GRAYSCALE" => header.channels == 1,
        "BLACKANDWHITE_ALPHA" | "GRAYSCALE_ALPHA" => header.channels == 2,
        "RGB" => header.channels == 3,
        "RGB_ALPHA" => header.channels == 4,
        _ => false,
    };
    let kind = || format!("its pixels are {} samples of kind '{tuples}', not gray or rgb", header.channels);
    if known { Ok(header) } else { Err(Fault::Corrupt(kind())) }
}

/// Passes space and comments.
pub(super) fn skip_space(file: &[u8], at: &mut usize) {
    while let Some(byte) = file.get(*at) {
        match byte {
            b'#' => *at += file[*at..].iter().take_while(|&&byte| byte != b'\n').count(),
            byte if byte.is_ascii_whitespace() || *byte == 0x0B => *at += 1,
            _ => return,
        }
    }
}

/// A decimal number behind space and comments.
pub(super) fn number(file: &[u8], at: &mut usize) -> Result<u32, Fault> {
    skip_space(file, at);
    let digits = file.get(*at..).unwrap_or_default();
    let digits = &digits[..digits.iter().take_while(|byte| byte.is_ascii_digit()).count()];
    *at += digits.len();
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match file.get(*at) {
        None if digits.is_empty() => Err(cut()),
        _ => text
            .parse()
            .map_err(|_| Fault::Corrupt(format!("'{text}' at byte {at} is no number that it can have"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_with_comments_and_without() {
        let header = read(b"P5 # gray\n3\t2 #\n#\n1023\nabc").unwrap();
        assert_eq!((header.width, header.height, header.largest, header.channels), (3, 2, 1023, 1));
        assert_eq!((header.data, header.least_bytes()), (23, 12));
        assert_eq!(read(b"P4\n9 2\n").unwrap().least_bytes(), 4);
        let pam =
            read(b"P7\n# x\nWIDTH 3\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n")
                .unwrap();
        assert_eq!((pam.channels, pam.least_bytes()), (2, 12));
    }

    #[test]
    fn headers_that_are_none_are_refused() {
        for text in [
            "P5",
            "P5\n",
            "P5 3",
            "P5 3 2",
            "P5 3 2 255",
            "P5 0 2 255\n",
            "P5 3 2 0\n",
            "P5 3 2 65536\n",
            "P5 -3 2 255\n",
            "P5 99999999999 2 255\n",
            "P5 3 2 255x",
            "P7\nWIDTH 3\nENDHDR\n",
            "P7\nENDHDR",
            "P7\nWIDTH x\n",
            "P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n",
            "P8 1 1 1\n",
            "P",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
