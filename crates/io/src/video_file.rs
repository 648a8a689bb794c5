use std::fs::File;
use std::path::Path;

use crate::FileFormat;
use crate::y4m::fill;

/// Extensions by which a file is taken for video where its content does not say what it is.
const EXTENSIONS: [&str; 26] = [
    "3gp", "asf", "avi", "dv", "f4v", "flv", "h264", "h265", "hevc", "ivf", "m2ts", "m4v", "mkv", "mov",
    "mp4", "mpeg", "mpg", "mts", "mxf", "nut", "ogv", "ts", "vob", "webm", "wmv", "y4m",
];

/// First bytes of containers, and where they stand.
const MAGIC: [(usize, &[u8]); 16] = [
    (4, b"moov"),
    (4, b"mdat"),
    (4, b"wide"),
    (0, b"\x1A\x45\xDF\xA3"),
    (8, b"AVI "),
    (0, b"OggS"),
    (0, b"FLV\x01"),
    (0, b"\x30\x26\xB2\x75\x8E\x66\xCF\x11"),
    (0, b"\0\0\x01\xBA"),
    (0, b"\0\0\x01\xB3"),
    (0, b"\x06\x0E\x2B\x34\x02\x05\x01\x01"),
    (0, b"nut/multimedia container\0"),
    (0, b"YUV4MPEG2"),
    (0, b"DKIF\0\0"),
    (4, b"skip"),
    (4, b"free"),
];

/// Kinds of the container of MP4 that hold pictures.
const PICTURES: [&[u8]; 7] = [b"avif", b"avis", b"heic", b"heix", b"mif1", b"msf1", b"jxl "];

/// Whether a file holds video, or sound in a container for video, as far as its first bytes tell; by its name where they tell
/// nothing. Pictures are none, nor is a GIF; pipes and devices are not looked at.
pub fn is_video_file(path: &Path) -> bool {
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut first = [0; 200];
    let read = File::open(path).and_then(|mut file| fill(&mut file, &mut first));
    match read {
        Ok(read) => holds_video(&first[..read], path),
        // Whoever reads it says what is wrong.
        Err(_) => has_video_extension(path),
    }
}

/// Whether the name of a file promises video.
pub fn has_video_extension(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| *known == extension))
}

fn holds_video(first: &[u8], path: &Path) -> bool {
    let at = |place: usize, magic: &[u8]| first.get(place..).is_some_and(|rest| rest.starts_with(magic));
    if at(4, b"ftyp") {
        return !PICTURES.iter().any(|brand| at(8, brand));
    }
    let packets = |size: usize, from: usize| at(from, b"G") && at(from + size, b"G");
    if MAGIC.iter().any(|(place, magic)| at(*place, magic)) || packets(188, 0) || packets(192, 4) {
        return true;
    }
    FileFormat::sniff(first, path).is_none() && has_video_extension(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_goes_before_the_name() {
        let is = |first: &[u8], name: &str| holds_video(first, Path::new(name));
        assert!(is(b"\0\0\0\x20ftypisom\0\0", "a.png") && is(b"\x1A\x45\xDF\xA3\0", "a"));
        assert!(is(b"RIFF\0\0\0\0AVI LIST", "a") && is(b"??", "a.MKV") && is(b"", "a.mp4"));
        let mut packets = vec![b'G'; 1];
        packets.resize(188, 0);
        assert!(!is(&packets, "a.x"));
        packets.push(b'G');
        assert!(is(&packets, "a.x"));
        for (first, name) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], "a.mp4"),
            (b"GIF89a", "a.gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "a.webp"),
            (b"\0\0\0\x20ftypavif", "a.avif"),
            (b"#!/bin/sh", "a.sh"),
        ] {
            assert!(!is(first, name), "{name}");
        }
        assert!(!is_video_file(Path::new("/no/such.mp4")) && !is_video_file(Path::new("/")));
    }

    #[test]
    fn each_extension_is_known_once() {
        let mut all: Vec<&str> = EXTENSIONS.to_vec();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(all.iter().all(|extension| FileFormat::from_extension(extension).is_none()));
    }
}
