//! Expressions: a few hundred samples at a time, one loop an operation, over blocks of numbers that stay in the first-level cache. One
//! walk ([`walk`]) over one kind of program ([`program`]) serves binary32 ([`floats`]), 16 bits ([`integers`]) and samples that are
//! only compared ([`ranks`]). What follows from one byte is looked up ([`tabulated`]).

mod bayer;
mod blocks;
mod bytes;
mod fixed;
mod floats;
mod functions;
mod hues;
mod integers;
mod linear;
mod pairs;
mod program;
mod ranks;
mod remembered;
mod samples;
mod store;
mod sums;
mod tabulated;
mod values;
mod walk;

use std::sync::Arc;

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::{Border, Channel, Expr, Op, Results, Stencil};

use self::floats::Floats;
use self::hues::Hues;
use self::integers::Integers;
use self::linear::Linear;
use self::ranks::Ranks;
use self::tabulated::Tabulated;
use super::row::Row;
use super::{Job, RowKernel};

/// What a stencil reads beside its own row.
#[derive(Debug, Clone, Copy)]
struct Around {
    /// What lies outside.
    border: Border,
    /// The tap that is the pixel's own row.
    own: usize,
}

impl Around {
    fn of(stencil: &Stencil) -> Self {
        Self { border: stencil.border, own: stencil.expr.reach().1 as usize }
    }
}

/// The row at a distance; `None` outside a constant border.
fn row_of<'a>(job: &Job<'a>, around: Option<Around>, slot: usize, dy: i8) -> Option<Row<'a>> {
    match around {
        Some(Around { own, .. }) => job.tap(own.wrapping_add_signed(dy.into())),
        None => Some(job.own(slot)),
    }
}

/// The row kernel of a point expression.
pub(crate) fn point(
    expr: &Expr,
    inputs: &[ImageDesc],
    output: ImageDesc,
) -> Result<Arc<dyn RowKernel>, String> {
    lower(expr, inputs, output, None)
}

/// The row kernel of a stencil.
pub(crate) fn stencil(
    stencil: &Stencil,
    input: ImageDesc,
    output: ImageDesc,
) -> Result<Arc<dyn RowKernel>, String> {
    lower(&stencil.expr, &[input], output, Some(Around::of(stencil)))
}

fn lower(
    expr: &Expr,
    inputs: &[ImageDesc],
    output: ImageDesc,
    around: Option<Around>,
) -> Result<Arc<dyn RowKernel>, String> {
    let ranks: Option<Arc<dyn RowKernel>> = match output.dtype() {
        DType::U8 => Ranks::<u8>::new(expr, inputs, output, around).map(|rows| Arc::new(rows) as _),
        DType::U16 => Ranks::<u16>::new(expr, inputs, output, around).map(|rows| Arc::new(rows) as _),
        DType::I16 => Ranks::<i16>::new(expr, inputs, output, around).map(|rows| Arc::new(rows) as _),
        DType::I32 | DType::F16 | DType::F32 => None,
    };
    if let Some(rows) = ranks {
        return Ok(rows);
    }
    if around.is_none()
        && let Some(rows) = Tabulated::new(expr, inputs, output)?
    {
        return Ok(Arc::new(rows));
    }
    if around.is_none()
        && let Some(rows) = Hues::new(expr, inputs, output)?
    {
        return Ok(Arc::new(rows));
    }
    if around.is_none()
        && let Some(rows) = Linear::new(expr, inputs, output)?
    {
        return Ok(Arc::new(rows));
    }
    if let Some(rows) = Integers::new(expr, inputs, output, around)? {
        return Ok(Arc::new(rows));
    }
    Ok(Arc::new(Floats::new(expr, inputs, output, around)?))
}

fn is_flat(expr: &Expr, inputs: &[ImageDesc], output: &ImageDesc) -> bool {
    let each = matches!(expr.results(), Results::EachChannel(_));
    let own =
        expr.ops().iter().all(|op| !matches!(op, Op::Input { channel, .. } if *channel != Channel::Own));
    let same = |input: &ImageDesc| (input.format(), input.layout()) == (output.format(), output.layout());
    let anywhere = !expr.reads_position();
    let interleaved = output.layout() == Layout::Hwc || output.planes() == output.channels();
    each && own && anywhere && interleaved && !output.format().has_alpha() && inputs.iter().all(same)
}
