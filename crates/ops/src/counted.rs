//! Operators made of counts: a histogram, a table of it, and the image looked up in the table, one after the other.

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Histogram, Kernel, Lookup, Rule, Table, TileGrid, Uniforms, Whole};

use crate::{KernelStep, Lowered, OpError, OperatorSpec, StepInput};

/// Refuses images that are not u8.
pub(crate) fn bytes_only(spec: &'static OperatorSpec, input: &ImageDesc) -> Result<(), OpError> {
    if input.dtype() == DType::U8 {
        return Ok(());
    }
    Err(refusal(spec, input, "u8; convert it with cast"))
}

/// Refuses what is no mask: others than gray u8.
pub(crate) fn mask_only(spec: &'static OperatorSpec, input: &ImageDesc) -> Result<(), OpError> {
    bytes_only(spec, input)?;
    if input.format() == PixelFormat::Gray {
        return Ok(());
    }
    Err(refusal(spec, input, "gray: a mask, of threshold or in_range for example"))
}

/// Refuses images that are not counted: others than u8, and so large ones that sums would not be exact.
pub(crate) fn countable(spec: &'static OperatorSpec, input: &ImageDesc) -> Result<(), OpError> {
    bytes_only(spec, input)?;
    let pixels = u64::from(input.width()) * u64::from(input.height());
    if pixels > Table::MAX_SAMPLES || u64::from(input.width()) > TileGrid::MAX_PIXELS {
        return Err(refusal(
            spec,
            input,
            "an image of at most 2^32 - 1 pixels, at most 2^24 wide; resize it",
        ));
    }
    Ok(())
}

pub(crate) fn refusal(spec: &'static OperatorSpec, input: &ImageDesc, allowed: &str) -> OpError {
    OpError::Input {
        operator: spec.name,
        slot: spec.inputs[0].to_owned(),
        given: input.to_string(),
        allowed: allowed.to_owned(),
    }
}

/// The table of a whole image, with a row for each colour channel.
pub(crate) fn table(
    input: &ImageDesc,
    rule: Rule,
    uniforms: impl Into<Uniforms>,
) -> Result<Lowered, OpError> {
    let grid = TileGrid::bands(input);
    let histogram = Histogram { grid, reflected: false };
    tables(input, histogram, Table { rule, parts: grid.rows }, uniforms.into())
}

/// Counts and the table made of them.
pub(crate) fn tables(
    input: &ImageDesc,
    histogram: Histogram,
    table: Table,
    uniforms: Uniforms,
) -> Result<Lowered, OpError> {
    let colors = input.channels() - usize::from(input.format().has_alpha());
    let rows = colors as u32 * histogram.grid.tiles() as u32;
    let (width, dtype) = table.rule.shape();
    let counted = KernelStep {
        kernel: Kernel::Whole(Whole::Histogram(histogram)),
        uniforms: [].into(),
        inputs: vec![StepInput::Slot(0)],
        output: ImageDesc::new(Whole::VALUES, rows, PixelFormat::Gray, DType::F32)?,
    };
    let made = KernelStep {
        kernel: Kernel::Whole(Whole::Table(table)),
        uniforms,
        inputs: vec![StepInput::Step(0)],
        output: ImageDesc::new(width, rows / table.parts, PixelFormat::Gray, dtype)?
            .with_layout(input.layout()),
    };
    Ok(Lowered { steps: vec![counted, made] })
}

/// The image looked up in its own table, which [`table`] or [`tables`] has made.
pub(crate) fn looked_up(input: &ImageDesc, mut table: Lowered, lookup: Lookup) -> Lowered {
    let last = table.steps.len() - 1;
    table.steps.push(KernelStep {
        kernel: Kernel::Whole(Whole::Lookup(lookup)),
        uniforms: [].into(),
        inputs: vec![StepInput::Slot(0), StepInput::Step(last)],
        output: *input,
    });
    table
}
