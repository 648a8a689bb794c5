//! Pipelines as text.

use mip_graph::{GraphError, PipelineSpec};

use crate::{Outcome, refused};

/// A pipeline file: refused at a place of the text, or read; then it builds, and both written forms read back as
/// the same pipeline.
pub fn pipeline_toml(bytes: &[u8]) -> Outcome {
    pipeline(bytes, |text| PipelineSpec::parse_toml(text, "fuzz.toml"))
}

/// A pipeline in one line. As [`pipeline_toml`].
pub fn pipeline_line(bytes: &[u8]) -> Outcome {
    pipeline(bytes, PipelineSpec::parse_line)
}

fn pipeline(bytes: &[u8], parse: impl Fn(&str) -> Result<PipelineSpec, GraphError>) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return Outcome::Refused };
    let spec = match parse(text) {
        Ok(spec) => spec,
        Err(error) => {
            let place = error.position().expect("every error has its place");
            let lines = text.split('\n').count();
            assert!((1..=lines + 1).contains(&place.line) && place.column >= 1, "{error}");
            return refused(&error);
        }
    };
    let graph = spec.build().expect("what is read builds");
    assert_eq!(graph.len(), spec.tasks.len());
    let (toml, line) = (spec.to_toml(), spec.to_line());
    assert_eq!(PipelineSpec::parse_toml(&toml, "written.toml").as_ref(), Ok(&spec), "{toml}");
    assert_eq!(PipelineSpec::parse_line(&line).as_ref(), Ok(&spec), "{line}");
    Outcome::Accepted
}
