use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use mip_core::text::quoted;

use crate::failure::Failure;

/// A program of FFmpeg's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Ffmpeg,
    Ffprobe,
}

/// Settings of glibc's allocator: a raw frame has megabytes, and without this each one's memory is asked of the system
/// anew, which clears it, and given back. Other systems know no such variables.
const ALLOCATION: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "33554432"), ("MALLOC_TRIM_THRESHOLD_", "268435456")];

impl Program {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ffmpeg => "ffmpeg",
            Self::Ffprobe => "ffprobe",
        }
    }

    /// The variable that names another one than the first in `PATH`.
    const fn variable(self) -> &'static str {
        match self {
            Self::Ffmpeg => "MIP_FFMPEG",
            Self::Ffprobe => "MIP_FFPROBE",
        }
    }

    /// The program, to be given arguments. It reads nothing of ours, and a signal for us (Ctrl-C) is none for it: what it has
    /// under way is finished as we decide.
    pub(super) fn command(self) -> Result<Command, Failure> {
        let given = std::env::var_os(self.variable()).filter(|given| !given.is_empty());
        if let Some(given) = given.as_deref().filter(|given| !Path::new(given).is_absolute()) {
            return Err(Failure::Request(format!(
                "{} is '{}', but must be an absolute path of {}",
                self.variable(),
                quoted(&given.to_string_lossy()),
                self.name()
            )));
        }
        let mut command = Command::new(given.as_deref().unwrap_or(self.name().as_ref()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        for (variable, value) in ALLOCATION {
            if std::env::var_os(variable).is_none() {
                command.env(variable, value);
            }
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(command)
    }

    /// Why it could not be started.
    pub(super) fn not_started(self, command: &Command, error: &io::Error) -> Failure {
        let (name, variable) = (self.name(), self.variable());
        let program = quoted(&command.get_program().to_string_lossy()).into_owned();
        Failure::Running(if error.kind() == io::ErrorKind::NotFound {
            format!(
                "video files need {name}, and there is no '{program}'; install FFmpeg (`apt install ffmpeg`, `brew install \
                 ffmpeg`, https://ffmpeg.org), or name the program in {variable}"
            )
        } else {
            format!("cannot start '{program}': {error}; {variable} names another {name}")
        })
    }
}
