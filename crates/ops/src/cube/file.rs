use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use mip_core::text::quoted;

use super::Cube;
use crate::Value;
use crate::field::Stored;

/// Bytes of a file at most: the largest table, with more digits than any program writes.
const MAX_BYTES: u64 = 32 << 20;

/// A .cube file as a parameter: its path, or its text, which is known by its line breaks. It is read once, when the parameter is set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CubeFile {
    given: String,
    read: Result<Arc<Cube>, String>,
}

impl CubeFile {
    /// Reads what is given.
    pub(crate) fn new(given: impl Into<String>) -> Self {
        let given = given.into();
        let read = if is_text(&given) { Cube::parse(&given) } else { read(Path::new(&given)) };
        Self { read: read.map(Arc::new), given }
    }

    /// The table, or what is wrong with it.
    pub(crate) fn cube(&self) -> Result<&Arc<Cube>, &str> {
        self.read.as_ref().map_err(String::as_str)
    }

    /// For messages.
    pub(crate) fn name(&self) -> String {
        if is_text(&self.given) { "a text".to_owned() } else { format!("\"{}\"", quoted(&self.given)) }
    }
}

impl Stored for CubeFile {
    fn to_value(&self) -> Value {
        Value::from(self.given.as_str())
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        Some(Self::new(text.as_str()))
    }
}

/// Whether a value is the contents of a file, not its path.
pub(crate) fn is_text(given: &str) -> bool {
    given.contains('\n')
}

fn read(path: &Path) -> Result<Cube, String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    // Opening what is no file may wait for somebody.
    let about = fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err("it is no file".to_owned());
    }
    let too_long = || format!("it has more than {MAX_BYTES} bytes");
    if about.len() > MAX_BYTES {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_long());
    }
    // Titles and comments may be in any encoding.
    Cube::parse(&String::from_utf8_lossy(&bytes))
}
