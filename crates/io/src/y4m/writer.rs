use std::io::Write;

use super::{Y4mError, Y4mHeader};
use crate::yuv::Planes;

/// Writes frames as a Y4M stream. Each frame is flushed: no buffer is needed in between.
#[derive(Debug)]
pub struct Y4mWriter<W> {
    output: W,
    name: String,
    frame: u64,
}

impl<W: Write> Y4mWriter<W> {
    /// Writes the header. `name` stands for the stream in errors.
    ///
    /// # Errors
    /// [`Y4mError::Write`].
    pub fn new(output: W, name: &str, header: &Y4mHeader) -> Result<Self, Y4mError> {
        let mut writer = Self { output, name: name.to_owned(), frame: 0 };
        writer.write_all(format!("{header}\n").as_bytes())?;
        Ok(writer)
    }

    /// Frames written so far.
    pub const fn frames(&self) -> u64 {
        self.frame
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// [`Y4mError::Write`].
    pub fn write(&mut self, planes: &Planes) -> Result<(), Y4mError> {
        self.write_all(b"FRAME\n")?;
        self.write_all(planes.bytes())?;
        // Whoever reads the pipe gets each frame when it is done.
        let flushed = self.output.flush();
        flushed.map_err(|source| Y4mError::Write { name: self.name.clone(), source })?;
        self.frame += 1;
        Ok(())
    }

    /// Gives the output back.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Y4mError> {
        let written = self.output.write_all(bytes);
        written.map_err(|source| Y4mError::Write { name: self.name.clone(), source })
    }
}
