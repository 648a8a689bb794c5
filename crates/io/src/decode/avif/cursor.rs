//! Numbers one after another.

use super::super::Fault;

/// What is left to read.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    /// A number of so many bytes, the highest first; of none it is 0.
    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, Fault> {
        let front = self.take(bytes)?;
        if bytes > 8 {
            return Err(damaged("a number has too many bytes"));
        }
        Ok(front.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The version of a box that has one, with its flags behind it.
    pub(super) fn version(&mut self) -> Result<u64, Fault> {
        Ok(self.number(4)? >> 24)
    }

    pub(super) fn kind(&mut self) -> Result<[u8; 4], Fault> {
        Ok((self.number(4)? as u32).to_be_bytes())
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], Fault> {
        let (front, rest) = self.0.split_at_checked(bytes).ok_or_else(|| damaged("a box is too short"))?;
        self.0 = rest;
        Ok(front)
    }
}

/// A file whose boxes make no sense.
pub(super) fn damaged(what: &str) -> Fault {
    Fault::Corrupt(format!("its boxes make no sense: {what}"))
}
