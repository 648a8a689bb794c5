use mip_core::ImageDesc;
use mip_plan::{Border, Coordinates};

use crate::border::{BORDER, BORDER_VALUE};
use crate::field::{Parameters, create, fields, plumbing};
use crate::sampling::{FILTER, SamplingFields, WarpFilter};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "rotate",
    summary: "Turns the image by any angle, counter-clockwise",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "angle",
            ParamKind::number(-1e6, 1e6),
            "Degrees, counter-clockwise as the image is looked at",
        )
        .required()
        .uniform(),
        ParamSpec::new(
            "center",
            ParamKind::numbers(&[2], 1e9),
            "[x, y] that stays where it is, in pixels from the centre of the first; the middle if not given",
        )
        .uniform(),
        ParamSpec::new("scale", ParamKind::number(1e-6, 1e6), "Size of the image in the result")
            .default_is("1")
            .uniform(),
        FILTER,
        BORDER.default_is("constant"),
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "angle=30",
        "angle=-90 filter=nearest border=replicate",
        "angle=12.5 center=[0,2] scale=1.5 border=reflect101",
        "angle=200 scale=0.5 border=constant border_value=1",
        "angle=-20 filter=bicubic border=wrap",
    ],
    create: create::<Rotate>,
};

/// Turns the image by `angle` degrees counter-clockwise around `center` ((width - 1) / 2, (height - 1) / 2 if not given: the
/// middle, where whole coordinates are centres of pixels) and scales it by `scale`. The result has the input's size; what
/// leaves it is lost. (`rotate90` changes the sides.)
///
/// The input is sampled as by [`crate::WarpAffine`], with a matrix made in f64 (exact at multiples of 90 degrees) and rounded
/// to f32 once.
///
/// As `OpenCV`'s `warpAffine` with `getRotationMatrix2D(center, angle, scale)`, torchvision's `rotate` (whose centre is in
/// coordinates of edges, half a pixel more), and Pillow's `rotate`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotate {
    angle: f64,
    center: Option<Vec<f64>>,
    scale: f64,
    sampling: SamplingFields,
}

impl Default for Rotate {
    fn default() -> Self {
        Self { angle: 0.0, center: None, scale: 1.0, sampling: SamplingFields::default() }
    }
}

impl Rotate {
    /// A turn by so many degrees counter-clockwise.
    pub fn new(angle: f64) -> Self {
        Self { angle, ..Self::default() }
    }

    /// Around this point instead of the middle.
    #[must_use]
    pub fn center(self, x: f64, y: f64) -> Self {
        Self { center: Some(vec![x, y]), ..self }
    }

    /// Scaled by this factor, greater than 0.
    #[must_use]
    pub fn scale(self, scale: f64) -> Self {
        Self { scale, ..self }
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

    /// The matrix from the result to the input.
    fn matrix(&self, input: &ImageDesc) -> [f64; 6] {
        let middle = |side: u32| (f64::from(side) - 1.0) / 2.0;
        let center = self.center.as_ref().and_then(|c| <[f64; 2]>::try_from(&c[..]).ok());
        let [cx, cy] = center.unwrap_or([middle(input.width()), middle(input.height())]);
        let (sin, cos) = sin_cos(self.angle);
        let (sin, cos) = (sin / self.scale, cos / self.scale);
        [cos, -sin, cx - cos * cx + sin * cy, sin, cos, cy - sin * cx - cos * cy]
    }
}

/// Of degrees; exact at multiples of 90.
fn sin_cos(degrees: f64) -> (f64, f64) {
    let degrees = degrees.rem_euclid(360.0);
    match (degrees / 90.0).fract() {
        0.0 => [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][(degrees / 90.0) as usize % 4],
        _ => degrees.to_radians().sin_cos(),
    }
}

impl Parameters for Rotate {
    fields! {
        "angle" => angle,
        "center" => center,
        "scale" => scale,
        "filter" => sampling.filter,
        "border" => sampling.border.mode,
        "border_value" => sampling.border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.sampling.border.conflicts(self)
    }
}

impl Operator for Rotate {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.sampling.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let kernel = self.sampling.kernel(self, Coordinates::Affine, &inputs[0])?;
        Ok(Lowered::single(kernel, self.matrix(&inputs[0]).map(|v| v as f32), output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn uniforms(rotate: &Rotate, width: u32, height: u32) -> Vec<f32> {
        let image = ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap();
        rotate.lower(&[image]).unwrap().steps[0].uniforms.to_vec()
    }

    #[test]
    fn a_quarter_turn_is_exact_and_counter_clockwise() {
        // The last column becomes the first row.
        assert_eq!(uniforms(&Rotate::new(90.0), 5, 5), [0.0, -1.0, 4.0, 1.0, 0.0, 0.0]);
        assert_eq!(uniforms(&Rotate::new(-180.0), 5, 3), [-1.0, 0.0, 4.0, 0.0, -1.0, 2.0]);
        assert_eq!(uniforms(&Rotate::new(720.0), 4, 4), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_center_stays_and_the_scale_enlarges() {
        let m = uniforms(&Rotate::new(30.0).center(7.0, 2.0).scale(2.0), 20, 10);
        assert!((m[0] * 7.0 + m[1] * 2.0 + m[2] - 7.0).abs() < 1e-5);
        assert!((m[3] * 7.0 + m[4] * 2.0 + m[5] - 2.0).abs() < 1e-5);
        assert!((m[0].hypot(m[3]) - 0.5).abs() < 1e-6);
    }
}
