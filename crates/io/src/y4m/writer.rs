use std::io::Write;

use super::{Y4mError, Y4mHeader};

/// Writes frames as a Y4M stream. Each frame is flushed: no buffer is needed in between.
#[derive(Debug)]
pub struct Y4mWriter<W> {
    output: W,
    name: String,
    raw: bool,
    frame: u64,
}

impl<W: Write> Y4mWriter<W> {
    /// Writes the header. `name` stands for the stream in errors.
    ///
    /// # Errors
    /// [`Y4mError::Write`].
    pub fn new(output: W, name: &str, header: &Y4mHeader) -> Result<Self, Y4mError> {
        Self::with_header(output, name, Some(header))
    }

    /// As [`Y4mWriter::new`]; without a header raw video, nothing but the samples.
    ///
    /// # Errors
    /// [`Y4mError::Write`].
    pub fn with_header(output: W, name: &str, header: Option<&Y4mHeader>) -> Result<Self, Y4mError> {
        let mut writer = Self { output, name: name.to_owned(), raw: header.is_none(), frame: 0 };
        if let Some(header) = header {
            writer.write_all(format!("{header}\n").as_bytes())?;
        }
        Ok(writer)
    }

    /// Frames written so far.
    pub const fn frames(&self) -> u64 {
        self.frame
    }

    /// Writes a frame, the samples of its planes one after another, in as many pieces as they come.
    ///
    /// # Errors
    /// [`Y4mError::Write`].
    pub fn write<'a>(&mut self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<(), Y4mError> {
        if !self.raw {
            self.write_all(b"FRAME\n")?;
        }
        pieces.into_iter().try_for_each(|piece| self.write_all(piece))?;
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
