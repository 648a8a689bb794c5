use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mip_core::text::quoted_path;
use sha2::{Digest as _, Sha256};

use crate::environment;

/// Names the folder of the cache; an empty value turns the cache off.
const FOLDER_VARIABLE: &str = "MIP_CACHE_DIR";
/// First bytes of an entry: what it is, and the version of its form.
const MAGIC: &[u8; 8] = b"MIPCUBN2";
const HEADER: usize = MAGIC.len() + 32;

/// Compiled kernels on disk, shared by processes.
///
/// An entry is written to a temporary file and renamed, so that readers see whole entries only and writers
/// of the same entry do not disturb each other. It begins with a checksum of its name and the rest: a damaged entry,
/// and one under another's name, counts as missing and is written anew. A cache that cannot be written costs time,
/// nothing else; why is kept.
///
/// What is in the cache runs. So folders are made for their owner only, and a folder or an entry that belongs to
/// somebody else, or that others can write to, is not used.
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

    /// A cache in the folder that `MIP_CACHE_DIR` names, or in `mini-image-pipe/kernels` where this platform keeps
    /// caches. An empty value turns the cache off.
    ///
    /// # Errors
    /// A value of `MIP_CACHE_DIR` that is no absolute path.
    pub(crate) fn in_default_folder() -> Result<Self, String> {
        let named = environment::path(FOLDER_VARIABLE)?;
        let empty = named.is_none() && std::env::var_os(FOLDER_VARIABLE).is_some();
        let usual = || Some(platform_folder()?.join("mini-image-pipe").join("kernels"));
        Ok(Self::new(if empty { None } else { named.or_else(usual) }))
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

    /// Why the cache could not be used the last time that it could not, if there was one.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The contents of an entry; `None` when it is missing or damaged.
    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let folder = self.folder()?;
        let mut file = fs::File::open(&path).ok()?;
        let (outer, inner) = (fs::metadata(folder).ok()?, file.metadata().ok()?);
        if let Err(problem) = check_private(folder, &outer).and_then(|()| check_private(&path, &inner)) {
            self.note(problem);
            return None;
        }
        let mut entry = Vec::new();
        file.read_to_end(&mut entry).ok()?;
        let intact = entry.len() > HEADER
            && entry.starts_with(MAGIC)
            && entry[MAGIC.len()..HEADER] == *checksum(key, &entry[HEADER..]);
        intact.then(|| entry.split_off(HEADER))
    }

    /// Writes an entry.
    pub(crate) fn put(&self, key: &str, contents: &[u8]) {
        let Some(path) = self.path(key) else { return };
        if let Err(error) = Self::write(&path, key, contents) {
            self.note(format!("cannot write {}: {error}", quoted_path(&path)));
        }
    }

    fn note(&self, problem: String) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key}.cubin")))
    }

    fn write(path: &Path, key: &str, contents: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        create_private(folder)?;
        check_private(folder, &fs::metadata(folder)?).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&checksum(key, contents))?;
        file.write_all(contents)?;
        file.persist(path)?;
        Ok(())
    }
}

fn checksum(key: &str, bytes: &[u8]) -> Vec<u8> {
    Sha256::new().chain_update(key).chain_update(bytes).finalize().to_vec()
}

/// Makes a folder, and those above it, for this user only.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether a folder or an entry belongs to this user (or to root), and nobody else can write to it.
#[cfg(unix)]
fn check_private(path: &Path, found: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    let cannot =
        |what: &str| Err(format!("{} {what}; compiled kernels there are not used", quoted_path(path)));
    if found.uid() != user && found.uid() != 0 {
        return cannot("belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return cannot("can be written to by other users (`chmod go-w` ends that)");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(_: &Path, _: &fs::Metadata) -> Result<(), String> {
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

/// Where this platform keeps files that may be deleted at any time.
fn platform_folder() -> Option<PathBuf> {
    // By the XDG base directory specification a path that is not absolute is to be ignored.
    let variable = |name| environment::path(name).ok().flatten();
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute());
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
    fn an_entry_under_another_name_counts_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        cache.put("a", b"machine code");
        fs::copy(cache.path("a").unwrap(), cache.path("b").unwrap()).unwrap();
        assert_eq!(cache.get("b"), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let cache = cache(&place);
        cache.put("a", b"machine code");
        let (folder, entry) = (cache.folder().unwrap().to_owned(), cache.path("a").unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&entry) & 0o077), (0o700, 0), "private as made");
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for (path, before) in [(&folder, 0o700), (&entry, 0o600)] {
            set(path, before | 0o020);
            assert_eq!(cache.get("a"), None);
            assert!(cache.problem().unwrap().contains("chmod go-w"));
            set(path, before);
            assert_eq!(cache.get("a").as_deref(), Some(&b"machine code"[..]));
        }
        set(&folder, 0o777);
        cache.put("b", b"machine code");
        assert!(!cache.path("b").unwrap().exists());
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
