//! Reading the one-line form.

use mip_core::text::quoted;
use mip_ops::{ParamKind, Value, spec, suggest};

use super::lexer::{Token, tokens};
use super::{Located, PipelineSpec, Places, TaskSpec};
use crate::GraphError;
use crate::names::list;

const KEYS: [&str; 3] = ["name", "inputs", "outputs"];

/// Reads the text.
pub(super) fn parse(text: &str, file: &str) -> Result<PipelineSpec, GraphError> {
    Parser { text, places: Places::new(text), file, tokens: tokens(text, file)?, next: 0 }.pipeline()
}

struct Parser<'t> {
    text: &'t str,
    places: Places<'t>,
    file: &'t str,
    tokens: Vec<(Token, usize)>,
    next: usize,
}

/// A word or a text in quotes.
struct Scalar {
    text: String,
    quoted: bool,
    offset: usize,
}

/// What stands behind `=`.
struct Given {
    items: Vec<Scalar>,
    /// Whether it was written as a list, in brackets or with commas.
    list: bool,
    offset: usize,
}

type Pair = (Located<String>, Given);

impl Parser<'_> {
    fn pipeline(mut self) -> Result<PipelineSpec, GraphError> {
        let mut pipeline = PipelineSpec { file: self.file.to_owned(), ..PipelineSpec::default() };
        if self.tokens.is_empty() {
            return Ok(pipeline);
        }
        for part in 0.. {
            let first = self.offset();
            let op = self.operator();
            let pairs = self.pairs()?;
            match op {
                Some(op) => pipeline.tasks.push(self.task(op, pairs)?),
                None if pairs.is_empty() => return Err(self.fail(first, "an operator is missing here")),
                None if part == 0 => self.head(&mut pipeline, pairs)?,
                None => {
                    let message = "an operator is missing here; only the first part may be without one";
                    return Err(self.fail(first, message));
                }
            }
            match self.peek(0) {
                None => break,
                Some(Token::Bang) => self.next += 1,
                Some(other) => {
                    let message = format!(
                        "{} cannot stand here; write parameter=value, and '!' between tasks",
                        other.described()
                    );
                    return Err(self.fail(self.offset(), &message));
                }
            }
        }
        Ok(pipeline)
    }

    /// The word that opens a part, unless it is a key.
    fn operator(&mut self) -> Option<Scalar> {
        if self.peek(1) == Some(&Token::Equals) { None } else { self.scalar().ok() }
    }

    fn pairs(&mut self) -> Result<Vec<Pair>, GraphError> {
        let mut pairs: Vec<Pair> = Vec::new();
        while let (Some(Token::Bare(key) | Token::Quoted(key)), Some(Token::Equals)) =
            (self.peek(0), self.peek(1))
        {
            let key = self.located(self.offset(), key.clone());
            if pairs.iter().any(|(earlier, _)| *earlier == key) {
                return Err(self.fail(self.offset(), &format!("'{}' is given twice", quoted(&key.value))));
            }
            self.next += 2;
            pairs.push((key, self.given()?));
        }
        Ok(pairs)
    }

    fn given(&mut self) -> Result<Given, GraphError> {
        let offset = self.offset();
        let brackets = self.take(&Token::Open);
        let mut given = Given { items: Vec::new(), list: brackets, offset };
        if brackets && self.take(&Token::Close) {
            return Ok(given);
        }
        loop {
            given.items.push(self.scalar()?);
            if self.take(&Token::Comma) {
                given.list = true;
            } else if !brackets || self.take(&Token::Close) {
                return Ok(given);
            } else {
                return Err(self.fail(self.offset(), "the list needs ',' or ']' here"));
            }
        }
    }

    fn scalar(&mut self) -> Result<Scalar, GraphError> {
        let offset = self.offset();
        let (text, quoted) = match self.peek(0) {
            Some(Token::Bare(text)) => (text.clone(), false),
            Some(Token::Quoted(text)) => (text.clone(), true),
            _ => return Err(self.fail(offset, "a value is missing here")),
        };
        self.next += 1;
        Ok(Scalar { text, quoted, offset })
    }

    /// A first part without an operator.
    fn head(&self, pipeline: &mut PipelineSpec, pairs: Vec<Pair>) -> Result<(), GraphError> {
        for (key, given) in pairs {
            match key.value.as_str() {
                "name" => pipeline.name = Some(self.single("name", given)?),
                "inputs" => pipeline.inputs = self.names(given),
                "outputs" => pipeline.outputs = self.names(given),
                other => {
                    let error = GraphError::UnknownKey {
                        place: "the pipeline (the first part names no operator)".to_owned(),
                        key: other.to_owned(),
                        suggestion: suggest(other, KEYS),
                        known: list(KEYS),
                    };
                    return Err(error.at(self.file, key.at));
                }
            }
        }
        Ok(())
    }

    fn task(&self, op: Scalar, pairs: Vec<Pair>) -> Result<TaskSpec, GraphError> {
        let Scalar { text, quoted, offset } = op;
        let (name, op) = match text.split_once(':') {
            Some((name, rest)) if !quoted => {
                let behind = offset + name.len() + 1;
                (Some(self.located(offset, name.to_owned())), self.located(behind, rest.to_owned()))
            }
            _ => (None, self.located(offset, text)),
        };
        let mut task = TaskSpec { name, op, ..TaskSpec::new("") };
        for (key, given) in pairs {
            match key.value.as_str() {
                "name" if task.name.is_some() => {
                    return Err(self.fail(given.offset, "the task already has a name, before the ':'"));
                }
                "name" => task.name = Some(self.single("name", given)?),
                "inputs" => task.inputs = Some(self.names(given)),
                _ => {
                    let value = self.parameter(&task.op, &key, &given)?;
                    task.params.push((key, value));
                }
            }
        }
        Ok(task)
    }

    fn parameter(&self, op: &str, key: &str, given: &Given) -> Result<Located<Value>, GraphError> {
        let param = spec(op).ok().and_then(|s| s.param(key).ok());
        if given.list {
            let numbers = given.items.iter().map(|item| match Value::parse(&item.text) {
                value if !item.quoted => value.as_number(),
                _ => None,
            });
            let numbers: Option<Vec<f64>> = numbers.collect();
            return numbers.map(|n| self.located(given.offset, Value::List(n))).ok_or_else(|| {
                let error = GraphError::WrongType {
                    key: key.to_owned(),
                    given: "a list with other things than numbers".to_owned(),
                    allowed: param.map_or_else(|| "one value".to_owned(), |p| p.kind.to_string()),
                };
                error.at(self.file, Some(self.places.of(given.offset)))
            });
        }
        let item = &given.items[0];
        // A word is a word even where it could be read as something else.
        let word = item.quoted
            || param.is_some_and(|p| matches!(p.kind, ParamKind::Choice { .. } | ParamKind::Text { .. }));
        let value = if word { Value::Text(item.text.clone()) } else { Value::parse(&item.text) };
        Ok(self.located(item.offset, value))
    }

    fn single(&self, key: &str, mut given: Given) -> Result<Located<String>, GraphError> {
        match given.items.pop() {
            Some(item) if !given.list => Ok(self.located(item.offset, item.text)),
            _ => {
                let error = GraphError::WrongType {
                    key: key.to_owned(),
                    given: "a list".to_owned(),
                    allowed: "one word, or a text in quotes".to_owned(),
                };
                Err(error.at(self.file, Some(self.places.of(given.offset))))
            }
        }
    }

    fn names(&self, given: Given) -> Vec<Located<String>> {
        given.items.into_iter().map(|item| self.located(item.offset, item.text)).collect()
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.next + ahead).map(|(token, _)| token)
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek(0) == Some(token);
        self.next += usize::from(found);
        found
    }

    /// Where the next token stands, or the end of the text.
    fn offset(&self) -> usize {
        self.tokens.get(self.next).map_or(self.text.trim_end().len(), |(_, offset)| *offset)
    }

    fn located<T>(&self, offset: usize, value: T) -> Located<T> {
        Located::new(value, self.places.of(offset))
    }

    fn fail(&self, offset: usize, message: &str) -> GraphError {
        GraphError::Syntax(message.to_owned()).at(self.file, Some(self.places.of(offset)))
    }
}
