use std::fmt;

use serde::Serialize;

use crate::{ParamError, Value, suggest};

/// What a change of a parameter costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Patched in place: no new plan, no recapture.
    Uniform,
    /// Needs a new plan.
    Structural,
}

/// Type and range of a parameter. Its text is what error messages and `mip ops` say is allowed.
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
    /// A text that the operator reads itself.
    Text {
        /// What it says, with its article.
        what: &'static str,
    },
    /// One of the words.
    Choice {
        /// The words.
        words: &'static [&'static str],
    },
    /// So many numbers.
    Numbers {
        /// How many there may be, ascending.
        counts: &'static [usize],
        /// Each is from `-max` to `max`.
        max: f64,
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

impl ParamKind {
    /// A whole number from `min` to `max`.
    pub const fn int(min: i64, max: i64) -> Self {
        Self::Int { min, max, odd: false }
    }

    /// A side or coordinate in pixels: whole numbers that fit an image.
    pub const fn pixels(min: u32, max: u32) -> Self {
        Self::Int { min: min as i64, max: max as i64, odd: false }
    }

    /// An odd whole number from `min` to `max`.
    pub const fn odd(min: i64, max: i64) -> Self {
        Self::Int { min, max, odd: true }
    }

    /// A number from `min` to `max`.
    pub const fn number(min: f64, max: f64) -> Self {
        Self::Float { min, max, above_min: false }
    }

    /// A number greater than `min`, up to `max`.
    pub const fn above(min: f64, max: f64) -> Self {
        Self::Float { min, max, above_min: true }
    }

    /// Any sample value or factor: a number far inside the range of binary32.
    pub const fn any_number() -> Self {
        Self::number(-LARGEST, LARGEST)
    }

    /// As many numbers from `-max` to `max` as one of `counts` says.
    pub const fn numbers(counts: &'static [usize], max: f64) -> Self {
        Self::Numbers { counts, max }
    }

    /// One of `words`.
    pub const fn choice(words: &'static [&'static str]) -> Self {
        Self::Choice { words }
    }

    /// The value brought to this type (a whole number is a number, a number is a list of one), if it has the
    /// right type and lies in the range.
    pub fn accept(&self, value: &Value) -> Option<Value> {
        match (*self, value) {
            (Self::Int { min, max, odd }, Value::Int(v)) => {
                ((min..=max).contains(v) && (!odd || v % 2 != 0)).then(|| value.clone())
            }
            (Self::Float { min, max, above_min }, _) => {
                let v = value.as_number()?;
                within(v, min, max, above_min).then_some(Value::Float(v))
            }
            (Self::Bool, Value::Bool(_)) | (Self::Text { .. }, Value::Text(_)) => Some(value.clone()),
            // `180` is a number to the parsers.
            (Self::Choice { .. }, Value::Int(v)) => self.accept(&Value::from(v.to_string())),
            (Self::Choice { words }, Value::Text(v)) => words.contains(&v.as_str()).then(|| value.clone()),
            (Self::Numbers { counts, max }, _) => {
                let list = match value {
                    Value::List(list) => list.clone(),
                    other => vec![other.as_number()?],
                };
                let fits = counts.contains(&list.len()) && list.iter().all(|&v| within(v, -max, max, false));
                fits.then_some(Value::List(list))
            }
            (Self::PerChannel { min, max, above_min }, _) => {
                let list = match value {
                    Value::List(list) => list.clone(),
                    other => vec![other.as_number()?],
                };
                let fits =
                    (1..=4).contains(&list.len()) && list.iter().all(|&v| within(v, min, max, above_min));
                fits.then_some(Value::List(list))
            }
            _ => None,
        }
    }
}

/// Bound of parameters that may be any number. Its products and quotients with sample values stay finite in
/// binary32, and the ones that do not are refused when an operator is lowered.
const LARGEST: f64 = 1e30;

/// NaN is never within.
fn within(v: f64, min: f64, max: f64, above_min: bool) -> bool {
    v >= min && v <= max && !(above_min && v == min)
}

impl fmt::Display for ParamKind {
    /// What is allowed, to stand after "must be".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Int { min, max, odd } => {
                let article = if odd { "an odd" } else { "a" };
                write!(f, "{article} whole number from {min} to {max}")
            }
            Self::Float { min, max, above_min } => write!(f, "a number {}", range(min, max, above_min)),
            Self::Bool => f.write_str("true or false"),
            Self::Text { what } => write!(f, "{what}, as a text in quotes"),
            Self::Choice { words } => write!(f, "one of {}", words.join(", ")),
            Self::Numbers { counts, max } => {
                let (last, others) = counts.split_last().expect("a number of numbers");
                let others: Vec<String> = others.iter().map(ToString::to_string).collect();
                let or = if others.is_empty() { "" } else { " or " };
                write!(f, "a list of {}{or}{last} numbers {}", others.join(", "), range(-max, max, false))
            }
            Self::PerChannel { min, max, above_min } => {
                write!(f, "a number {}, or a list of them, one a channel", range(min, max, above_min))
            }
        }
    }
}

fn range(min: f64, max: f64, above_min: bool) -> String {
    // `{}` writes 1e30 with thirty zeros, `{:?}` writes 1 as 1.0.
    let text = |v: f64| if v.abs() < 1e9 { format!("{v}") } else { format!("{v:e}") };
    if above_min {
        format!("greater than {} and at most {}", text(min), text(max))
    } else {
        format!("from {} to {}", text(min), text(max))
    }
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
    /// Whether an image allows less than `kind` says, so that the ends of the range may not fit it.
    #[serde(skip)]
    pub of_image: bool,
    /// Whether a text is the path of a file, unless it has a line break.
    #[serde(skip)]
    pub is_file: bool,
}

