//! Reading a file into memory: looked at first, and no more of it than there is room for.

use std::fs;
use std::io::Read;
use std::path::Path;

use mip_core::{ImageError, OverBudget, Reservation, faults};

use super::look::{self, FIRST};
use super::{Reader, describe};
use crate::{FileFormat, IoError, is_stdin, open_input};

/// Bytes that are read at a time where the length is not known.
const PIECE: usize = 1 << 20;

impl Reader {
    /// Reads a file into `self.file`, and takes the memory that decoding it needs.
    pub(super) fn fill(
        &mut self,
        path: &Path,
        name: &str,
        admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
    ) -> Result<(FileFormat, Reservation), IoError> {
        let failed = |source| IoError::Read { path: path.to_owned(), source };
        let mut file = open_input(path).map_err(failed)?;
        // Pipes and devices say 0, and of stdin only the rest may be left.
        let about = if is_stdin(path) { None } else { Some(fs::metadata(path).map_err(failed)?) };
        let length = about.filter(fs::Metadata::is_file);
        let length = length.map(|about| usize::try_from(about.len()).unwrap_or(usize::MAX));
        self.file.clear();
        (&mut file).take(FIRST as u64).read_to_end(&mut self.file).map_err(failed)?;
        let format = self.sniff(path, name)?;
        let needs = look::needs(format, &self.file, self.options.jpeg_scale);
        if let Some(needs) = needs {
            self.check_size(needs.width, needs.height).map_err(|fault| fault.name(name, format, self))?;
        }
        let decoding = needs.map_or(0, |needs| needs.pixels.saturating_add(needs.scratch));
        let mut held = self.admit(length.unwrap_or(0).saturating_add(decoding), name, admit)?;
        match length {
            Some(length) => self.read_rest(file.take((length as u64).saturating_sub(FIRST as u64)), length),
            None => self.read_pieces(file, &mut held, decoding, name),
        }
        .map_err(|error| match error {
            Short::Io(source) => failed(source),
            Short::Other(error) => error,
            Short::Memory(bytes) => {
                let what = "reading the file".to_owned();
                IoError::Image { name: name.to_owned(), source: ImageError::OutOfMemory { bytes, what } }
            }
        })?;
        // The directory of a TIFF file may lie anywhere in it.
        if let Some(needs) =
            needs.is_none().then(|| look::needs(format, &self.file, self.options.jpeg_scale)).flatten()
        {
            self.check_size(needs.width, needs.height).map_err(|fault| fault.name(name, format, self))?;
            let all = self.file.len().saturating_add(needs.pixels).saturating_add(needs.scratch);
            let more = |source| IoError::Memory { name: name.to_owned(), source };
            held.grow_to(all).map_err(more)?;
        }
        Ok((format, held))
    }

    /// What `self.file` is, which lies at `path`.
    pub(super) fn sniff(&self, path: &Path, name: &str) -> Result<FileFormat, IoError> {
        let found = || IoError::NotAnImage { name: name.to_owned(), found: describe(&self.file) };
        FileFormat::sniff(&self.file, path).ok_or_else(found)
    }

    fn admit(
        &self,
        bytes: usize,
        name: &str,
        admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
    ) -> Result<Reservation, IoError> {
        // Nobody else may wait for memory that is only kept for the sake of speed.
        if self.budget.held().saturating_add(bytes) > self.budget.limit() / 2 {
            self.spares.clear();
        }
        admit(bytes).map_err(|source| IoError::Memory { name: name.to_owned(), source })
    }

    fn read_rest(&mut self, mut rest: impl Read, length: usize) -> Result<(), Short> {
        let missing = length.saturating_sub(self.file.len());
        faults::try_reserve_exact(&mut self.file, missing).map_err(|_| Short::Memory(missing))?;
        rest.read_to_end(&mut self.file).map(drop).map_err(Short::Io)
    }

    fn read_pieces(
        &mut self,
        mut file: impl Read,
        held: &mut Reservation,
        decoding: usize,
        name: &str,
    ) -> Result<(), Short> {
        loop {
            let more = |source| Short::Other(IoError::Memory { name: name.to_owned(), source });
            held.grow_to((self.file.len() + PIECE).saturating_add(decoding)).map_err(more)?;
            faults::try_reserve(&mut self.file, PIECE).map_err(|_| Short::Memory(PIECE))?;
            let read = (&mut file).take(PIECE as u64).read_to_end(&mut self.file).map_err(Short::Io)?;
            if read == 0 {
                return Ok(());
            }
        }
    }
}

enum Short {
    Io(std::io::Error),
    Memory(usize),
    Other(IoError),
}
