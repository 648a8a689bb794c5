//! Errors in one shape.

use mip_core::ImageError;
use mip_graph::GraphError;
use mip_ops::{OpError, ParamError};
use mip_runtime::RuntimeError;

use crate::Error;

/// The parts of an [`Error`], for programs that show or handle them; its text says them all in a sentence.
///
/// ```
/// # use mini_image_pipe::prelude::*;
/// let error = Pipeline::parse("soft:gaussian_blur kernel=4").unwrap_err();
/// let details = error.details();
/// assert_eq!(details.place.as_deref(), Some("pipeline:1:27"));
/// assert_eq!((details.task.as_deref(), details.parameter.as_deref()), (Some("soft"), Some("kernel")));
/// assert_eq!(details.given.as_deref(), Some("4"));
/// assert_eq!(details.allowed.as_deref(), Some("an odd whole number from 1 to 255"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorDetails {
    /// Where in a text: file, line and column.
    pub place: Option<String>,
    /// The task that it is about.
    pub task: Option<String>,
    /// The operator that it is about.
    pub operator: Option<String>,
    /// The parameter, setting or input slot.
    pub parameter: Option<String>,
    /// What was given.
    pub given: Option<String>,
    /// What is allowed.
    pub allowed: Option<String>,
    /// What to do instead: the name that was probably meant, or another way.
    pub remedy: Option<String>,
}

impl Error {
    /// Where it happened, what was given, what is allowed and what to do, as far as the error knows them.
    pub fn details(&self) -> ErrorDetails {
        let mut details = ErrorDetails::default();
        match self {
            Self::Graph(error) => details.graph(error),
            Self::Param(error) => details.param(error),
            Self::Image(error) => details.image(error),
            Self::Run(error) => details.run(error),
            Self::Frame { error, .. } => return error.details(),
            Self::MissingInput { name, task } => {
                details.task = Some(task.clone());
                details.parameter = Some(format!("@{name}"));
            }
            Self::MixedBatch { given, expected, .. } => {
                (details.given, details.allowed) = (Some(given.clone()), Some(expected.clone()));
            }
            Self::Config { setting, given, allowed } => {
                details.parameter = Some((*setting).to_owned());
                (details.given, details.allowed) = (Some(given.clone()), Some(allowed.clone().into_owned()));
            }
            Self::ParamType { parameter, given, allowed, .. } => {
                details.parameter = Some(parameter.clone());
                (details.given, details.allowed) = (Some((*given).to_owned()), Some(allowed.clone()));
            }
            Self::NoOutput { task, .. } => details.task = Some(task.clone()),
            Self::PipelineFile { path, .. } => details.place = Some(path.clone()),
            #[cfg(feature = "io")]
            Self::Io(error) => {
                if let mip_io::IoError::Refused { image, remedy, .. } = &**error {
                    (details.given, details.remedy) = (Some(image.to_string()), Some(remedy.clone()));
                }
            }
            #[cfg(feature = "cuda")]
            Self::Jpeg(error) => {
                if let mip_cuda::jpeg::JpegError::File { .. } = error {
                    details.remedy = Some("decode it on the CPU".to_owned());
                }
            }
            #[cfg(feature = "cuda")]
            Self::Video(error) => {
                if let mip_cuda::video::VideoError::Stream(_) = error {
                    details.remedy = Some("decode it on the CPU".to_owned());
                }
            }
            Self::Device(_) | Self::Usage(_) => {}
        }
        details
    }
}

