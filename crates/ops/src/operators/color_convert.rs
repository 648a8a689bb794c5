use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Border, Kernel, Point};

use crate::choice::FORMATS;
use crate::color_spaces;
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "color_convert",
    summary: "Changes the channels: gray, rgb, bgr, rgba, bgra, or a colour space",
    inputs: &["in"],
    params: &[ParamSpec::new("to", ParamKind::choice(FORMATS), "Format of the result").required()],
    extra: Extra::NONE,
    examples: &[
        "to=gray",
        "to=rgb",
        "to=bgr",
        "to=rgba",
        "to=bgra",
        "to=hsv",
        "to=hls",
        "to=ycbcr",
        "to=lab",
        "to=luv",
        "to=xyz",
        "to=linear",
    ],
    create: create::<ColorConvert>,
};

/// Changes the pixel format; dtype, size and layout stay.
///
/// * To gray: `(299 R + 587 G + 114 B) / 1000`, exactly, to the nearest integer, ties to even.
/// * From gray: the value in every colour channel.
/// * Between colours: channels change places, values stay.
/// * Alpha is kept where the target has it and dropped where not (colours are not blended with anything); a
///   new one is opaque: 255, 65535 or 1.0.
/// * To and from colour spaces ([`PixelFormat::Hsv`] and those behind it, whose numbers stand there), from and to gray (from alone),
///   rgb, bgr, rgba and bgra of u8, f16 and f32, and of u16 for all but lab, luv and xyz: by the definition, rounded once at the end.
///   What lies outside of what red, green and blue can be is cut off in integers.
///
/// Hue, saturation and lightness are OpenCV's numbers; YCbCr is JPEG's, where OpenCV has the chroma in the other order and shorter
/// factors; XYZ, L\*a\*b\* and L\*u\*v\* are of sRGB, which OpenCV's XYZ takes for linear. Bytes of
/// `cv2.cvtColor(COLOR_RGB2LUV)` are within 1, of `COLOR_RGB2LAB` within 3; dark blues (below 40 of 255) that L\*u\*v\* in bytes holds
/// coarsely come back from it within 17, in OpenCV within 28.
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

impl ColorConvert {
    /// What a colour space can be made of, and what can be made of one.
    fn check_space(&self, input: &ImageDesc) -> Result<(), OpError> {
        let (from, to) = (input.format(), self.to.unwrap_or(input.format()));
        let (space, other) = if from.is_color_space() { (from, to) } else { (to, from) };
        let precise = matches!(space, PixelFormat::Lab | PixelFormat::Luv | PixelFormat::Xyz);
        let allowed = match input.dtype() {
            _ if from == to || !space.is_color_space() => return Ok(()),
            _ if from.is_color_space() && other.rgb_indices().is_none() => {
                "in rgb, bgr, rgba or bgra; convert it with color_convert to=rgb first"
            }
            DType::I16 | DType::I32 => "u8, u16, f16 or f32 for colour spaces; convert it with cast first",
            DType::U16 if precise => "u8, f16 or f32 for lab, luv and xyz; convert it with cast to=f32 first",
            DType::U8 | DType::U16 | DType::F16 | DType::F32 => return Ok(()),
        };
        let (slot, given) = (SPEC.inputs[0].to_owned(), input.to_string());
        Err(OpError::Input { operator: SPEC.name, slot, given, allowed: allowed.to_owned() })
    }
}

impl Operator for ColorConvert {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.check_space(&input)?;
        Ok(self.to.map_or(Ok(input), |to| input.with_format(to))?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let (from, to) = (inputs[0].format(), output.format());
        if from != to && (from.is_color_space() || to.is_color_space()) {
            let formula = Formula::channels(color_spaces::convert(from, to, output.dtype()));
            return Ok(lowered(&formula.compile(&SPEC)?, Border::default(), |_| 0.0, output));
        }
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
    fn colour_spaces_go_by_way_of_red_green_and_blue() {
        let image = ImageDesc::new(4, 3, PixelFormat::Bgra, DType::U8).unwrap();
        let hsv = ColorConvert::to(PixelFormat::Hsv).infer(&[image]).unwrap();
        assert_eq!(hsv.to_string(), "4x3 hsv u8");
        assert_eq!(ColorConvert::to(PixelFormat::Rgba).infer(&[hsv]).unwrap().to_string(), "4x3 rgba u8");
        let refused = |to, of: ImageDesc| ColorConvert::to(to).infer(&[of]).unwrap_err().to_string();
        assert!(refused(PixelFormat::Lab, hsv).contains("color_convert to=rgb first"));
        assert!(refused(PixelFormat::Gray, hsv).contains("color_convert to=rgb first"));
        assert!(refused(PixelFormat::Lab, image.with_dtype(DType::U16).unwrap()).contains("cast to=f32"));
        assert!(refused(PixelFormat::Hsv, image.with_dtype(DType::I16).unwrap()).contains("u16"));
    }

    #[test]
    fn a_result_too_large_is_refused() {
        let plane = ImageDesc::new(i32::MAX as u32, 1 << 30, PixelFormat::Gray, DType::F32);
        let error = ColorConvert::to(PixelFormat::Rgba).infer(&[plane.unwrap()]).unwrap_err();
        assert!(matches!(error, OpError::Image(_)), "{error}");
    }
}
