//! A folder of 200 pictures, 20 of which are bad, each in a way of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use mip_core::{DType, PixelFormat};

use crate::support::{Place, Ran};

pub(crate) const GOOD: usize = 180;
pub(crate) const BAD: usize = 20;

/// The folder `in`, and what is known of it.
pub(crate) struct Folder {
    pub(crate) place: Place,
    /// What bad files are called in reports.
    pub(crate) bad: BTreeSet<String>,
    /// What good ones become, by name.
    pub(crate) right: BTreeMap<String, Vec<u8>>,
}

const RUN: [&str; 12] = [
    "run",
    "-e",
    "gaussian_blur kernel=3 ! flip",
    "in",
    "-o",
    "out",
    "--keep-going",
    "--json",
    "--device",
    "cpu",
    "--max-pixels",
    "1000000",
];

/// The arguments of a run over the folder.
pub(crate) fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], more].concat()
}

impl Folder {
    /// Makes the folder, and runs it once without a disturbance.
    pub(crate) fn new() -> Self {
        let place = Place::new();
        (0..GOOD).for_each(|number| good(&place, number));
        let bad = bad(&place);
        assert_eq!(bad.len(), BAD);
        // Neither is a picture, whatever it is called; reading the pipe would wait for ever.
        std::fs::create_dir(place.path("in/folder.png")).unwrap();
        place.sh("mkfifo in/pipe.png");
        let mut folder = Self { place, bad, right: BTreeMap::new() };
        let ran = folder.place.mip(&arguments(&[]));
        folder.check_whole(&ran);
        folder.right = folder.found();
        folder
    }

    /// What `out` holds.
    pub(crate) fn found(&self) -> BTreeMap<String, Vec<u8>> {
        let names = self.place.list("out").into_iter();
        names.map(|name| (name.clone(), self.place.bytes(&format!("out/{name}")))).collect()
    }

    /// All bytes of `in`.
    pub(crate) fn inputs(&self) -> BTreeMap<OsString, Vec<u8>> {
        let entries = std::fs::read_dir(self.place.path("in")).unwrap().map(Result::unwrap);
        let plain = entries.filter(|entry| entry.file_type().unwrap().is_file());
        plain.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect()
    }

    /// A run that nothing disturbed: every good result, and the name of every bad file.
    pub(crate) fn check_whole(&self, ran: &Ran) {
        let document = ran.json();
        assert_eq!(ran.code, 1, "{ran:?}");
        let counts = ["frames", "failed", "not_tried"].map(|key| document[key].as_u64().unwrap() as usize);
        let named: BTreeSet<String> = errors(&document).collect();
        assert_eq!((&named, counts), (&self.bad, [GOOD, BAD, 0]), "{ran:?}");
        assert_eq!(document["outputs"].as_array().unwrap().len(), GOOD);
        assert_eq!(self.place.list("out").len(), GOOD);
        for text in ["panicked", "internal error", "\u{1b}"] {
            assert!(!ran.stderr.contains(text), "{text}: {ran:?}");
        }
        assert!(self.bad.iter().all(|name| ran.stderr.contains(name.as_str())), "{ran:?}");
    }
}

/// The inputs that a report says have failed.
pub(crate) fn errors(document: &serde_json::Value) -> impl Iterator<Item = String> {
    document["errors"].as_array().unwrap().iter().map(|error| error["input"].as_str().unwrap().to_owned())
}

fn good(place: &Place, number: usize) {
    let extension = if number % 3 == 1 { "jpg" } else { "png" };
    let name = match number {
        7 => "in/007 [a-z] *.png".to_owned(),
        70 => "in/070 \u{1b}[31m\n.png".to_owned(),
        _ => format!("in/{number:03}.{extension}"),
    };
    let (format, dtype) = match number % 12 {
        3 => (PixelFormat::Gray, DType::U8),
        5 => (PixelFormat::Rgba, DType::U8),
        9 => (PixelFormat::Rgb, DType::U16),
        _ => (PixelFormat::Rgb, DType::U8),
    };
    // A few of a shape together, so that batches form.
    let size = 16 + number as u32 / 5 % 7;
    place.picture(&name, (size + 5, size), format, dtype, number as u32);
}