impl ErrorDetails {
    fn graph(&mut self, error: &GraphError) {
        match error {
            GraphError::At { file, position, error } => {
                self.place = Some(format!("{file}:{position}"));
                self.graph(error);
            }
            GraphError::Parameter { task, source } => {
                self.task = Some(task.clone());
                self.param(source);
            }
            GraphError::Operator { task, source } => {
                self.task = Some(task.clone());
                self.op(source);
            }
            GraphError::Image { source, .. } => self.image(source),
            GraphError::UnknownTask { given, suggestion, known }
            | GraphError::UnknownInput { given, suggestion, known }
            | GraphError::UnknownKey { key: given, suggestion, known, .. } => {
                self.unknown(given, suggestion.as_ref(), Some(known));
            }
            GraphError::UnknownSlot { task, given, suggestion, known } => {
                self.task = Some(task.clone());
                self.unknown(given, suggestion.as_ref(), Some(known));
            }
            GraphError::SlotTaken { task, slot, by } => {
                (self.task, self.parameter, self.given) =
                    (Some(task.clone()), Some(slot.clone()), Some(by.clone()));
            }
            GraphError::NoFreeSlot { task, op, .. } => {
                (self.task, self.operator) = (Some(task.clone()), Some((*op).to_owned()));
            }
            GraphError::Unconnected { task, op, slot } => {
                (self.task, self.operator, self.parameter) =
                    (Some(task.clone()), Some((*op).to_owned()), Some(slot.clone()));
            }
            GraphError::Cycle { from, path, .. } => {
                (self.task, self.given) = (Some(from.clone()), Some(path.join(" -> ")));
            }
            GraphError::Request { what, given, allowed } => {
                self.parameter = Some((*what).to_owned());
                (self.given, self.allowed) = (Some(given.to_string()), Some((*allowed).to_owned()));
            }
            GraphError::WrongType { key, given, allowed } => {
                self.parameter = Some(key.clone());
                (self.given, self.allowed) = (Some(given.clone()), Some(allowed.clone()));
            }
            GraphError::MemoryLimit { needed, limit, .. } => {
                (self.given, self.allowed) = (Some(needed.to_string()), Some(limit.to_string()));
            }
            _ => {}
        }
    }

    fn param(&mut self, error: &ParamError) {
        match error {
            ParamError::UnknownOperator { operator, suggestion } => {
                self.unknown(operator, suggestion.as_ref(), None);
            }
            ParamError::Unknown { parameter, suggestion, known, .. } => {
                self.unknown(parameter, suggestion.as_ref(), Some(known));
            }
            ParamError::Invalid { given, allowed, .. } => {
                (self.given, self.allowed) = (Some(given.clone()), Some(allowed.clone()));
            }
            ParamError::Missing { allowed, .. } => self.allowed = Some(allowed.clone()),
            ParamError::Conflict { with, remedy, .. } => {
                (self.given, self.remedy) = (Some(with.clone()), Some(remedy.clone()));
            }
            _ => {}
        }
        self.operator = error.operator().map(str::to_owned);
        self.parameter = error.parameter().map(str::to_owned);
    }

    fn op(&mut self, error: &OpError) {
        match error {
            OpError::Param(error) => self.param(error),
            OpError::Image(error) => self.image(error),
            OpError::InputCount { operator, expected, given, .. } => {
                self.operator = Some((*operator).to_owned());
                (self.given, self.allowed) = (Some(given.to_string()), Some(expected.to_string()));
            }
            OpError::Input { operator, slot, given, allowed } => {
                (self.operator, self.parameter) = (Some((*operator).to_owned()), Some(slot.clone()));
                (self.given, self.allowed) = (Some(given.clone()), Some(allowed.clone()));
            }
            _ => {}
        }
    }

    fn image(&mut self, error: &ImageError) {
        match error {
            ImageError::UnknownName { given, allowed, .. } => {
                (self.given, self.allowed) = (Some(given.clone()), Some((*allowed).to_owned()));
            }
            ImageError::Stride { stride, given, rule, .. } => {
                self.parameter = Some(format!("{stride} stride"));
                (self.given, self.allowed) = (Some(given.to_string()), Some(rule.clone()));
            }
            ImageError::ShortData { given, needed, .. } => {
                (self.given, self.allowed) = (Some(given.to_string()), Some(needed.to_string()));
            }
            _ => {}
        }
    }

    fn run(&mut self, error: &RuntimeError) {
        match error {
            RuntimeError::Task { task, op, .. } | RuntimeError::Load { task, op, .. } => {
                (self.task, self.operator) = (Some(task.clone()), Some(op.clone()));
            }
            RuntimeError::Upload { task, input, .. } => {
                (self.task, self.parameter) = (Some(task.clone()), Some(format!("@{input}")));
            }
            _ => {}
        }
    }

    fn unknown(&mut self, given: &str, suggestion: Option<&String>, known: Option<&String>) {
        self.given = Some(given.to_owned());
        self.allowed = known.cloned();
        self.remedy = suggestion.map(|name| format!("did you mean '{name}'?"));
    }
}
