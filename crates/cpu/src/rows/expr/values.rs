//! Parts of an expression that follow from one small whole number (a byte, the distance of two): what they make of each is computed
//! once for the uniforms of a launch, and then looked up.

use std::sync::Arc;

use mip_core::{DType, ImageDesc};
use mip_plan::{Binary, Border, Expr, Op, Unary, ValueId};

use super::Around;
use super::program::Node;
use super::remembered::{Of, Remembered};
use crate::simd::Level;

/// Values of a number that is small; a power of two.
const VALUES: usize = 1024;

/// A result for each value, by its lowest bits.
pub(super) type Table = [f32; VALUES];

/// Operations of a part that take no longer than looking their result up, at most.
const FEW: usize = 12;

/// The tables of a program.
#[derive(Debug)]
pub(super) struct Values {
    /// What makes the results, of one input.
    parts: Vec<Part>,
    tables: Remembered<Vec<Table>>,
}

#[derive(Debug, PartialEq)]
struct Part {
    expr: Expr,
    of: Whole,
}

/// The least and the greatest of whole numbers.
type Whole = [i32; 2];

impl Values {
    /// Puts a node that looks up in the place of those that follow from one small whole number and take longer. What only their
    /// operations read is read by nobody then.
    pub(super) fn put(
        nodes: &mut [Node],
        expr: &Expr,
        results: &[usize],
        images: (&[ImageDesc], Option<Around>),
    ) -> Self {
        let mut all = Self { parts: Vec::new(), tables: Remembered::new() };
        let sources = sources(expr, images);
        for (read, from) in wanted(expr, &sources, results) {
            let root = dearest(expr, &sources, nodes, read);
            let (Ok(part), Some(whole)) = (expr.part(root as ValueId, from as ValueId), sources[from].whole)
            else {
                continue;
            };
            if part.operations() <= FEW {
                continue;
            }
            let of = match expr.ops()[from] {
                Op::Binary(Binary::Sub, a, b) => vec![a.into(), b.into()],
                _ => vec![from],
            };
            nodes[root] = Node::Tabulated { table: all.number(Part { expr: part, of: whole }), of };
        }
        all
    }

    /// The number of a part's table: one for all that are the same.
    fn number(&mut self, part: Part) -> usize {
        self.parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    /// The tables for the uniforms of a launch, if there are any.
    pub(super) fn tables(&self, uniforms: &[f32]) -> Option<Arc<Of<Vec<Table>>>> {
        let make = || self.parts.iter().map(|part| part.table(uniforms)).collect();
        (!self.parts.is_empty()).then(|| self.tables.get(uniforms, make))
    }
}

impl Part {
    fn table(&self, uniforms: &[f32]) -> Table {
        let (mut table, mut values) = ([0.0; VALUES], Vec::with_capacity(self.expr.ops().len()));
        for whole in self.of[0]..=self.of[1] {
            self.expr.evaluate((0, 0), |_, _, _| whole as f32, uniforms, &mut values);
            table[whole as usize % VALUES] = values.last().copied().unwrap_or_default();
        }
        table
    }
}

/// What is known of an operation's result.
#[derive(Debug, Clone, Copy)]
struct Source {
    of: From,
    /// Between which whole numbers it lies, if it is one, and a small one.
    whole: Option<Whole>,
}

/// What a result follows from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    Numbers,
    /// From the result of one operation, a small whole number.
    One(usize),
    Many,
}

fn sources(expr: &Expr, (inputs, around): (&[ImageDesc], Option<Around>)) -> Vec<Source> {
    let bytes = match around.map(|around| around.border) {
        Some(Border::Constant(outside)) => DType::U8.rounded(outside) == outside,
        Some(Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap) | None => true,
    };
    let mut known: Vec<Source> = Vec::with_capacity(expr.ops().len());
    for (index, op) in expr.ops().iter().enumerate() {
        let whole = |id: ValueId| known[usize::from(id)].whole;
        let is_byte = |slot: u8| bytes && inputs[usize::from(slot)].dtype() == DType::U8;
        let whole: Option<Whole> = match *op {
            Op::Input { slot, .. } => is_byte(slot).then_some([0, 255]),
            Op::Unary(Unary::Abs, a) => whole(a).map(|[low, high]| [0, high.max(-low)]),
            Op::Binary(Binary::Add, a, b) => whole(a).zip(whole(b)).map(|(a, b)| [a[0] + b[0], a[1] + b[1]]),
            Op::Binary(Binary::Sub, a, b) => whole(a).zip(whole(b)).map(|(a, b)| [a[0] - b[1], a[1] - b[0]]),
            _ => None,
        };
        let whole = whole.filter(|[low, high]| high - low < VALUES as i32);
        let operands = op.operands().into_iter().flatten().map(|operand| known[usize::from(operand)].of);
        let of = match *op {
            Op::Input { .. } | Op::Position(_) => From::Many,
            _ => operands.fold(From::Numbers, |all, operand| match (all, operand) {
                (From::Numbers, other) | (other, From::Numbers) => other,
                (all, operand) if all == operand => all,
                _ => From::Many,
            }),
        };
        let of = if of == From::Many && whole.is_some() { From::One(index) } else { of };
        known.push(Source { of, whole });
    }
    known
}

