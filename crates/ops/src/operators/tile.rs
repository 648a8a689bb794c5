use mip_core::{ImageDesc, ImageError};
use mip_plan::{Kernel, Tile as TileKernel, Whole};

use crate::field::{Parameters, create, fields, set};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec, Value};

const MAX: usize = TileKernel::MAX as usize;
const LEAST: usize = 2;

pub(crate) static SPEC: OperatorSpec = spec(LEAST);

/// One specification for each number of inputs.
static SPECS: [OperatorSpec; MAX - LEAST + 1] = {
    let mut specs = [spec(LEAST); MAX - LEAST + 1];
    let mut i = 1;
    while i < specs.len() {
        specs[i] = spec(LEAST + i);
        i += 1;
    }
    specs
};

static PARAMS: [ParamSpec; 4] = [
            ParamSpec::new("count", ParamKind::int(LEAST as i64, MAX as i64), "How many images it takes").default_is("2"),
            ParamSpec::new("columns", ParamKind::int(1, MAX as i64), "Images beside each other; all if not given"),
            ParamSpec::new("gap", ParamKind::pixels(0, 1 << 12), "Pixels between images").default_is("0"),
            ParamSpec::new(
                "fill",
                ParamKind::PerChannel { min: -1e30, max: 1e30, above_min: false },
                "Colour between images and where there is none: one number, or one a channel, in sample units; 0 if not given",
            )
            .uniform(),
];

const fn spec(inputs: usize) -> OperatorSpec {
    const SLOTS: [&str; MAX] = [
        "in", "in2", "in3", "in4", "in5", "in6", "in7", "in8", "in9", "in10", "in11", "in12", "in13", "in14",
        "in15", "in16",
    ];
    static ALL: [&str; MAX] = SLOTS;
    OperatorSpec {
        name: "tile",
        summary: "Lays several images beside and below each other: contact sheets, comparisons",
        inputs: ALL.split_at(inputs).0,
        params: &PARAMS,
        extra: Extra { inputs: MAX - inputs, number: None, sums: false },
        examples: &[
            "",
            "columns=1 gap=3 fill=77.4",
            "count=3 columns=2 gap=1 fill=[1,2,300]",
            "count=5 columns=3 fill=9",
        ],
        create: create::<Tile>,
    }
}

/// Images of one size, format, dtype and layout as parts of one image, unchanged: `columns` of them beside each other, then the next
/// row, with `gap` pixels between neighbours and none around.
///
/// It takes `count` images. What none covers has the colour `fill`, rounded to the images' dtype. Pillow's `Image.paste` one by one,
/// torchvision's `make_grid` (which has its padding around the images too), NumPy's `hstack` and `vstack`, OpenCV's `hconcat`
/// and `vconcat`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    count: u32,
    columns: Option<u32>,
    gap: u32,
    fill: Option<Vec<f64>>,
}

impl Default for Tile {
    fn default() -> Self {
        Self::of(LEAST as u32)
    }
}

impl Tile {
    /// Of so many images, all beside each other.
    pub const fn of(count: u32) -> Self {
        Self { count, columns: None, gap: 0, fill: None }
    }

    /// With so many images beside each other.
    #[must_use]
    pub fn columns(self, columns: u32) -> Self {
        Self { columns: Some(columns), ..self }
    }

    /// With so many pixels between them.
    #[must_use]
    pub fn gap(self, gap: u32) -> Self {
        Self { gap, ..self }
    }

    /// On this colour: one number, or one a channel, in sample units.
    #[must_use]
    pub fn fill(self, fill: impl Into<Vec<f64>>) -> Self {
        Self { fill: Some(fill.into()), ..self }
    }

    fn kernel(&self) -> TileKernel {
        let columns = self.columns.unwrap_or(self.count).min(self.count);
        TileKernel { count: self.count, columns, gap: self.gap }
    }

    fn numbers(&self, input: &ImageDesc) -> Result<Vec<f64>, ParamError> {
        self.per_channel("fill", self.fill.as_deref().unwrap_or(&[0.0]), input.channels(), input)
    }
}

impl Parameters for Tile {
    fields! { "count" => count, "columns" => columns, "gap" => gap, "fill" => fill }
}

impl Operator for Tile {
    fn spec(&self) -> &'static OperatorSpec {
        &SPECS[(self.count as usize).clamp(LEAST, MAX) - LEAST]
    }

    fn get(&self, parameter: &str) -> Option<Value> {
        self.field(parameter)?.value()
    }

    fn set(&mut self, parameter: &str, value: Value) -> Result<(), ParamError> {
        let mut changed = self.clone();
        set(&mut changed, parameter, &value)?;
        if changed.count != self.count {
            let with = format!("for a task of {} inputs", self.count);
            return Err(self.conflict(parameter, with, "make a task of its own for it"));
        }
        *self = changed;
        Ok(())
    }

    fn inputs_like(&self, input: &ImageDesc) -> Result<Vec<ImageDesc>, ImageError> {
        Ok(vec![*input; self.spec().inputs.len()])
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let input = self.accept_alike(inputs)?;
        self.numbers(&input)?;
        let (width, height) = self.kernel().size(&input).unwrap_or((u32::MAX, u32::MAX));
        Ok(input.with_size(width, height)?)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let kernel = Whole::Tile(self.kernel());
        let mut uniforms: Vec<f32> = self.numbers(&output)?.into_iter().map(|number| number as f32).collect();
        uniforms.resize(kernel.uniform_count(), 0.0);
        Ok(Lowered::single(Kernel::Whole(kernel), uniforms, output))
    }

    fn clone_box(&self) -> Box<dyn Operator> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    #[test]
    fn images_are_beside_and_below_each_other() {
        let image = ImageDesc::new(30, 20, PixelFormat::Rgb, DType::U8).unwrap();
        let size = |tile: Tile| tile.infer(&vec![image; tile.count as usize]).unwrap().to_string();
        assert_eq!(size(Tile::default()), "60x20 rgb u8");
        assert_eq!(size(Tile::of(5).columns(3).gap(4)), "98x44 rgb u8");
        assert_eq!(size(Tile::of(2).columns(9)), "60x20 rgb u8");
        let error = Tile::of(3).infer(&[image; 2]).unwrap_err().to_string();
        assert!(error.contains("3 input"), "{error}");
        let other = image.with_size(31, 20).unwrap();
        let error = Tile::of(3).infer(&[image, image, other]).unwrap_err().to_string();
        assert!(error.contains("'in3'") && error.contains("resize"), "{error}");
    }

    #[test]
    fn a_task_keeps_its_inputs() {
        let mut tile = Tile::of(3);
        tile.set("columns", Value::Int(2)).unwrap();
        let error = tile.set("count", Value::Int(4)).unwrap_err().to_string();
        assert!(error.contains("a task of its own"), "{error}");
        assert_eq!(tile, Tile::of(3).columns(2));
    }
}
