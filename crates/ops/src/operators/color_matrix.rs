use mip_core::ImageDesc;
use mip_plan::Border;

use crate::expr::{Term, a, b, g, r, uniform};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, lowered};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "color_matrix",
    summary: "Mixes red, green and blue by a matrix",
    inputs: &["in"],
    params: &[ParamSpec::new(
        "matrix",
        ParamKind::numbers(&[9, 12, 20], 1e6),
        "Row by row: 3 x 3 for red, green, blue; 3 x 4 with an offset in sample units behind each row; 4 x 5 with alpha",
    )
    .required()],
    extra: Extra::NONE,
    examples: &[
        "matrix=[0.393,0.769,0.189,0.349,0.686,0.168,0.272,0.534,0.131]",
        "matrix=[1.2,-0.1,0,3.5,0,0.9,0.1,-7,0.25,0.25,0.5,0]",
        "matrix=[1,0,0,0,0,0,1,0,0,5,0,0,0.5,0.5,0,0.2,0,0,0.5,100]",
    ],
    create: create::<ColorMatrix>,
};

/// Red, green and blue as sums of all three: `matrix` gives the factors, row by row.
///
/// Nine numbers are 3 x 3 factors; twelve have an offset in sample units behind each row; twenty are the four channels' factors
/// and offset for each of four channels, alpha among them. Otherwise alpha is kept. Rows and columns stand for red, green,
/// blue (and alpha) in whatever order the image keeps them. Computed as
/// `fma(b, m[2], fma(g, m[1], fma(r, m[0], offset)))` and rounded once. CV-CUDA's `color_twist`, libvips' `recomb`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColorMatrix {
    matrix: Option<Vec<f64>>,
}

impl ColorMatrix {
    /// With 9, 12 or 20 numbers, row by row.
    pub fn new(matrix: impl Into<Vec<f64>>) -> Self {
        Self { matrix: Some(matrix.into()) }
    }
}

impl Parameters for ColorMatrix {
    fields! { "matrix" => matrix }
}

/// The image must have colours.
pub(super) fn check_colors(operator: &impl Parameters, input: &ImageDesc) -> Result<(), OpError> {
    if input.format().rgb_indices().is_some() {
        return Ok(());
    }
    let spec = operator.spec();
    Err(OpError::Input {
        operator: spec.name,
        slot: spec.inputs[0].to_owned(),
        given: input.to_string(),
        allowed: "in colour: rgb, bgr, rgba or bgra".to_owned(),
    })
}

/// The kernel of a matrix of `rows` of factors, an offset behind each.
pub(super) fn lower_matrix(
    spec: &OperatorSpec,
    rows: &[Vec<f64>],
    output: ImageDesc,
) -> Result<Lowered, OpError> {
    let name = |row: usize, column: usize| format!("m{row}{column}");
    let inputs = [r(), g(), b(), a()];
    let result = |(row, factors): (usize, &Vec<f64>)| -> Term {
        let columns = factors.len() - 1;
        let start = uniform(name(row, columns));
        let with =
            |sum, (column, input): (usize, &Term)| input.clone().mul_add(uniform(name(row, column)), sum);
        inputs[..columns].iter().enumerate().fold(start, with)
    };
    let mut results: Vec<Term> = rows.iter().enumerate().map(result).collect();
    if output.format().has_alpha() && results.len() == 3 {
        results.push(a());
    }
    let number = |wanted: &str| {
        let mut all = rows.iter().enumerate().flat_map(|(row, factors)| {
            factors.iter().enumerate().map(move |(column, value)| (name(row, column), *value))
        });
        all.find(|(known, _)| known == wanted).map_or(0.0, |(_, value)| value)
    };
    Ok(lowered(&Formula::channels(results).compile(spec)?, Border::default(), number, output))
}

impl Operator for ColorMatrix {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        check_colors(self, &input)?;
        let numbers = self.matrix.as_deref().unwrap_or_default().len();
        if numbers == 20 && !input.format().has_alpha() {
            let allowed = format!("9 or 12 numbers for {input}, which has no alpha");
            let error: ParamError = self.invalid("matrix", "20 numbers", allowed);
            return Err(error.into());
        }
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let matrix = self.matrix.as_deref().unwrap_or_default();
        let rows: Vec<Vec<f64>> = match matrix.len() {
            9 => matrix.chunks(3).map(|row| [row, &[0.0]].concat()).collect(),
            12 => matrix.chunks(4).map(<[f64]>::to_vec).collect(),
            _ => matrix.chunks(5).map(<[f64]>::to_vec).collect(),
        };
        lower_matrix(&SPEC, &rows, output)
    }
}
