use mip_core::ImageDesc;
use mip_plan::{AxisMap, Gather, Kernel};

use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

const SIDE: ParamKind = ParamKind::pixels(1, ImageDesc::MAX_SIDE);
const POSITION: ParamKind = ParamKind::pixels(0, ImageDesc::MAX_SIDE - 1);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "crop",
    summary: "Cuts out a rectangle",
    inputs: &["in"],
    params: &[
        ParamSpec::new("width", SIDE, "Width in pixels").required().of_image(),
        ParamSpec::new("height", SIDE, "Height in pixels").required().of_image(),
        ParamSpec::new("x", POSITION, "First column, 0 if not given; not with center").of_image(),
        ParamSpec::new("y", POSITION, "First row, 0 if not given; not with center").of_image(),
        ParamSpec::new("center", ParamKind::Bool, "Cut out of the middle").default_is("false"),
    ],
    extra: Extra::SUMS,
    examples: &[
        "width=1 height=1",
        "width=1 height=1 x=0 y=0",
        "width=1 height=1 center=true",
        "width=3 height=2",
    ],
    create: create::<Crop>,
};

/// Cuts out `width` x `height` pixels from column `x` and row `y`, or from the middle (`center`: `x` is
/// `(input width - width) / 2` rounded down, `y` likewise). The rectangle must lie inside the input.
///
/// Samples stay as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Crop {
    x: Option<u32>,
    y: Option<u32>,
    width: Option<u32>,
    height: Option<u32>,
    center: bool,
}

impl Crop {
    /// The rectangle of `width` x `height` pixels that begins at column `x` and row `y`.
    pub const fn new(x: u32, y: u32, width: u32, height: u32) -> Self {
        Self { x: Some(x), y: Some(y), width: Some(width), height: Some(height), center: false }
    }

    /// The middle `width` x `height` pixels.
    pub const fn center(width: u32, height: u32) -> Self {
        Self { x: None, y: None, width: Some(width), height: Some(height), center: true }
    }

    /// First pixel and length along one axis.
    fn span(&self, axis: &Axis, input: &ImageDesc) -> Result<(u32, u32), ParamError> {
        let Axis { extent, length, first, length_name, first_name } = *axis;
        let length = length.unwrap_or(extent);
        let start = if self.center { extent.saturating_sub(length) / 2 } else { first.unwrap_or(0) };
        if u64::from(start) + u64::from(length) <= u64::from(extent) {
            return Ok((start, length));
        }
        let inside = format!("inside the input, {input}");
        if length > extent || start == 0 {
            return Err(self.invalid(
                length_name,
                length.to_string(),
                format!("at most {extent} to lie {inside}"),
            ));
        }
        let given = format!("{start} with {length_name} = {length}");
        Err(self.invalid(first_name, given, format!("at most {} to lie {inside}", extent - length)))
    }

    fn spans(&self, input: &ImageDesc) -> Result<[(u32, u32); 2], ParamError> {
        let x = Axis {
            extent: input.width(),
            length: self.width,
            first: self.x,
            length_name: "width",
            first_name: "x",
        };
        let y = Axis {
            extent: input.height(),
            length: self.height,
            first: self.y,
            length_name: "height",
            first_name: "y",
        };
        Ok([self.span(&x, input)?, self.span(&y, input)?])
    }
}

/// One direction: the input's extent and the parameters that cut it.
struct Axis {
    extent: u32,
    length: Option<u32>,
    first: Option<u32>,
    length_name: &'static str,
    first_name: &'static str,
}

impl Parameters for Crop {
    fields! { "width" => width, "height" => height, "x" => x, "y" => y, "center" => center }

    fn conflicts(&self) -> Result<(), ParamError> {
        for (name, given) in [("x", self.x), ("y", self.y)] {
            if self.center && given.is_some() {
                return Err(self.conflict(name, "together with center = true", "leave one of them out"));
            }
        }
        Ok(())
    }
}

impl Operator for Crop {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        let [(_, width), (_, height)] = self.spans(&input)?;
        Ok(input.with_size(width, height)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let [(x, _), (y, _)] = self.spans(&inputs[0])?;
        let gather = Gather { x: AxisMap::Offset { first: x }, y: AxisMap::Offset { first: y } };
        Ok(Lowered::single(Kernel::Gather(gather), [], output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn image() -> ImageDesc {
        ImageDesc::new(341, 256, PixelFormat::Rgb, DType::U8).unwrap()
    }

    fn first_pixel(crop: &Crop) -> (u32, u32) {
        let Kernel::Gather(gather) = crop.lower(&[image()]).unwrap().steps[0].kernel else { panic!() };
        (gather.x.map(0), gather.y.map(0))
    }

    #[test]
    fn the_rectangle_begins_where_it_was_put() {
        assert_eq!(first_pixel(&Crop::new(7, 9, 10, 20)), (7, 9));
        assert_eq!(first_pixel(&Crop::center(224, 224)), (58, 16));
        assert_eq!(first_pixel(&Crop::center(341, 256)), (0, 0));
        assert_eq!(
            Crop::new(331, 236, 10, 20).infer(&[image()]).unwrap(),
            image().with_size(10, 20).unwrap()
        );
    }

    #[test]
    fn a_rectangle_outside_names_itself_and_the_image() {
        let refusal = |crop: Crop| crop.infer(&[image()]).unwrap_err().to_string();
        assert_eq!(
            refusal(Crop::new(332, 0, 10, 20)),
            "parameter 'x' of 'crop' is 332 with width = 10, but must be at most 331 to lie inside the input, \
             341x256 rgb u8"
        );
        assert_eq!(
            refusal(Crop::center(224, 257)),
            "parameter 'height' of 'crop' is 257, but must be at most 256 to lie inside the input, 341x256 rgb u8"
        );
        assert!(refusal(Crop::new(ImageDesc::MAX_SIDE - 1, 0, ImageDesc::MAX_SIDE, 1)).contains("'width'"));
        assert!(
            refusal(Crop::new(0, 0, 0, 1))
                .contains("'width' of 'crop' is 0, but must be a whole number from 1")
        );
    }

    #[test]
    fn a_position_contradicts_the_middle() {
        let mut crop = Crop::center(2, 2);
        assert_eq!(
            crop.set("x", 0.into()).unwrap_err().to_string(),
            "parameter 'x' of 'crop' cannot be given together with center = true; leave one of them out"
        );
        assert_eq!(crop, Crop::center(2, 2));
    }
}