/// Operations whose results follow from one other, and are read by what does not.
fn wanted(expr: &Expr, sources: &[Source], results: &[usize]) -> Vec<(usize, usize)> {
    let mut read = vec![false; sources.len()];
    for &result in results {
        read[result] = true;
    }
    for (op, source) in expr.ops().iter().zip(sources) {
        for operand in op.operands().into_iter().flatten().map(usize::from) {
            read[operand] |= source.of != sources[operand].of;
        }
    }
    let one = |index: usize| match sources[index].of {
        From::One(from) if from != index && read[index] => Some((index, from)),
        From::One(_) | From::Numbers | From::Many => None,
    };
    (0..sources.len()).filter_map(one).collect()
}

/// Where a part may end that several may have in common: without operations on one number at its end.
fn dearest(expr: &Expr, sources: &[Source], nodes: &[Node], mut root: usize) -> usize {
    while !matches!(nodes[root], Node::Function { .. }) {
        let operands = expr.ops()[root].operands().into_iter().flatten().map(usize::from);
        let mut changing = operands.filter(|&operand| sources[operand].of != From::Numbers);
        let (Some(one), None) = (changing.next(), changing.next()) else { break };
        root = one;
    }
    root
}

/// Numbers looked up at once.
const AT_ONCE: usize = 64;

/// Finds the results of a block of whole numbers, or of the differences of two.
pub(super) fn find(level: Level, table: &Table, from: &[&[f32]], to: &mut [f32]) {
    let (mut places, zeros) = ([0; AT_ONCE], [0.0; AT_ONCE]);
    for (block, to) in to.chunks_mut(AT_ONCE).enumerate() {
        let part = |of: usize| &from[of][block * AT_ONCE..][..to.len()];
        differences(level, part(0), if from.len() > 1 { part(1) } else { &zeros }, &mut places);
        to.iter_mut().zip(&places).for_each(|(to, &place)| *to = table[usize::from(place) % VALUES]);
    }
}

/// The lowest bits of differences, which are small whole numbers.
fn differences(level: Level, a: &[f32], b: &[f32], places: &mut [u16; AT_ONCE]) {
    // No bit is left for a fraction when this is added, and the lowest ones are the whole number's.
    const ROUNDER: f32 = 12_582_912.0;
    level.vectorize(
        #[inline(always)]
        || {
            let places = places;
            for (place, (&a, &b)) in places.iter_mut().zip(a.iter().zip(b)) {
                *place = (a - b + ROUNDER).to_bits() as u16;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimdLevel;
    use crate::rows::expr::program::nodes;
    use mip_core::PixelFormat;
    use mip_ops::{Bilateral, ColorConvert, Operator};
    use mip_plan::{Kernel, Results};

    /// Nodes that look up, and tables, of the first step of an operator on an image of bytes.
    fn counts(operator: &dyn Operator, format: PixelFormat, dtype: DType) -> [usize; 2] {
        let image = ImageDesc::new(5, 4, format, dtype).unwrap();
        let step = operator.lower(&[image]).unwrap().steps.remove(0);
        let (expr, around) = match &step.kernel {
            Kernel::Stencil(stencil) => (&stencil.expr, Some(Around::of(stencil))),
            Kernel::Point(point) => (&point.expr, None),
            kernel => panic!("{kernel:?}"),
        };
        let expr = expr.resolve(&[image], &step.output).unwrap();
        let Results::Channels(results) = expr.results() else { panic!("channels") };
        let results: Vec<usize> = results.iter().map(|&result| result.into()).collect();
        let mut nodes = nodes(&expr, &results);
        let values = Values::put(&mut nodes, &expr, &results, (&[image], around));
        let looked_up = nodes.iter().filter(|node| matches!(node, Node::Tabulated { .. })).count();
        [looked_up, values.parts.len()]
    }

    #[test]
    fn weights_and_linear_colors_of_bytes_are_looked_up() {
        let bilateral = Bilateral::new(20.0, 3.0);
        // Three distances of places.
        assert_eq!(counts(&bilateral, PixelFormat::Gray, DType::U8), [12, 3]);
        assert_eq!(counts(&bilateral, PixelFormat::Rgb, DType::U8), [12, 3]);
        assert_eq!(counts(&bilateral, PixelFormat::Gray, DType::U16), [0, 0]);
        let constant = bilateral.border(Border::Constant(9.0));
        assert_eq!(counts(&constant, PixelFormat::Gray, DType::U8), [12, 3]);
        let lab = ColorConvert::to(PixelFormat::Lab);
        assert_eq!(counts(&lab, PixelFormat::Rgb, DType::U8), [3, 1]);
    }

    #[test]
    fn differences_find_what_tables_have_for_them() {
        let mut table = [0.0; VALUES];
        for whole in -500..=500_i32 {
            table[whole as usize % VALUES] = whole as f32 * 0.5;
        }
        let numbers: Vec<f32> = (-250..=250).map(|n| n as f32).collect();
        for (count, level) in
            [501, 64, 65, 1, 0].into_iter().zip([SimdLevel::Portable, SimdLevel::Native].into_iter().cycle())
        {
            let a = &numbers[..count];
            let b: Vec<f32> = a.iter().rev().copied().collect();
            let mut to = vec![0.0; count];
            find(Level::new(level), &table, &[a, &b], &mut to);
            assert!(to.iter().zip(a.iter().zip(&b)).all(|(&to, (&a, &b))| to == (a - b) * 0.5));
            find(Level::new(level), &table, &[a], &mut to);
            assert!(to.iter().zip(a).all(|(&to, &a)| to == a * 0.5));
        }
    }
}
