use mip_core::{ImageDesc, ImageError, PixelFormat};
use mip_plan::Border;

use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

choice! {
    /// The order in which [`Merge`] lays channels.
    pub enum MergeTo as FORMATS {
        /// Red first.
        #[default]
        Rgb = "rgb",
        /// Blue first.
        Bgr = "bgr",
    }
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "merge",
    summary: "One colour image of three gray ones",
    inputs: &["r", "g", "b"],
    params: &[ParamSpec::new("to", ParamKind::choice(FORMATS), "Format of the result").default_is("rgb")],
    extra: Extra::NONE,
    examples: &["", "to=bgr"],
    create: create::<Merge>,
};

/// The samples of three gray images as red, green and blue. All agree in size, dtype and layout. OpenCV's `merge`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merge {
    to: MergeTo,
}

impl Merge {
    /// To this format.
    pub const fn to(to: MergeTo) -> Self {
        Self { to }
    }
}

impl Parameters for Merge {
    fields! { "to" => to }
}

impl Operator for Merge {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let input = self.accept_alike(inputs)?;
        if input.format() != PixelFormat::Gray {
            return Err(OpError::Input {
                operator: SPEC.name,
                slot: SPEC.inputs[0].to_owned(),
                given: input.to_string(),
                allowed: "gray; pick a channel with select".to_owned(),
            });
        }
        let format = if self.to == MergeTo::Rgb { PixelFormat::Rgb } else { PixelFormat::Bgr };
        Ok(input.with_format(format)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let channel = |slot| crate::expr::Term::channel(slot, mip_plan::Channel::Index(0));
        let formula = Formula::channels([channel(0), channel(1), channel(2)]);
        Ok(lowered(&formula.compile(&SPEC)?, Border::default(), |_| 0.0, output))
    }

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        Ok(vec![input.with_format(PixelFormat::Gray)?; 3])
    }
}
