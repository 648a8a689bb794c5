//! Boxes of files in the ISO base media format (ISO/IEC 14496-12, section 4.2): JPEG XL and its kin lie in them.

use super::Fault;

/// A box, or the front of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Box<'a> {
    pub(crate) kind: [u8; 4],
    /// Its contents, as far as they are there.
    pub(crate) body: &'a [u8],
    /// Bytes that are not there.
    pub(crate) missing: u64,
}

impl<'a> Box<'a> {
    /// The contents, all of them.
    pub(super) fn whole(&self) -> Result<&'a [u8], Fault> {
        if self.missing == 0 {
            return Ok(self.body);
        }
        let (kind, has) = (self.kind.escape_ascii(), self.body.len());
        Err(Fault::Truncated(format!("its part '{kind}' has {has} of {} bytes", has as u64 + self.missing)))
    }
}

/// The boxes that lie behind each other. The last one may be cut; what is no box ends them.
pub(crate) fn boxes(mut rest: &[u8]) -> impl Iterator<Item = Box<'_>> {
    std::iter::from_fn(move || {
        let (found, behind) = split(rest)?;
        rest = behind;
        Some(found)
    })
}

fn split(bytes: &[u8]) -> Option<(Box<'_>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_first_chunk::<4>()?;
    let (body, rest) = match u32::from_be_bytes(*length) {
        // The last one, to the end of the file.
        0 => (rest.len() as u64, rest),
        1 => {
            let (length, rest) = rest.split_first_chunk::<8>()?;
            (u64::from_be_bytes(*length).checked_sub(16)?, rest)
        }
        length => (u64::from(length).checked_sub(8)?, rest),
    };
    let there = usize::try_from(body).unwrap_or(usize::MAX).min(rest.len());
    let (front, behind) = rest.split_at(there);
    Some((Box { kind: *kind, body: front, missing: body - there as u64 }, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_all_three_kinds_of_length() {
        let file = b"\0\0\0\x0aaaaaxy\0\0\0\x01bbbb\0\0\0\0\0\0\0\x12zw\0\0\0\0ccccrest";
        let found: Vec<_> = boxes(file).map(|found| (found.kind, found.body, found.missing)).collect();
        let wanted: [([u8; 4], &[u8], u64); 3] =
            [(*b"aaaa", b"xy", 0), (*b"bbbb", b"zw", 0), (*b"cccc", b"rest", 0)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_cut_is_known_to_be() {
        let cut = boxes(b"\0\0\0\x0caaaaxy").next().unwrap();
        assert_eq!((cut.body, cut.missing), (&b"xy"[..], 2));
        assert!(matches!(cut.whole(), Err(Fault::Truncated(text)) if text.contains("2 of 4 bytes")));
        for none in [&b""[..], b"\0\0\0\x07aaaa", b"\0\0\0\x08aaa", b"\0\0\0\x01aaaa\0\0\0\0\0\0\0\x0f"] {
            assert_eq!(boxes(none).next(), None);
        }
        let huge = boxes(b"\0\0\0\x01aaaa\xff\xff\xff\xff\xff\xff\xff\xff").next().unwrap();
        assert_eq!(huge.missing, u64::MAX - 16);
    }
}
