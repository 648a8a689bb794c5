use std::path::{Path, PathBuf};

use clap::Args;
use mip_core::faults::{self, Fault};
use mip_core::text;
use mip_graph::PipelineSpec;

use crate::failure::Failure;

/// A pipeline, from a file or from the command line.
#[derive(Debug, Args)]
pub(crate) struct PipelineArgs {
    /// Pipeline file (TOML)
    #[arg(value_name = "PIPELINE", required_unless_present = "expression")]
    file: Option<PathBuf>,
    /// Pipeline in the one-line form, instead of a file
    #[arg(short = 'e', long = "expression", value_name = "ONE-LINE", conflicts_with = "file")]
    expression: Option<String>,
}

impl PipelineArgs {
    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    pub(crate) fn load(&self) -> Result<PipelineSpec, Failure> {
        load(self.file.as_deref(), self.expression.as_deref())
    }
}

/// Parses the one-line form if there is one, else reads the file.
pub(crate) fn load(file: Option<&Path>, expression: Option<&str>) -> Result<PipelineSpec, Failure> {
    if let Some(text) = expression {
        return Ok(PipelineSpec::parse_line(text)?);
    }
    let missing = || Failure::Request("no pipeline given: name a file, or use -e 'one-line form'".into());
    let path = file.ok_or_else(missing)?;
    let text = faults::check(Fault::Read).and_then(|()| std::fs::read_to_string(path));
    let text = text.map_err(|error| unreadable(path, &error))?;
    Ok(PipelineSpec::parse_toml(&text, &text::path(path))?)
}

/// Says what was probably meant: a one-line pipeline or an image where a file is expected is the likeliest slip.
fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let text = text::quoted_path(path);
    let word = text.split_whitespace().next().unwrap_or_default();
    let hint = if text.contains('!') || mip_ops::spec(word).is_ok() {
        "; the one-line form goes after -e"
    } else if path
        .extension()
        .is_some_and(|e| mip_io::FileFormat::from_extension(&e.to_string_lossy()).is_some())
    {
        "; the pipeline goes before the images"
    } else {
        ""
    };
    Failure::Request(format!("cannot read the pipeline {text}: {error}{hint}"))
}
