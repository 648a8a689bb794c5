use mip_core::ImageDesc;
use mip_plan::{Border, Coordinates};

use crate::border::{BORDER, BORDER_VALUE};
use crate::field::{Parameters, create, fields, plumbing};
use crate::sampling::{FILTER, HEIGHT, SamplingFields, WIDTH, WarpFilter};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "warp_perspective",
    summary: "Shows the image's plane from another point of view, by a matrix of 3 x 3 numbers or by four corners",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "matrix",
            ParamKind::numbers(&[9], 1e9),
            "Row by row: (x, y) of the input goes to (u / w, v / w) with (u, v, w) = matrix (x, y, 1)",
        )
        .uniform(),
        ParamSpec::new(
            "points",
            ParamKind::numbers(&[16], 1e9),
            "Instead of a matrix: four points [x, y, ...] of the input, then those of the result that they go to",
        )
        .uniform()
        .of_image(),
        ParamSpec::new("inverse", ParamKind::Bool, "The matrix, or the points, map the result to the input instead")
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
        "matrix=[1.1,0.2,-1,0.1,0.9,0.5,0.01,-0.004,1]",
        "points=[0,0,8,0,8,6,0,6,1.5,1,7,0.25,8,5,-1,6.5] filter=nearest border=replicate",
        "matrix=[1,0.1,0.5,0,1.2,-0.25,0.02,-0.05,0.8] inverse=true width=9 height=7 border=reflect",
        "points=[1.25,0.5,6.5,1.25,7.25,5.5,0.75,4.25,0,0,12,0,12,9,0,9] filter=bicubic border=constant border_value=1",
    ],
    create: create::<WarpPerspective>,
};

/// Shows the plane of the image from another point of view. With a matrix `[a, b, c, d, e, f, g, h, i]` the point (x, y) of
/// the input goes to `((a x + b y + c) / w, (d x + e y + f) / w)` of the result, `w = g x + h y + i`; whole coordinates are
/// centres of pixels, (0, 0) that of the first one. With `inverse` the matrix maps the result to the input.
///
/// Instead of the matrix, four points of the input and the four of the result that they go to may be given, no three of
/// either on a line; with `inverse` four of the result come first. The matrix is solved for in f64. (To straighten a sheet of
/// paper: its corners in the photo, then those of the result.)
///
/// For each pixel of the result the input is sampled at the coordinates that the matrix from result to input gives: it is
/// made in f64, rounded to f32 once, and applied in f32 with one division for each coordinate (see
/// [`Coordinates::Projective`]). Where its w is not greater than 0, the pixel is behind the viewer and no part of the input:
/// it is the border's constant, or 0 with any other border. Sampling is as of [`crate::WarpAffine`].
///
/// As `OpenCV`'s `warpPerspective`, whose `WARP_INVERSE_MAP` is `inverse`, with `getPerspectiveTransform` for points; it shows
/// what is behind the viewer as well, mirrored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WarpPerspective {
    matrix: Option<Vec<f64>>,
    points: Option<Vec<f64>>,
    inverse: bool,
    width: Option<u32>,
    height: Option<u32>,
    sampling: SamplingFields,
}

impl WarpPerspective {
    /// With a matrix from the input to the result, row by row.
    pub fn new(matrix: [f64; 9]) -> Self {
        Self { matrix: Some(matrix.to_vec()), ..Self::default() }
    }

    /// With a matrix from the result to the input.
    pub fn from_result(matrix: [f64; 9]) -> Self {
        Self { inverse: true, ..Self::new(matrix) }
    }

    /// With four points of the input that go to four of the result.
    pub fn points(input: [[f64; 2]; 4], result: [[f64; 2]; 4]) -> Self {
        Self { points: Some([input, result].concat().concat()), ..Self::default() }
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
    fn uniforms(&self) -> Option<[f32; 9]> {
        let given = match (&self.matrix, &self.points) {
            (Some(matrix), _) => {
                let m: [f64; 9] = matrix[..].try_into().ok()?;
                if self.inverse { m } else { inverse(m)? }
            }
            (None, Some(points)) => {
                let (first, second) = points.split_at_checked(8)?;
                let (input, result) = if self.inverse { (second, first) } else { (first, second) };
                product(from_square(input)?, inverse(from_square(result)?)?)
            }
            (None, None) => return None,
        };
        let m = given.map(|v| v as f32);
        m.iter().all(|v| v.is_finite()).then_some(m)
    }
}

/// The map back; `None` when there is none.
fn inverse([a, b, c, d, e, f, g, h, i]: [f64; 9]) -> Option<[f64; 9]> {
    let adjugate = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ];
    let det = a * adjugate[0][0] + b * adjugate[1][0] + c * adjugate[2][0];
    let all: [f64; 9] = adjugate.concat().try_into().ok()?;
    (det != 0.0).then(|| all.map(|v| v / det))
}

fn product(a: [f64; 9], b: [f64; 9]) -> [f64; 9] {
    std::array::from_fn(|k| (0..3).map(|i| a[k / 3 * 3 + i] * b[i * 3 + k % 3]).sum())
}

