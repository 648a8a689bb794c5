//! Pages and frames of files that hold several, by programs that are not ours (`tests/pictures/make_cases.py`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mip_core::{ImageBuffer, MemoryBudget};
use mip_io::{IoError, Loaded, ReadOptions, Reader, WarningKind};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures")
}

/// What each file's pictures are, as `9x5 rgb u8`, and how long they are shown.
fn cases() -> BTreeMap<String, Vec<(String, Option<Duration>)>> {
    let mut cases: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for line in std::fs::read_to_string(folder().join("pages.txt")).unwrap().lines() {
        let [name, number, width, height, format, dtype, delay] = line.split(' ').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        let pages = cases.entry(name.to_owned()).or_default();
        assert_eq!(number.parse(), Ok(pages.len()));
        let delay = delay.parse().ok().map(Duration::from_millis);
        pages.push((format!("{width}x{height} {format} {dtype}"), delay));
    }
    cases
}

fn load(reader: &mut Reader, path: &Path) -> Loaded {
    let budget = reader.budget().clone();
    reader.load(path, |bytes| budget.reserve(bytes)).unwrap()
}

fn page(reader: &mut Reader, file: &mut Loaded, number: u64) -> Result<ImageBuffer, IoError> {
    let budget = reader.budget().clone();
    reader.decode_page(file, number, |bytes| budget.reserve(bytes))
}

/// Samples as files of the tests have them.
fn little_endian(image: &ImageBuffer) -> Vec<u8> {
    let mut samples = image.to_bytes();
    if cfg!(target_endian = "big") {
        samples.chunks_exact_mut(image.desc().dtype().size()).for_each(<[u8]>::reverse);
    }
    samples
}

#[test]
fn every_page_is_the_one_that_was_written() {
    let cases = cases();
    assert!(cases.len() > 8, "{}", cases.len());
    for (name, pages) in cases {
        let path = folder().join(&name);
        let mut reader = Reader::default();
        let found = reader.pages(&path).unwrap();
        let delays: Vec<_> = found.iter().map(|page| page.delay).collect();
        assert_eq!(delays, pages.iter().map(|(_, delay)| *delay).collect::<Vec<_>>(), "{name}");
        let wanted = std::fs::read(folder().join(format!("{name}.pages.raw"))).unwrap();
        let mut file = load(&mut reader, &path);
        let (mut starts, mut all) = (Vec::new(), Vec::new());
        for (number, (desc, _)) in (0..).zip(&pages) {
            let image = page(&mut reader, &mut file, number).unwrap();
            assert_eq!(image.desc().to_string(), *desc, "{name}[{number}]");
            starts.push(all.len());
            all.extend(little_endian(&image));
            assert!(all == wanted[..all.len()], "{name}[{number}]: pixels differ");
        }
        assert_eq!(all.len(), wanted.len(), "{name}");
        // In any order, and again.
        for number in (0..pages.len()).rev() {
            let image = little_endian(&page(&mut reader, &mut file, number as u64).unwrap());
            assert!(image == wanted[starts[number]..][..image.len()], "{name}[{number}], read again");
        }
        assert!(reader.take_warnings().iter().all(|warning| warning.kind != WarningKind::Further), "{name}");
        let beyond = page(&mut reader, &mut file, pages.len() as u64).unwrap_err();
        assert!(matches!(beyond, IoError::NoPage { .. }), "{beyond}");
    }
}

#[test]
fn other_files_have_one_picture() {
    let mut reader = Reader::default();
    for name in ["rgb.bmp", "plain.gif", "u8_3.tif"] {
        assert_eq!(reader.pages(folder().join(name)).unwrap().len(), 1, "{name}");
        let mut file = load(&mut reader, &folder().join(name));
        let image = page(&mut reader, &mut file, 0).unwrap();
        assert_eq!(image.to_bytes(), reader.read(folder().join(name)).unwrap().to_bytes(), "{name}");
        let text = page(&mut reader, &mut file, 1).unwrap_err().to_string();
        assert!(text.contains("holds 1 picture(s), counted from 0, and not picture 1 (--pages)"), "{text}");
    }
    assert!(matches!(reader.pages(folder().join("cases.txt")), Err(IoError::NotAnImage { .. })));
}

#[test]
fn what_is_whole_of_a_damaged_file_is_read() {
    let place = tempfile::tempdir().unwrap();
    for (name, keep) in [("moved.gif", 0.7), ("kinds.tif", 0.5)] {
        let whole = std::fs::read(folder().join(name)).unwrap();
        let path = place.path().join(name);
        std::fs::write(&path, &whole[..(whole.len() as f64 * keep) as usize]).unwrap();
        let mut reader = Reader::default();
        let pages = reader.pages(&path).unwrap().len() as u64;
        let mut file = load(&mut reader, &path);
        let read: Vec<bool> = (0..pages).map(|number| page(&mut reader, &mut file, number).is_ok()).collect();
        assert!(read.len() > 1 && read[0] && !read[read.len() - 1], "{name}: {read:?}");
        assert!(read.is_sorted_by(|a, b| a >= b), "{name}: {read:?}");
    }
}

#[test]
fn a_circle_of_pages_ends() {
    let place = tempfile::tempdir().unwrap();
    let mut file = std::fs::read(folder().join("pages.tif")).unwrap();
    let first = u32::from_le_bytes(*file[4..].first_chunk().unwrap()) as usize;
    let entries = usize::from(u16::from_le_bytes(*file[first..].first_chunk().unwrap()));
    let next = first + 2 + 12 * entries;
    file.copy_within(4..8, next);
    let path = place.path().join("circle.tif");
    std::fs::write(&path, file).unwrap();
    assert_eq!(Reader::default().pages(&path).unwrap().len(), 1);
}

#[test]
fn memory_for_pages_is_asked_for_and_given_back() {
    let budget = std::sync::Arc::new(MemoryBudget::new(16 << 20));
    let mut reader = Reader::within(ReadOptions::default(), budget.clone(), std::sync::Arc::default());
    let mut file = load(&mut reader, &folder().join("moved.gif"));
    let first = page(&mut reader, &mut file, 0).unwrap();
    let mut asked = 0;
    let second = reader.decode_page(&mut file, 1, |bytes| {
        asked = bytes;
        budget.reserve(bytes)
    });
    assert!(asked >= second.unwrap().desc().bytes());
    let refused = reader.decode_page(&mut file, 2, |_| budget.reserve(usize::MAX)).unwrap_err();
    assert!(matches!(refused, IoError::Memory { .. }), "{refused}");
    drop((first, file));
    assert_eq!(budget.held(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever the bytes, there are pages or an error.
    #[test]
    fn mutations_are_decoded_or_refused(
        name in prop::sample::select(cases().into_keys().collect::<Vec<_>>()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = std::fs::read(folder().join(&name)).unwrap();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let mut reader = Reader::new(ReadOptions { max_pixels: 1 << 16, ..ReadOptions::default() });
        let Ok(mut file) = reader.load_bytes(&bytes, &name) else { return Ok(()) };
        for number in 0..file.pages().len().min(20) as u64 {
            let read = page(&mut reader, &mut file, number);
            prop_assert!(!matches!(read, Err(IoError::Internal { .. })), "{}", read.unwrap_err());
        }
    }
}
