use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// Names the folder of the cache; an empty value turns the cache off.
const FOLDER_VARIABLE: &str = "MIP_CACHE_DIR";
/// First bytes of an entry: what it is, and the version of its form.
const MAGIC: &[u8; 8] = b"MIPCUBN1";
const HEADER: usize = MAGIC.len() + 32;

/// Compiled kernels on disk, shared by processes.
///
/// An entry is written to a temporary file and renamed, so that readers see whole entries only and writers
/// of the same entry do not disturb each other. It begins with a checksum of the rest: a damaged entry counts
/// as missing and is written anew. A cache that cannot be written costs time, nothing else; why is kept.
#[derive(Debug)]
pub(crate) struct KernelCache {
    folder: Option<PathBuf>,
    problem: Mutex<Option<String>>,
}

impl KernelCache {
    /// A cache in a folder, which is made when the first entry is written; `None` caches nothing.
    pub(crate) const fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, problem: Mutex::new(None) }
    }

    /// The folder that `MIP_CACHE_DIR` names, or `mini-image-pipe/kernels` where this platform keeps caches.
    pub(crate) fn default_folder() -> Option<PathBuf> {
        match std::env::var_os(FOLDER_VARIABLE) {
            Some(folder) if folder.is_empty() => None,
            Some(folder) => Some(folder.into()),
            None => Some(platform_folder()?.join("mini-image-pipe").join("kernels")),
        }
    }

    /// The name of an entry: a hash of everything the code depends on.
    pub(crate) fn key(parts: &[&str]) -> String {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hex(&hash.finalize())
    }

    /// The folder, if there is one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The last failure to write, if any.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The contents of an entry; `None` when it is missing or damaged.
    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let mut entry = fs::read(self.path(key)?).ok()?;
        let intact = entry.len() > HEADER
            && entry.starts_with(MAGIC)
            && entry[MAGIC.len()..HEADER] == *checksum(&entry[HEADER..]);
        intact.then(|| entry.split_off(HEADER))
    }

    /// Writes an entry.
    pub(crate) fn put(&self, key: &str, contents: &[u8]) {
        let Some(path) = self.path(key) else { return };
        if let Err(error) = Self::write(&path, contents) {
            let text = format!("cannot write {}: {error}", path.display());
            *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key}.cubin")))
    }

    fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&checksum(contents))?;
        file.write_all(contents)?;
        file.persist(path)?;
        Ok(())
    }
}

fn checksum(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

/// Where this platform keeps files that may be deleted at any time.
fn platform_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    let home = std::env::home_dir();
    if cfg!(target_os = "macos") {
        return home.map(|h| h.join("Library/Caches"));
    }
    variable("XDG_CACHE_HOME").or_else(|| home.map(|h| h.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &tempfile::TempDir) -> KernelCache {
        KernelCache::new(Some(folder.path().join("kernels")))
    }

    #[test]
    fn an_entry_comes_back_in_another_process() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(cache(&folder).get("a"), None);
        cache(&folder).put("a", b"machine code");
        assert_eq!(cache(&folder).get("a").as_deref(), Some(&b"machine code"[..]));
        assert_eq!(cache(&folder).get("b"), None);
    }

    #[test]
    fn damaged_entries_count_as_missing_and_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        cache.put("a", b"machine code");
        let path = cache.path("a").unwrap();
        let whole = fs::read(&path).unwrap();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let damaged =
            [Vec::new(), whole[..20].to_vec(), whole[..whole.len() - 1].to_vec(), flipped(0), flipped(50)];
        for bytes in damaged {
            fs::write(&path, bytes).unwrap();
            assert_eq!(cache.get("a"), None);
        }
        cache.put("a", b"machine code");
        assert_eq!(cache.get("a").as_deref(), Some(&b"machine code"[..]));
    }

    #[test]
    fn writers_and_readers_of_one_entry_never_see_half_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let contents = |n: u8| vec![n; 50_000 + usize::from(n)];
        std::thread::scope(|scope| {
            for n in 0..4 {
                let cache = cache(&folder);
                scope.spawn(move || (0..25).for_each(|_| cache.put("a", &contents(n))));
            }
            let cache = cache(&folder);
            for _ in 0..200 {
                if let Some(entry) = cache.get("a") {
                    assert_eq!(entry, contents(entry[0]));
                }
            }
        });
        let left = fs::read_dir(folder.path().join("kernels")).unwrap().count();
        assert_eq!(left, 1, "temporary files are gone");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_remembered_not_fatal() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "in the way").unwrap();
        let cache = KernelCache::new(Some(file));
        cache.put("a", b"machine code");
        assert!(cache.problem().unwrap().contains("cannot write"));
        assert_eq!(cache.get("a"), None);
        let off = KernelCache::new(None);
        off.put("a", b"machine code");
        assert_eq!((off.get("a"), off.problem()), (None, None));
    }

    #[test]
    fn keys_tell_parts_apart() {
        assert_ne!(KernelCache::key(&["ab", "c"]), KernelCache::key(&["a", "bc"]));
        assert_eq!(KernelCache::key(&["x"]).len(), 64);
    }
}
