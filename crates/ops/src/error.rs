use mip_core::ImageError;
use mip_core::text::quoted;

/// A parameter that an operator does not take as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// No parameter of that name.
    #[error("'{operator}' has no parameter '{}'{}; it has: {known}", quoted(.parameter), did_you_mean(.suggestion.as_deref()))]
    Unknown {
        /// Operator name.
        operator: &'static str,
        /// The name given.
        parameter: String,
        /// The closest known name, if one is close.
        suggestion: Option<String>,
        /// The known names, comma separated.
        known: String,
    },
    /// A value of the wrong type or out of range.
    #[error("parameter '{parameter}' of '{operator}' is {}, but must be {allowed}", quoted(.given))]
    Invalid {
        /// Operator name.
        operator: &'static str,
        /// Parameter name.
        parameter: String,
        /// The value given.
        given: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter that must be given.
    #[error("'{operator}' needs parameter '{parameter}' ({allowed})")]
    Missing {
        /// Operator name.
        operator: &'static str,
        /// Parameter name.
        parameter: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter that stands in the list twice.
    #[error("parameter '{parameter}' of '{operator}' is given twice")]
    Repeated {
        /// Operator name.
        operator: &'static str,
        /// Parameter name.
        parameter: String,
    },
    /// Two parameters that contradict each other.
    #[error("parameter '{parameter}' of '{operator}' cannot be given {with}; {remedy}")]
    Conflict {
        /// Operator name.
        operator: &'static str,
        /// Parameter name.
        parameter: String,
        /// What it contradicts ("together with 'width'").
        with: String,
        /// What to do.
        remedy: String,
    },
    /// An expression that cannot be read, or does not fit.
    #[error("parameter '{parameter}' of '{operator}', column {column}: {message}")]
    Expression {
        /// Operator name.
        operator: &'static str,
        /// Parameter name.
        parameter: String,
        /// Where in the expression, in characters from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// No operator of that name.
    #[error("there is no operator '{}'{}; `mip ops` lists them", quoted(.operator), did_you_mean(.suggestion.as_deref()))]
    UnknownOperator {
        /// The name given.
        operator: String,
        /// The closest known name, if one is close.
        suggestion: Option<String>,
    },
}

impl ParamError {
    /// The operator that it is about, if it has that name.
    pub const fn operator(&self) -> Option<&'static str> {
        match self {
            Self::Unknown { operator, .. }
            | Self::Invalid { operator, .. }
            | Self::Missing { operator, .. }
            | Self::Repeated { operator, .. }
            | Self::Conflict { operator, .. }
            | Self::Expression { operator, .. } => Some(operator),
            Self::UnknownOperator { .. } => None,
        }
    }

    /// The parameter that it is about, if there is one.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::Unknown { parameter, .. }
            | Self::Invalid { parameter, .. }
            | Self::Missing { parameter, .. }
            | Self::Repeated { parameter, .. }
            | Self::Conflict { parameter, .. }
            | Self::Expression { parameter, .. } => Some(parameter),
            Self::UnknownOperator { .. } => None,
        }
    }
}

/// Inputs that an operator cannot work on with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// Wrong number of inputs.
    #[error("'{operator}' takes {expected} input(s) ({slots}), but {given} are connected")]
    InputCount {
        /// Operator name.
        operator: &'static str,
        /// Number of slots.
        expected: usize,
        /// Slot names, comma separated.
        slots: String,
        /// Number given.
        given: usize,
    },
    /// An input whose shape, format or type does not fit.
    #[error("input '{slot}' of '{operator}' is {given}, but must be {allowed}")]
    Input {
        /// Operator name.
        operator: &'static str,
        /// Slot name.
        slot: String,
        /// The input's description.
        given: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter that does not fit the input.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A result that is too large.
    #[error(transparent)]
    Image(#[from] ImageError),
}

pub(crate) fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |s| format!(" (did you mean '{s}'?)"))
}
