//! Faults on demand, for tests: the nth thing of a kind that is asked of the system fails.
//!
//! Builds with debug assertions listen to the environment variable `MIP_FAULT`: `write:3` lets the third write of the
//! process fail, `write:3..` all from the third on. Every fault is said on stderr. In other builds (`--release`) there is
//! nothing of this: [`strikes`] is `false`, a constant.

use std::collections::TryReserveError;
use std::io;

/// A kind of thing that can be made to fail; its name in `MIP_FAULT` is in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Memory whose size comes from a user or a file.
    Alloc,
    /// A thread to be started.
    Thread,
    /// Opening a file to read it, and each read.
    Read,
    /// A folder or file to be made.
    Create,
    /// A write to a file.
    Write,
    /// A file to be given its name.
    Rename,
}

/// An error if this one is to fail.
///
/// # Errors
/// See [`strikes`].
pub fn check(fault: Fault) -> io::Result<()> {
    if strikes(fault) { Err(io::Error::other("a test lets this fail")) } else { Ok(()) }
}

/// Room for exactly so many more elements. Memory whose size comes from a user or a file is asked for here (or by
/// [`crate::AlignedBytes`]), so that there is one place for tests to refuse it.
///
/// # Errors
/// When there is no memory.
pub fn try_reserve_exact<T>(vector: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    if strikes(Fault::Alloc) { refused() } else { vector.try_reserve_exact(more) }
}

/// As [`try_reserve_exact`], for vectors that will grow again.
///
/// # Errors
/// When there is no memory.
pub fn try_reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    if strikes(Fault::Alloc) { refused() } else { vector.try_reserve(more) }
}

/// No address space has so much.
fn refused() -> Result<(), TryReserveError> {
    Vec::<u8>::new().try_reserve(usize::MAX)
}

/// Whether this one is to fail, which counts it.
#[cfg(not(debug_assertions))]
pub const fn strikes(_: Fault) -> bool {
    false
}

#[cfg(debug_assertions)]
pub use on::strikes;

#[cfg(debug_assertions)]
mod on {
    use std::io::{Write as _, stderr};
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Fault;

    /// What `MIP_FAULT` asks for.
    #[derive(Debug, PartialEq, Eq)]
    pub(super) struct Wanted {
        fault: String,
        first: u64,
        /// Whether all later ones fail as well.
        lasting: bool,
    }

    impl Wanted {
        pub(super) fn parse(text: &str) -> Option<Self> {
            let (fault, number) = text.split_once(':')?;
            let (number, lasting) =
                number.strip_suffix("..").map_or((number, false), |number| (number, true));
            Some(Self { fault: fault.to_owned(), first: number.parse().ok()?, lasting })
        }

        pub(super) const fn is_hit(&self, number: u64) -> bool {
            number == self.first || self.lasting && number > self.first
        }
    }

    static WANTED: LazyLock<Option<Wanted>> =
        LazyLock::new(|| Wanted::parse(&std::env::var("MIP_FAULT").ok()?));
    static COUNT: AtomicU64 = AtomicU64::new(0);

    /// Whether this one is to fail, which counts it.
    pub fn strikes(fault: Fault) -> bool {
        let Some(wanted) = &*WANTED else { return false };
        let name = format!("{fault:?}").to_ascii_lowercase();
        if wanted.fault != name {
            return false;
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        let hit = wanted.is_hit(number);
        if hit {
            let _ = writeln!(stderr().lock(), "MIP_FAULT: {name} {number} fails");
        }
        hit
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::on::Wanted;
    use super::*;

    #[test]
    fn one_fails_or_all_from_one_on() {
        let hits = |text: &str| {
            let wanted = Wanted::parse(text).unwrap();
            (1..=4).filter(|&number| wanted.is_hit(number)).collect::<Vec<u64>>()
        };
        assert_eq!((hits("write:3"), hits("write:3..")), (vec![3], vec![3, 4]));
        assert!(
            ["", "write", "write:", "write:x", "write:-1"].iter().all(|text| Wanted::parse(text).is_none())
        );
    }

    #[test]
    fn nothing_fails_unasked() {
        assert!(check(Fault::Write).is_ok() && !strikes(Fault::Alloc));
        assert!(try_reserve(&mut Vec::<u8>::new(), 3).is_ok() && refused().is_err());
    }
}
