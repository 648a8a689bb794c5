use std::sync::Arc;

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Border, Expr, LookupTable};

use super::color_matrix::check_colors;
use crate::choice::PICTURE_DTYPES;
use crate::cube::{CubeFile, METHODS};
use crate::expr::{Term, a, b, g, r, v};
use crate::field::{Parameters, create, fields, plumbing};
use crate::pointwise::{Formula, colors, lowered, shape};
use crate::tables::MAPS;
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

pub use crate::cube::LutMethod;
pub use crate::tables::ColorMap;

/// Values of a byte.
const VALUES: usize = 256;

/// Of bytes above the middle the negative.
macro_rules! solarized {
    () => {
        "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,\
         33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,\
         65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,\
         97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,\
         121,122,123,124,125,126,127,127,126,125,124,123,122,121,120,119,118,117,116,115,114,113,112,111,\
         110,109,108,107,106,105,104,103,102,101,100,99,98,97,96,95,94,93,92,91,90,89,88,87,86,85,84,83,\
         82,81,80,79,78,77,76,75,74,73,72,71,70,69,68,67,66,65,64,63,62,61,60,59,58,57,56,55,54,53,52,51,\
         50,49,48,47,46,45,44,43,42,41,40,39,38,37,36,35,34,33,32,31,30,29,28,27,26,25,24,23,22,21,20,19,\
         18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0]"
    };
}

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "lut",
    summary: "Looks colours up: in a table of your own, in a colour map, or in a .cube file",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "table",
            ParamKind::numbers(&[VALUES, 3 * VALUES], 1e9),
            "The results of the values 0 to 255, in sample units: 256 numbers, or 256 for each colour channel, one channel behind the other",
        ),
        ParamSpec::new(
            "map",
            ParamKind::choice(MAPS),
            "Colours for the values of a gray image, as matplotlib has them",
        ),
        ParamSpec::new(
            "file",
            ParamKind::Text { what: "the path of a .cube file, or its contents" },
            "A .cube file with a one- or a three-dimensional table: its path, or its contents",
        )
        .file(),
        ParamSpec::new(
            "method",
            ParamKind::choice(METHODS),
            "How colours between those of a three-dimensional table are made; tetrahedral if not given",
        ),
        ParamSpec::new(
            "to",
            ParamKind::choice(PICTURE_DTYPES),
            "Dtype of the result of a table; the input's if not given",
        ),
    ],
    extra: Extra::NONE,
    examples: &[
        "map=turbo",
        "map=inferno",
        concat!("table=", solarized!()),
        concat!("table=", solarized!(), " to=f32"),
        "file=\"LUT_3D_SIZE 2\n0 0.1 0\n1 0 0.2\n0.1 0.9 0\n0.8 1 0\n0 0.2 1\n1 0.1 0.7\n0 1 1\n1 0.9 1\n\"",
        "file=\"LUT_3D_SIZE 2\n0 0.1 0\n1 0 0.2\n0.1 0.9 0\n0.8 1 0\n0 0.2 1\n1 0.1 0.7\n0 1 1\n1 0.9 1\n\" method=trilinear",
        "file=\"LUT_1D_SIZE 3\nDOMAIN_MIN 0.1 0 0\n0 0 0.1\n0.6 0.5 0.4\n1 1 0.9\n\"",
    ],
    create: create::<Lut>,
};

/// Each pixel's colour looked up, by one of three parameters:
///
/// * `table`, of u8 images: 256 numbers for all colour channels, or 256 for each of three, in the image's own order. Rounded and
///   saturated to the dtype `to`. The bytes of OpenCV's `LUT`.
/// * `map`, of gray u8 images: an rgb u8 image in the colours that matplotlib gives the value; the bytes of OpenCV's `applyColorMap`.
/// * `file`, of rgb, bgr, rgba and bgra images of any dtype: a .cube file (Adobe's Cube LUT Specification 1.0: `LUT_1D_SIZE` to 65536 or
///   `LUT_3D_SIZE` to 65, `DOMAIN_MIN` and `DOMAIN_MAX`, or `LUT_1D_INPUT_RANGE` or `LUT_3D_INPUT_RANGE`). Its 1 is full scale: 255, 65535,
///   32767 or 1.0. Colours outside its domain count as the nearest inside, NaN as its beginning. Between colours of a three-dimensional
///   table by `method`: from the four corners of a tetrahedron, as FFmpeg's `lut3d` does, or from eight corners; a
///   one-dimensional table is linear between its numbers.
///
/// Alpha is kept (with `to`: scaled to its full scale). All is computed in binary32 and rounded once.
///
/// A file is read once, when the parameter is set. In a pipeline a path that is relative counts from the folder of the pipeline's file, or
/// from the working directory where there is none, and is made absolute, so that a pipeline that is written out finds it wherever it is read
/// on the same machine. A value with a line break is not a path but the contents themselves: such a pipeline needs no file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lut {
    table: Option<Vec<f64>>,
    map: Option<ColorMap>,
    file: Option<CubeFile>,
    method: Option<LutMethod>,
    to: Option<DType>,
}

impl Lut {
    /// A table of 256 numbers, or of 256 for each colour channel, in sample units.
    pub fn table(table: impl Into<Vec<f64>>) -> Self {
        Self { table: Some(table.into()), ..Self::default() }
    }

    /// Colours for the values of a gray image.
    pub fn map(map: ColorMap) -> Self {
        Self { map: Some(map), ..Self::default() }
    }

    /// A .cube file, by its path or by its contents, which are known by their line breaks. It is read now; what is wrong with it
    /// is an error of [`Operator::infer`].
    pub fn file(path_or_contents: impl Into<String>) -> Self {
        Self { file: Some(CubeFile::new(path_or_contents)), ..Self::default() }
    }

