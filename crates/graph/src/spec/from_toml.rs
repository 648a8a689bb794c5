//! Reading TOML: keys, types and positions. What the words mean is for `build` to judge.

use mip_ops::{Value, spec, suggest};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::{Located, PipelineSpec, Places, TaskSpec};
use crate::GraphError;
use crate::names::list;

const KEYS: [&str; 4] = ["name", "inputs", "outputs", "task"];

/// Reads a file's text.
pub(super) fn parse(text: &str, file: &str) -> Result<PipelineSpec, GraphError> {
    let reader = Reader { places: Places::new(text), file };
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(text.len(), |s| s.start);
        reader.fail(offset, GraphError::Syntax(error.message().to_owned()))
    })?;
    reader.pipeline(table.get_ref())
}

struct Reader<'t> {
    places: Places<'t>,
    file: &'t str,
}

type Entry<'a, 'i> = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>);

impl Reader<'_> {
    fn pipeline(&self, table: &DeTable<'_>) -> Result<PipelineSpec, GraphError> {
        let mut pipeline = PipelineSpec { file: self.file.to_owned(), ..PipelineSpec::default() };
        for (key, value) in in_file_order(table) {
            match key.get_ref().as_ref() {
                "name" => pipeline.name = Some(self.string("name", value)?),
                "inputs" => pipeline.inputs = self.strings("inputs", value)?,
                "outputs" => pipeline.outputs = self.strings("outputs", value)?,
                "task" => pipeline.tasks = self.tasks(value)?,
                other => {
                    let error = GraphError::UnknownKey {
                        place: "the pipeline".to_owned(),
                        key: other.to_owned(),
                        suggestion: suggest(other, KEYS),
                        known: list(KEYS),
                    };
                    return Err(self.fail(key.span().start, error));
                }
            }
        }
        Ok(pipeline)
    }

    fn tasks(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<TaskSpec>, GraphError> {
        let allowed = "a list of tables, each beginning with [[task]]";
        let DeValue::Array(tasks) = value.get_ref() else {
            return Err(self.wrong_type("task", value, allowed));
        };
        let task = |(index, task): (usize, &Spanned<DeValue<'_>>)| match task.get_ref() {
            DeValue::Table(table) => self.task(index + 1, table, task.span().start),
            _ => Err(self.wrong_type("task", task, allowed)),
        };
        tasks.iter().enumerate().map(task).collect()
    }

    fn task(&self, number: usize, table: &DeTable<'_>, start: usize) -> Result<TaskSpec, GraphError> {
        let Some(op) = table.get("op") else {
            return Err(self.fail(start, GraphError::NoOperator { number }));
        };
        let mut task = TaskSpec { op: self.string("op", op)?, ..TaskSpec::new("") };
        for (key, value) in in_file_order(table) {
            match key.get_ref().as_ref() {
                "op" => {}
                "name" => task.name = Some(self.string("name", value)?),
                "inputs" => task.inputs = Some(self.strings("inputs", value)?),
                parameter => {
                    let name = self.located(key.span().start, parameter.to_owned());
                    let value = self.parameter(&task.op, parameter, value)?;
                    task.params.push((name, value));
                }
            }
        }
        Ok(task)
    }

    fn parameter(
        &self,
        op: &str,
        parameter: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Located<Value>, GraphError> {
        let allowed = || match spec(op).ok().and_then(|s| s.params.iter().find(|p| p.name == parameter)) {
            Some(param) => param.kind.to_string(),
            None => "true or false, a number, a text or a list of numbers".to_owned(),
        };
        let converted = match value.get_ref() {
            DeValue::Boolean(v) => Some(Value::Bool(*v)),
            DeValue::String(v) => Some(Value::Text(v.to_string())),
            DeValue::Integer(v) => i64::from_str_radix(v.as_str(), v.radix()).ok().map(Value::Int),
            DeValue::Float(_) => number(value.get_ref()).map(Value::Float),
            DeValue::Array(list) => {
                list.iter().map(|v| number(v.get_ref())).collect::<Option<_>>().map(Value::List)
            }
            DeValue::Datetime(_) | DeValue::Table(_) => None,
        };
        match converted {
            Some(converted) => Ok(self.located(value.span().start, converted)),
            None => Err(self.wrong_type(parameter, value, &allowed())),
        }
    }

    fn string(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Located<String>, GraphError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(self.located(value.span().start, text.to_string())),
            _ => Err(self.wrong_type(key, value, "a text in quotes")),
        }
    }

    fn strings(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<Located<String>>, GraphError> {
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a list of names in quotes, like [\"gray\"]"));
        };
        list.iter().map(|item| self.string(key, item)).collect()
    }

    fn located<T>(&self, offset: usize, value: T) -> Located<T> {
        Located::new(value, self.places.of(offset))
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, allowed: &str) -> GraphError {
        let error = GraphError::WrongType {
            key: key.to_owned(),
            given: described(value.get_ref()),
            allowed: allowed.to_owned(),
        };
        self.fail(value.span().start, error)
    }

    fn fail(&self, offset: usize, error: GraphError) -> GraphError {
        error.at(self.file, Some(self.places.of(offset)))
    }
}

/// The parser sorts keys; people read files from the top.
fn in_file_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Entry<'a, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(v) => i64::from_str_radix(v.as_str(), v.radix()).ok().map(|v| v as f64),
        DeValue::Float(v) => v.as_str().parse().ok(),
        _ => None,
    }
}

fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(v) => v.to_string(),
        DeValue::Float(v) => v.to_string(),
        DeValue::Boolean(v) => v.to_string(),
        DeValue::String(v) => format!("the text \"{v}\""),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
