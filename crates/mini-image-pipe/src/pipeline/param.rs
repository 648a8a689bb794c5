//! Parameters with a type.

use std::fmt;
use std::marker::PhantomData;

use mip_graph::TaskHandle;
use mip_ops::{Change, ParamKind, ParamSpec, Value};

use super::Pipeline;
use crate::Error;

/// A parameter of a task, of a type that was checked when it was looked up: see [`Pipeline::param`].
pub struct Param<'a, T> {
    pipeline: &'a mut Pipeline,
    task: TaskHandle,
    name: String,
    spec: &'static ParamSpec,
    of: PhantomData<T>,
}

impl<T> fmt::Debug for Param<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Param").field("name", &self.name).field("spec", self.spec).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// A parameter by its task's name and its own, to be read and set as a `T`.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let mut pipeline = Pipeline::parse("soft:gaussian_blur kernel=5 ! sobel")?;
    /// pipeline.param::<f64>("soft.sigma")?.set(1.4)?;
    /// assert_eq!(pipeline.param::<f64>("soft.sigma")?.get(), Some(1.4));
    /// let refused = pipeline.param::<bool>("soft.sigma").unwrap_err().to_string();
    /// assert_eq!(refused, "parameter 'soft.sigma' was asked for as bool, but it is f64: a number greater than 0 and at most 1000000");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such task or parameter, with the closest name, or it is not of that type.
    pub fn param<T: ParamType>(&mut self, path: &str) -> Result<Param<'_, T>, Error> {
        let (task, spec) = self.find_param(path)?;
        if !T::TYPE.holds(&spec.kind) {
            let types = Type::ALL.iter().filter(|t| t.holds(&spec.kind)).map(|t| t.name());
            return Err(Error::ParamType {
                parameter: path.to_owned(),
                given: T::TYPE.name(),
                allowed: types.collect::<Vec<_>>().join(" or "),
                meaning: spec.kind.to_string(),
            });
        }
        // Behind the only dot that can be in front of it.
        let name = path.split_once('.').map_or("", |(_, name)| name).to_owned();
        Ok(Param { pipeline: self, task, name, spec, of: PhantomData })
    }

    /// Sets a parameter by its task's name and its own (`"soft.sigma"`), as [`Pipeline::set_parameter`] does.
    ///
    /// # Errors
    /// As [`Pipeline::set_parameter`], and when there is no such task.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) -> Result<Change, Error> {
        let (task, parameter) = self.split(path)?;
        self.set_parameter(task, parameter, value)
    }

    /// The value of a parameter by its task's name and its own; `None` when it is unset.
    ///
    /// # Errors
    /// When there is no such task or parameter, with the closest name.
    pub fn get(&self, path: &str) -> Result<Option<Value>, Error> {
        let (task, _) = self.find_param(path)?;
        let (_, parameter) = self.split(path)?;
        Ok(self.graph.parameter(task, parameter)?)
    }

    fn split<'p>(&self, path: &'p str) -> Result<(TaskHandle, &'p str), Error> {
        let (task, parameter) = path.split_once('.').ok_or_else(|| {
            let path = mip_core::text::quoted(path);
            Error::Usage(format!("'{path}' names no parameter; write TASK.PARAMETER, for example soft.sigma"))
        })?;
        Ok((self.graph.task(task)?, parameter))
    }

    fn find_param(&self, path: &str) -> Result<(TaskHandle, &'static ParamSpec), Error> {
        let (task, parameter) = self.split(path)?;
        let name = self.graph.name(task)?.to_owned();
        let spec = self.graph.operator(task)?.spec().param(parameter);
        let named = |source| Error::Graph(mip_graph::GraphError::Parameter { task: name, source });
        Ok((task, spec.map_err(named)?))
    }
}

impl<T: ParamType> Param<'_, T> {
    /// The value; `None` when it is unset, or is of another of the types that the parameter takes (a list where one number
    /// was asked for).
    pub fn get(&self) -> Option<T> {
        let value = self.pipeline.graph.parameter(self.task, &self.name);
        value.ok().flatten().and_then(T::from_value)
    }

    /// Sets it, to take effect at the next execution; tells what that costs.
    ///
    /// # Errors
    /// When the value is not allowed; the old one stays.
    pub fn set(&mut self, value: T) -> Result<Change, Error> {
        self.pipeline.set_parameter(self.task, &self.name, value)
    }

    /// Meaning, range and default.
    pub const fn spec(&self) -> &'static ParamSpec {
        self.spec
    }
}

/// A type that parameters can have: `bool`, `i64`, `u32`, `f64`, `String` and `Vec<f64>`. No others can be added.
pub trait ParamType: Into<Value> + sealed::Sealed {
    /// The type as a value.
    #[doc(hidden)]
    const TYPE: Type;

    /// The value as this type.
    #[doc(hidden)]
    fn from_value(value: Value) -> Option<Self>;
}

mod sealed {
    pub trait Sealed {}
}

/// The types of [`ParamType`].
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    Bool,
    Int,
    Unsigned,
    Number,
    Text,
    List,
}

impl Type {
    const ALL: [Self; 6] = [Self::Bool, Self::Int, Self::Unsigned, Self::Number, Self::Text, Self::List];

    const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "i64",
            Self::Unsigned => "u32",
            Self::Number => "f64",
            Self::Text => "String",
            Self::List => "Vec<f64>",
        }
    }

    fn holds(self, kind: &ParamKind) -> bool {
        match kind {
            ParamKind::Bool => self == Self::Bool,
            ParamKind::Int { min, .. } => self == Self::Int || (self == Self::Unsigned && *min >= 0),
            ParamKind::Float { .. } => self == Self::Number,
            ParamKind::Text { .. } | ParamKind::Choice { .. } => self == Self::Text,
            ParamKind::Numbers { .. } => self == Self::List,
            ParamKind::PerChannel { .. } => matches!(self, Self::Number | Self::List),
        }
    }
}

macro_rules! types {
    ($($type:ty: $kind:ident, $value:pat => $read:expr;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl ParamType for $type {
                const TYPE: Type = Type::$kind;

                fn from_value(value: Value) -> Option<Self> {
                    match value {
                        $value => $read,
                        _ => None,
                    }
                }
            }
        )*
    };
}

types! {
    bool: Bool, Value::Bool(v) => Some(v);
    i64: Int, Value::Int(v) => Some(v);
    u32: Unsigned, Value::Int(v) => v.try_into().ok();
    String: Text, Value::Text(v) => Some(v);
    Vec<f64>: List, Value::List(v) => Some(v);
}

impl sealed::Sealed for f64 {}

impl ParamType for f64 {
    const TYPE: Type = Type::Number;

    fn from_value(value: Value) -> Option<Self> {
        match value {
            // A number for all channels is kept as a list of one.
            Value::List(list) => <[Self; 1]>::try_from(list).ok().map(|[v]| v),
            other => other.as_number(),
        }
    }
}
