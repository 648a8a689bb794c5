//! Much at once, by several threads: what holds a file on a fast disk or in memory up is the copy into the system's cache, at some
//! 4 GB/s a thread.

use std::fs::File;
use std::io::{self, Write as _};

/// Bytes of a part at least: less is written sooner than another thread is awake.
const SHORTEST: usize = 256 << 10;
/// Parts at most.
const MOST: usize = 4;

/// Writes at the file's place, as `write` does; all of it where there is much.
pub(super) fn write(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    let parts = (bytes.len() / SHORTEST).min(MOST);
    if parts < 2 { file.write(bytes) } else { write_parts(file, bytes, parts) }
}

#[cfg(unix)]
fn write_parts(file: &mut File, bytes: &[u8], parts: usize) -> io::Result<usize> {
    use std::io::{Seek as _, SeekFrom};
    use std::os::unix::fs::FileExt as _;
    use std::sync::Mutex;

    let start = file.stream_position()?;
    let length = bytes.len().div_ceil(parts);
    let failed = Mutex::new(None);
    let shared = &*file;
    let put = |number: usize, part: &[u8]| {
        let at = start + (number * length) as u64;
        if let Err(error) = shared.write_all_at(part, at) {
            failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
        }
    };
    rayon::in_place_scope(|scope| {
        let (put, (own, others)) = (&put, bytes.split_at(length));
        for (number, part) in (1..).zip(others.chunks(length)) {
            scope.spawn(move |_| put(number, part));
        }
        put(0, own);
    });
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        None => file.seek(SeekFrom::Start(start + bytes.len() as u64)).map(|_| bytes.len()),
        // Later parts may be there without one before them.
        Some(error) => file.set_len(start).and(Err(error)),
    }
}

#[cfg(not(unix))]
fn write_parts(file: &mut File, bytes: &[u8], _: usize) -> io::Result<usize> {
    file.write(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Read as _, Seek as _};

    use super::*;

    #[test]
    fn parts_come_to_lie_in_their_order_behind_what_is_there() {
        let mut file = tempfile::tempfile().unwrap();
        let mut wanted = Vec::new();
        for (n, length) in [1, 5 * SHORTEST + 13, 3, 2 * SHORTEST, 2 * SHORTEST - 1].into_iter().enumerate() {
            let bytes: Vec<u8> = (0..length).map(|i| (i / 7 + i / 1000 + n) as u8).collect();
            file.write_all(&[n as u8]).unwrap();
            assert_eq!(write(&mut file, &bytes).unwrap(), length);
            wanted.push(n as u8);
            wanted.extend(bytes);
        }
        let mut found = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut found).unwrap();
        assert!(found == wanted);
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let mut file = File::open(named.path()).unwrap();
        assert!(write(&mut file, &vec![1; 4 * SHORTEST]).is_err());
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
