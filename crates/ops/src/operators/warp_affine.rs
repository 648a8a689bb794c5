use mip_core::ImageDesc;
use mip_plan::{Border, Coordinates};

use crate::border::{BORDER, BORDER_VALUE};
use crate::field::{Parameters, create, fields, plumbing};
use crate::sampling::{FILTER, HEIGHT, SamplingFields, WIDTH, WarpFilter};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "warp_affine",
    summary: "Moves, turns, scales and shears the image by a matrix of 2 x 3 numbers",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "matrix",
            ParamKind::numbers(&[6], 1e9),
            "[a, b, c, d, e, f]: (x, y) of the input goes to (a x + b y + c, d x + e y + f)",
        )
        .required()
        .uniform(),
        ParamSpec::new("inverse", ParamKind::Bool, "The matrix maps the result to the input instead")
            .default_is("false")
            .uniform(),
        WIDTH,
        HEIGHT,
        FILTER,
        BORDER.default_is("constant"),
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "matrix=[1,0,0.5,0,1,-0.25]",
        "matrix=[0.8,-0.6,2,0.6,0.8,-1] filter=nearest border=reflect",
        "matrix=[2,0,0,0.5,1.5,1] inverse=true width=9 height=7 border=wrap",
        "matrix=[1.5,0.25,-1,0,2,0] filter=bilinear border=constant border_value=1",
        "matrix=[0.9,0.3,-1.25,-0.2,1.1,0.75] filter=bicubic border=reflect101",
    ],
    create: create::<WarpAffine>,
};

/// Moves, turns, scales and shears the image. With `matrix = [a, b, c, d, e, f]` the point (x, y) of the input goes to
/// `(a x + b y + c, d x + e y + f)` of the result; whole coordinates are centres of pixels, (0, 0) that of the first one.
/// With `inverse` the matrix maps the result to the input.
///
/// For each pixel of the result the input is sampled at the coordinates that the matrix from result to input gives: it is
/// inverted in f64, rounded to f32 once, and applied in f32 (see [`Coordinates::Affine`]). A sample between pixels follows
/// `filter`, pixels outside the input follow `border`: 0 in every channel (with alpha: transparent) if not given. Colours
/// with alpha are interpolated premultiplied.
///
/// As `OpenCV`'s `warpAffine`, whose `WARP_INVERSE_MAP` is `inverse`. Pillow's `Image.transform` and DALI's `warp_affine`
/// take the matrix from result to input, and count from the corners of pixels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WarpAffine {
    matrix: Vec<f64>,
    inverse: bool,
    width: Option<u32>,
    height: Option<u32>,
    sampling: SamplingFields,
}

impl WarpAffine {
    /// With a matrix from the input to the result.
    pub fn new(matrix: [f64; 6]) -> Self {
        Self { matrix: matrix.to_vec(), ..Self::default() }
    }

    /// With a matrix from the result to the input.
    pub fn from_result(matrix: [f64; 6]) -> Self {
        Self { inverse: true, ..Self::new(matrix) }
    }

    /// With a result of this size.
    #[must_use]
    pub fn size(self, width: u32, height: u32) -> Self {
        Self { width: Some(width), height: Some(height), ..self }
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

    /// The matrix from the result to the input, in f32; `None` when there is none.
    fn uniforms(&self) -> Option<[f32; 6]> {
        let m: [f64; 6] = self.matrix[..].try_into().ok()?;
        let m = if self.inverse { m } else { inverse(m) };
        let m = m.map(|v| v as f32);
        m.iter().all(|v| v.is_finite()).then_some(m)
    }
}

/// The map back; not finite when there is none.
fn inverse([a, b, c, d, e, f]: [f64; 6]) -> [f64; 6] {
    let det = a * e - b * d;
    [e / det, -b / det, (b * f - c * e) / det, -d / det, a / det, (c * d - a * f) / det]
}

impl Parameters for WarpAffine {
    fields! {
        "matrix" => matrix,
        "inverse" => inverse,
        "width" => width,
        "height" => height,
        "filter" => sampling.filter,
        "border" => sampling.border.mode,
        "border_value" => sampling.border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        if self.matrix.len() == 6 && self.uniforms().is_none() {
            let given = format!("{:?}", self.matrix);
            return Err(self.invalid("matrix", given, "invertible: a e - b d must not be 0".to_owned()));
        }
        self.sampling.border.conflicts(self)
    }
}

impl Operator for WarpAffine {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.sampling.border.resolve(self, &input)?;
        Ok(input.with_size(self.width.unwrap_or(input.width()), self.height.unwrap_or(input.height()))?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let kernel = self.sampling.kernel(self, Coordinates::Affine, &inputs[0])?;
        let uniforms = self.uniforms().expect("checked when it was set");
        Ok(Lowered::single(kernel, uniforms, output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    #[test]
    fn the_matrix_is_inverted_once() {
        let image = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let uniforms = |warp: WarpAffine| warp.lower(&[image]).unwrap().steps[0].uniforms.to_vec();
        assert_eq!(
            uniforms(WarpAffine::new([2.0, 0.0, 6.0, 0.0, 4.0, -2.0])),
            [0.5, 0.0, -3.0, 0.0, 0.25, 0.5]
        );
        let shear = [1.0, 0.5, 0.0, 0.0, 1.0, 3.0];
        assert_eq!(uniforms(WarpAffine::new(shear)), [1.0, -0.5, 1.5, 0.0, 1.0, -3.0]);
        assert_eq!(uniforms(WarpAffine::from_result(shear)), shear.map(|v| v as f32));
    }

    #[test]
    fn a_matrix_without_an_inverse_is_refused() {
        let flat = crate::Value::from([1.0, 2.0, 0.0, 2.0, 4.0, 0.0]);
        let refusal = crate::create("warp_affine", &[("matrix".to_owned(), flat)]).unwrap_err().to_string();
        assert!(refusal.contains("must be invertible: a e - b d must not be 0"), "{refusal}");
        let short = crate::Value::from([1.0, 2.0]);
        let refusal = crate::create("warp_affine", &[("matrix".to_owned(), short)]).unwrap_err().to_string();
        assert!(refusal.contains("a list of 6 numbers"), "{refusal}");
    }
}
