//! How operators store their parameters: typed fields under the names of the specification.

use mip_core::ImageDesc;

use crate::{OpError, Operator, ParamError, Value};

/// A typed field that is read and written as a [`Value`].
pub(crate) trait Field {
    /// `None` when it is unset.
    fn value(&self) -> Option<Value>;

    /// Takes over a value of the field's type; says whether it was one.
    fn store(&mut self, value: &Value) -> bool;
}

/// An operator's fields and the rules between them. [`fields!`] writes the first two methods.
pub(crate) trait Parameters: Operator + Clone {
    /// The field behind a parameter.
    fn field(&self, name: &str) -> Option<&dyn Field>;

    /// The field behind a parameter.
    fn field_mut(&mut self, name: &str) -> Option<&mut dyn Field>;

    /// The rules between parameters.
    fn conflicts(&self) -> Result<(), ParamError> {
        Ok(())
    }

    /// The operator's `N` inputs, after its parameters, their number and each of them have been checked.
    fn accept<const N: usize>(&self, inputs: &[ImageDesc]) -> Result<[ImageDesc; N], OpError> {
        let spec = self.spec();
        spec.check_operator(self)?;
        self.conflicts()?;
        spec.check_inputs(inputs)?;
        inputs.try_into().map_err(|_| spec.input_count(inputs.len()))
    }

    /// The description that all inputs must share, after the same checks.
    fn accept_alike(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let spec = self.spec();
        spec.check_operator(self)?;
        self.conflicts()?;
        spec.check_inputs(inputs)?;
        let first = inputs[0];
        let Some(slot) = inputs.iter().position(|input| *input != first) else { return Ok(first) };
        let other = inputs[slot];
        let differences = [
            ((first.width(), first.height()) != (other.width(), other.height()), "resize"),
            (first.format() != other.format(), "color_convert"),
            (first.dtype() != other.dtype(), "cast"),
            (first.layout() != other.layout(), "layout"),
        ];
        let remedies: Vec<_> = differences.iter().filter(|d| d.0).map(|d| d.1).collect();
        let (like, remedies) = (spec.inputs[0], remedies.join(", "));
        Err(OpError::Input {
            operator: spec.name,
            slot: spec.inputs[slot].to_owned(),
            given: other.to_string(),
            allowed: format!("like input '{like}', {first}; bring them together with {remedies}"),
        })
    }

    /// The numbers of a list parameter for each of `channels` channels of the input: one holds for all.
    fn per_channel(
        &self,
        name: &str,
        values: &[f64],
        channels: usize,
        input: &ImageDesc,
    ) -> Result<Vec<f64>, ParamError> {
        match *values {
            [one] => Ok(vec![one; channels]),
            ref all if all.len() == channels => Ok(all.to_vec()),
            ref other => {
                let allowed = match channels {
                    1 => format!("one number for {input}"),
                    _ => format!("one number or {channels} (one a channel) for {input}"),
                };
                Err(self.invalid(name, format!("{} numbers", other.len()), allowed))
            }
        }
    }

    /// A value that is wrong for this operator for a reason beyond its own range.
    fn invalid(&self, parameter: &str, given: impl Into<String>, allowed: impl Into<String>) -> ParamError {
        ParamError::Invalid {
            operator: self.spec().name,
            parameter: parameter.to_owned(),
            given: given.into(),
            allowed: allowed.into(),
        }
    }

    /// A parameter that contradicts another.
    fn conflict(&self, parameter: &str, with: impl Into<String>, remedy: impl Into<String>) -> ParamError {
        ParamError::Conflict {
            operator: self.spec().name,
            parameter: parameter.to_owned(),
            with: with.into(),
            remedy: remedy.into(),
        }
    }
}

