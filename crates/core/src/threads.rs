//! Starting threads. Everything that needs one starts it here, so that a system which has none to give
//! (`ulimit -u`, no address space for a stack) is an error everywhere and never a panic.

#[cfg(any(test, feature = "testing"))]
use std::cell::Cell;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::faults::{self, Fault};

/// A thread that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot start a thread to {purpose}: {reason}; end other programs or raise `ulimit -u` and `ulimit -v`"
)]
pub struct NoThread {
    /// What for ("decode images").
    pub purpose: String,
    /// What the system said.
    pub reason: String,
}

/// Starts a thread that is to `purpose` ("decode images").
///
/// # Errors
/// [`NoThread`].
pub fn spawn<T: Send + 'static>(
    name: &str,
    purpose: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, NoThread> {
    started(purpose, || builder(name).spawn(work))
}

/// [`spawn`] for a thread that ends with `scope`.
///
/// # Errors
/// [`NoThread`].
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    purpose: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, NoThread> {
    started(purpose, || builder(name).spawn_scoped(scope, work))
}

/// Tries `make` with `max` threads, then with ever fewer, down to one; says with how many it worked.
///
/// # Errors
/// What `make` says for one thread.
pub fn as_many_as_there_are<T, E>(
    max: usize,
    mut make: impl FnMut(usize) -> Result<T, E>,
) -> Result<(usize, T), E> {
    let mut count = max.max(1);
    loop {
        match make(count) {
            Err(_) if count > 1 => count /= 2,
            result => return result.map(|made| (count, made)),
        }
    }
}

/// For tests: of the threads that `work` asks for on the calling thread, only so many can be had. Feature `testing`.
#[cfg(any(test, feature = "testing"))]
pub fn with_at_most<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    let before = LEFT.replace(Some(threads));
    let result = work();
    LEFT.set(before);
    result
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

fn builder(name: &str) -> Builder {
    // A zero byte in a thread's name is refused with a panic.
    Builder::new().name(name.replace('\0', ""))
}

fn started<T>(purpose: &str, start: impl FnOnce() -> std::io::Result<T>) -> Result<T, NoThread> {
    let none = |reason: String| NoThread { purpose: purpose.to_owned(), reason };
    #[cfg(any(test, feature = "testing"))]
    match LEFT.get() {
        Some(0) => return Err(none("a test lets there be no more".to_owned())),
        Some(left) => LEFT.set(Some(left - 1)),
        None => {}
    }
    if faults::strikes(Fault::Thread) {
        return Err(none("a test lets this fail".to_owned()));
    }
    start().map_err(|error| none(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_run_out_and_come_back() {
        with_at_most(1, || {
            let first = spawn("a\0b", "test", || 7).unwrap();
            assert_eq!(first.join().unwrap(), 7);
            let refused = spawn("b", "test", || 8).unwrap_err().to_string();
            assert!(refused.starts_with("cannot start a thread to test: ") && refused.contains("ulimit -u"));
        });
        assert!(spawn("c", "test", || 9).is_ok());
    }

    #[test]
    fn fewer_threads_are_tried() {
        let make = |limit: usize| move |count: usize| if count <= limit { Ok(()) } else { Err(count) };
        assert_eq!(as_many_as_there_are(8, make(3)), Ok((2, ())));
        assert_eq!(as_many_as_there_are(8, make(8)), Ok((8, ())));
        assert_eq!(as_many_as_there_are(8, make(0)), Err(1));
    }
}