impl ParamSpec {
    /// An optional, structural parameter without a fixed default.
    pub const fn new(name: &'static str, kind: ParamKind, help: &'static str) -> Self {
        Self {
            name,
            help,
            kind,
            default: None,
            required: false,
            change: Change::Structural,
            of_image: false,
            is_file: false,
        }
    }

    /// With a default, written as in a pipeline file.
    #[must_use]
    pub const fn default_is(self, text: &'static str) -> Self {
        Self { default: Some(text), ..self }
    }

    /// It must be given.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// What it may be depends on the image (a place in it, or a value that its samples can have).
    #[must_use]
    pub const fn of_image(self) -> Self {
        Self { of_image: true, ..self }
    }

    /// Its text is the path of a file, which pipeline files give from their own folder on; one with a line break is the contents of one.
    #[must_use]
    pub const fn file(self) -> Self {
        Self { is_file: true, ..self }
    }

    /// The path that a value names, if it names one.
    pub fn path<'v>(&self, value: &'v Value) -> Option<&'v str> {
        match value {
            Value::Text(text) if self.is_file && !text.contains('\n') => Some(text),
            _ => None,
        }
    }

    /// A change is patched in place.
    #[must_use]
    pub const fn uniform(self) -> Self {
        Self { change: Change::Uniform, ..self }
    }

    /// The value brought to the parameter's own type.
    ///
    /// # Errors
    /// [`ParamError::Invalid`] for a wrong type or a value out of range.
    pub fn check(&self, operator: &'static str, value: &Value) -> Result<Value, ParamError> {
        self.kind.accept(value).ok_or_else(|| {
            let meant = match (self.kind, value) {
                (ParamKind::Choice { words }, Value::Text(text)) => suggest(text, words.iter().copied()),
                _ => None,
            };
            ParamError::Invalid {
                operator,
                parameter: self.name.to_owned(),
                given: value.to_string(),
                allowed: format!("{}{}", self.kind, crate::error::did_you_mean(meant.as_deref())),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_brought_to_the_parameters_type() {
        let number = ParamKind::number(0.0, 10.0);
        assert_eq!(number.accept(&Value::Int(3)), Some(Value::Float(3.0)));
        let each = ParamKind::PerChannel { min: 0.0, max: 1.0, above_min: true };
        assert_eq!(each.accept(&Value::Int(1)), Some(Value::List(vec![1.0])));
        assert_eq!(each.accept(&Value::List(vec![0.5, 1.0])), Some(Value::List(vec![0.5, 1.0])));
    }

    #[test]
    fn wrong_types_and_ranges_are_refused() {
        let refused = [
            (ParamKind::int(1, 5), Value::Int(0)),
            (ParamKind::int(1, 5), Value::Int(6)),
            (ParamKind::int(1, 5), Value::Float(2.0)),
            (ParamKind::odd(1, 5), Value::Int(4)),
            (ParamKind::odd(-5, 5), Value::Int(-4)),
            (ParamKind::number(0.0, 1.0), Value::Float(f64::NAN)),
            (ParamKind::number(0.0, 1.0), Value::Float(1.000_001)),
            (ParamKind::any_number(), Value::Float(f64::INFINITY)),
            (ParamKind::above(0.0, 1.0), Value::Int(0)),
            (ParamKind::above(0.0, 1.0), Value::Bool(true)),
            (ParamKind::Bool, Value::Int(1)),
            (ParamKind::choice(&["a"]), Value::from("b")),
            (ParamKind::numbers(&[2, 4], 1.0), Value::List(vec![0.0; 3])),
            (ParamKind::numbers(&[2, 4], 1.0), Value::List(vec![0.0, 1.5])),
            (ParamKind::PerChannel { min: 0.0, max: 1.0, above_min: false }, Value::List(vec![])),
            (ParamKind::PerChannel { min: 0.0, max: 1.0, above_min: false }, Value::List(vec![0.0; 5])),
            (ParamKind::PerChannel { min: 0.0, max: 1.0, above_min: true }, Value::List(vec![1.0, 0.0])),
        ];
        for (kind, value) in refused {
            assert_eq!(kind.accept(&value), None, "{kind} {value}");
        }
        assert!(ParamKind::odd(-5, 5).accept(&Value::Int(-3)).is_some());
    }

    #[test]
    fn lists_of_several_lengths_are_named() {
        assert_eq!(ParamKind::numbers(&[6], 1e9).to_string(), "a list of 6 numbers from -1e9 to 1e9");
        let several = ParamKind::numbers(&[4, 5, 12], 1.0);
        assert_eq!(several.to_string(), "a list of 4, 5 or 12 numbers from -1 to 1");
        assert!(several.accept(&Value::List(vec![0.5; 5])).is_some());
    }

    #[test]
    fn errors_name_parameter_given_and_allowed() {
        let odd = ParamSpec::new("kernel", ParamKind::odd(1, 31), "").check("blur", &Value::Int(4));
        assert_eq!(
            odd.unwrap_err().to_string(),
            "parameter 'kernel' of 'blur' is 4, but must be an odd whole number from 1 to 31"
        );
        let word = ParamSpec::new("to", ParamKind::choice(&["gray", "rgb"]), "").check("c", &"grey".into());
        assert_eq!(
            word.unwrap_err().to_string(),
            "parameter 'to' of 'c' is \"grey\", but must be one of gray, rgb (did you mean 'gray'?)"
        );
        let sigma = ParamSpec::new("sigma", ParamKind::above(0.0, 1e30), "").check("b", &Value::Int(-1));
        assert!(sigma.unwrap_err().to_string().ends_with("a number greater than 0 and at most 1e30"));
    }
}
