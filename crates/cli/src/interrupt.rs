//! INT, TERM and HUP: what is whole is finished, what is not leaves nothing behind, and the exit code is 128 + n.
//!
//! A command ends at once unless it asked, by [`finish_first`], to finish what is under way; a second signal ends that
//! too. Signals that were ignored when the program began (`nohup`) stay ignored.

use std::convert::Infallible;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::console;

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signal(i32);

impl Signal {
    /// `SIGINT`
    pub(crate) fn name(self) -> &'static str {
        low_level::signal_name(self.0).unwrap_or("a signal")
    }

    /// 128 + its number, as shells count.
    pub(crate) const fn exit_code(self) -> u8 {
        128 + self.0 as u8
    }
}

/// Tells a command that it is to finish what is under way and begin nothing new.
#[derive(Debug, Clone)]
pub(crate) struct Stop(Receiver<Infallible>);

impl Stop {
    /// The signal that came, if one has.
    pub(crate) fn signal(&self) -> Option<Signal> {
        let came = matches!(self.0.try_recv(), Err(TryRecvError::Disconnected));
        came.then(|| lock().signal).flatten()
    }

    /// Ready (closed) as soon as a signal has come: for `select!`.
    pub(crate) const fn receiver(&self) -> &Receiver<Infallible> {
        &self.0
    }

    /// One that never comes, and what keeps it from coming.
    pub(crate) fn never() -> (Sender<Infallible>, Self) {
        let (open, stop) = bounded(0);
        (open, Self(stop))
    }
}

#[derive(Debug)]
struct State {
    /// The first that came.
    signal: Option<Signal>,
    /// Held while a command finishes by itself; dropped to tell it.
    finishing: Option<Sender<Infallible>>,
}

static STATE: Mutex<State> = Mutex::new(State { signal: None, finishing: None });

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal does not end the command but tells it to finish: call it before the first result is written.
pub(crate) fn finish_first() -> Stop {
    let (open, stop) = bounded(0);
    let mut state = lock();
    while state.signal.is_some() {
        // Too late: `end` is at work.
        drop(state);
        std::thread::park();
        state = lock();
    }
    state.finishing = Some(open);
    Stop(stop)
}

/// Begins to listen for signals. Where no thread can be had signals end the program as they always do.
pub(crate) fn listen() {
    // A file that reaches its limit (`ulimit -f`) is an error of that write; unhandled, the signal would end the program.
    // The flag is never read: that there is a handler is what counts.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let ignored = ignored_signals();
    let signals: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|n| ignored >> (n - 1) & 1 == 0).collect();
    let (ready, registered) = bounded::<io::Result<()>>(1);
    let thread = Builder::new().name("signals".to_owned()).spawn(move || match Signals::new(signals) {
        Ok(mut signals) => {
            let _ = ready.send(Ok(()));
            signals.forever().for_each(|number| arrived(Signal(number)));
        }
        Err(error) => drop(ready.send(Err(error))),
    });
    if thread.is_ok() {
        let _ = registered.recv();
    }
}

/// The signals that whoever started this program had it ignore, as bits from 0 for signal 1; none where the system does
/// not say.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn arrived(signal: Signal) {
    let mut state = lock();
    if state.signal.is_some() {
        mip_io::try_remove_unfinished();
        low_level::exit(signal.exit_code().into());
    }
    state.signal = Some(signal);
    if state.finishing.take().is_some() {
        drop(state);
        aside(announce, signal);
    } else {
        drop(state);
        aside(end, signal);
    }
}

fn announce(signal: Signal) {
    let name = signal.name();
    console::note(format_args!("{name}: finishing what is under way; a second one ends at once"));
}

/// Ends a command that has nothing to finish. Without the exit handlers of libraries: its threads still run.
fn end(signal: Signal) {
    mip_io::remove_unfinished();
    let (error, code) = (format!("interrupted by {}", signal.name()), signal.exit_code());
    if std::env::args_os().any(|argument| argument == "--json") {
        let document = json!({ "error": error, "exit_code": code, "interrupted": signal.name() });
        let _ = console::json(&document);
    }
    console::note(error);
    low_level::exit(code.into());
}

/// Printing may wait for whoever reads; the next signal must not.
fn aside(work: fn(Signal), signal: Signal) {
    if Builder::new().spawn(move || work(signal)).is_err() {
        work(signal);
    }
}
