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

/// What a change of a parameter costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Patched in place: no new plan, no recapture.
    Uniform,
    /// Needs a new plan.
    Structural,
}

/// Type and range of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum ParamKind {
    /// A whole number in `min..=max`.
    Int {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
        /// Only odd numbers.
        odd: bool,
    },
    /// A finite number in `min..=max` (`above_min`: greater than `min`).
    Float {
        /// Lower bound.
        min: f64,
        /// Upper bound.
        max: f64,
        /// Whether the lower bound itself is excluded.
        above_min: bool,
    },
    /// `true` or `false`.
    Bool,
    /// One of the words.
    Choice {
        /// The words.
        words: &'static [&'static str],
    },
    /// One number for all channels, or one for each: a number or a list of 1 to 4.
    PerChannel {
        /// Lower bound of each.
        min: f64,
        /// Upper bound of each.
        max: f64,
        /// Whether the lower bound itself is excluded.
        above_min: bool,
    },
}

/// A parameter as documented, checked and listed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ParamSpec {
    /// Name in pipeline files.
    pub name: &'static str,
    /// One line: meaning and unit.
    pub help: &'static str,
    /// Type and range.
    #[serde(flatten)]
    pub kind: ParamKind,
    /// The default as text; `None` when the parameter must be given or is derived from others.
    pub default: Option<&'static str>,
    /// Whether it must be given.
    pub required: bool,
    /// What a change costs.
    pub change: Change,
}
