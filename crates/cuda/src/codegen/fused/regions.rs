use mip_plan::{Axis, Operand};

use super::roles::Roles;
use super::setting::{Setting, VECTOR, ceil};

/// Most blocks along an axis for which regions are worked out.
const MAX_BLOCKS: usize = 1 << 15;

/// Where a tile lies along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// Its first coordinate in each block.
    pub first: Vec<i64>,
    /// Its extent, the same in all blocks.
    pub len: i64,
}

impl Span {
    /// The distance from the block's own first output, if it is the same in all blocks.
    pub(super) fn offset(&self, step: i64) -> Option<i64> {
        let offset = *self.first.first()?;
        self.first.iter().zip(0..).all(|(&first, block)| first == block * step + offset).then_some(offset)
    }
}

/// One axis of a group whose blocks each make `step` outputs.
pub(super) struct AxisRegions {
    /// Number of blocks.
    pub blocks: i64,
    /// By tile.
    pub tiles: Vec<Span>,
}

/// Lowest and one past the highest coordinate.
type Range = (i64, i64);

fn union(a: Option<Range>, b: Range) -> Range {
    a.map_or(b, |a| (a.0.min(b.0), a.1.max(b.1)))
}

impl AxisRegions {
    /// # Errors
    /// More blocks than regions are worked out for.
    pub(super) fn of(setting: &Setting<'_>, roles: &Roles, axis: Axis, step: i64) -> Result<Self, String> {
        let last = setting.stage(setting.stages() - 1).output;
        let extent = i64::from(if axis == Axis::X { last.width() } else { last.height() });
        let blocks = ceil(extent, step) as usize;
        if blocks > MAX_BLOCKS {
            return Err(format!("{last} would take {blocks} blocks along one axis"));
        }
        let mut tiles: Vec<Span> =
            roles.tiles.iter().map(|_| Span { first: vec![0; blocks], len: 0 }).collect();
        let unit = |tile: usize| {
            let (columns, rows) = roles.tiles[tile].integer.map_or((VECTOR, 1), |e| e.ratio.unit());
            if axis == Axis::X { columns } else { rows }
        };
        let n = setting.stages();
        let mut needs: Vec<Vec<Option<Range>>> = vec![vec![None; blocks]; n];
        let mut of_buffers: Vec<(Operand, Vec<Option<Range>>)> = Vec::new();
        for s in (0..n).rev() {
            let stage = setting.stage(s);
            if stage.store.is_some() {
                for (block, need) in needs[s].iter_mut().enumerate() {
                    let first = block as i64 * step;
                    *need = Some(union(*need, (first, first + step)));
                }
            }
            let own: Vec<Option<Range>> = match roles.tile_of(Operand::Stage(s)) {
                Some(tile) => settle(&mut tiles[tile], &needs[s], unit(tile)),
                None => needs[s].clone(),
            };
            for &input in &stage.inputs {
                let mapped = own.iter().map(|r| {
                    r.map(|(low, high)| {
                        let read = stage.kernel.footprint(axis, low..high);
                        (read.start, read.end)
                    })
                });
                let into = match input {
                    Operand::Stage(earlier) => &mut needs[earlier],
                    Operand::Buffer(_) => {
                        if !of_buffers.iter().any(|(b, _)| *b == input) {
                            of_buffers.push((input, vec![None; blocks]));
                        }
                        &mut of_buffers.iter_mut().find(|(b, _)| *b == input).expect("just made").1
                    }
                };
                for (need, range) in into.iter_mut().zip(mapped) {
                    *need = range.map_or(*need, |r| Some(union(*need, r)));
                }
            }
        }
        for (buffer, needs) in &of_buffers {
            if let Some(tile) = roles.tile_of(*buffer) {
                settle(&mut tiles[tile], needs, unit(tile));
            }
        }
        Ok(Self { blocks: blocks as i64, tiles })
    }
}

/// Gives a tile the region that covers its needs: whole vectors, the same extent in all blocks.
fn settle(span: &mut Span, needs: &[Option<Range>], unit: i64) -> Vec<Option<Range>> {
    for (first, need) in span.first.iter_mut().zip(needs) {
        let (low, high) = need.unwrap_or((0, 1));
        *first = low.div_euclid(unit) * unit;
        span.len = span.len.max(ceil(high - *first, unit) * unit);
    }
    span.first.iter().map(|&first| Some((first, first + span.len))).collect()
}
