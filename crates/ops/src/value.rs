use std::fmt;

use serde::Serialize;

/// A parameter value, as pipeline files and `--set` give it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
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

impl Value {
    /// Reads a value as it stands on a command line: `true`, `5`, `1.1`, `[0.5, 0.25]`, `gray`, `"gray"`.
    /// What is none of the others is a word; [`crate::OperatorSpec::check`] then says what it should have been.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Ok(v) = text.parse() {
            return Self::Bool(v);
        }
        if let Ok(v) = text.parse() {
            return Self::Int(v);
        }
        if let Some(v) = parse_number(text) {
            return Self::Float(v);
        }
        let between = |open, close| text.strip_prefix(open).and_then(|t| t.strip_suffix(close));
        if let Some(inside) = between('[', ']')
            && let Some(list) = inside.split(',').map(|t| parse_number(t.trim())).collect()
        {
            return Self::List(list);
        }
        Self::Text(between('"', '"').unwrap_or(text).to_owned())
    }

    /// The number, if it is a whole number or a number.
    pub const fn as_number(&self) -> Option<f64> {
        match *self {
            Self::Int(v) => Some(v as f64),
            Self::Float(v) => Some(v),
            _ => None,
        }
    }
}

/// Digits, sign, point and exponent only: Rust would also read `inf` and `nan`, which are words here.
fn parse_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|v: &f64| v.is_finite())
}

impl fmt::Display for Value {
    /// As it stands in a pipeline file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Float(v) => write!(f, "{v:?}"),
            Self::Text(v) => write!(f, "\"{v}\""),
            Self::List(v) => write!(f, "{v:?}"),
        }
    }
}

macro_rules! from {
    ($($type:ty => |$v:ident| $value:expr;)*) => {
        $(impl From<$type> for Value {
            fn from($v: $type) -> Self {
                $value
            }
        })*
    };
}

from! {
    bool => |v| Self::Bool(v);
    i64 => |v| Self::Int(v);
    i32 => |v| Self::Int(i64::from(v));
    u32 => |v| Self::Int(i64::from(v));
    f64 => |v| Self::Float(v);
    f32 => |v| Self::Float(f64::from(v));
    &str => |v| Self::Text(v.to_owned());
    String => |v| Self::Text(v);
    Vec<f64> => |v| Self::List(v);
    &[f64] => |v| Self::List(v.to_vec());
}

impl<const N: usize> From<[f64; N]> for Value {
    fn from(v: [f64; N]) -> Self {
        Self::List(v.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let values = [
            Value::Bool(true),
            Value::Int(-3),
            Value::Float(1.0),
            Value::Float(1e30),
            Value::Text("gray".to_owned()),
            Value::List(vec![0.5, 2.0]),
        ];
        for value in values {
            assert_eq!(Value::parse(&value.to_string()), value);
        }
    }

    #[test]
    fn command_line_forms() {
        assert_eq!(Value::parse(" gray "), Value::from("gray"));
        assert_eq!(Value::parse("[1,2]"), Value::from([1.0, 2.0]));
        assert_eq!(Value::parse("nan"), Value::from("nan"));
        assert_eq!(Value::parse("[1,x]"), Value::from("[1,x]"));
        assert_eq!(Value::parse("\""), Value::from("\""));
        assert_eq!(Value::parse("99999999999999999999"), Value::Float(1e20));
    }
}
