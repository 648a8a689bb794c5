//! Pipelines as text: files in TOML, and the one-line form.

mod build;
mod from_line;
mod from_toml;
mod lexer;
mod located;
mod schema;
mod to_line;
mod to_toml;

use mip_ops::Value;

use located::Places;
pub use located::{Located, Position};
pub use schema::json_schema;

/// A pipeline as it is written down: operators by name, parameters as given, references not yet resolved.
///
/// Two specs are equal when they say the same, wherever it stands in their files.
///
/// # One-line form
/// Tasks are separated by `!`, each an operator and its `parameter=value` pairs:
/// `resize width=1280 height=720 ! gaussian_blur kernel=5`. Everything a file can say has a place:
/// * `soft:gaussian_blur` gives the task a name (`name=soft` does too);
/// * `inputs=gray,soft` names producers, `inputs=@left` a pipeline input;
/// * lists are written `mean=[0.5, 0.4]` or `mean=0.5,0.4`; text with blanks or other marks in double quotes,
///   where `\"` and `\\` stand for `"` and `\`;
/// * a first part without an operator speaks of the pipeline: `name=edges inputs=left,right outputs=mix ! ...`.
#[derive(Debug, Clone, Default)]
pub struct PipelineSpec {
    /// A name for people.
    pub name: Option<Located<String>>,
    /// Pipeline inputs in order, without `@`; empty for the one named `input`.
    pub inputs: Vec<Located<String>>,
    /// Tasks whose results are given back; empty for every task that nothing consumes.
    pub outputs: Vec<Located<String>>,
    /// The tasks in file order.
    pub tasks: Vec<TaskSpec>,
    /// What positions refer to.
    file: String,
}

/// A task as it is written down.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSpec {
    /// Its name; `None` for the operator's name, with 2, 3, ... behind it when that is taken.
    pub name: Option<Located<String>>,
    /// The operator's name.
    pub op: Located<String>,
    /// Where its inputs come from, in slot order: tasks by name, pipeline inputs as `@name`. `None` for the task
    /// before it, or the first pipeline input for the first task.
    pub inputs: Option<Vec<Located<String>>>,
    /// Parameters in the order given.
    pub params: Vec<(Located<String>, Located<Value>)>,
}

impl TaskSpec {
    /// A task of that operator with everything else left to defaults.
    pub fn new(op: &str) -> Self {
        Self { name: None, op: op.into(), inputs: None, params: Vec::new() }
    }
}

impl PipelineSpec {
    /// Reads a pipeline file. `file_name` stands in errors, and relative paths of files in it count from its folder.
    ///
    /// Everything that can be wrong without an image is found here: the result builds.
    ///
    /// # Errors
    /// [`crate::GraphError::At`] with line, column and what is wrong there.
    pub fn parse_toml(text: &str, file_name: &str) -> Result<Self, crate::GraphError> {
        from_toml::parse(text, file_name)?.settled()
    }

    /// Reads a pipeline in one line. In errors it is called `pipeline`; relative paths of files count from the working directory.
    ///
    /// # Errors
    /// As [`PipelineSpec::parse_toml`].
    pub fn parse_line(text: &str) -> Result<Self, crate::GraphError> {
        from_line::parse(text, "pipeline")?.settled()
    }

    /// The pipeline as a file, which reads back as an equal spec.
    pub fn to_toml(&self) -> String {
        to_toml::write(self)
    }

    /// The pipeline in one line, which reads back as an equal spec.
    pub fn to_line(&self) -> String {
        to_line::write(self)
    }
}

impl PartialEq for PipelineSpec {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.inputs, &self.outputs, &self.tasks)
            == (&other.name, &other.inputs, &other.outputs, &other.tasks)
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod tests;
