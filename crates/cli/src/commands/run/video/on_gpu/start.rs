//! Where a stream can be cut: packets whose picture and all behind it need nothing that was before.

use mip_cuda::video::VideoCodec;

/// Whether a stream can begin with that packet. Where it cannot be told, it cannot.
pub(super) fn begins_a_stream(codec: VideoCodec, packet: &[u8]) -> bool {
    match codec {
        // IDR pictures (ITU-T H.264 table 7-1, H.265 table 7-1). Pictures behind other random access points may need those before.
        VideoCodec::H264 => first_picture(packet, |header| (header & 31, 1..=5)) == Some(5),
        VideoCodec::Hevc => {
            matches!(first_picture(packet, |header| (header >> 1 & 63, 0..=31)), Some(19 | 20))
        }
        // The frame tag's first bit (RFC 6386 9.1).
        VideoCodec::Vp8 => packet.first().is_some_and(|byte| byte & 1 == 0),
        // Marker, two bits of the profile, whether a frame is shown again, its kind (VP9 bitstream 6.2); profile 3 has a bit more.
        VideoCodec::Vp9 => {
            packet.first().is_some_and(|byte| byte >> 6 == 2 && byte >> 4 & 3 != 3 && byte & 0b1100 == 0)
        }
        VideoCodec::Av1 => begins_av1(packet),
        _ => false,
    }
}

/// Whether a temporal unit of AV1 has a sequence header, and its first picture is a key frame that is shown: its frame header
/// begins with whether a frame is shown again, its kind, and whether it is shown (AV1 bitstream 5.3, 5.9.2).
fn begins_av1(mut unit: &[u8]) -> bool {
    let mut sequence = false;
    while let Some((kind, body, rest)) = obu(unit) {
        match kind {
            1 => sequence = true,
            3 | 6 => return sequence && body.first().is_some_and(|byte| byte & 0xF0 == 0x10),
            _ => {}
        }
        unit = rest;
    }
    false
}

/// The kind of an open bitstream unit, what it holds, and what is behind it. `None` where there is none that is whole.
fn obu(unit: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&header, mut rest) = unit.split_first()?;
    if header & 4 != 0 {
        rest = rest.get(1..)?;
    }
    let mut bytes = rest.len();
    if header & 2 != 0 {
        // Seven bits a byte, the lowest first.
        let last = rest.iter().take(8).position(|byte| byte & 0x80 == 0)?;
        let size = rest[..=last].iter().rev().fold(0_u64, |sum, byte| sum << 7 | u64::from(byte & 0x7F));
        rest = &rest[last + 1..];
        bytes = usize::try_from(size).ok()?;
    }
    Some((header >> 3 & 15, rest.get(..bytes)?, &rest[bytes..]))
}

/// The kind of the first unit that holds a part of a picture; `kind` tells that of a header, and which are such.
fn first_picture(packet: &[u8], kind: impl Fn(u8) -> (u8, std::ops::RangeInclusive<u8>)) -> Option<u8> {
    let starts = packet.windows(4).filter(|bytes| bytes[..3] == [0, 0, 1]);
    starts.map(|bytes| kind(bytes[3])).find(|(kind, pictures)| pictures.contains(kind)).map(|(kind, _)| kind)
}

#[test]
fn streams_begin_with_pictures_that_stand_alone() {
    use VideoCodec as C;
    let unit =
        |headers: &[u8]| headers.iter().flat_map(|header| [0, 0, 0, 1, *header, 9]).collect::<Vec<u8>>();
    for (codec, packet, wanted) in [
        (C::H264, unit(&[9, 0x67, 0x68, 0x65]), true),
        (C::H264, unit(&[9, 6, 0x41]), false),
        (C::H264, unit(&[0x67, 0x68, 0x61, 0x65]), false),
        (C::H264, unit(&[]), false),
        (C::Hevc, unit(&[64, 66, 68, 38]), true),
        (C::Hevc, unit(&[64, 66, 68, 40]), true),
        (C::Hevc, unit(&[42]), false),
        (C::Vp8, vec![0x10], true),
        (C::Vp8, vec![0x11], false),
        (C::Vp9, vec![0x82], true),
        (C::Vp9, vec![0x86], false),
        (C::Vp9, vec![0x8A], false),
        // Temporal delimiter, sequence header, frame; the last two with sizes of one and of two bytes.
        (C::Av1, vec![0x12, 0, 0x0A, 1, 0, 0x32, 0x82, 0, 0x10, 0], true),
        (C::Av1, vec![0x12, 0, 0x0E, 0, 1, 0, 0x1A, 1, 0x1F], true),
        (C::Av1, vec![0x12, 0, 0x0A, 1, 0, 0x30, 0x10], true),
        (C::Av1, vec![0x12, 0, 0x32, 1, 0x10], false),
        (C::Av1, vec![0x12, 0, 0x0A, 1, 0, 0x32, 1, 0x30], false),
        (C::Av1, vec![0x12, 0, 0x0A, 1, 0, 0x32, 1, 0x00, 0x32, 1, 0x10], false),
        (C::Av1, vec![0x12, 0, 0x0A, 9, 0], false),
        (C::Av1, vec![0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], false),
        (C::Av1, vec![0x0A], false),
        (C::Av1, vec![], false),
    ] {
        assert_eq!(begins_a_stream(codec, &packet), wanted, "{codec:?} {packet:?}");
    }
}
