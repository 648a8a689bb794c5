//! The parameters `border` and `border_value`, shared by all filters.

use mip_core::ImageDesc;
use mip_plan::Border;

use crate::choice::choice;
use crate::field::Parameters;
use crate::tables::SHORT;
use crate::{ParamError, ParamKind, ParamSpec};

choice! {
    /// What a filter reads outside the image, without the constant's value (which is its own parameter).
    pub(crate) enum BorderMode as BORDERS {
        /// [`Border::Reflect101`].
        #[default]
        Reflect101 = "reflect101",
        /// [`Border::Reflect`].
        Reflect = "reflect",
        /// [`Border::Replicate`].
        Replicate = "replicate",
        /// [`Border::Wrap`].
        Wrap = "wrap",
        /// [`Border::Constant`].
        Constant = "constant",
    }
}

/// A border as two parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct BorderFields {
    pub(crate) mode: BorderMode,
    pub(crate) value: Option<f64>,
}

pub(crate) const BORDER: ParamSpec =
    ParamSpec::new("border", ParamKind::choice(BORDERS), "What is read outside the image")
        .default_is("reflect101");

pub(crate) const BORDER_VALUE: ParamSpec = ParamSpec::new(
    "border_value",
    ParamKind::any_number(),
    "Value outside the image in sample units, 0 if not given; only with border = constant",
)
.of_image();

impl From<Border> for BorderFields {
    fn from(border: Border) -> Self {
        let mode = match border {
            Border::Reflect101 => BorderMode::Reflect101,
            Border::Reflect => BorderMode::Reflect,
            Border::Replicate => BorderMode::Replicate,
            Border::Wrap => BorderMode::Wrap,
            Border::Constant(v) => return Self { mode: BorderMode::Constant, value: Some(v.into()) },
        };
        Self { mode, value: None }
    }
}

impl BorderFields {
    /// A value without `border = constant`.
    pub(crate) fn conflicts(self, operator: &impl Parameters) -> Result<(), ParamError> {
        if self.value.is_some() && self.mode != BorderMode::Constant {
            let with = format!("with border = {}", self.mode);
            return Err(operator.conflict("border_value", with, "it needs border = constant"));
        }
        Ok(())
    }

    /// Refuses borders that no table of weights has room for, where the neighbourhood needs one.
    pub(crate) fn folds(self, operator: &impl Parameters, radius: u32) -> Result<(), ParamError> {
        let near = matches!(self.mode, BorderMode::Reflect101 | BorderMode::Reflect | BorderMode::Replicate);
        if radius <= SHORT || near {
            return Ok(());
        }
        let with = format!("with a kernel of more than {} pixels", 2 * SHORT + 1);
        Err(operator.conflict("border", with, "it needs reflect101, reflect or replicate"))
    }

    /// The border for images like `input`. A constant must be a value that one of its samples could have, so
    /// that every device may keep borders and pixels in the same memory.
    pub(crate) fn resolve(self, operator: &impl Parameters, input: &ImageDesc) -> Result<Border, ParamError> {
        let value = match self.mode {
            BorderMode::Reflect101 => return Ok(Border::Reflect101),
            BorderMode::Reflect => return Ok(Border::Reflect),
            BorderMode::Replicate => return Ok(Border::Replicate),
            BorderMode::Wrap => return Ok(Border::Wrap),
            BorderMode::Constant => self.value.unwrap_or(0.0),
        };
        // Floats are rounded to the type, as samples are; integers have to be exact.
        let constant = input.dtype().rounded(value as f32);
        let allowed = match input.dtype().integers() {
            Some((min, max)) if f64::from(constant) != value => {
                Some(format!("a whole number from {min} to {max} for {input}"))
            }
            None if !constant.is_finite() => Some(format!("a number that fits in {}", input.dtype())),
            Some(_) | None => None,
        };
        if let Some(allowed) = allowed {
            return Err(operator.invalid("border_value", value.to_string(), allowed));
        }
        Ok(Border::Constant(constant))
    }
}
