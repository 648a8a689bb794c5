use std::collections::BTreeMap;

use serde::Deserialize;

/// A parameter value as a pipeline file gives it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Param {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
    /// Several numbers.
    List(Vec<f64>),
}

/// Parameters by name; those that are absent have their defaults.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, Param>);

macro_rules! param_from {
    ($($type:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$type> for Param {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })+
    };
}

param_from!(bool => Bool, u32 => Int, i64 => Int, f64 => Float, &str => Text, Vec<f64> => List);

impl Params {
    /// No parameters.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Parameters in the form of a TOML inline table without its braces: `kernel = 5, border = "wrap"`.
    ///
    /// # Panics
    /// When it is not that.
    pub fn line(text: &str) -> Self {
        #[derive(Deserialize)]
        struct Line {
            params: Params,
        }
        let parsed: Result<Line, _> = toml::from_str(&format!("params = {{ {text} }}"));
        parsed.unwrap_or_else(|e| panic!("{text}: {e}")).params
    }

    /// With one more parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Param>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Param)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).map(|value| match value {
            Param::Int(v) => *v as f64,
            Param::Float(v) => *v,
            other => panic!("parameter {name} is {other:?}, not a number"),
        })
    }

    pub(crate) fn size(&self, name: &str) -> Option<usize> {
        self.0.get(name).map(|value| match value {
            Param::Int(v) => usize::try_from(*v).expect("a size"),
            other => panic!("parameter {name} is {other:?}, not a whole number"),
        })
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).map(|value| match value {
            Param::Bool(v) => *v,
            other => panic!("parameter {name} is {other:?}, not true or false"),
        })
    }

    pub(crate) fn word(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| match value {
            Param::Text(v) => v.as_str(),
            other => panic!("parameter {name} is {other:?}, not a word"),
        })
    }

    /// A word, which may be made of digits.
    pub(crate) fn digits(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| match value {
            Param::Text(v) => v.clone(),
            Param::Int(v) => v.to_string(),
            other => panic!("parameter {name} is {other:?}, not a word"),
        })
    }

    pub(crate) fn list(&self, name: &str) -> Option<Vec<f64>> {
        self.0.get(name).map(|value| match value {
            Param::List(v) => v.clone(),
            _ => vec![self.number(name).expect("present")],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_a_file_are_kept() {
        let text = "a = true\nb = 3\nc = 3.0\nd = 'x'\ne = [1.0, 2.5]";
        let params: Params = toml::from_str(text).unwrap();
        let expected = Params::new()
            .with("a", true)
            .with("b", 3_i64)
            .with("c", 3.0)
            .with("d", "x")
            .with("e", vec![1.0, 2.5]);
        assert_eq!(params, expected);
        assert_eq!(Params::line("a = true, b = 3, c = 3.0, d = 'x', e = [1.0, 2.5]"), expected);
        assert_eq!(Params::line(""), Params::new());
        assert_eq!(
            (params.size("b"), params.number("b"), params.number("c")),
            (Some(3), Some(3.0), Some(3.0))
        );
        assert_eq!((params.word("d"), params.flag("a"), params.flag("z")), (Some("x"), Some(true), None));
        assert_eq!(params.list("b"), Some(vec![3.0]));
    }
}
