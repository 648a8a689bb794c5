use std::io::{Write, stdout};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{JoinHandle, spawn};

use mip_core::ImageBuffer;
use mip_io::WholeFile;
use mip_io::y4m::Y4mWriter;
use mip_io::yuv::Planes;

use super::Target;
use crate::failure::Failure;

/// Where video goes.
pub(crate) struct Output {
    writer: Y4mWriter<To>,
}

enum To {
    Stdout,
    File(Box<WholeFile>),
}

/// Results that wait to be written.
const BEHIND: usize = 2;

/// Refuses names that promise something other than Y4M.
pub(crate) fn check_extension(path: &Path) -> Result<(), Failure> {
    match path.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("y4m") => Err(Failure::Request(format!(
            "{} has extension '.{}', but mip stream writes .y4m; for other formats pipe it into ffmpeg: \
             `mip stream ... | ffmpeg -f yuv4mpegpipe -i - {}`",
            path.display(),
            extension.display(),
            path.display()
        ))),
        _ => Ok(()),
    }
}

impl Output {
    /// Opens a file, or stdout, and writes the header. A file appears only when it is complete.
    pub(crate) fn create(path: Option<&Path>, target: &Target) -> Result<Self, Failure> {
        let (to, name) = match path {
            Some(path) => (To::File(Box::new(WholeFile::create(path)?)), path.display().to_string()),
            None => (To::Stdout, "stdout".to_owned()),
        };
        Ok(Self { writer: Y4mWriter::new(to, &name, &target.header)? })
    }

    /// Writes on a thread of its own. When writing fails, sending does.
    pub(crate) fn start(
        mut self,
        target: &Target,
    ) -> (SyncSender<ImageBuffer>, JoinHandle<Result<Self, Failure>>) {
        let (send, results): (_, Receiver<ImageBuffer>) = sync_channel(BEHIND);
        let converter = target.converter();
        let (width, height, sampling) = (target.header.width, target.header.height, target.header.sampling);
        let thread = spawn(move || {
            let mut planes = Planes::new(width, height, sampling);
            for image in results {
                converter.write(&image.view(), &mut planes);
                drop(image);
                self.writer.write(&planes)?;
            }
            Ok(self)
        });
        (send, thread)
    }

    /// Puts a file in its place; the number of frames.
    pub(crate) fn keep(self) -> Result<u64, Failure> {
        let frames = self.writer.frames();
        if let To::File(file) = self.writer.into_inner() {
            file.keep()?;
        }
        Ok(frames)
    }
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Stdout => stdout().write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Stdout => stdout().flush(),
            Self::File(file) => file.flush(),
        }
    }
}