/// Writes the bad ones between the others; gives what they are called in reports.
fn bad(place: &Place) -> BTreeSet<String> {
    let png = place.bytes("in/000.png");
    let jpeg = place.bytes("in/001.jpg");
    let refused = |name: &str| {
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../io/tests/jpeg/refused").join(name))
            .unwrap()
    };
    let palette = |bytes: &[u8]| {
        let more = [chunk(*b"PLTE", bytes), chunk(*b"IDAT", &zlib(&[0; 20])), chunk(*b"IEND", &[])].concat();
        [header(4, 4, 8, 3), more].concat()
    };
    let data =
        |header: Vec<u8>, rows: &[u8]| [header, chunk(*b"IDAT", &zlib(rows)), chunk(*b"IEND", &[])].concat();
    // Two rows of two pixels of 16 bits, the second with filter 9 of 0 to 4.
    let filter = [&[0; 13][..], &[9], &[0; 12]].concat();
    let mut checksum = png.clone();
    let end = checksum.len();
    // The last byte of the checksum of the data, before the 12 bytes of IEND.
    checksum[end - 13] ^= 1;
    let bad: [(&[u8], Vec<u8>); BAD - 1] = [
        (b"cut.png", png[..png.len() / 2].to_vec()),
        (b"cut.jpg", jpeg[..jpeg.len() - 30].to_vec()),
        (b"palette of 4.png", palette(&[1, 2, 3, 4])),
        (b"palette of 5.png", palette(&[1, 2, 3, 4, 5])),
        (b"bomb.png", data(header(23_000, 23_000, 8, 2), &vec![0; 30_000])),
        (b"junk.jpg", (0..5000_u32).map(|i| (i * i / 7) as u8).collect()),
        (b"empty.png", Vec::new()),
        (b"text.jpg", b"no picture".to_vec()),
        (b"cut scan.jpg", refused("cut_scans_APP1.jpg")),
        (b"lost restart.jpg", refused("restarts_lost.jpg")),
        (b"lost scan.jpg", refused("scans_lost_1.jpg")),
        (b"two heights.jpg", refused("DNL_contradicts.jpg")),
        (b"arithmetic.jpg", refused("other_processes_C9.jpg")),
        (b"not utf-8 \xff\xfe.png", png[..50].to_vec()),
        (b"control \x1b[31m\r\n\x07.png", png[..50].to_vec()),
        (b"checksum.png", checksum),
        (b"filter.png", data(header(2, 2, 16, 2), &filter)),
        (b"no columns.png", data(header(0, 4, 8, 2), &[0; 4])),
        (b"gif.png", b"GIF89a\x01\0\x01\0\0\0\0;".to_vec()),
    ];
    let name = |index: usize, end: &[u8]| {
        let start = format!("in/{:03} ", index * 9 + 4);
        OsString::from_vec([start.as_bytes(), end].concat())
    };
    let mut named = BTreeSet::new();
    for (index, (end, bytes)) in bad.iter().enumerate() {
        let name = name(index, end);
        std::fs::write(place.path(".").join(&name), bytes).unwrap();
        named.insert(mip_io::input_name(Path::new(&name)));
    }
    let link = name(BAD - 1, b"dangling.png");
    std::os::unix::fs::symlink("nowhere", place.path(".").join(&link)).unwrap();
    assert!(link.as_bytes().ends_with(b"png"));
    named.insert(mip_io::input_name(Path::new(&link)));
    named
}

fn header(width: u32, height: u32, depth: u8, color: u8) -> Vec<u8> {
    let body = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, color, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(*b"IHDR", &body)].concat()
}

fn chunk(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
    let checked = [&kind[..], body].concat();
    let checksum = checked.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
    });
    [&(body.len() as u32).to_be_bytes()[..], &checked, &(!checksum).to_be_bytes()].concat()
}

/// Stored, without compression; up to 65,535 bytes.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    let parts = [&[0x78, 1, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), bytes];
    [&parts.concat()[..], &(b << 16 | a).to_be_bytes()].concat()
}
