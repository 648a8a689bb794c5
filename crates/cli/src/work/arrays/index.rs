use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mip_core::{DType, ImageDesc, text};
use mip_io::{NpyStack, WholeFile};
use serde::Serialize;

use crate::console::SCHEMA;
use crate::failure::Failure;
use crate::work::Input;

/// What became of the arrays of a run.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Those that are in their place.
    pub(crate) shards: Vec<Shard>,
    /// Inputs of the rows that these have together.
    pub(crate) rows: Vec<usize>,
    /// Inputs whose results were rows of an array that was given up.
    pub(crate) given_up: Vec<usize>,
    /// The index, unless there is nothing to tell.
    pub(crate) index: Option<PathBuf>,
}

/// An array in its place.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Shard {
    /// Its file: beside the index, in `--json` as it was named.
    pub(crate) file: String,
    #[serde(skip)]
    pub(crate) path: PathBuf,
    /// The task whose results it holds.
    task: String,
    /// Which row of the whole its first one is.
    first_row: u64,
    rows: u64,
    /// As NumPy has them.
    shape: Vec<u64>,
    dtype: &'static str,
    /// The meaning of channels and axes: `rgb`, `chw`.
    format: String,
    layout: String,
}

impl Shard {
    pub(super) fn of(array: &NpyStack, desc: &ImageDesc, task: &str, first_row: u64) -> Self {
        let path = array.path().to_owned();
        Self {
            file: text::path(&path).into_owned(),
            path,
            task: task.to_owned(),
            first_row,
            rows: array.images(),
            shape: array.shape(),
            dtype: numpy_name(desc.dtype()),
            format: array.format().to_string(),
            layout: desc.layout().to_string(),
        }
    }
}

fn delay_ms(input: &Input) -> Option<f64> {
    Some(input.page?.delay?.as_secs_f64() * 1e3)
}

const fn numpy_name(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::F16 => "float16",
        DType::F32 => "float32",
    }
}

/// The file beside the arrays. Keys may be added, never changed.
#[derive(Serialize)]
struct Index<'a> {
    schema: u32,
    /// Whether every input was tried, so that those that are no rows are all in `failed`.
    complete: bool,
    arrays: Vec<Shard>,
    /// The input of each row, over all arrays of a task.
    rows: Vec<String>,
    /// How long the input of each row is shown, where all are frames of animations.
    #[serde(skip_serializing_if = "Option::is_none")]
    delays_ms: Option<Vec<f64>>,
    failed: Vec<Failed<'a>>,
}

#[derive(Serialize)]
struct Failed<'a> {
    input: String,
    error: &'a str,
}

impl Finished {
    /// Writes the index to `path`.
    pub(crate) fn write_index(
        &mut self,
        path: PathBuf,
        files: &[Input],
        failures: &BTreeMap<usize, Failure>,
        complete: bool,
    ) -> Result<(), Failure> {
        let name_of = |path: &Path| path.file_name().map(|name| text::path(Path::new(name)).into_owned());
        let beside =
            |shard: &Shard| Shard { file: name_of(&shard.path).unwrap_or_default(), ..shard.clone() };
        let failed = |(input, failure)| {
            let (input, failure): (&usize, &Failure) = (input, failure);
            Failed { input: files[*input].name(), error: failure.message().unwrap_or_default() }
        };
        let index = Index {
            schema: SCHEMA,
            complete,
            arrays: self.shards.iter().map(beside).collect(),
            rows: self.rows.iter().map(|&input| files[input].name()).collect(),
            delays_ms: self.rows.iter().map(|&input| delay_ms(&files[input])).collect(),
            failed: failures.iter().map(failed).collect(),
        };
        let mut text = serde_json::to_string_pretty(&index)
            .map_err(|error| Failure::Running(format!("cannot write the index of rows: {error}")))?;
        text.push('\n');
        WholeFile::create(&path)?.write_and_keep(text.as_bytes())?;
        self.index = Some(path);
        Ok(())
    }
}
