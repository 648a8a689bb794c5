//! Pipelines as text.

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_graph::{GraphError, PipelineSpec};
use mip_ops::expr::MAX_TEXT;
use mip_ops::{Operator as _, ParamError, Point};

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

/// The text of a point expression: refused at a column of the text, or read; then what is printed of it reads back as the
/// same expression (unless it is longer than a text may be), and it lowers or is refused for images of every format.
pub fn expression(bytes: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return Outcome::Refused };
    let point = match Point::text(text) {
        Ok(point) => point,
        Err(ParamError::Expression { column, ref message, .. }) => {
            assert!((1..=text.chars().count() + 1).contains(&column), "column {column}: {message}");
            return refused(message);
        }
        Err(other) => panic!("{other}"),
    };
    let expr = point.expr().expect("just read");
    let printed = expr.to_string();
    if printed.len() <= MAX_TEXT {
        let again = Point::text(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert_eq!(again.expr(), Some(expr), "{printed}");
    }
    let names = expr.uniforms().to_vec();
    let point = names.iter().fold(point, |point, name| point.set_uniform(name, 0.5));
    for format in PixelFormat::ALL {
        let desc = ImageDesc::new(2, 1, format, DType::U8).expect("a size");
        let inputs = vec![desc; point.spec().inputs.len()];
        assert_eq!(point.infer(&inputs).is_ok(), point.lower(&inputs).is_ok(), "{printed}");
    }
    Outcome::Accepted
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