/// The matrix that takes (0, 0), (1, 0), (1, 1), (0, 1) to four points, with w = 1 at the first one (Heckbert 1989, 2.2.3);
/// `None` when three of them are on a line.
fn from_square(points: &[f64]) -> Option<[f64; 9]> {
    let [x0, y0, x1, y1, x2, y2, x3, y3]: [f64; 8] = points.try_into().ok()?;
    let (dx1, dx2, sx) = (x1 - x2, x3 - x2, x0 - x1 + x2 - x3);
    let (dy1, dy2, sy) = (y1 - y2, y3 - y2, y0 - y1 + y2 - y3);
    let det = dx1 * dy2 - dx2 * dy1;
    let (g, h) = ((sx * dy2 - dx2 * sy) / det, (dx1 * sy - sx * dy1) / det);
    let matrix = [x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h, 1.0];
    (det != 0.0 && inverse(matrix).is_some()).then_some(matrix)
}

impl Parameters for WarpPerspective {
    fields! {
        "matrix" => matrix,
        "points" => points,
        "inverse" => inverse,
        "width" => width,
        "height" => height,
        "filter" => sampling.filter,
        "border" => sampling.border.mode,
        "border_value" => sampling.border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        let (parameter, given, allowed) = match (&self.matrix, &self.points) {
            (Some(_), Some(_)) => {
                return Err(self.conflict("points", "together with 'matrix'", "leave one of them out"));
            }
            (None, None) => {
                let allowed =
                    "or points: the matrix row by row, or four points of the input and of the result";
                let (operator, parameter) = (SPEC.name, "matrix".to_owned());
                return Err(ParamError::Missing { operator, parameter, allowed: allowed.to_owned() });
            }
            (Some(matrix), None) => ("matrix", matrix, "invertible: its determinant must not be 0"),
            (None, Some(points)) => {
                ("points", points, "four points and four points, no three of either on a line")
            }
        };
        // Of another number the specification says more.
        if matches!(given.len(), 9 | 16) && self.uniforms().is_none() {
            return Err(self.invalid(parameter, format!("{given:?}"), allowed));
        }
        self.sampling.border.conflicts(self)
    }
}

impl Operator for WarpPerspective {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        self.sampling.border.resolve(self, &input)?;
        Ok(input.with_size(self.width.unwrap_or(input.width()), self.height.unwrap_or(input.height()))?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let kernel = self.sampling.kernel(self, Coordinates::Projective, &inputs[0])?;
        let uniforms = self.uniforms().expect("checked when it was set");
        Ok(Lowered::single(kernel, uniforms, output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    fn uniforms(warp: &WarpPerspective) -> Vec<f32> {
        let image = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap();
        warp.lower(&[image]).unwrap().steps[0].uniforms.to_vec()
    }

    fn refusal(params: &[(&str, Vec<f64>)]) -> String {
        let params: Vec<_> = params.iter().map(|(name, v)| ((*name).to_owned(), v.clone().into())).collect();
        crate::create("warp_perspective", &params).unwrap_err().to_string()
    }

    #[test]
    fn the_matrix_is_inverted_with_its_sign() {
        let m = [2.0, 0.0, 6.0, 0.0, 4.0, -2.0, 0.0, 0.0, 1.0];
        assert_eq!(uniforms(&WarpPerspective::new(m)), [0.5, 0.0, -3.0, 0.0, 0.25, 0.5, 0.0, 0.0, 1.0]);
        assert_eq!(uniforms(&WarpPerspective::from_result(m)), m.map(|v| v as f32));
        // What the matrix sees in front of it, the inverse does as well.
        let behind = uniforms(&WarpPerspective::new(m.map(|v| -v)));
        assert_eq!(behind, [-0.5, 0.0, 3.0, 0.0, -0.25, -0.5, 0.0, 0.0, -1.0]);
    }

    #[test]
    fn points_go_where_they_are_told() {
        let input = [[1.0, 2.0], [9.0, 0.5], [8.0, 7.0], [0.0, 6.0]];
        let result = [[0.0, 0.0], [19.0, 0.0], [19.0, 9.0], [0.0, 9.0]];
        let there = WarpPerspective::points(input, result);
        let m = uniforms(&there);
        for (from, to) in result.iter().zip(input) {
            let [x, y] = from.map(|v| v as f32);
            let at = Coordinates::Projective.source(&m, (x as u32, y as u32), [0.0; 2], (20, 10)).unwrap();
            assert!((0..2).all(|i| (f64::from(at[i]) - to[i]).abs() < 1e-5), "{from:?} to {at:?}");
        }
        let mut back = WarpPerspective::points(result, input);
        back.inverse = true;
        assert_eq!(uniforms(&back), m);
    }

    #[test]
    fn what_has_no_inverse_is_refused_and_so_are_both_or_neither() {
        let flat = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.0, 0.0, 1.0];
        assert!(refusal(&[("matrix", flat.clone())]).contains("its determinant must not be 0"));
        let line = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0, 3.0];
        let square = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
        for points in [[line, square], [square, line]] {
            assert!(refusal(&[("points", points.concat())]).contains("no three of either on a line"));
        }
        assert!(refusal(&[("points", vec![1.0; 15])]).contains("a list of 16 numbers"));
        assert!(refusal(&[]).contains("needs parameter 'matrix' (or points: "));
        let both = refusal(&[("points", [square, square].concat()), ("matrix", flat)]);
        assert!(both.contains("together with 'matrix'; leave one of them out"), "{both}");
    }
}
