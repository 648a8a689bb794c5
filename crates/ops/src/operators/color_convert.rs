use mip_core::{ImageDesc, PixelFormat};
use mip_plan::{Kernel, Point};

use crate::choice::FORMATS;
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "color_convert",
    summary: "Changes the channels: gray, rgb, bgr, rgba, bgra",
    inputs: &["in"],
    params: &[ParamSpec::new("to", ParamKind::choice(FORMATS), "Format of the result").required()],
    extra: Extra::NONE,
    examples: &["to=gray", "to=rgb", "to=bgr", "to=rgba", "to=bgra"],
    create: create::<ColorConvert>,
};

/// Changes the pixel format; dtype, size and layout stay.
///
/// * To gray: `(299 R + 587 G + 114 B) / 1000`, exactly, to the nearest integer, ties to even.
/// * From gray: the value in every colour channel.
/// * Between colours: channels change places, values stay.
/// * Alpha is kept where the target has it and dropped where not (colours are not blended with anything); a
///   new one is opaque: 255, 65535 or 1.0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColorConvert {
    to: Option<PixelFormat>,
}

impl ColorConvert {
    /// A conversion to the given format.
    pub const fn to(to: PixelFormat) -> Self {
        Self { to: Some(to) }
    }
}

impl Parameters for ColorConvert {
    fields! { "to" => to }
}

impl Operator for ColorConvert {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(self.to.map_or(Ok(input), |to| input.with_format(to))?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let convert = Point::convert(inputs[0].format(), output.format(), output.dtype());
        Ok(Lowered::single(Kernel::Point(convert), [], output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::DType;

    use super::*;

    #[test]
    fn only_the_format_changes() {
        let image = ImageDesc::new(4, 3, PixelFormat::Rgba, DType::U16).unwrap();
        let gray = ColorConvert::to(PixelFormat::Gray).infer(&[image]).unwrap();
        assert_eq!(gray.to_string(), "4x3 gray u16");
    }

    #[test]
    fn a_result_too_large_is_refused() {
        let plane = ImageDesc::new(i32::MAX as u32, 1 << 30, PixelFormat::Gray, DType::F32);
        let error = ColorConvert::to(PixelFormat::Rgba).infer(&[plane.unwrap()]).unwrap_err();
        assert!(matches!(error, OpError::Image(_)), "{error}");
    }
}
