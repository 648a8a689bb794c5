//! Operators that are an expression of the samples around a pixel, for each colour channel.

use mip_core::{DType, ImageDesc};

use crate::border::BorderFields;
use crate::field::Parameters;
use crate::pointwise::{Formula, lowered, shape};
use crate::{Lowered, OpError, ParamError};

/// An operator whose result is a [`Formula`] of the samples around each pixel. [`windowed!`] makes it an
/// [`crate::Operator`].
pub(crate) trait Windowed: Parameters {
    /// What it reads outside the image.
    fn border(&self) -> BorderFields;

    /// What it computes of inputs like this one, which has been accepted.
    fn formula(&self, input: &ImageDesc) -> Result<Formula, ParamError>;

    /// Dtype of the result, if it is not the input's.
    fn to(&self, _input: &ImageDesc) -> Option<DType> {
        None
    }
}

/// [`crate::Operator::infer`] of a [`Windowed`].
pub(crate) fn infer(operator: &impl Windowed, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
    let [input] = operator.accept(inputs)?;
    let border = operator.border().resolve(operator, &input)?;
    let spec = operator.spec();
    let expr = operator.formula(&input)?.compile(spec)?;
    shape(spec, &expr, border, operator.to(&input), inputs)
}

/// [`crate::Operator::lower`] of a [`Windowed`].
pub(crate) fn lower(operator: &impl Windowed, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
    let output = infer(operator, inputs)?;
    let (spec, formula) = (operator.spec(), operator.formula(&inputs[0])?);
    let border = operator.border().resolve(operator, &inputs[0])?;
    Ok(lowered(&formula.compile(spec)?, border, |name| formula.value(name), output))
}

/// An operator that is a [`Windowed`], with its parameters as [`crate::field::fields`] takes them; those of the border are
/// added.
macro_rules! windowed {
    ($type:ident: $spec:path $(, $name:literal => $($place:ident).+)* $(,)?) => {
        impl $crate::field::Parameters for $type {
            $crate::field::fields! {
                $($name => $($place).+,)*
                "border" => border.mode,
                "border_value" => border.value,
            }

            fn conflicts(&self) -> Result<(), $crate::ParamError> {
                self.border.conflicts(self)
            }
        }

        impl $type {
            /// With this border.
            #[must_use]
            pub fn border(self, border: mip_plan::Border) -> Self {
                Self { border: border.into(), ..self }
            }
        }

        impl $crate::Operator for $type {
            $crate::field::plumbing!($spec);

            fn infer(&self, inputs: &[mip_core::ImageDesc]) -> Result<mip_core::ImageDesc, $crate::OpError> {
                $crate::windowed::infer(self, inputs)
            }

            fn lower(&self, inputs: &[mip_core::ImageDesc]) -> Result<$crate::Lowered, $crate::OpError> {
                $crate::windowed::lower(self, inputs)
            }
        }
    };
}

pub(crate) use windowed;
