use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use mip_core::threads;

use super::program::Program;
use crate::failure::Failure;

/// Lines of what a program said that are kept: the last ones say why it ended.
const LINES: usize = 6;
/// Bytes of a line that are kept.
const LONGEST: u64 = 400;

/// A program that runs. Dropped before it has ended, it is killed.
#[derive(Debug)]
pub(super) struct Child {
    process: Mutex<process::Child>,
    said: Arc<Mutex<VecDeque<String>>>,
    /// Closed when all it said has been read.
    silent: Receiver<()>,
}

/// The ends of its pipes, where there are some.
pub(super) type Ends = (Option<ChildStdin>, Option<ChildStdout>);

impl Child {
    /// Starts a program. What it says is read as it comes, so that it never waits for that.
    pub(super) fn start(program: Program, command: &mut Command) -> Result<(Self, Ends), Failure> {
        let mut child = command.spawn().map_err(|error| program.not_started(command, &error))?;
        let ends = (child.stdin.take(), child.stdout.take());
        widen(&ends);
        let said: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let (open, silent) = bounded(0);
        let stderr = child.stderr.take();
        // From here on whatever fails ends the program.
        let running = Self { process: Mutex::new(child), said: said.clone(), silent };
        if let Some(stderr) = stderr {
            let listen = move || {
                listen(stderr, &said);
                drop(open);
            };
            threads::spawn("mip-listen", "hear what ffmpeg says", listen)
                .map_err(|none| Failure::Running(none.to_string()))?;
        }
        Ok((running, ends))
    }

    /// Waits for its end. Another thread may kill it meanwhile.
    pub(super) fn wait(&self) -> Result<ExitStatus, Failure> {
        let mut pause = Duration::from_micros(200);
        loop {
            let ended = lock(&self.process).try_wait();
            match ended {
                Ok(Some(status)) => {
                    // What it started may live on and keep its stderr open: that is not waited for.
                    let _ = self.silent.recv_timeout(Duration::from_secs(1));
                    return Ok(status);
                }
                // It closes its stderr when it ends, which is known at once.
                Ok(None) => match self.silent.recv_timeout(pause) {
                    Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_micros(200)),
                    Err(RecvTimeoutError::Timeout) | Ok(()) => {
                        pause = (pause * 2).min(Duration::from_millis(20));
                    }
                },
                Err(error) => return Err(Failure::Running(format!("cannot wait for ffmpeg: {error}"))),
            }
        }
    }

    /// The last lines that it said.
    pub(super) fn said(&self) -> Vec<String> {
        lock(&self.said).iter().cloned().collect()
    }

    pub(super) fn kill(&self) {
        // One that has ended cannot be killed.
        let _ = lock(&self.process).kill();
    }
}

/// Lets pipes hold as much as the system gives everybody, a third of a frame: they hold 64 KiB, and each time that they are full or
/// empty the two programs wait for each other. Where that is refused they stay as they are.
#[cfg(target_os = "linux")]
fn widen((input, output): &Ends) {
    const BYTES: usize = 1 << 20;
    if let Some(input) = input {
        let _ = rustix::pipe::fcntl_setpipe_size(input, BYTES);
    }
    if let Some(output) = output {
        let _ = rustix::pipe::fcntl_setpipe_size(output, BYTES);
    }
}

#[cfg(not(target_os = "linux"))]
const fn widen(_: &Ends) {}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        let _ = lock(&self.process).wait();
    }
}

/// How a program ended, and what it said last.
pub(super) fn ending(status: ExitStatus, said: &[String]) -> String {
    let said = if said.is_empty() { String::new() } else { format!(": {}", said.join("\n  ")) };
    format!("({status}){said}")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(stderr: ChildStderr, said: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match stderr.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        if !line.is_empty() {
            let mut said = lock(said);
            if said.len() == LINES {
                said.pop_front();
            }
            said.push_back(line);
        }
    }
}