    /// With this way between the colours of a three-dimensional table.
    #[must_use]
    pub fn method(self, method: LutMethod) -> Self {
        Self { method: Some(method), ..self }
    }

    /// With this dtype of the result of a table.
    #[must_use]
    pub fn to(self, to: DType) -> Self {
        Self { to: Some(to), ..self }
    }

    /// What the image must be, where it is not.
    fn refused(input: &ImageDesc, allowed: &str) -> OpError {
        let (slot, given) = (SPEC.inputs[0].to_owned(), input.to_string());
        OpError::Input { operator: SPEC.name, slot, given, allowed: allowed.to_owned() }
    }

    fn of_table(&self, table: &[f64], input: &ImageDesc) -> Result<Formula, OpError> {
        if input.dtype() != DType::U8 {
            return Err(Self::refused(
                input,
                "u8 for a table of 256 values; convert it with cast to=u8 first",
            ));
        }
        let tables = table.chunks(VALUES).map(|part| {
            let numbers: Vec<f32> = part.iter().map(|&number| number as f32).collect();
            LookupTable::new(&numbers).map_err(|message| self.invalid("table", "a list", message))
        });
        let tables: Vec<LookupTable> = tables.collect::<Result<_, _>>()?;
        let channels = colors(input);
        if tables.len() > 1 && tables.len() != channels.len() {
            let allowed = format!("256 numbers for {input}, which has one channel");
            return Err(self.invalid("table", format!("{} numbers", table.len()), allowed).into());
        }
        let to = self.to.unwrap_or(DType::U8);
        if tables.len() == 1 && (to == DType::U8 || !input.format().has_alpha()) {
            return Ok(Formula::each(v().lookup(&tables[0])));
        }
        let of = |(channel, color): (usize, Term)| color.lookup(&tables[channel.min(tables.len() - 1)]);
        // Results are red, green and blue, wherever they lie.
        let places = input.format().color_indices().unwrap_or([0, 1, 2]);
        let mut looked_up: Vec<Term> = channels.into_iter().enumerate().map(of).collect();
        if looked_up.len() == 3 {
            looked_up = places.map(|place| looked_up[place].clone()).to_vec();
        }
        if input.format().has_alpha() {
            let factor = (to.full_scale() / DType::U8.full_scale()) as f32;
            looked_up.push(if to == DType::U8 { a() } else { a() * factor });
        }
        Ok(Formula::channels(looked_up))
    }

    fn of_file(&self, file: &CubeFile, input: &ImageDesc) -> Result<Formula, OpError> {
        check_colors(self, input)?;
        let cube = file.cube().map_err(|message| self.unreadable(file, message))?;
        let method = self.method.unwrap_or_default();
        let mut looked_up = cube.colors([r(), g(), b()], input.dtype().full_scale(), method).to_vec();
        if input.format().has_alpha() {
            looked_up.push(a());
        }
        Ok(Formula::channels(looked_up))
    }

    fn unreadable(&self, file: &CubeFile, message: &str) -> ParamError {
        self.invalid("file", file.name(), format!("a .cube file: {message}"))
    }

    /// What it computes of an image that it takes, and the image's description then.
    fn formula(&self, input: &ImageDesc) -> Result<(Arc<Expr>, ImageDesc), OpError> {
        let formula = match (&self.table, self.map, &self.file) {
            (Some(table), ..) => self.of_table(table, input)?,
            (_, Some(_), _) if (input.format(), input.dtype()) != (PixelFormat::Gray, DType::U8) => {
                return Err(Self::refused(
                    input,
                    "gray u8 for a colour map; bring it there with color_convert to=gray and cast to=u8",
                ));
            }
            (_, Some(map), _) => Formula::channels(map.tables().each_ref().map(|table| v().lookup(table))),
            (.., Some(file)) => self.of_file(file, input)?,
            (None, None, None) => return Err(nothing_given().into()),
        };
        let expr = formula.compile(&SPEC)?;
        let output = shape(&SPEC, &expr, Border::default(), self.to, &[*input])?;
        Ok((expr, output))
    }
}

fn nothing_given() -> ParamError {
    ParamError::Missing {
        operator: SPEC.name,
        parameter: "map".to_owned(),
        allowed: format!("one of {}; or table, or file", MAPS.join(", ")),
    }
}

impl Parameters for Lut {
    fields! { "table" => table, "map" => map, "file" => file, "method" => method, "to" => to }

    fn conflicts(&self) -> Result<(), ParamError> {
        let all =
            [("table", self.table.is_some()), ("map", self.map.is_some()), ("file", self.file.is_some())];
        let mut given = all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        match (given.next(), given.next()) {
            (None, _) => return Err(nothing_given()),
            (Some(first), Some(second)) => {
                let with = format!("together with '{first}'");
                return Err(self.conflict(second, with, "leave one of them out"));
            }
            (Some(one), None) => {
                let others = [("method", self.method.is_some(), "file"), ("to", self.to.is_some(), "table")];
                if let Some((name, _, of)) = others.into_iter().find(|(_, given, of)| *given && *of != one) {
                    return Err(self.conflict(name, format!("with '{one}'"), format!("it goes with '{of}'")));
                }
            }
        }
        match &self.file {
            Some(file) => file.cube().map(|_| ()).map_err(|message| self.unreadable(file, message)),
            None => Ok(()),
        }
    }
}

impl Operator for Lut {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        Ok(self.formula(&input)?.1)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let [input] = self.accept(inputs)?;
        let (expr, output) = self.formula(&input)?;
        Ok(lowered(&expr, Border::default(), |_| 0.0, output))
    }
}
