use std::path::Path;

use mip_core::{ImageBuffer, ImageDesc, OverBudget, Reservation};

use super::pages::Opened;
use super::{Reader, jpeg};
use crate::{FileFormat, IoError, Metadata, input_name};

/// An image file in memory, with the memory that decoding it takes. [`Reader::load`] gives it, [`Reader::decode`] takes it.
#[derive(Debug)]
pub struct Loaded {
    pub(super) name: String,
    pub(super) format: FileFormat,
    pub(super) bytes: Vec<u8>,
    pub(super) held: Reservation,
    pub(super) opened: Opened,
}

impl Loaded {
    /// What the file is, by its first bytes.
    pub const fn format(&self) -> FileFormat {
        self.format
    }

    /// Bytes of the file.
    pub const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The picture of a JPEG file that a decoder elsewhere (a GPU's) may be given: sequential, gray or YCbCr of 8 bits,
    /// sampled in a usual way, upright as it is stored, and with an end marker. Damage within its scans is not looked for.
    ///
    /// # Errors
    /// What else it is, in words for a list: then [`Reader::decode`] decodes it, or says what is wrong.
    pub fn plain_jpeg(&self) -> Result<ImageDesc, &'static str> {
        if self.format != FileFormat::Jpeg {
            return Err("no JPEG file");
        }
        jpeg::plain(&self.bytes)
    }

    /// Hands a file out, for a decoder elsewhere: its bytes, what it says beside its pixels, and the memory taken for
    /// the bytes. What was taken for decoding it is given back.
    pub fn hand_out(self) -> (Vec<u8>, Metadata, Reservation) {
        let Self { format, bytes, mut held, .. } = self;
        held.shrink_to(bytes.len());
        let metadata = Metadata::of(&bytes, format);
        (bytes, metadata, held)
    }
}

impl Reader {
    /// The first half of [`Reader::read_admitted`]: reads a file into memory without decoding it, for those who want to know
    /// how long either takes.
    ///
    /// # Errors
    /// As [`Reader::read`], but for what decoding finds.
    pub fn load(
        &mut self,
        path: impl AsRef<Path>,
        admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
    ) -> Result<Loaded, IoError> {
        let path = path.as_ref();
        let name = input_name(path);
        let (format, held) = self.fill(path, &name, admit)?;
        Ok(Loaded { name, format, bytes: std::mem::take(&mut self.file), held, opened: Opened::default() })
    }

    /// [`Reader::load`] of a file held in memory; `name` stands for it in errors.
    ///
    /// # Errors
    /// As [`Reader::load`].
    pub fn load_bytes(&mut self, bytes: &[u8], name: &str) -> Result<Loaded, IoError> {
        self.fill_bytes(bytes, name)?;
        let format = self.sniff(Path::new(name), name)?;
        let held =
            self.budget.reserve(0).map_err(|source| IoError::Memory { name: name.to_owned(), source })?;
        let bytes = std::mem::take(&mut self.file);
        Ok(Loaded { name: name.to_owned(), format, bytes, held, opened: Opened::default() })
    }

    /// The second half of [`Reader::read_admitted`].
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn decode(&mut self, file: Loaded) -> Result<ImageBuffer, IoError> {
        let Loaded { name, format, bytes, held, .. } = file;
        self.file = bytes;
        self.decode_held(format, held, &name)
    }
}
