use mip_core::{DType, ImageDesc, ImageError, PixelFormat};
use mip_plan::{Border, Coordinates, MapUnit};

use crate::border::{BORDER, BORDER_VALUE};
use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::sampling::{FILTER, SamplingFields, WarpFilter};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "remap",
    summary: "Samples the image where two maps of coordinates say",
    inputs: &["in", "x", "y"],
    params: &[
        ParamSpec::new(
            "coordinates",
            ParamKind::choice(COORDINATES),
            "absolute: pixels of the input, whole ones are centres; normalized: -1 to 1 from edge to edge; relative: pixels from the result's own",
        )
        .default_is("absolute"),
        FILTER,
        BORDER.default_is("constant"),
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "coordinates=normalized",
        "coordinates=relative filter=nearest border=reflect",
        "coordinates=normalized filter=bicubic border=reflect101",
        "coordinates=absolute border=constant border_value=1",
        "filter=bilinear border=wrap",
    ],
    create: create::<Remap>,
};

choice! {
    /// What the numbers of maps count.
    pub enum MapCoordinates as COORDINATES {
        /// Pixels of the input; whole coordinates are centres, (0, 0) that of the first pixel.
        #[default]
        Absolute = "absolute",
        /// -1 is the outer edge of the first pixel, 1 that of the last.
        Normalized = "normalized",
        /// Pixels from the place of the result's pixel.
        Relative = "relative",
    }
}

/// Samples the input where maps say: pixel (x, y) of the result is the input at the coordinates that the inputs `x` and `y`
/// hold at (x, y). Both are gray f32 images of one size, which is the result's; format, dtype and layout are those of `in`.
/// A coordinate that is NaN is nowhere: the pixel is the border's constant, or 0 with any other border.
///
/// `coordinates` says what the numbers count (see [`MapUnit`]); sampling is as of [`crate::WarpAffine`], the nearest pixel
/// with halves to even.
///
/// `absolute` is `OpenCV`'s `remap` with two maps of `CV_32FC1`, which rounds coordinates to 1/32 of a pixel when it
/// interpolates; `normalized` is `PyTorch`'s `grid_sample` with `align_corners=False`; `relative` takes optical flow. DALI's
/// `remap` counts from corners of pixels unless `pixel_origin` is `center`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Remap {
    coordinates: MapCoordinates,
    sampling: SamplingFields,
}

impl Remap {
    /// By maps that count so.
    pub fn new(coordinates: MapCoordinates) -> Self {
        Self { coordinates, ..Self::default() }
    }

    /// With this filter; [`WarpFilter::Bilinear`] by default.
    #[must_use]
    pub fn filter(self, filter: WarpFilter) -> Self {
        Self { sampling: SamplingFields { filter, ..self.sampling }, ..self }
    }

    /// With this border; a constant of 0 by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { sampling: SamplingFields { border: border.into(), ..self.sampling }, ..self }
    }
}

impl Parameters for Remap {
    fields! {
        "coordinates" => coordinates,
        "filter" => sampling.filter,
        "border" => sampling.border.mode,
        "border_value" => sampling.border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.sampling.border.conflicts(self)
    }
}

impl Operator for Remap {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input, x, y] = self.accept(inputs)?;
        self.sampling.border.resolve(self, &input)?;
        let refuse = |slot: usize, allowed: String| {
            let (slot, given) = (SPEC.inputs[slot].to_owned(), inputs[slot].to_string());
            Err(OpError::Input { operator: SPEC.name, slot, given, allowed })
        };
        for (slot, map) in [(1, x), (2, y)] {
            if (map.format(), map.dtype()) != (PixelFormat::Gray, DType::F32) {
                return refuse(slot, "a map of coordinates: gray, f32".to_owned());
            }
        }
        if (x.width(), x.height()) != (y.width(), y.height()) {
            return refuse(2, format!("as large as input 'x', {x}"));
        }
        Ok(input.with_size(x.width(), x.height())?)
    }

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        let map = input.with_format(PixelFormat::Gray)?.with_dtype(DType::F32)?;
        Ok(vec![*input, map, map])
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let unit = match self.coordinates {
            MapCoordinates::Absolute => MapUnit::Absolute,
            MapCoordinates::Normalized => MapUnit::Normalized,
            MapCoordinates::Relative => MapUnit::Relative,
        };
        let kernel = self.sampling.kernel(self, Coordinates::Map(unit), &inputs[0])?;
        Ok(Lowered::single(kernel, [], output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_is_as_large_as_the_maps() {
        let image = ImageDesc::new(40, 30, PixelFormat::Rgb, DType::U8).unwrap();
        let map = ImageDesc::new(7, 5, PixelFormat::Gray, DType::F32).unwrap();
        let remap = Remap::default();
        assert_eq!(remap.infer(&[image, map, map]).unwrap(), image.with_size(7, 5).unwrap());
        let refusal = |x, y| remap.infer(&[image, x, y]).unwrap_err().to_string();
        assert_eq!(
            refusal(image, map),
            "input 'x' of 'remap' is 40x30 rgb u8, but must be a map of coordinates: gray, f32"
        );
        assert_eq!(
            refusal(map, map.with_size(8, 5).unwrap()),
            "input 'y' of 'remap' is 8x5 gray f32, but must be as large as input 'x', 7x5 gray f32"
        );
    }
}
