use mip_core::ImageDesc;
use mip_plan::{Histogram, Lookup, Rule, Table, TileGrid};

use crate::counted::{bytes_only, looked_up, tables};
use crate::field::{Parameters, create, fields, plumbing};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

/// Tiles along an axis at most.
const MAX_TILES: f64 = 64.0;

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "clahe",
    summary: "Equalises contrast tile by tile, with a limit to it (CLAHE)",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "clip_limit",
            ParamKind::number(0.0, 1e6),
            "Most samples of a value, as a multiple of what all values would have alike; 0 for no limit",
        )
        .default_is("40")
        .uniform(),
        ParamSpec::new(
            "tiles",
            ParamKind::numbers(&[1, 2], MAX_TILES),
            "Tiles along each axis, or across and down: whole numbers from 1 to 64",
        )
        .default_is("8")
        .of_image(),
    ],
    extra: Extra::NONE,
    examples: &[
        "",
        "clip_limit=2 tiles=[4,3]",
        "clip_limit=0 tiles=1",
        "clip_limit=3.5 tiles=[2,7]",
        "tiles=64",
    ],
    create: create::<Clahe>,
};

/// Contrast-limited adaptive histogram equalisation of each colour channel. u8; alpha is kept.
///
/// The image is divided into tiles; where they do not divide it, it is continued to the right and below by its reflection
/// (without the edge), as far as OpenCV does. Counts above `max(floor(clip_limit * pixels / 256), 1)` of a tile's pixels are
/// cut off and given to all values alike. A pixel is looked up in the tables of the four tiles whose centres are around it, and
/// mixed bilinearly. OpenCV's `createCLAHE(clip_limit, tiles)`: the same bytes. scikit-image's `equalize_adapthist` has another
/// clip limit and mixes otherwise. For photographs, equalise lightness alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Clahe {
    clip_limit: f64,
    tiles: Vec<f64>,
}

impl Default for Clahe {
    fn default() -> Self {
        Self::new(40.0)
    }
}

impl Clahe {
    /// With this clip limit, 0 for none, and 8 x 8 tiles.
    pub fn new(clip_limit: f64) -> Self {
        Self { clip_limit, tiles: vec![8.0] }
    }

    /// With so many tiles across and down, each 1 to 64.
    #[must_use]
    pub fn tiles(self, across: u32, down: u32) -> Self {
        Self { tiles: vec![across.into(), down.into()], ..self }
    }

    /// Tiles across and down.
    fn counts(&self) -> Result<[u32; 2], ParamError> {
        let (Some(&across), Some(&down)) = (self.tiles.first(), self.tiles.last()) else { return Ok([8; 2]) };
        let whole = |count: f64| (1.0..=MAX_TILES).contains(&count) && count.fract() == 0.0;
        if !whole(across) || !whole(down) {
            let given = crate::Value::List(self.tiles.clone()).to_string();
            return Err(self.invalid("tiles", given, "whole numbers from 1 to 64"));
        }
        Ok([across as u32, down as u32])
    }

    /// The tiles of an image, which is continued where they do not divide it: along both axes, also along one that they do
    /// divide.
    fn grid(&self, input: &ImageDesc) -> Result<TileGrid, OpError> {
        let [columns, rows] = self.counts()?;
        let (width, height) = (input.width(), input.height());
        let divides = width.is_multiple_of(columns) && height.is_multiple_of(rows);
        let side = |length: u32, count: u32| if divides { length / count } else { length / count + 1 };
        let grid = TileGrid { columns, rows, width: side(width, columns), height: side(height, rows) };
        if grid.pixels() > TileGrid::MAX_PIXELS {
            let allowed = "so many that none has more than 2^24 pixels".to_owned();
            let given = crate::Value::List(self.tiles.clone()).to_string();
            return Err(self.invalid("tiles", given, allowed).into());
        }
        Ok(grid)
    }
}

impl Parameters for Clahe {
    fields! { "clip_limit" => clip_limit, "tiles" => tiles }

    fn conflicts(&self) -> Result<(), ParamError> {
        self.counts().map(drop)
    }
}

impl Operator for Clahe {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        bytes_only(&SPEC, &input)?;
        self.grid(&input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let input = self.infer(inputs)?;
        let grid = self.grid(&input)?;
        let rule = Rule::Clahe { pixels: grid.pixels() as u32 };
        let clip_limit = [self.clip_limit as f32].into();
        let table =
            tables(&input, Histogram { grid, reflected: true }, Table { rule, parts: 1 }, clip_limit)?;
        Ok(looked_up(&input, table, Lookup::Between(grid)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_whole_numbers() {
        for tiles in [vec![0.0], vec![2.5], vec![-3.0, 4.0], vec![8.0, 0.0]] {
            let error = Clahe::default().set("tiles", crate::Value::List(tiles)).unwrap_err().to_string();
            assert!(error.contains("but must be whole numbers from 1 to 64"), "{error}");
        }
    }
}
