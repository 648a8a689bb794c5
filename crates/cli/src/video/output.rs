use std::io::{Write, stdout};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use mip_core::text::{quoted, quoted_path};
use mip_core::{ImageBuffer, threads};
use mip_io::WholeFile;
use mip_io::y4m::Y4mWriter;
use mip_io::yuv::Planes;

use super::Target;
use crate::failure::Failure;
use crate::work::Limits;

/// Where video goes.
pub(crate) struct Output {
    writer: Y4mWriter<To>,
}

enum To {
    Stdout,
    File(Box<WholeFile>),
}

/// Where results go, and the thread that writes them.
pub(crate) type Started = (SyncSender<ImageBuffer>, JoinHandle<Result<Output, Failure>>);

/// Results that wait to be written.
const BEHIND: usize = 2;

/// Refuses names that promise something other than Y4M.
pub(crate) fn check_extension(path: &Path) -> Result<(), Failure> {
    match path.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("y4m") => Err(Failure::Request(format!(
            "{} has extension '.{}', but mip stream writes .y4m; for other formats pipe it into ffmpeg: \
             `mip stream ... | ffmpeg -f yuv4mpegpipe -i - {}`",
            quoted_path(path),
            quoted(&extension.to_string_lossy()),
            quoted_path(path)
        ))),
        _ => Ok(()),
    }
}

impl Output {
    /// Opens a file, or stdout, and writes the header. A file appears only when it is complete.
    pub(crate) fn create(path: Option<&Path>, target: &Target) -> Result<Self, Failure> {
        let (to, name) = match path {
            Some(path) => (To::File(Box::new(WholeFile::create(path)?)), quoted_path(path)),
            None => (To::Stdout, "stdout".to_owned()),
        };
        Ok(Self { writer: Y4mWriter::new(to, &name, &target.header)? })
    }

    /// Writes on a thread of its own. When writing fails, sending does.
    ///
    /// # Errors
    /// When there is no memory for a frame, or no thread.
    pub(crate) fn start(mut self, target: &Target, limits: &Limits) -> Result<Started, Failure> {
        let (send, results): (_, Receiver<ImageBuffer>) = sync_channel(BEHIND);
        let converter = target.converter();
        let (width, height, sampling) = (target.header.width, target.header.height, target.header.sampling);
        let held = limits.reserve("a frame as it is written", target.header.sizes().bytes())?;
        let short = |error: mip_core::ImageError| Failure::Running(error.to_string());
        let mut planes = Planes::new(width, height, sampling).map_err(short)?;
        let work = move || {
            let _held = held;
            for image in results {
                converter.write(&image.view(), &mut planes);
                drop(image);
                self.writer.write(&planes)?;
            }
            Ok(self)
        };
        let thread = threads::spawn("mip-write", "write video", work);
        Ok((send, thread.map_err(|none| Failure::Running(none.to_string()))?))
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