/// [`crate::registry::Create`] for an operator with [`Parameters`]: all are stored before they are compared
/// with each other, so that their order does not matter.
pub(crate) fn create<T: Parameters + Default + 'static>(
    params: &[(String, Value)],
) -> Result<Box<dyn Operator>, ParamError> {
    let mut operator = T::default();
    for (name, value) in params {
        store(&mut operator, name, value)?;
    }
    operator.conflicts()?;
    Ok(Box::new(operator))
}

/// [`Operator::set`] for an operator with [`Parameters`]; after an error nothing has changed.
pub(crate) fn set<T: Parameters>(operator: &mut T, name: &str, value: &Value) -> Result<(), ParamError> {
    let mut changed = operator.clone();
    store(&mut changed, name, value)?;
    changed.conflicts()?;
    *operator = changed;
    Ok(())
}

fn store<T: Parameters>(operator: &mut T, name: &str, value: &Value) -> Result<(), ParamError> {
    let spec = operator.spec();
    let param = spec.param(name)?;
    if operator.field_mut(name).is_some_and(|field| field.store(value)) {
        Ok(())
    } else {
        Err(operator.invalid(name, value.to_string(), param.kind.to_string()))
    }
}

/// The two accessors of [`Parameters`]: `fields! { "sigma" => sigma, "border" => border.mode }`.
macro_rules! fields {
    ($($name:literal => $($place:ident).+),* $(,)?) => {
        fn field(&self, name: &str) -> Option<&dyn $crate::field::Field> {
            match name {
                $($name => Some(&self.$($place).+),)*
                _ => None,
            }
        }

        fn field_mut(&mut self, name: &str) -> Option<&mut dyn $crate::field::Field> {
            match name {
                $($name => Some(&mut self.$($place).+),)*
                _ => None,
            }
        }
    };
}

/// The methods of [`Operator`] that follow from [`Parameters`] and the specification.
macro_rules! plumbing {
    ($spec:path) => {
        fn spec(&self) -> &'static $crate::OperatorSpec {
            &$spec
        }

        fn get(&self, parameter: &str) -> Option<$crate::Value> {
            $crate::field::Parameters::field(self, parameter)?.value()
        }

        fn set(&mut self, parameter: &str, value: $crate::Value) -> Result<(), $crate::ParamError> {
            $crate::field::set(self, parameter, &value)
        }

        fn clone_box(&self) -> Box<dyn $crate::Operator> {
            Box::new(self.clone())
        }
    };
}

pub(crate) use {fields, plumbing};

/// A type with a plain value.
pub(crate) trait Stored: Sized {
    /// As a parameter value.
    fn to_value(&self) -> Value;

    /// From a value of the matching kind.
    fn from_value(value: &Value) -> Option<Self>;
}

impl<T: Stored> Field for T {
    fn value(&self) -> Option<Value> {
        Some(self.to_value())
    }

    fn store(&mut self, value: &Value) -> bool {
        T::from_value(value).map(|v| *self = v).is_some()
    }
}

/// A parameter that may be unset, or that has no default.
impl<T: Stored> Field for Option<T> {
    fn value(&self) -> Option<Value> {
        self.as_ref().map(Stored::to_value)
    }

    fn store(&mut self, value: &Value) -> bool {
        T::from_value(value).map(|v| *self = Some(v)).is_some()
    }
}

impl Stored for u32 {
    fn to_value(&self) -> Value {
        Value::from(*self)
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Int(v) = *value else { return None };
        Self::try_from(v).ok()
    }
}

impl Stored for f64 {
    fn to_value(&self) -> Value {
        Value::Float(*self)
    }

    fn from_value(value: &Value) -> Option<Self> {
        value.as_number()
    }
}

impl Stored for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Bool(v) = *value else { return None };
        Some(v)
    }
}

impl Stored for String {
    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        Some(text.clone())
    }
}

impl Stored for Vec<f64> {
    fn to_value(&self) -> Value {
        Value::List(self.clone())
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::List(v) => Some(v.clone()),
            other => other.as_number().map(|v| vec![v]),
        }
    }
}
